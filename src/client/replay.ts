import { newIdempotencyKey } from './idempotency-key.js';

const SAFE_METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];

/**
 * Reads a request's body once, and gives what makes an equal request for each
 * try. One that may change something gets an `Idempotency-Key` unless it has one,
 * the same in all tries.
 */
export async function toReplayable(request: Request): Promise<(signal: AbortSignal) => Request> {
  const headers = new Headers(request.headers);
  if (!SAFE_METHODS.includes(request.method) && !headers.has('Idempotency-Key')) {
    headers.set('Idempotency-Key', newIdempotencyKey());
  }
  const bytes = await request.arrayBuffer();
  // Only a body that was there has been used; `request.body` is missing in Firefox.
  const body = request.bodyUsed ? bytes : undefined;
  return (signal) => new Request(request, { headers, body, signal });
}
