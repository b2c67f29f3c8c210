import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { basename } from 'node:path';
import express from 'express';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import mime from 'mime';
import { createHotFiles } from './hot-files.js';
import type { FileStats, HotFile } from './hot-files.js';
import { contextOf } from './request-context.js';
import { REVALIDATE } from './headers.js';
import { IMMUTABLE } from './static-assets.js';
import { setPublishedHeaders } from './static-files.js';

/** An image that a link leads to, made or not. */
export interface ImageRoute {
  /** Below the folder of images that are made, with `/`. */
  readonly path: string;
  /** Resolves when the file is there, whole. */
  make(): Promise<void>;
  /** Notes that the image is served, so that the quota evicts others first. */
  touch(): void;
}

/** Where a file is served from: the URL path of its copy below `/static`, or the absolute path of the original. */
export type Published = { readonly copy: string } | { readonly original: string };

export interface ImageLinkParts {
  /** Where images are once they are made. */
  readonly folder: string;
  /** By the path below `/static`; `undefined` for one that is no link to an image. */
  readonly findRoute: (path: string) => ImageRoute | undefined;
  /** Publishes a file as it is, by the same; `undefined` for a path that names no file of the site. */
  readonly publish: (path: string) => Promise<Published | undefined>;
  /** Counts an image that is to be generated for a request; throws an AppError above the limit. */
  readonly countImage?: (request: Request, response: Response) => void;
}

/**
 * Stands before the published files, below `/static`. The first GET of an
 * image has it made; this and all later ones are served from its file, with
 * ranges, an ETag, and caching for ever. What fails to be made is an error
 * that nobody keeps.
 */
export function imageLinks({ folder, findRoute, publish, countImage }: ImageLinkParts): RequestHandler {
  const serveFile = express.static(folder, { index: false, redirect: false, setHeaders });
  const hot = createHotFiles(folder, headersOf);

  /** Answers with the file, or calls `otherwise` when there is none. */
  const serve = (request: Request, response: Response, next: NextFunction, otherwise: () => void): void => {
    serveFile(request, response, (error?: unknown) => {
      if (error === undefined) otherwise();
      else next(error);
    });
  };

  async function make(route: ImageRoute, request: Request, response: Response): Promise<void> {
    countImage?.(request, response);
    await route.make();
  }

  function serveImage(route: ImageRoute, request: Request, response: Response, next: NextFunction): void {
    request.url = `/${route.path}`;
    const missing = (): void => next(new Error(`Expected an image at ${route.path} after making it.`));
    serve(request, response, next, () => {
      make(route, request, response).then(() => serve(request, response, next, missing), next);
    });
  }

  return async (request, response, next) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const route = isRead ? findRoute(request.path) : undefined;
    if (route) {
      contextOf(response).operation = 'image';
      response.setHeader('X-Content-Type-Options', 'nosniff');
      route.touch();
      const file = isPlain(request) ? (hot.find(route.path) ?? (await hot.read(route.path))) : undefined;
      if (file) send(file, request, response);
      else serveImage(route, request, response, next);
      return;
    }
    const published = isRead ? await publish(request.path) : undefined;
    if (published && 'original' in published) sendOriginal(published.original, response, next);
    else {
      request.url = published?.copy ?? request.url;
      next();
    }
  };
}

/** Sends a file that is too large to be copied. It may be edited in place, so its copies elsewhere are checked. */
function sendOriginal(file: string, response: Response, next: NextFunction): void {
  setPublishedHeaders(response, file);
  if (response.getHeader('Cache-Control') === IMMUTABLE) response.setHeader('Cache-Control', REVALIDATE);
  response.sendFile(file, { dotfiles: 'allow', cacheControl: false }, (error?: Error) => error && next(error));
}

/** Asks for all of a file, whatever was known of it before. */
const isPlain = ({ headers }: Request): boolean =>
  headers.range === undefined &&
  headers['if-none-match'] === undefined &&
  headers['if-modified-since'] === undefined &&
  headers['if-match'] === undefined &&
  headers['if-unmodified-since'] === undefined;

function send({ bytes, headers }: HotFile, { method }: Request, response: Response): void {
  setCaching(response);
  response.writeHead(200, headers);
  if (method === 'HEAD') response.end();
  else response.end(bytes);
}

/** What Express would say of a file, and what is said of all images. */
function headersOf(file: string, stats: FileStats): OutgoingHttpHeaders {
  return {
    'Accept-Ranges': 'bytes',
    'Last-Modified': new Date(stats.mtimeMs).toUTCString(),
    'Content-Type': mime.getType(file) ?? 'application/octet-stream',
    'Content-Length': stats.size,
    ...ownHeaders(file, stats),
  };
}

function setHeaders(response: Response, file: string, stats: FileStats): void {
  response.set(ownHeaders(file, stats));
  setCaching(response);
}

/** A header that was set before is stricter: the site is not public. */
function setCaching(response: ServerResponse): void {
  if (!response.hasHeader('Cache-Control')) response.setHeader('Cache-Control', IMMUTABLE);
}

/** A file is never written twice, but after it was removed: its name and time tell its bytes. */
function ownHeaders(file: string, { size, mtimeMs }: FileStats) {
  const name = basename(file).replace(/\..*$/u, '');
  return { ETag: `"${name}-${size.toString(36)}-${Math.round(mtimeMs).toString(36)}"` };
}
