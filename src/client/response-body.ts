/**
 * Reads the whole body now, so that a connection lost on the way counts as
 * this attempt's failure. Of a refusal the status is worth more than the
 * text: one whose body is lost comes back with an empty one.
 */
export async function readWhole(response: Response, { method, signal }: Request): Promise<Response> {
  // A browser's opaque response can't be copied.
  if (response.status === 0) return response;
  const bytes = await readBytes(response, method).catch((failure: unknown) => {
    if (response.ok || signal.aborted) throw failure;
    return new ArrayBuffer(0);
  });
  const copy = new Response(bytes.byteLength === 0 ? null : bytes, response);
  // A constructed response has no address of its own.
  return Object.defineProperties(copy, {
    url: { value: response.url },
    redirected: { value: response.redirected },
  });
}

async function readBytes(response: Response, method: string): Promise<ArrayBuffer> {
  const bytes = await response.arrayBuffer();
  if ('Bun' in globalThis && method !== 'HEAD') requireAll(response.headers, bytes.byteLength);
  return bytes;
}

/** Bun 1.1 takes a connection that is lost for the end of the body. Other runtimes see it, and may hide the encoding. */
function requireAll(headers: Headers, received: number): void {
  const announced = headers.get('Content-Length');
  if (announced === null || headers.has('Content-Encoding') || Number(announced) === received) return;
  throw new TypeError(`Expected ${announced} bytes; the connection was lost after ${received}.`);
}

/** Frees the connection of a response that nobody will read. */
export async function discard(response: Response): Promise<Response> {
  try {
    await response.body?.cancel();
  } catch {
    // It is gone already, or can't be cancelled, as in Bun 1.1: nobody reads it either way.
  }
  return response;
}
