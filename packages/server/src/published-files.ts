import type { ReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { singleFlight } from '@trellis/core/concurrency';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { LRUCache } from 'lru-cache';
import mime from 'mime';
import { getRequestContext, nameRequest } from './http/request.js';
import { IMMUTABLE, REVALIDATE } from './http/responses.js';

/** The file of an image. */
interface ImageFile {
  readonly absolutePath: string;
  readonly bytes: number;
  /** The digest of the content, which is the ETag. */
  readonly digest: string;
}

/** The target of an image link, generated or not. */
interface ImageLinkTarget {
  /** Identifies the image. */
  readonly path: string;
  /** Returns the file; `undefined` if it is missing or damaged. */
  find(): Promise<ImageFile | undefined>;
  /** Generates the image; resolves when its file is complete. */
  generate(): Promise<ImageFile>;
  /** Marks the image as used, so that the quota evicts others first. */
  touch(): void;
}

interface ImageLinkDependencies {
  /** Finds the image by the path below `/static`; returns `undefined` if the path is not an image link. */
  readonly findRoute: (path: string) => ImageLinkTarget | undefined;
  /** Counts an image that will be generated for a request; throws an AppError above the limit. */
  readonly countImage?: (request: Request, response: Response) => void;
}

/**
 * Serves image links below `/static`. The first GET of an image generates it. Then the image is served from its file,
 * with ranges, an ETag and unlimited caching. Errors of the generation are not cached. Other requests continue to the
 * next handler.
 */
export function imageLinks({ findRoute, countImage }: ImageLinkDependencies): RequestHandler {
  const cache = createFileCache();

  /** Sends the file of an image, and generates it first if necessary. */
  async function serveImage(route: ImageLinkTarget, request: Request, response: Response): Promise<void> {
    const existing = await route.find();
    if (!existing) countImage?.(request, response);
    getRequestContext(response).imageFrom = existing ? 'disk' : 'generator';
    const file = existing ?? (await route.generate());
    const cached = isPlain(request) ? await cache.read(route.path, file) : undefined;
    if (cached) send(cached, request, response);
    else await sendFile(file.absolutePath, response, headersOf(file));
  }

  return async (request, response, next) => {
    const route = isRead(request) ? findRoute(request.path) : undefined;
    if (!route) {
      next();
      return;
    }
    nameRequest(response, { operation: 'image', route: '/static/{image}' });
    response.setHeader('X-Content-Type-Options', 'nosniff');
    route.touch();
    const cached = isPlain(request) ? cache.find(route.path) : undefined;
    if (cached) {
      getRequestContext(response).imageFrom = 'memory';
      send(cached, request, response);
    } else await serveImage(route, request, response).catch(retryIfEvicted(() => serveImage(route, request, response)));
  };
}

/** A file that a site publishes under a digest of its content. */
interface PublishedFile {
  readonly absolutePath: string;
  readonly contentDigest: string;
  /** False for a file that may be edited while it is served, so that caches have to revalidate it. */
  readonly isCopy: boolean;
}

/**
 * Serves published files below `/static` with ranges, an ETag and, for copies, unlimited caching.
 *
 * @param publish Publishes an unchanged file by the path below `/static`; returns `undefined` if the site has none.
 */
export function publishedFiles(publish: (path: string) => Promise<PublishedFile | undefined>): RequestHandler {
  async function serve(request: Request, response: Response, next: NextFunction): Promise<void> {
    const file = isRead(request) ? await publish(request.path) : undefined;
    if (!file) {
      next();
      return;
    }
    const { absolutePath, contentDigest, isCopy } = file;
    if (!isCopy) response.setHeader('Cache-Control', REVALIDATE);
    const headers = { ...publishedHeaders(absolutePath), ETag: `"${contentDigest}"` };
    await sendFile(absolutePath, response, headers);
  }
  return (request, response, next) =>
    serve(request, response, next).catch(retryIfEvicted(() => serve(request, response, next)));
}

const isRead = ({ method }: Request): boolean => method === 'GET' || method === 'HEAD';

/** Returns whether a request is for the whole file, without a range or condition. */
const isPlain = ({ headers }: Request): boolean =>
  headers.range === undefined &&
  headers['if-none-match'] === undefined &&
  headers['if-modified-since'] === undefined &&
  headers['if-match'] === undefined &&
  headers['if-unmodified-since'] === undefined;

function send({ bytes, headers }: CachedFile, { method }: Request, response: Response): void {
  setHeaders(response, headers);
  response.writeHead(200);
  if (method === 'HEAD') response.end();
  else response.end(bytes);
}

/** Sends a file with the ranges and conditions of the request. Times are not sent, as they differ between servers. */
async function sendFile(absolutePath: string, response: Response, headers: Headers): Promise<void> {
  const options = { dotfiles: 'allow', cacheControl: false, etag: false, lastModified: false } as const;
  setHeaders(response, headers);
  await adaptConditions(response.req.headers, absolutePath);
  response.once('pipe', (file: ReadStream) => closeIfShortened(file, response));
  await new Promise<void>((resolve, reject) => {
    response.sendFile(absolutePath, options, (error?: NodeJS.ErrnoException) => {
      // The client closed the connection.
      if (!error || error.code === 'ECONNABORTED' || error.syscall === 'write') resolve();
      else reject(error);
    });
  });
}

/** Closes the connection if the file ends early, as it was shortened: the client would wait for the announced rest. */
function closeIfShortened(file: ReadStream, response: Response): void {
  file.prependOnceListener('end', () => {
    if (file.bytesRead < Number(response.getHeader('Content-Length'))) response.destroy();
  });
}

/**
 * Rewrites the conditions and the range of a request as Express understands them (RFC 9110, 13.1 and 14.1.2): those by
 * time are ignored, as no time is sent; `Cache-Control: no-cache`, which fetch adds to every conditional request, has no
 * effect; a suffix that is longer than the file stands for the whole file; a weak ETag in If-Range never matches.
 */
async function adaptConditions(headers: IncomingHttpHeaders, absolutePath: string): Promise<void> {
  delete headers['if-unmodified-since'];
  delete headers['cache-control'];
  const { range = '', 'if-range': validator = '' } = headers;
  if (String(validator).startsWith('W/')) {
    delete headers.range;
    return;
  }
  const suffix = Number(/^bytes=-(\d+)$/.exec(range)?.[1] ?? 0);
  // A file that is missing is reported when it is sent.
  const found = suffix === 0 ? undefined : await stat(absolutePath).catch(() => undefined);
  if (found !== undefined && suffix > found.size) headers.range = 'bytes=0-';
}

/** Repeats a response once if the quota evicted the file between finding and sending it. */
const retryIfEvicted =
  (again: () => Promise<void>) =>
  async (error: unknown): Promise<void> => {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'ENOENT') throw error;
    await again();
  };

