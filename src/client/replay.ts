import { newIdempotencyKey } from './idempotency-key.js';

/**
 * Reads a request's body once, and gives what makes an equal request for each
 * try. A POST without an `Idempotency-Key` gets one, the same in all tries.
 */
export async function toReplayable(request: Request): Promise<(signal: AbortSignal) => Request> {
  const headers = new Headers(request.headers);
  if (request.method === 'POST' && !headers.has('Idempotency-Key')) {
    headers.set('Idempotency-Key', newIdempotencyKey());
  }
  const bytes = await request.arrayBuffer();
  // Only a body that was there has been used; `request.body` is missing in Firefox.
  const body = request.bodyUsed ? bytes : undefined;
  return (signal) => new Request(request, { headers, body, signal });
}
