import { randomUUID } from 'node:crypto';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { Socket } from 'node:net';
import type { ErrorCode } from '@trellis/core/errors';
import { hasBody, type Log, useTargetAuthority } from './request.js';
import type { ErrorBody } from './responses.js';

/** The limits of one connection, and of the number of connections. Tests shorten the times. */
export interface ConnectionLimits extends LingerLimits {
  /** The time from the first byte of a request, or the start of the connection, to the end of the headers. */
  readonly headersMs: number;
  /** The time from the same moment to the end of the body. */
  readonly requestMs: number;
  /** The interval at which both are checked. With Node's default of 30 s, a limit of 10 s could last for 40 s. */
  readonly checkMs: number;
  /** The time for which a connection may be idle between two requests. */
  readonly keepAliveMs: number;
  /** The time for which a client may read nothing of its response. */
  readonly stalledMs: number;
  readonly connections: number;
}

const LIMITS: ConnectionLimits = {
  headersMs: 10_000,
  requestMs: 30_000,
  checkMs: 1_000,
  // Longer than the 60 seconds after which nginx and AWS load balancers close an idle connection. If the server closed
  // first, a proxy could send a request on a connection that is being closed, and would respond with 502.
  keepAliveMs: 65_000,
  // The default of nginx (send_timeout).
  stalledMs: 60_000,
  // Each may need 64 KiB for headers, 256 MiB in total. Most systems allow a process many times as many file
  // descriptors, so enough remain for databases, files and forges.
  connections: 4_096,
  // More than the buffers of both kernels and the client together, so a client that reads while it sends has received
  // the response by then.
  lingerBytes: 8 * 1024 * 1024,
  // The defaults of nginx (lingering_timeout, lingering_time).
  lingerIdleMs: 5_000,
  lingerMs: 30_000,
};

/** Enough for the longest allowed URL and all headers that clients commonly send. */
const MAX_HEADER_BYTES = 65_536;

/** Twice the default of Apache and Tomcat. Without this limit, Node silently drops headers after the 2,000th. */
const MAX_HEADERS = 200;

/** Dropped connections are logged at most once in this time. */
const DROP_LOG_MS = 60_000;

interface HttpServerOptions {
  readonly log: Log;
  readonly limits?: Partial<ConnectionLimits>;
  /** The number of processes that listen on the same port and share the limit of connections. */
  readonly processes?: number;
}

/** Creates an HTTP server whose error responses have the body of the contracts, even if a request can't be parsed. */
export function createHttpServer(
  listener: RequestListener,
  { log, processes = 1, ...options }: HttpServerOptions,
): Server {
  const limits = { ...LIMITS, ...options.limits };
  const handle = withLingeringClose(acceptHead(listener, log), limits);
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      connectionsCheckingInterval: limits.checkMs,
      keepAliveTimeout: limits.keepAliveMs,
      // requestBounds() checks this, with an error body.
      requireHostHeader: false,
    },
    handle,
  );
  server.setTimeout(limits.stalledMs, (socket) => closeStalled(socket, limits));
  // Node keeps one header more than allowed, so that acceptHead() detects the excess.
  server.maxHeadersCount = MAX_HEADERS + 1;
  const connections = Math.ceil(limits.connections / processes);
  if (processes === 1) server.maxConnections = connections;
  else dropConnections(server, connections);
  server.on('drop', createDropLog(log, { connections }));
  const reject = (socket: Socket, rejection: Rejection): void => {
    socket.write(toText(rejection, log));
    closeLingering(socket, limits);
  };
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET') socket.destroy();
    else if (isLingering(socket)) return;
    else if (!socket.writable) socket.destroy();
    else reject(socket, toRejection(error, limits));
  });
  server.on('connect', (_request, socket: Socket) => reject(socket, NO_PROXY));
  // Expectations other than 100-continue are ignored, which RFC 9110, 10.1.1, permits.
  server.on('checkExpectation', handle);
  return server;
}

/**
 * Drops connections above a limit. With `maxConnections`, a process would return them to the primary process of the
 * cluster, which would offer them to the processes again and again.
 */
function dropConnections(server: Server, limit: number): void {
  let open = 0;
  server.prependListener('connection', (socket: Socket) => {
    open += 1;
    socket.once('close', () => (open -= 1));
    if (open <= limit) return;
    socket.destroy();
    server.emit('drop');
  });
}

/**
 * Closes a connection after its timeout. Node sets different ones between requests and for lingering sockets. During a
 * request, a handler may take longer as long as no bytes wait for the client.
 */
function closeStalled(socket: Socket, { stalledMs }: ConnectionLimits): void {
  const isWaitingForHandler = socket.timeout === stalledMs && socket.writableLength === 0;
  if (!isWaitingForHandler) socket.destroy();
}

/**
 * Makes every response from now on the last one of its connection (`Connection: close`), so that clients and proxies
 * open their next connection elsewhere, and none of them is cut when the server closes.
 */
export function closeAfterResponses(server: Server): void {
  const close: RequestListener = (_request, response) => void (response.shouldKeepAlive = false);
  server.prependListener('request', close).prependListener('checkExpectation', close);
}

/** Rejects requests with too many headers, and sets Host to the effective authority for the listener. */
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

/** Counts headers in the raw list, in which names and values alternate. */
const countHeaders = ({ rawHeaders }: IncomingMessage): number => rawHeaders.length / 2;

/** Creates a function that logs dropped connections, at most once in {@link DROP_LOG_MS}. */
function createDropLog(log: Log, { connections }: Pick<ConnectionLimits, 'connections'>): () => void {
  let silentUntil = 0;
  return () => {
    if (performance.now() < silentUntil) return;
    silentUntil = performance.now() + DROP_LOG_MS;
    log.warn({ connections }, 'connection dropped: too many are open');
  };
}

