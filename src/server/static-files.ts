import type { ServerResponse } from 'node:http';
import express from 'express';
import type { RequestHandler } from 'express';
import { IMMUTABLE } from './static-assets.js';

/** A published page or drawing is somebody's content: it runs nothing on this origin. */
const SANDBOX = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox";

/**
 * Serves the published files of a folder, whose names hold a digest of their
 * content: with ranges, an ETag, and caching for ever. A name with a leading dot
 * is one like any other, as only what was published is here. Copies that are
 * under way have random names that nobody is told. Paths that leave the folder
 * are not there.
 */
export function staticFiles(folder: string): RequestHandler {
  return express.static(folder, {
    dotfiles: 'allow',
    index: false,
    redirect: false,
    etag: true,
    setHeaders: setPublishedHeaders,
  });
}

/** Sets the headers of a file that the site publishes under a digest of its content. */
export function setPublishedHeaders(response: ServerResponse, path: string): void {
  // A header that was set before is stricter: the site is not public.
  if (!response.hasHeader('Cache-Control')) response.setHeader('Cache-Control', IMMUTABLE);
  response.setHeader('X-Content-Type-Options', 'nosniff');
  // The browser's own PDF viewer runs in no sandbox, and runs nothing of the file's on this origin.
  if (!path.toLowerCase().endsWith('.pdf')) response.setHeader('Content-Security-Policy', SANDBOX);
}
