import { createHash, hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, crc32, deflateRaw, gzip } from 'node:zlib';
import type { Response } from 'express';
import { LRUCache } from 'lru-cache';
import Negotiator from 'negotiator';

/** Node sends a shorter text in one write with the headers. */
const SHORT_CHARACTERS = 4_096;

/** The body of a response, with cached encodings. */
export class Payload {
  /** A string if short, so that it is sent in one write with the headers. Longer text is encoded once. */
  readonly bytes: Buffer | string;
  readonly #effort: CompressionEffort;
  #compressed: Map<ContentEncoding, Promise<Buffer>> | undefined;
  #etag: string | undefined;
  #segment: Promise<GzipSegment> | undefined;

  constructor(content: Buffer | string, effort: CompressionEffort = 'dynamic') {
    this.bytes = typeof content === 'string' && content.length >= SHORT_CHARACTERS ? Buffer.from(content) : content;
    this.#effort = effort;
  }

  /** The length in bytes. */
  get length(): number {
    return Buffer.byteLength(this.bytes);
  }

  /** The ETag of the uncompressed bytes, computed on first use. */
  get etag(): string {
    return (this.#etag ??= toEtag(this.bytes));
  }

  /** Returns the compressed body. Each encoding is compressed once. */
  compressed(encoding: ContentEncoding): Promise<Buffer> {
    this.#compressed ??= new Map();
    const compressed = this.#compressed.get(encoding) ?? compress(this.bytes, encoding, this.#effort);
    this.#compressed.set(encoding, compressed);
    return compressed;
  }

  /** The body as a segment of a gzip stream, compressed once for all streams. */
  get segment(): Promise<GzipSegment> {
    return (this.#segment ??= deflateSegment(toBuffer(this.bytes)));
  }
}

const toBuffer = (bytes: Buffer | string): Buffer => (typeof bytes === 'string' ? Buffer.from(bytes) : bytes);

export type ToPayload = (body: unknown) => Payload;

/**
 * Creates the function that serializes response bodies as JSON. The payload of a frozen body is cached as long as the
 * body exists, because freezing means that the same body will be sent again.
 */
export function createToPayload(): ToPayload {
  const stringify = createStringify();
  const cache = new WeakMap<object, Payload>();
  return (body) => {
    if (typeof body !== 'object' || body === null || !Object.isFrozen(body)) return new Payload(stringify(body));
    const payload = cache.get(body) ?? new Payload(stringify(body));
    cache.set(body, payload);
    return payload;
  };
}

type Stringify = (body: unknown) => string;

/**
 * Creates the function that serializes response bodies as JSON. The text of a frozen list directly below the top level
 * is cached as long as the list exists, because freezing means that the same list will be sent again.
 */
export function createStringify(): Stringify {
  const texts = new WeakMap<readonly unknown[], string>();
  const textOf = (list: readonly unknown[]): string => {
    const known = texts.get(list);
    if (known !== undefined) return known;
    const text = JSON.stringify(list);
    texts.set(list, text);
    return text;
  };

  return (body) => {
    if (!hasFrozenList(body)) return JSON.stringify(body);
    const parts: string[] = [];
    for (const [name, value] of Object.entries(body)) {
      // Like JSON.stringify(), skips values that JSON can't represent, such as undefined.
      const text = isFrozenList(value) ? textOf(value) : (JSON.stringify(value) as string | undefined);
      if (text !== undefined) parts.push(`${JSON.stringify(name)}:${text}`);
    }
    return `{${parts.join(',')}}`;
  };
}

function hasFrozenList(body: unknown): body is object {
  const isPlain = typeof body === 'object' && body !== null && !Array.isArray(body) && !('toJSON' in body);
  return isPlain && Object.values(body).some(isFrozenList);
}

const isFrozenList = (value: unknown): value is readonly unknown[] => Array.isArray(value) && Object.isFrozen(value);

interface SendOptions {
  /** Whether the body may be compressed; false for images and secrets (BREACH). */
  readonly isCompressible: boolean;
  /** Whether the response has an ETag, and conditional requests may get 304. */
  readonly isConditional: boolean;
}

/** Sends the body of a response whose status and other headers are set, in the encoding that the client prefers. */
export async function sendPayload(response: Response, payload: Payload, options: SendOptions): Promise<void> {
  const encoding = options.isCompressible ? negotiateFor(response, payload) : undefined;
  if (options.isConditional && matchesCondition(response, payload, encoding)) {
    response.removeHeader('Content-Type');
    response.status(304).end();
    return;
  }
  const bytes = encoding === undefined ? payload.bytes : await payload.compressed(encoding);
  if (encoding !== undefined) response.setHeader('Content-Encoding', encoding);
  response.setHeader('Content-Length', Buffer.byteLength(bytes));
  response.end(bytes);
}

function negotiateFor(response: Response, { length }: Payload): ContentEncoding | undefined {
  if (length < MIN_COMPRESSED_BYTES) return undefined;
  response.vary('Accept-Encoding');
  return chooseEncoding(response.req.headers['accept-encoding']);
}

/**
 * Sets the ETag unless the response has one, and returns whether the request matches it. A compressed response has a weak
 * ETag, because its bytes differ from those of the plain response; one that a handler has set stays as it is.
 * If-None-Match compares weakly, so a client that has either form gets 304.
 *
 * The comparison of Express does not suit: it always fails with `Cache-Control: no-cache`, which fetch adds to every
 * conditional request.
 */
function matchesCondition(response: Response, payload: Payload, encoding: ContentEncoding | undefined): boolean {
  const condition = response.req.headers['if-none-match'];
  const given = response.getHeader('ETag');
  if (given !== undefined) return matchesEtag(condition, String(given).replace(/^W\//, ''));
  const { etag } = payload;
  response.setHeader('ETag', encoding === undefined ? etag : `W/${etag}`);
  return matchesEtag(condition, etag);
}

/** Returns a strong ETag of a response body. */
export function toEtag(payload: Uint8Array | string): string {
  // 22 characters encode 128 bits, which rules out collisions.
  return `"${createHash('sha256').update(payload).digest('base64url').slice(0, 22)}"`;
}

/** Returns whether an `If-None-Match` header matches the ETag, by weak comparison (RFC 9110, 13.1.2). */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header
    .split(',')
    .some((candidate) => candidate.trim() === '*' || candidate.trim().replace(/^W\//, '') === etag);
}

/** The encodings of response bodies, which clients negotiate (RFC 9110, 8.4 and 12.5.3). */
export type ContentEncoding = 'br' | 'gzip';

/** The compression effort: fast for a response that is sent once, thorough for a file that never changes. */
type CompressionEffort = 'dynamic' | 'static';

/** A shorter response fits into one packet with its headers, so compression gains nothing. */
export const MIN_COMPRESSED_BYTES = 1_024;

/** In order of preference for clients that accept both equally: brotli compresses better. */
const ENCODINGS: readonly ContentEncoding[] = ['br', 'gzip'];

const GZIP_LEVEL = { dynamic: 6, static: 9 } as const;

/**
 * Level 4 is as fast as gzip 6, with output a fifth smaller. Level 11 would need 3 seconds of CPU for the largest
 * script, for output 8 % smaller than that of level 9, which needs 0.2 seconds.
 */
const BROTLI_QUALITY = { dynamic: 4, static: 9 } as const;

/** Browsers of one version send the same header. The bound limits the effect of clients that vary it. */
const known = new LRUCache<string, { readonly encoding: ContentEncoding | undefined }>({ max: 200 });

/** Longer headers are evaluated each time, so that the cache stays small. */
const MAX_CACHED_CHARACTERS = 256;

/**
 * Chooses the encoding that a client prefers by the q-values of its `Accept-Encoding`.
 *
 * @returns `undefined` for no encoding: without the header, if identity is preferred, or if no encoding is accepted.
 */
export function chooseEncoding(
  header: string | undefined,
  available: readonly ContentEncoding[] = ENCODINGS,
): ContentEncoding | undefined {
  if (header === undefined) return undefined;
  const key = `${available.length} ${header}`;
  const found = known.get(key);
  if (found !== undefined) return found.encoding;
  const encoding = negotiate(header, available);
  if (header.length <= MAX_CACHED_CHARACTERS) known.set(key, { encoding });
  return encoding;
}

/** The type definitions lack this option, which is documented since 1.0. */
interface PreferringNegotiator {
  encoding(available: readonly string[], options: { readonly preferred: readonly string[] }): string | undefined;
}

function negotiate(header: string, available: readonly ContentEncoding[]): ContentEncoding | undefined {
  const negotiator: PreferringNegotiator = new Negotiator({ headers: { 'accept-encoding': header } });
  const chosen = negotiator.encoding([...available, 'identity'], { preferred: available });
  return available.find((encoding) => encoding === chosen);
}

const gzipAsync = promisify(gzip);
const brotliAsync = promisify(brotliCompress);

/** Compresses in the thread pool, which keeps the event loop free. */
function compress(bytes: Buffer | string, encoding: ContentEncoding, effort: CompressionEffort): Promise<Buffer> {
  if (encoding === 'gzip') return gzipAsync(bytes, { level: GZIP_LEVEL[effort] });
  const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = constants;
  const params = {
    [BROTLI_PARAM_QUALITY]: BROTLI_QUALITY[effort],
    [BROTLI_PARAM_SIZE_HINT]: Buffer.byteLength(bytes),
  };
  return brotliAsync(bytes, { params });
}

/** Compressed bodies that are sent again, such as those of a page's queries: some hundred pages of a site. */
const MAX_REPEATED_BYTES = 16 * 1024 * 1024;

/** Compresses a body like {@link compress}, once for all equal bodies that are sent within a short time. */
type CompressRepeated = (body: string, encoding: ContentEncoding) => Promise<Buffer>;

/**
 * Creates a cache of compressed bodies. A digest takes a twentieth of the time of the compression. For bodies without
 * secrets only, because the time of the response reveals whether an equal body was sent before.
 */
export function createRepeatedCompression(): CompressRepeated {
  const sent = new LRUCache<string, Buffer>({ maxSize: MAX_REPEATED_BYTES, sizeCalculation: ({ length }) => length });
  return async (body, encoding) => {
    const key = `${encoding} ${hash('sha256', body, 'base64')}`;
    const known = sent.get(key);
    if (known !== undefined) return known;
    const bytes = await compress(body, encoding, 'dynamic');
    sent.set(key, bytes);
    return bytes;
  };
}

/** A segment of a stream in plain and compressed form. */
interface GzipSegment {
  readonly bytes: Buffer;
  readonly deflated: Buffer;
}

const deflateAsync = promisify(deflateRaw);

/** The level of other dynamic responses. */
const LEVEL = 6;

/** Compresses in the thread pool. */
async function deflateSegment(bytes: Buffer): Promise<GzipSegment> {
  const deflated = await deflateAsync(bytes, { level: LEVEL, finishFlush: constants.Z_FULL_FLUSH });
  return { bytes, deflated };
}

/** The method deflate, no flags, no time, unknown operating system. */
const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);

/** An empty block that is marked as the last one. */
const LAST_BLOCK = Buffer.from([3, 0]);

/** An empty stored block, as Z_FULL_FLUSH ends with. Decoders such as Go's, and so Caddy, hold data back until one. */
const FLUSH = Buffer.from([0, 0, 0, 0xff, 0xff]);

/** The length field of a stored block has 16 bits. */
const MAX_STORED_BYTES = 0xffff;

/**
 * A gzip stream (RFC 1952) of segments that are compressed once and sent to many clients.
 *
 * A separate compressor for each connection would use up to 256 KiB of memory, and compress the same board repeatedly.
 * Instead, each segment is raw deflate data (RFC 1951) that refers to no other segment and ends at a byte boundary, due
 * to Z_FULL_FLUSH. So segments can be joined in any order, and clients can decode each one on arrival. A connection
 * stores only the checksum and the length of the data that it has sent.
 */
export class GzipStream {
  readonly header = HEADER;
  #crc = 0;
  #length = 0;

  /** Adds a short text uncompressed, because compression would make it longer. */
  text(text: string): Buffer {
    const bytes = Buffer.from(text);
    if (bytes.length > MAX_STORED_BYTES) throw new RangeError(`Expected at most ${MAX_STORED_BYTES} bytes of text.`);
    this.#count(bytes);
    const head = Buffer.alloc(5);
    head.writeUInt16LE(bytes.length, 1);
    head.writeUInt16LE(bytes.length ^ MAX_STORED_BYTES, 3);
    return Buffer.concat([head, bytes, FLUSH]);
  }

  segment({ bytes, deflated }: GzipSegment): Buffer {
    this.#count(bytes);
    return deflated;
  }

  /** Returns the final bytes of the stream. */
  end(): Buffer {
    const trailer = Buffer.alloc(8);
    trailer.writeUInt32LE(this.#crc, 0);
    trailer.writeUInt32LE(this.#length, 4);
    return Buffer.concat([LAST_BLOCK, trailer]);
  }

  #count(bytes: Buffer): void {
    this.#crc = crc32(bytes, this.#crc);
    this.#length = (this.#length + bytes.length) % 2 ** 32;
  }
}
