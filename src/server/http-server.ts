import { randomUUID } from 'node:crypto';
import { createServer, STATUS_CODES } from 'node:http';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ErrorCode } from '../errors.js';
import type { ErrorBody } from './errors.js';
import { closeLingering, isLingering, withLingeringClose } from './lingering-close.js';
import type { LingerLimits } from './lingering-close.js';
import type { Log } from './log.js';
import { useTargetAuthority } from './target.js';

/** The limits of one connection, and of all together. Tests shorten the times. */
export interface ConnectionLimits extends LingerLimits {
  /** From the first byte of a request, or the start of the connection, to the end of the headers. */
  readonly headersMs: number;
  /** From the same moment to the end of the body. */
  readonly requestMs: number;
  /** How often these two are checked; Node's default of 30 seconds would let a 10 second limit last for 40. */
  readonly checkMs: number;
  /** How long a connection may be idle between two requests. */
  readonly keepAliveMs: number;
  readonly connections: number;
}

const LIMITS: ConnectionLimits = {
  headersMs: 10_000,
  requestMs: 30_000,
  checkMs: 1_000,
  // Longer than the 60 seconds after which nginx and AWS load balancers close an idle connection. If the server closed
  // first, a proxy could send a request into a connection that is being closed, and would answer 502.
  keepAliveMs: 65_000,
  // Each may hold 64 KiB of headers, so 256 MiB at worst. Leaves file descriptors for databases, files and forges, of
  // which most systems allow a process many times as many.
  connections: 4_096,
  // More than the buffers of two kernels and a client hold, so a client that reads while it sends has the response by then.
  lingerBytes: 8 * 1024 * 1024,
  // As nginx has it (lingering_timeout, lingering_time).
  lingerIdleMs: 5_000,
  lingerMs: 30_000,
};

/** Room for the longest URL that we take and every header that clients have a use for. */
const MAX_HEADER_BYTES = 65_536;

/** Twice the default of Apache and Tomcat. Node drops the headers after the 2,000th without a word. */
const MAX_HEADERS = 200;

/** Dropped connections are logged at most this often. */
const DROP_LOG_MS = 60_000;

export interface HttpServerOptions {
  readonly log: Log;
  readonly limits?: Partial<ConnectionLimits>;
}

/** An HTTP server whose refusals carry the contract's error body even where no request could be read. */
export function createHttpServer(listener: RequestListener, { log, ...options }: HttpServerOptions): Server {
  const limits = { ...LIMITS, ...options.limits };
  const handle = withLingeringClose(acceptHead(listener, log), limits);
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      connectionsCheckingInterval: limits.checkMs,
      keepAliveTimeout: limits.keepAliveMs,
      // Answered by requestBounds(), with a body.
      requireHostHeader: false,
    },
    handle,
  );
  // One more is stored, so that the excess is noticed.
  server.maxHeadersCount = MAX_HEADERS + 1;
  server.maxConnections = limits.connections;
  server.on('drop', createDropLog(log, limits));
  const refuse = (socket: Socket, refusal: Refusal): void => {
    socket.write(toText(refusal, log));
    closeLingering(socket, limits);
  };
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET') socket.destroy();
    else if (isLingering(socket)) return;
    else if (!socket.writable) socket.destroy();
    else refuse(socket, toRefusal(error, limits));
  });
  server.on('connect', (_request, socket: Socket) => refuse(socket, NO_PROXY));
  // Expectations other than 100-continue are left unmet, which their sender must be ready for.
  server.on('checkExpectation', handle);
  return server;
}

/** Refuses a head with too many headers, and gives all that follows the effective authority as Host. */
function acceptHead(listener: RequestListener, log: Log): RequestListener {
  return (request, response) => {
    if (countHeaders(request) > MAX_HEADERS) {
      respond(response, TOO_MANY_HEADERS, log);
      return;
    }
    useTargetAuthority(request);
    listener(request, response);
  };
}

/** Names and values take turns. */
const countHeaders = ({ rawHeaders }: IncomingMessage): number => rawHeaders.length / 2;

/** Says that connections were dropped, but not of each. */
function createDropLog(log: Log, { connections }: ConnectionLimits): () => void {
  let silentUntil = 0;
  return () => {
    if (performance.now() < silentUntil) return;
    silentUntil = performance.now() + DROP_LOG_MS;
    log.warn({ connections }, 'connection dropped: too many are open');
  };
}

interface Refusal {
  readonly status: number;
  readonly code: ErrorCode;
  readonly error: string;
}

const NO_PROXY: Refusal = { status: 405, code: 'method_not_allowed', error: 'Expected another method than CONNECT.' };

const TOO_MANY_HEADERS: Refusal = {
  status: 431,
  code: 'too_large',
  error: `Expected at most ${MAX_HEADERS} headers; received more.`,
};

function toRefusal({ code }: NodeJS.ErrnoException, { requestMs }: ConnectionLimits): Refusal {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return {
        status: 431,
        code: 'too_large',
        error: `Expected headers of at most ${MAX_HEADER_BYTES} bytes; received more.`,
      };
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return {
        status: 408,
        code: 'invalid_input',
        error: `The request did not arrive within ${requestMs / 1000} seconds.`,
      };
    default:
      return { status: 400, code: 'invalid_input', error: 'Expected an HTTP/1.1 request; could not read it.' };
  }
}

function respond(response: ServerResponse, refusal: Refusal, log: Log): void {
  const { headers, body } = toResponse(refusal, log);
  response.writeHead(refusal.status, headers).end(body);
}

/** A response as text, for a connection on which no request could be parsed. */
function toText(refusal: Refusal, log: Log): string {
  const { headers, body } = toResponse(refusal, log);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status] ?? ''}\r\n${lines.join('')}\r\n${body}`;
}

function toResponse({ status, code, error }: Refusal, log: Log) {
  const requestId = randomUUID();
  const body = JSON.stringify({ error, code, requestId } satisfies ErrorBody);
  log.info({ requestId, status });
  const headers = {
    Connection: 'close',
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'X-Request-Id': requestId,
  };
  return { headers, body };
}
