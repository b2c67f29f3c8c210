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
 * @throws The last network error unchanged; immediately the abort reason of the signal, and a TypeError for a loop of
 * redirects.
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
    // The texts of Node and Bun. Browsers do not tell the reason of a network error.
    if (/redirect(ed too| count)/.test(String(toReason(error).message)))
      throw new TypeError('Expected a response; received too many redirects.', { cause: error });
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

interface AttemptSettings<T> {
  readonly caller: AbortSignal;
  /** 0 for no limit. */
  readonly timeoutMs: number;
  /** Whether the body of the response is still being received. */
  readonly isStreaming: (result: T) => boolean;
}

/**
 * Runs `work` with a signal that aborts after `timeoutMs` or with the signal of the caller. While the result
 * `isStreaming`, the signal of the caller can abort it after this function has returned.
 *
 * @throws A `TimeoutError` after `timeoutMs`, the abort reason of the caller, or the error of `work`.
 */
async function sendWithTimeout<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { caller, timeoutMs, isStreaming }: AttemptSettings<T>,
): Promise<T> {
  caller.throwIfAborted();
  const controller = new AbortController();
  const forwardAbort = () => controller.abort(caller.reason);
  caller.addEventListener('abort', forwardAbort);
  const abortLate = () =>
    controller.abort(new DOMException(`No complete response within ${timeoutMs} ms`, 'TimeoutError'));
  const timer = timeoutMs === 0 ? undefined : setTimeout(abortLate, timeoutMs);
  let isDone = true;
  try {
    const result = await work(controller.signal);
    isDone = !isStreaming(result);
    return result;
  } catch (error) {
    // Runtimes throw different errors after an abort.
    throw controller.signal.aborted ? controller.signal.reason : error;
  } finally {
    clearTimeout(timer);
    // Each attempt adds a listener, and Node warns about a leak above ten listeners on one signal.
    if (isDone) caller.removeEventListener('abort', forwardAbort);
  }
}

const SAFE_METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];

/**
 * Buffers the body of a request, and returns a function that creates an equal request for each attempt. Requests with
 * an unsafe method get an `Idempotency-Key` unless they have one. It is the same in all attempts.
 */
async function toRepeatableRequest(request: Request): Promise<(signal: AbortSignal) => Request> {
  const headers = new Headers(request.headers);
  if (!SAFE_METHODS.includes(request.method) && !headers.has('Idempotency-Key')) {
    headers.set('Idempotency-Key', createIdempotencyKey());
  }
  const isJson = /\bjson\b/i.test(headers.get('Content-Type') ?? '');
  // Node sends a text or a blob again after a redirect, and fails with an `ArrayBuffer`. Developer tools show texts only.
  const content = await (isJson ? request.text() : request.blob());
  // `bodyUsed` is true only if the request has a body. Firefox doesn't support `request.body`.
  const body = request.bodyUsed ? content : undefined;
  return (signal) => {
    const attempt = new Request(request, { headers, body, signal });
    requestsOf.set(attempt.signal, [attempt, request]);
    return attempt;
  };
}

/**
 * Keeps requests as long as the signal of an attempt. Node's `Request` no longer follows the signal that it was given
 * once it is garbage-collected, and `fetch` keeps only its own signal while a response is received.
 */
const requestsOf = new WeakMap<AbortSignal, readonly Request[]>();

/**
 * Returns a random UUID (version 4).
 *
 * Browsers offer `crypto.randomUUID` only in secure contexts, so not on pages served over plain http.
 */
function createIdempotencyKey(): string {
  return 'xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx'.replace(/x/g, () => {
    const [byte = 0] = crypto.getRandomValues(new Uint8Array(1));
    return (byte % 16).toString(16);
  });
}

/**
 * Buffers the body, so that a connection that is lost in the middle fails this attempt. The status of an error response
 * matters more than its body, so an error response with a lost body is returned with an empty one.
 */
async function bufferBody(response: Response, { method, signal }: Request): Promise<Response> {
  // Opaque responses of browsers can't be copied.
  if (response.status === 0) return response;
  const bytes = await readBytes(response, method).catch((error: unknown) => {
    if (response.ok || signal.aborted) throw error;
    return new ArrayBuffer(0);
  });
  const copy = new Response(bytes.byteLength === 0 ? null : bytes, response);
  // The `Response` constructor can't set these properties.
  return Object.defineProperties(copy, {
    url: { value: response.url },
    redirected: { value: response.redirected },
  });
}

async function readBytes(response: Response, method: string): Promise<ArrayBuffer> {
  const bytes = await response.arrayBuffer();
  if ('Bun' in globalThis && method !== 'HEAD') assertComplete(response.headers, bytes.byteLength);
  return bytes;
}

/**
 * Bun 1.1 treats a lost connection as the end of the body. Other runtimes detect it, and may hide `Content-Encoding`.
 */
function assertComplete(headers: Headers, received: number): void {
  const announced = headers.get('Content-Length');
  if (announced === null || headers.has('Content-Encoding') || Number(announced) === received) return;
  throw new TypeError(`Connection lost after ${received} of ${announced} bytes.`);
}

/** Cancels the body of a response that won't be read, to free its connection. */
async function cancelBody(response: Response): Promise<Response> {
  try {
    await response.body?.cancel();
  } catch {
    // The body has ended, or can't be cancelled, as in Bun 1.1. It isn't needed in either case.
  }
  return response;
}
