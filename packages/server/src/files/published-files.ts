import { readFile, stat } from 'node:fs/promises';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { basename, join } from 'node:path';
import express, { type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import { LRUCache } from 'lru-cache';
import mime from 'mime';
import { IMMUTABLE, REVALIDATE } from '../http/headers.js';
import { getRequestContext, nameRequest } from '../http/request.js';

/** The target of an image link, generated or not. */
interface ImageLinkTarget {
  /** The path of the file below the folder of derived images, with `/`. */
  readonly path: string;
  /** Generates the image; resolves when its file is complete. */
  generate(): Promise<void>;
  /** Marks the image as used, so that the quota evicts others first. */
  touch(): void;
}

/** The location of a published file: the URL path of its copy below `/static`, or the absolute path of the original. */
type PublishedLocation = { readonly copy: string } | { readonly original: string };

interface ImageLinkDependencies {
  /** The folder of derived images. */
  readonly folder: string;
  /** Finds the image by the path below `/static`; returns `undefined` if the path is not an image link. */
  readonly findRoute: (path: string) => ImageLinkTarget | undefined;
  /** Publishes an unchanged file by the path below `/static`; returns `undefined` if the site has no such file. */
  readonly publish: (path: string) => Promise<PublishedLocation | undefined>;
  /** Counts an image that will be generated for a request; throws an AppError above the limit. */
  readonly countImage?: (request: Request, response: Response) => void;
}

/**
 * Serves image links below `/static`. The first GET of an image generates it. Then the image is served from its file,
 * with ranges, an ETag and unlimited caching. Errors of the generation are not cached. Requests for other published
 * files continue to the next handler.
 */
export function imageLinks({ folder, findRoute, publish, countImage }: ImageLinkDependencies): RequestHandler {
  const serveFile = express.static(folder, { index: false, redirect: false, setHeaders });
  const cache = createFileCache(folder, headersOf);

  /** Serves the file, or calls `onMissing` if it does not exist. */
  const serve = (request: Request, response: Response, next: NextFunction, onMissing: () => void): void => {
    serveFile(request, response, (error?: unknown) => {
      if (error === undefined) onMissing();
      else next(error);
    });
  };

  async function generate(route: ImageLinkTarget, request: Request, response: Response): Promise<void> {
    countImage?.(request, response);
    await route.generate();
  }

  function serveImage(route: ImageLinkTarget, request: Request, response: Response, next: NextFunction): void {
    request.url = `/${route.path}`;
    const missing = (): void => next(new Error(`The generated image ${route.path} does not exist.`));
    serve(request, response, next, () => {
      getRequestContext(response).imageFrom = 'generator';
      generate(route, request, response).then(() => serve(request, response, next, missing), next);
    });
  }

  return async (request, response, next) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const route = isRead ? findRoute(request.path) : undefined;
    if (route) {
      nameRequest(response, { operation: 'image', route: '/static/{image}' });
      response.setHeader('X-Content-Type-Options', 'nosniff');
      route.touch();
      const known = isPlain(request) ? cache.find(route.path) : undefined;
      getRequestContext(response).imageFrom = known ? 'memory' : 'disk';
      const file = known ?? (isPlain(request) ? await cache.read(route.path) : undefined);
      if (file) send(file, request, response);
      else serveImage(route, request, response, next);
      return;
    }
    nameRequest(response, { operation: 'file', route: '/static/{file}' });
    const published = isRead ? await publish(request.path) : undefined;
    if (published && 'original' in published) sendOriginal(published.original, response, next);
    else {
      request.url = published?.copy ?? request.url;
      next();
    }
  };
}

/** Sends a file that is too large to be copied. It may be edited in place, so caches have to revalidate it. */
function sendOriginal(file: string, response: Response, next: NextFunction): void {
  setPublishedHeaders(response, file);
  if (response.getHeader('Cache-Control') === IMMUTABLE) response.setHeader('Cache-Control', REVALIDATE);
  response.sendFile(file, { dotfiles: 'allow', cacheControl: false }, (error?: Error) => error && next(error));
}

/** Returns whether a request is for the whole file, without a range or condition. */
const isPlain = ({ headers }: Request): boolean =>
  headers.range === undefined &&
  headers['if-none-match'] === undefined &&
  headers['if-modified-since'] === undefined &&
  headers['if-match'] === undefined &&
  headers['if-unmodified-since'] === undefined;

function send({ bytes, headers }: CachedFile, { method }: Request, response: Response): void {
  setCaching(response);
  response.writeHead(200, headers);
  if (method === 'HEAD') response.end();
  else response.end(bytes);
}

/** Returns the headers that Express would set for the file, and those of all images. */
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

/** Sets the caching of a public site. An earlier header comes from the gate of a restricted site, and is stricter. */
function setCaching(response: ServerResponse): void {
  if (!response.hasHeader('Cache-Control')) response.setHeader('Cache-Control', IMMUTABLE);
}

/** A file is written again only after its deletion, so its name, size and time identify its content. */
function ownHeaders(file: string, { size, mtimeMs }: FileStats) {
  const name = basename(file).replace(/\..*$/u, '');
  return { ETag: `"${name}-${size.toString(36)}-${Math.round(mtimeMs).toString(36)}"` };
}

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
function setPublishedHeaders(response: ServerResponse, path: string): void {
  // An earlier header comes from the gate of a restricted site, and is stricter.
  if (!response.hasHeader('Cache-Control')) response.setHeader('Cache-Control', IMMUTABLE);
  response.setHeader('X-Content-Type-Options', 'nosniff');
  // The PDF viewers of browsers do not work in a sandbox, and run no scripts of the file on this origin.
  if (!path.toLowerCase().endsWith('.pdf')) response.setHeader('Content-Security-Policy', SANDBOX);
}

/** A file in memory with its response headers. */
interface CachedFile {
  readonly bytes: Buffer;
  readonly headers: OutgoingHttpHeaders;
}

interface FileStats {
  readonly size: number;
  readonly mtimeMs: number;
}

/** A cache of small files whose content never changes. */
interface MemoryFileCache {
  find(name: string): CachedFile | undefined;
  /** Reads a file into the cache; returns `undefined` if it does not exist or is too large for the cache. */
  read(name: string): Promise<CachedFile | undefined>;
}

/** Most images on pages are smaller. Sending a larger one takes much longer than reading it. */
const MAX_BYTES = 256 * 1024;

/** About a thousand images, which covers the popular pages of a site. */
const MAX_CACHED_BYTES = 64 * 1024 * 1024;

/** The approximate memory of an entry in addition to the bytes of the file. */
const OVERHEAD_BYTES = 1024;

function createFileCache(
  folder: string,
  headersOf: (name: string, stats: FileStats) => OutgoingHttpHeaders,
): MemoryFileCache {
  const cache = new LRUCache<string, CachedFile>({
    maxSize: MAX_CACHED_BYTES,
    sizeCalculation: ({ bytes }) => bytes.length + OVERHEAD_BYTES,
  });
  const pending = new Map<string, Promise<CachedFile | undefined>>();

  async function read(name: string): Promise<CachedFile | undefined> {
    const file = join(folder, name);
    try {
      const stats = await stat(file);
      if (stats.size > MAX_BYTES) return undefined;
      const cached = { bytes: await readFile(file), headers: headersOf(name, stats) };
      cache.set(name, cached);
      return cached;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  return {
    find: (name) => cache.get(name),
    read(name) {
      const started = pending.get(name) ?? read(name).finally(() => pending.delete(name));
      pending.set(name, started);
      return started;
    },
  };
}
