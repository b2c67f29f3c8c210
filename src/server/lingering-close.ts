/**
 * Answers that are sent before the body of their request has been read.
 *
 * A socket that is closed while the client still sends makes the kernel send a reset, which can discard an answer that
 * the client has not read yet (RFC 9112, 9.6). So the server first ends its own side, reads and discards what still
 * arrives, within bounds, and only then closes: the lingering close of nginx.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { hasBody } from './body.js';

export interface LingerLimits {
  /** The most that is read and discarded of one connection. After that nothing is read, and the client has to wait. */
  readonly lingerBytes: number;
  /** The time without a byte after which the socket is closed. */
  readonly lingerIdleMs: number;
  /** The time after which the socket is closed even if bytes arrive. */
  readonly lingerMs: number;
}

/**
 * The longest body that is read to its end to keep the connection for the next request, as in Go's `net/http`. For a
 * longer one, or one whose length is not declared, the answer says `Connection: close`.
 */
const KEEP_ALIVE_BYTES = 256 * 1024;

const lingering = new WeakSet<object>();

/** Whether the socket has got its last answer and is only read from until it is closed. */
export const isLingering = (socket: object): boolean => lingering.has(socket);

/** Lets a listener answer at any time, whether it has read the body or not. */
export function withLingeringClose(listener: RequestListener, limits: LingerLimits): RequestListener {
  return (request, response) => {
    if (hasBody(request)) prepare(request, response, limits);
    listener(request, response);
  };
}

function prepare(request: IncomingMessage, response: ServerResponse, limits: LingerLimits): void {
  const { socket } = request;
  const writeHead = response.writeHead.bind(response) as (...args: readonly unknown[]) => ServerResponse;
  response.writeHead = (...args: readonly unknown[]) => {
    // Node adds `Connection: close` to the head, and calls `destroySoon()` after the answer.
    if (!request.complete && !isShort(request)) response.shouldKeepAlive = false;
    return writeHead(...args);
  };
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

/** Reads a body to its end, after which the connection takes the next request; a slow one ends the connection. */
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
  let bytesLeft = lingerBytes;
  socket.end();
  // The parser is among the listeners, and has nothing to say about what is discarded.
  socket.removeAllListeners('data').once('close', () => clearTimeout(timer));
  socket.setTimeout(lingerIdleMs, close).on('data', (chunk: Buffer) => {
    bytesLeft -= chunk.length;
    if (bytesLeft <= 0) socket.pause();
  });
  socket.resume();
}
