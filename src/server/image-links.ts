import { basename } from 'node:path';
import type { Stats } from 'node:fs';
import express from 'express';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { contextOf } from './request-context.js';
import { IMMUTABLE } from './static-assets.js';

/** An image that a link leads to, made or not. */
export interface ImageRoute {
  /** Below the folder of images that are made, with `/`. */
  readonly path: string;
  /** Resolves when the file is there, whole. */
  make(): Promise<void>;
}

export interface ImageLinkParts {
  /** Where images are once they are made. */
  readonly folder: string;
  /** By the path below `/static`; `undefined` for one that is no link to an image. */
  readonly findRoute: (path: string) => ImageRoute | undefined;
  /** Publishes a picture as it is, by the same; gives the path that it is then served at, below `/static` too. */
  readonly publishOriginal: (path: string) => Promise<string | undefined>;
}

/**
 * Stands before the published files, below `/static`. The first GET of an
 * image has it made; this and all later ones are served from its file, with
 * ranges, an ETag, and caching for ever. What fails to be made is an error
 * that nobody keeps.
 */
export function imageLinks({ folder, findRoute, publishOriginal }: ImageLinkParts): RequestHandler {
  const serveFile = express.static(folder, { index: false, redirect: false, setHeaders });

  /** Answers with the file, or calls `otherwise` when there is none. */
  const serve = (request: Request, response: Response, next: NextFunction, otherwise: () => void): void => {
    serveFile(request, response, (error?: unknown) => {
      if (error === undefined) otherwise();
      else next(error);
    });
  };

  function serveImage(route: ImageRoute, request: Request, response: Response, next: NextFunction): void {
    contextOf(response).operation = 'image';
    request.url = `/${route.path}`;
    const missing = (): void => next(new Error(`Expected an image at ${route.path} after making it.`));
    serve(request, response, next, () => {
      route.make().then(() => serve(request, response, next, missing), next);
    });
  }

  return async (request, response, next) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const route = isRead ? findRoute(request.path) : undefined;
    if (route) {
      serveImage(route, request, response, next);
      return;
    }
    if (isRead) request.url = (await publishOriginal(request.path)) ?? request.url;
    next();
  };
}

/** A file is never written twice, but after it was removed: its name and time tell its bytes. */
function setHeaders(response: Response, file: string, { size, mtimeMs }: Stats): void {
  const name = basename(file).replace(/\..*$/u, '');
  response.setHeader('ETag', `"${name}-${size.toString(36)}-${Math.round(mtimeMs).toString(36)}"`);
  response.setHeader('Cache-Control', IMMUTABLE);
  response.setHeader('X-Content-Type-Options', 'nosniff');
}