/** An earlier Cache-Control is stricter, such as that of the gate of a restricted site. */
function setHeaders(response: ServerResponse, headers: Headers): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (!response.hasHeader('Cache-Control')) response.setHeader('Cache-Control', IMMUTABLE);
}

type Headers = Readonly<Record<string, string | number>>;

const headersOf = ({ digest }: ImageFile): Headers => ({ ETag: `"${digest}"` });

/** Published HTML and SVG files are untrusted content, so they must not run scripts on this origin. */
const SANDBOX = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox";

/** Their viewers and players do not work in a sandbox, and run no scripts of the file on this origin. */
const VIEWED = /^(?:application\/pdf$|audio\/|video\/)/;

const publishedHeaders = (path: string): Headers => ({
  'X-Content-Type-Options': 'nosniff',
  ...(!VIEWED.test(mime.getType(path) ?? '') && { 'Content-Security-Policy': SANDBOX }),
});

/** A file in memory with its response headers. */
interface CachedFile {
  readonly bytes: Buffer;
  readonly headers: Headers;
}

/** A cache of small files whose content never changes. */
interface MemoryFileCache {
  find(name: string): CachedFile | undefined;
  /** Reads a file into the cache; returns `undefined` if it is too large for the cache. */
  read(name: string, file: ImageFile): Promise<CachedFile | undefined>;
}

/** Most images on pages are smaller. Sending a larger one takes much longer than reading it. */
const MAX_BYTES = 256 * 1024;

/** About a thousand images, which covers the popular pages of a site. */
const MAX_CACHED_BYTES = 64 * 1024 * 1024;

/** The approximate memory of an entry in addition to the bytes of the file. */
const OVERHEAD_BYTES = 1024;

function createFileCache(): MemoryFileCache {
  const cache = new LRUCache<string, CachedFile>({
    maxSize: MAX_CACHED_BYTES,
    sizeCalculation: ({ bytes }) => bytes.length + OVERHEAD_BYTES,
  });
  const once = singleFlight<CachedFile>();

  async function read(name: string, file: ImageFile): Promise<CachedFile> {
    const cached = { bytes: await readFile(file.absolutePath), headers: allHeadersOf(file) };
    cache.set(name, cached);
    return cached;
  }

  return {
    find: (name) => cache.get(name),
    read: async (name, file) => (file.bytes > MAX_BYTES ? undefined : once(name, () => read(name, file))),
  };
}

/** Returns the headers that Express would set for the file, and those of all images. */
const allHeadersOf = (file: ImageFile): Headers => ({
  'Accept-Ranges': 'bytes',
  'Content-Type': mime.getType(file.absolutePath) ?? 'application/octet-stream',
  'Content-Length': file.bytes,
  ...headersOf(file),
});
