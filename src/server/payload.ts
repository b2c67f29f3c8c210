import { etagOf } from './etag.js';
import { createStringify } from './stringify.js';

/** Characters. */
const SHORT = 4_096;

/** An answer as it leaves. */
export class Payload {
  /** Short text leaves in one piece with the headers; what is longer is better made into bytes once. */
  readonly bytes: Buffer | string;
  #etag: string | undefined;

  constructor(content: Buffer | string) {
    this.bytes = typeof content === 'string' && content.length >= SHORT ? Buffer.from(content) : content;
  }

  /** Names the bytes; made when it is first asked for. */
  get etag(): string {
    return (this.#etag ??= etagOf(this.bytes));
  }
}

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
