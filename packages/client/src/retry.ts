import { bufferBody, cancelBody, sendWithTimeout, toRepeatableRequest } from './attempt.js';
import { parseRetryAfter } from './errors.js';

export interface RetrySettings {
  /** The number of retries after the first attempt. */
  readonly maxRetries: number;
  /** The upper bound of the random wait before the first retry. It doubles with each retry. */
  readonly baseDelayMs: number;
  /** The largest upper bound of the random wait. */
  readonly maxDelayMs: number;
  /** The longest wait that is accepted from `Retry-After`. */
  readonly maxRetryAfterMs: number;
}

export interface RetryEvent {
  /** The number of the retry, starting at 1. */
  readonly attempt: number;
  readonly delayMs: number;
  /** The reason for a log line: `status 503`, or the message of the network error. */
  readonly reason: string;
}

/** The options of a client that requests depend on, validated and with all defaults applied. */
export interface ResolvedOptions {
  readonly fetch: (request: Request) => Promise<Response>;
  readonly retry: RetrySettings;
  readonly timeoutMs: number;
  readonly onRetry: (notice: RetryEvent) => void;
}

/** The result of one attempt: a response or an error. */
type Outcome =
  { readonly response: Response; readonly error?: never } | { readonly response?: never; readonly error: unknown };

/**
 * Sends a request, and retries it after status 429, any 5xx status and network errors, but after no other status. The
 * body is buffered and repeated. Requests with an unsafe method send the same `Idempotency-Key` in all attempts.
 *
 * @param streamed Whether the caller reads the response body as a stream. Such a body isn't buffered, so the caller
 * handles a connection that is lost in the middle.
 * @returns The last response, also when it is an error response.
 * @throws The last network error unchanged; the abort reason of the signal, immediately.
 */
export async function fetchWithRetry(
  request: Request,
  settings: ResolvedOptions,
  streamed: boolean,
): Promise<Response> {
  const { retry, fetch, timeoutMs, onRetry } = settings;
  const caller = request.signal;
  const createRequest = await toRepeatableRequest(request);
  const isStreamed = (response: Response) => streamed && response.ok;
  for (let retries = 0; ; retries += 1) {
    const isLast = retries === retry.maxRetries;
    const work = async (signal: AbortSignal) => {
      const response = await fetch(createRequest(signal));
      if (!isLast && isRetried(response.status)) return cancelBody(response);
      return isStreamed(response) ? response : bufferBody(response, request);
    };
    const outcome = await toOutcome(sendWithTimeout(work, { caller, timeoutMs, isStreaming: isStreamed }));
    if (outcome.response && (isLast || !isRetried(outcome.response.status))) return outcome.response;
    if (!outcome.response && (isLast || caller.aborted)) throw outcome.error;
    const delayMs = delayBefore(retries, outcome.response, retry);
    onRetry({ attempt: retries + 1, delayMs, reason: describe(outcome) });
    await delay(delayMs, caller);
  }
}

async function toOutcome(response: Promise<Response>): Promise<Outcome> {
  try {
    return { response: await response };
  } catch (error) {
    return { error };
  }
}

const isRetried = (status: number) => status === 429 || status >= 500;

/**
 * Returns the wait of `Retry-After` up to its cap, or a random wait in the upper half of the bound that doubles with each
 * retry: long enough to outlast a restart, and spread enough for many clients ("equal jitter",
 * https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/).
 */
function delayBefore(retries: number, response: Response | undefined, settings: RetrySettings): number {
  const requested = response && parseRetryAfter(response.headers);
  // A `Retry-After` of 0 or in the past must not cause an immediate retry.
  if (requested) return Math.min(requested, settings.maxRetryAfterMs);
  const bound = Math.min(settings.maxDelayMs, settings.baseDelayMs * 2 ** retries);
  return (bound / 2) * (1 + Math.random());
}

function describe({ response, error }: Outcome): string {
  if (response) return `status ${response.status}`;
  const { message, code } = toReason(error);
  return [message, code].find(Boolean) ?? String(error);
}

/** The message of `fetch` is "fetch failed". The reason is in `cause`, sometimes only as a code. */
function toReason(error: unknown): { readonly message?: string; readonly code?: string } {
  const { cause } = Object(error) as { cause?: unknown };
  return Object(cause ?? error) as { message?: string; code?: string };
}

/** Resolves after `delayMs`. Rejects with the abort reason as soon as the signal is aborted, or if it already is. */
export function delay(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      if (signal.aborted) reject(signal.reason as Error);
      else resolve();
    };
    const timer = setTimeout(end, delayMs);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}
