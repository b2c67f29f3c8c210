import { readFileSync } from 'node:fs';
import type { RequestHandler } from 'express';

/** Serves a contract as it was bundled. */
export function contractDocument(file: URL): RequestHandler {
  const text = readFileSync(file, 'utf8');
  return (_request, response) => {
    response.set('Cache-Control', 'no-cache').type('json').send(text);
  };
}
