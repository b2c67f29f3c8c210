/**
 * Buffers the body, so that a connection that is lost in the middle fails this attempt. The status of an error response
 * matters more than its body, so an error response with a lost body is returned with an empty one.
 */
export async function bufferBody(response: Response, { method, signal }: Request): Promise<Response> {
  // Opaque responses of browsers can't be copied.
  if (response.status === 0) return response;
  const bytes = await readBytes(response, method).catch((error: unknown) => {
    if (response.ok || signal.aborted) throw error;
    return new ArrayBuffer(0);
  });
  const copy = new Response(bytes.byteLength === 0 ? null : bytes, response);
  // The `Response` constructor can't set these properties.
  return Object.defineProperties(copy, {
    url: { value: response.url },
    redirected: { value: response.redirected },
  });
}

async function readBytes(response: Response, method: string): Promise<ArrayBuffer> {
  const bytes = await response.arrayBuffer();
  if ('Bun' in globalThis && method !== 'HEAD') assertComplete(response.headers, bytes.byteLength);
  return bytes;
}

/**
 * Bun 1.1 treats a lost connection as the end of the body. Other runtimes detect it, and may hide `Content-Encoding`.
 */
function assertComplete(headers: Headers, received: number): void {
  const announced = headers.get('Content-Length');
  if (announced === null || headers.has('Content-Encoding') || Number(announced) === received) return;
  throw new TypeError(`Connection lost after ${received} of ${announced} bytes.`);
}

/** Cancels the body of a response that won't be read, to free its connection. */
export async function cancelBody(response: Response): Promise<Response> {
  try {
    await response.body?.cancel();
  } catch {
    // The body has ended, or can't be cancelled, as in Bun 1.1. It isn't needed in either case.
  }
  return response;
}
