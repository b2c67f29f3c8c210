import express from 'express';
import type { RequestHandler } from 'express';
import { IMMUTABLE } from './static-assets.js';

/**
 * Serves the published files of a folder, whose names hold a digest of their
 * content: with ranges, an ETag, and caching for ever. Hidden files and paths
 * that leave the folder are not there.
 */
export function staticFiles(folder: string): RequestHandler {
  const serve = express.static(folder, {
    dotfiles: 'ignore',
    index: false,
    redirect: false,
    etag: true,
    setHeaders: (response) => {
      response.set({
        'Cache-Control': IMMUTABLE,
        'X-Content-Type-Options': 'nosniff',
        // A published page or drawing is somebody's content: it runs nothing on this origin.
        'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox",
      });
    },
  });
  return serve;
}
