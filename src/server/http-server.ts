import { randomUUID } from 'node:crypto';
import { createServer, STATUS_CODES } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorCode } from '../errors.js';
import type { ErrorBody } from './errors.js';
import type { Log } from './log.js';

/** Room for the longest URL that we take and every header that clients have a use for. */
const MAX_HEADER_BYTES = 65_536;

/** A peer that dribbles its headers, or its body, holds a connection no longer than this. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;

/** An HTTP server whose refusals carry the contract's error body even where no request could be read. */
export function createHttpServer(listener: RequestListener, { log }: { readonly log: Log }): Server {
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      // Answered by requestBounds(), with a body.
      requireHostHeader: false,
    },
    listener,
  );
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    else refuse(socket, CLIENT_ERRORS[error.code ?? ''] ?? UNREADABLE, log);
  });
  server.on('connect', (_request, socket) => refuse(socket, NO_PROXY, log));
  // Expectations other than 100-continue are left unmet, which their sender must be ready for.
  server.on('checkExpectation', listener);
  return server;
}

interface Refusal {
  readonly status: number;
  readonly code: ErrorCode;
  readonly error: string;
}

const UNREADABLE: Refusal = {
  status: 400,
  code: 'invalid_input',
  error: 'Expected an HTTP/1.1 request; could not read it.',
};

const NO_PROXY: Refusal = { status: 405, code: 'method_not_allowed', error: 'Expected another method than CONNECT.' };

const CLIENT_ERRORS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    code: 'too_large',
    error: `Expected headers of at most ${MAX_HEADER_BYTES} bytes; received more.`,
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    code: 'invalid_input',
    error: `Expected the whole request within ${REQUEST_TIMEOUT_MS / 1000} seconds; it did not come.`,
  },
};

function refuse(socket: Duplex, { status, code, error }: Refusal, log: Log): void {
  const requestId = randomUUID();
  const body = JSON.stringify({ error, code, requestId } satisfies ErrorBody);
  log.info({ requestId, status });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Connection: close',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
