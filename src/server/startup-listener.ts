import type { RequestListener, ServerResponse } from 'node:http';
import { randomUUID } from 'node:crypto';
import type { ErrorBody } from './errors.js';

/** Long enough to open the databases. */
const RETRY_AFTER_SECONDS = 5;

/** A listener that can be used before the app exists, so that a port in use is reported before the startup work. */
export interface StartupListener {
  readonly listener: RequestListener;
  /** Passes all further requests to the app. Until then the response to each is `unavailable`. */
  open(app: RequestListener): void;
}

export function createStartupListener(): StartupListener {
  let current: RequestListener = (_request, response) => respondUnavailable(response);
  return {
    listener: (request, response) => current(request, response),
    open(app) {
      current = app;
    },
  };
}

function respondUnavailable(response: ServerResponse): void {
  const requestId = randomUUID();
  const error = 'The server is starting. Retry shortly.';
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
