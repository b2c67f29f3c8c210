import { compress } from './content-encoding.js';
import type { ContentEncoding, CompressionEffort } from './content-encoding.js';
import { toEtag } from './etag.js';
import { deflateSegment } from './gzip-stream.js';
import type { GzipSegment } from './gzip-stream.js';
import { createStringify } from './stringify.js';

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
