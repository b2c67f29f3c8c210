import { readFileSync } from 'node:fs';
import type { RequestHandler } from 'express';
import { createTextSender } from './static-assets.js';

/** Serves a bundled contract. */
export function contractDocument(file: URL): RequestHandler {
  const send = createTextSender(readFileSync(file, 'utf8'), 'json');
  return (_request, response) => send(response);
}
