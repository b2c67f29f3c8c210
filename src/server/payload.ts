import { compress } from './content-encoding.js';
import type { ContentEncoding, Effort } from './content-encoding.js';
import { etagOf } from './etag.js';
import { deflateSegment } from './gzip-stream.js';
import type { GzipSegment } from './gzip-stream.js';
import { createStringify } from './stringify.js';

/** Characters. */
const SHORT = 4_096;

/** An answer as it leaves. */
export class Payload {
  /** Short text leaves in one piece with the headers; what is longer is better made into bytes once. */
  readonly bytes: Buffer | string;
  readonly #effort: Effort;
  #compressed: Map<ContentEncoding, Promise<Buffer>> | undefined;
  #etag: string | undefined;
  #segment: Promise<GzipSegment> | undefined;

  constructor(content: Buffer | string, effort: Effort = 'dynamic') {
    this.bytes = typeof content === 'string' && content.length >= SHORT ? Buffer.from(content) : content;
    this.#effort = effort;
  }

  /** In bytes. */
  get length(): number {
    return Buffer.byteLength(this.bytes);
  }

  /** Names the bytes; made when it is first asked for. */
  get etag(): string {
    return (this.#etag ??= etagOf(this.bytes));
  }

  /** The same in an encoding; made once for all who ask. */
  compressed(encoding: ContentEncoding): Promise<Buffer> {
    this.#compressed ??= new Map();
    const made = this.#compressed.get(encoding) ?? compress(this.bytes, encoding, this.#effort);
    this.#compressed.set(encoding, made);
    return made;
  }

  /** The same as a part of a stream in gzip; made once for all streams. */
  get segment(): Promise<GzipSegment> {
    return (this.#segment ??= deflateSegment(toBuffer(this.bytes)));
  }
}

const toBuffer = (bytes: Buffer | string): Buffer => (typeof bytes === 'string' ? Buffer.from(bytes) : bytes);

export type ToPayload = (body: unknown) => Payload;

/**
 * Makes the function that turns answers into JSON. What it made of a body that
 * is frozen is kept for as long as that is: whoever freezes it means to send it
 * again, as it is.
 */
export function createToPayload(): ToPayload {
  const stringify = createStringify();
  const made = new WeakMap<object, Payload>();
  return (body) => {
    if (typeof body !== 'object' || body === null || !Object.isFrozen(body)) return new Payload(stringify(body));
    const payload = made.get(body) ?? new Payload(stringify(body));
    made.set(body, payload);
    return payload;
  };
}
