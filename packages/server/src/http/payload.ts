import { createHash } from 'node:crypto';
import type { Response } from 'express';
import {
  chooseEncoding,
  compress,
  type CompressionEffort,
  type ContentEncoding,
  deflateSegment,
  type GzipSegment,
  MIN_COMPRESSED_BYTES,
} from './compression.js';

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
  const encoding = options.isCompressible ? negotiate(response, payload) : undefined;
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

function negotiate(response: Response, { length }: Payload): ContentEncoding | undefined {
  if (length < MIN_COMPRESSED_BYTES) return undefined;
  response.vary('Accept-Encoding');
  return chooseEncoding(response.req.headers['accept-encoding']);
}

/**
 * Sets the ETag, and returns whether the request matches it. A compressed response has a weak ETag, because its bytes
 * differ from those of the plain response. If-None-Match compares weakly, so a client that has either form gets 304.
 *
 * The comparison of Express does not suit: it always fails with `Cache-Control: no-cache`, which fetch adds to every
 * conditional request.
 */
function matchesCondition(response: Response, { etag }: Payload, encoding: ContentEncoding | undefined): boolean {
  response.setHeader('ETag', encoding === undefined ? etag : `W/${etag}`);
  return matchesEtag(response.req.headers['if-none-match'], etag);
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
