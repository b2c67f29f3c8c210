import type { RequestListener, ServerResponse } from 'node:http';
import { randomUUID } from 'node:crypto';
import type { ErrorBody } from './errors.js';

/** Long enough to open the databases. */
const RETRY_AFTER_SECONDS = 5;

/** Stands where an app will be, so that a port is taken before the work of making one. */
export interface Entrance {
  readonly listener: RequestListener;
  /** Lets requests in; until then each is answered `unavailable`. */
  open(inside: RequestListener): void;
}

export function createEntrance(): Entrance {
  let enter: RequestListener = (_request, response) => refuse(response);
  return {
    listener: (request, response) => enter(request, response),
    open(inside) {
      enter = inside;
    },
  };
}

function refuse(response: ServerResponse): void {
  const requestId = randomUUID();
  const error = 'The server is starting. Try again in a moment.';
  const body = JSON.stringify({ error, code: 'unavailable', requestId } satisfies ErrorBody);
  response.writeHead(503, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'Retry-After': RETRY_AFTER_SECONDS,
    'Cache-Control': 'no-store',
    'X-Request-Id': requestId,
  });
  response.end(body);
}
