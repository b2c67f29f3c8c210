import { createIdempotencyKey } from './idempotency-key.js';

const SAFE_METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];

/**
 * Buffers the body of a request, and returns a function that creates an equal request for each attempt. Requests with
 * an unsafe method get an `Idempotency-Key` unless they have one. It is the same in all attempts.
 */
export async function toRepeatableRequest(request: Request): Promise<(signal: AbortSignal) => Request> {
  const headers = new Headers(request.headers);
  if (!SAFE_METHODS.includes(request.method) && !headers.has('Idempotency-Key')) {
    headers.set('Idempotency-Key', createIdempotencyKey());
  }
  const bytes = await request.arrayBuffer();
  // `bodyUsed` is true only if the request has a body. Firefox doesn't support `request.body`.
  const body = request.bodyUsed ? bytes : undefined;
  return (signal) => new Request(request, { headers, body, signal });
}
