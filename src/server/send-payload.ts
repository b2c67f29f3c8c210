import type { Response } from 'express';
import { chooseEncoding, MIN_COMPRESSED_BYTES } from './content-encoding.js';
import type { ContentEncoding } from './content-encoding.js';
import { matchesEtag } from './etag.js';
import type { Payload } from './payload.js';

export interface SendOptions {
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
