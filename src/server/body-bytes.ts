import type { IncomingMessage } from 'node:http';
import { AppError } from '../errors.js';

/** Taken in without being asked for: about as much as waits in a connection before it is read. */
const UNASKED_BYTES = 65_536;

/**
 * Takes in a body that may be asked for. The beginning is kept as it comes,
 * for once a sender has hung up, Node gives nothing of it any more; the rest
 * stays where it is until somebody asks.
 *
 * @returns a function that waits for the whole body. It throws AppError
 * `too_large` (before a byte is read when the length is declared) or
 * `malformed_body` when it ended early.
 */
export function takeIn(request: IncomingMessage, maxBytes: number): () => Promise<Buffer> {
  const isTooLong = Number(request.headers['content-length'] ?? 0) > maxBytes;
  const refuse = (): AppError =>
    new AppError('too_large', `Expected a body of at most ${maxBytes} bytes; received more.`);
  let isAsked = false;
  const arriving = isTooLong ? undefined : collect(request, { maxBytes, refuse, hasToWait });

  function hasToWait(size: number): boolean {
    return !isAsked && size >= UNASKED_BYTES;
  }

  // It may fail before anybody asks, or without.
  arriving?.catch(() => undefined);
  return async () => {
    isAsked = true;
    if (arriving === undefined) throw refuse();
    request.resume();
    return arriving;
  };
}

interface Collecting {
  readonly maxBytes: number;
  readonly refuse: () => AppError;
  readonly hasToWait: (size: number) => boolean;
}

function collect(request: IncomingMessage, { maxBytes, refuse, hasToWait }: Collecting): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Leaving a `for await` would close the connection, and with it the refusal's way back.
  return new Promise((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) {
        request.removeAllListeners('data').pause();
        reject(refuse());
        return;
      }
      chunks.push(chunk);
      if (hasToWait(size)) request.pause();
    });
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.once('error', (cause) => reject(endedEarly(cause)));
    request.once('close', () => {
      if (!request.complete) reject(endedEarly());
    });
  });
}

function endedEarly(cause?: Error): AppError {
  return new AppError('malformed_body', 'Expected the whole body; the connection ended before.', { cause });
}
