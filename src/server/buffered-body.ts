import type { IncomingMessage } from 'node:http';
import { AppError } from '../core/errors.js';

/** How much is buffered before the body is requested: about as much as the connection itself buffers. */
const PREFETCHED_BYTES = 65_536;

/**
 * Starts to buffer a request body that a handler may read later. The beginning is buffered at once, because Node
 * discards it when the client disconnects. The rest is read on demand.
 *
 * @returns a function that waits for the whole body. It throws AppError `too_large` (before a byte is read if the
 * length is declared), or `malformed_body` if the connection closes early.
 */
export function bufferRequestBody(request: IncomingMessage, maxBytes: number): () => Promise<Buffer> {
  const isTooLong = Number(request.headers['content-length'] ?? 0) > maxBytes;
  const tooLarge = (): AppError =>
    new AppError('too_large', `Expected a body of at most ${maxBytes} bytes; received more.`);
  let isRequested = false;
  const buffered = isTooLong ? undefined : collect(request, { maxBytes, tooLarge, mustPause });

  function mustPause(size: number): boolean {
    return !isRequested && size >= PREFETCHED_BYTES;
  }

  // The connection may fail before the body is requested, or if it never is.
  buffered?.catch(() => undefined);
  return async () => {
    isRequested = true;
    if (buffered === undefined) throw tooLarge();
    request.resume();
    return buffered;
  };
}

interface CollectOptions {
  readonly maxBytes: number;
  readonly tooLarge: () => AppError;
  readonly mustPause: (size: number) => boolean;
}

function collect(request: IncomingMessage, { maxBytes, tooLarge, mustPause }: CollectOptions): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Leaving a `for await` loop would close the connection before the error response is sent.
  return new Promise((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) {
        request.removeAllListeners('data').pause();
        reject(tooLarge());
        return;
      }
      chunks.push(chunk);
      if (mustPause(size)) request.pause();
    });
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.once('error', (cause) => reject(endedEarly(cause)));
    request.once('close', () => {
      if (!request.complete) reject(endedEarly());
    });
  });
}

function endedEarly(cause?: Error): AppError {
  return new AppError('malformed_body', 'The connection closed before the whole body arrived.', { cause });
}
