/**
 * Responses that are sent before the body of their request has been read.
 *
 * A socket that is closed while the client still sends makes the kernel send a reset, which can discard a response that
 * the client has not read yet (RFC 9112, 9.6). So the server first ends its own side, reads and discards what still
 * arrives, within bounds, and only then closes: the lingering close of nginx.
 */
import { ServerResponse } from 'node:http';
import type { IncomingMessage, RequestListener } from 'node:http';
import { Socket } from 'node:net';
import { hasBody } from './body.js';

export interface LingerLimits {
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
export const isLingering = (socket: object): boolean => lingering.has(socket);

/** Lets a listener respond before it has read the body. */
export function withLingeringClose(listener: RequestListener, limits: LingerLimits): RequestListener {
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
export function closeLingering(socket: Socket, { lingerBytes, lingerIdleMs, lingerMs }: LingerLimits): void {
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
