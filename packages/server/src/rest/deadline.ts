/** The time within which every request has a response, even if a database or a disk does not answer. */
import type { IncomingMessage } from 'node:http';
import { AppError } from '@trellis/core/errors';

/** Shorter than the 30 to 60 seconds after which proxies give up. */
const LIMIT_MS = 20_000;

/** The same for operations that call other servers, which may take 30 seconds to answer. */
const OUTBOUND_LIMIT_MS = 60_000;

/** A server that was busy or cut off has recovered or failed by then. */
const RETRY_AFTER_SECONDS = 5;

export interface DeadlineOptions {
  readonly reachesOut?: boolean;
  /** Replaces the limit; tests shorten it. */
  readonly limitMs?: number;
}

/**
 * Waits for the work on a request. While its body still arrives, the limit starts again with each byte that arrives
 * within it; the time for the whole body is limited by the HTTP server.
 *
 * @throws AppError `unavailable` after the limit. The work continues, because a transaction can't be undone.
 */
export async function withDeadline<T>(
  request: IncomingMessage,
  { reachesOut = false, limitMs = reachesOut ? OUTBOUND_LIMIT_MS : LIMIT_MS }: DeadlineOptions,
  work: Promise<T>,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    let received = request.socket.bytesRead;
    timer = setTimeout(() => {
      const isArriving = !request.complete && request.socket.bytesRead > received;
      received = request.socket.bytesRead;
      if (isArriving) timer?.refresh();
      else reject(lateError(limitMs));
    }, limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function lateError(limitMs: number): AppError {
  const message = `The server did not complete the request within ${limitMs / 1000} seconds. A change may still take effect: check, or repeat it with its Idempotency-Key.`;
  return new AppError('unavailable', message, { headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) } });
}
