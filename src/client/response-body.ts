/**
 * Reads the whole body now, so that a connection lost on the way counts as
 * this attempt's failure. Of a refusal the status is worth more than the
 * text: one whose body is lost comes back with an empty one.
 */
export async function readWhole(response: Response, signal: AbortSignal): Promise<Response> {
  // No body to read: also the opaque responses of a browser, which can't be copied.
  if (response.body === null) return response;
  const bytes = await response.arrayBuffer().catch((failure: unknown) => {
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

/** Frees the connection of a response that nobody will read. */
export async function discard(response: Response): Promise<Response> {
  await response.body?.cancel().catch(() => undefined);
  return response;
}