interface Rejection {
  readonly status: number;
  readonly code: ErrorCode;
  readonly error: string;
}

const NO_PROXY: Rejection = { status: 405, code: 'method_not_allowed', error: 'This server does not support CONNECT.' };

/** Since Node 22.23, the parser itself ends a request with too many headers, by the error for too many bytes. */
const TOO_MANY_HEADERS: Rejection = {
  status: 431,
  code: 'too_large',
  error: `Expected at most ${MAX_HEADERS} headers with at most ${MAX_HEADER_BYTES} bytes; received more.`,
};

function toRejection({ code }: NodeJS.ErrnoException, { headersMs, requestMs }: ConnectionLimits): Rejection {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return TOO_MANY_HEADERS;
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return {
        status: 408,
        code: 'invalid_input',
        error: `Expected the headers within ${headersMs / 1000} seconds, and the whole request within ${requestMs / 1000}.`,
      };
    default:
      return { status: 400, code: 'invalid_input', error: 'Not a valid HTTP/1.1 request.' };
  }
}

function respond(response: ServerResponse, rejection: Rejection, log: Log): void {
  const { headers, body } = toResponse(rejection, log);
  response.writeHead(rejection.status, headers).end(body);
}

/** Formats a response as text, for a connection whose request could not be parsed. */
function toText(rejection: Rejection, log: Log): string {
  const { headers, body } = toResponse(rejection, log);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${rejection.status} ${STATUS_CODES[rejection.status] ?? ''}\r\n${lines.join('')}\r\n${body}`;
}

function toResponse({ status, code, error }: Rejection, log: Log) {
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

interface LingerLimits {
  /** The number of bytes that are read and discarded per connection. After that, the client has to wait. */
  readonly lingerBytes: number;
  /** The time without a byte after which the socket is closed. */
  readonly lingerIdleMs: number;
  /** The time after which the socket is closed even if bytes arrive. */
  readonly lingerMs: number;
}

/**
 * The longest body that is read to its end to keep the connection for the next request, as in Go's `net/http`. The
 * response to a longer body, or one of undeclared length, has `Connection: close`.
 */
const KEEP_ALIVE_BYTES = 256 * 1024;

const lingering = new WeakSet<object>();

/**
 * Returns whether the last response of the socket has been written, and the socket is only read from until it closes.
 */
const isLingering = (socket: object): boolean => lingering.has(socket);

/**
 * Lets a listener respond before it has read the body.
 *
 * A socket that is closed while the client still sends makes the kernel send a reset, which can discard a response that
 * the client has not read yet (RFC 9112, 9.6). So the server first ends its own side, reads and discards what still
 * arrives, within bounds, and only then closes: the lingering close of nginx.
 */
function withLingeringClose(listener: RequestListener, limits: LingerLimits): RequestListener {
  // Node calls writeHead for every response, even if the listener does not. All requests share one function, so that
  // there is no cost for those whose body has been read.
  function writeHead(this: ServerResponse, ...head: Parameters<ServerResponse['writeHead']>): ServerResponse {
    if (!this.req.complete) expectRest(this, limits);
    return ServerResponse.prototype.writeHead.apply(this, head) as ServerResponse;
  }
  return (request, response) => {
    if (hasBody(request)) response.writeHead = writeHead as ServerResponse['writeHead'];
    listener(request, response);
  };
}

/** Prepares for the rest of a body, before the head of the response is written. */
function expectRest(response: ServerResponse, limits: LingerLimits): void {
  const { req: request } = response;
  const { socket } = request;
  // Node adds `Connection: close` to the head, and calls `destroySoon()` after the response.
  if (!isShort(request)) response.shouldKeepAlive = false;
  socket.destroySoon = () => {
    if (request.complete) Socket.prototype.destroySoon.call(socket);
    else closeLingering(socket, limits);
  };
  response.once('finish', () => {
    if (!request.complete && response.shouldKeepAlive) discardRest(request, limits);
  });
}

function isShort({ headers }: IncomingMessage): boolean {
  return Number(headers['content-length'] ?? Infinity) <= KEEP_ALIVE_BYTES;
}

/** Reads a body to its end, so that the connection can serve the next request. A slow body ends the connection. */
function discardRest(request: IncomingMessage, limits: LingerLimits): void {
  const timer = setTimeout(() => closeLingering(request.socket, limits), limits.lingerIdleMs).unref();
  const stop = (): void => clearTimeout(timer);
  request.removeAllListeners('data').once('end', stop).once('close', stop).resume();
}

/** Ends the server's side of a connection, and closes it once the client has ended its own, or at a limit. */
function closeLingering(socket: Socket, { lingerBytes, lingerIdleMs, lingerMs }: LingerLimits): void {
  if (lingering.has(socket)) return;
  lingering.add(socket);
  const close = (): void => void socket.destroy();
  const timer = setTimeout(close, lingerMs).unref();
  socket.once('close', () => clearTimeout(timer)).setTimeout(lingerIdleMs, close);
  socket.end();
  let bytesLeft = lingerBytes;
  // Node's parser reads from the handle instead of the stream, and stops and starts the handle at these events until
  // the stream has a data listener. So the handle has to be started before the listener is added.
  socket.once('resume', () => {
    socket.removeAllListeners('data').on('data', (chunk: Buffer) => {
      bytesLeft -= chunk.length;
      if (bytesLeft <= 0) socket.pause();
    });
  });
  socket.pause().resume();
}
