import type { ServerResponse } from 'node:http';
import express from 'express';
import type { RequestHandler } from 'express';
import { IMMUTABLE } from './static-assets.js';

/** Published HTML and SVG files are untrusted content, so they must not run scripts on this origin. */
const SANDBOX = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox";

/**
 * Serves the published files of a folder, whose names contain a digest of their content, with ranges, an ETag and
 * unlimited caching. Names with a leading dot are served, because the folder contains published files only. Unfinished
 * copies have random names that no response contains. Paths outside of the folder are not found.
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
  // An earlier header comes from the gate of a restricted site, and is stricter.
  if (!response.hasHeader('Cache-Control')) response.setHeader('Cache-Control', IMMUTABLE);
  response.setHeader('X-Content-Type-Options', 'nosniff');
  // The PDF viewers of browsers do not work in a sandbox, and run no scripts of the file on this origin.
  if (!path.toLowerCase().endsWith('.pdf')) response.setHeader('Content-Security-Policy', SANDBOX);
}
