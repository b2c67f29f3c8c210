import type { Middleware } from 'openapi-fetch';
import { ApiError, createDashboardClient } from '../../generated/dashboard/client.js';
import { recordServerTime } from './ui/times.js';

export { requireData } from '../../generated/dashboard/client.js';

/** Few and short retries: a user is waiting, so a page soon shows the error instead. */
export const retry = { maxRetries: 2, maxRetryAfterMs: 1_000 };

/** Whether the server runs a release with other contracts than this tab. */
let isOutdated = false;

/** How long a user waits for a response, all attempts together; the server ends most of its own work earlier. */
const MAX_WAIT_MS = 30_000;

/** Returns a signal that aborts with a `TimeoutError` after {@link MAX_WAIT_MS}, or before that with another signal. */
export function limitWait(other?: AbortSignal): AbortSignal {
  const controller = new AbortController();
  const { signal } = controller;
  setTimeout(() => controller.abort(new DOMException('No response in time', 'TimeoutError')), MAX_WAIT_MS);
  other?.addEventListener('abort', () => controller.abort(other.reason), { signal });
  if (other?.aborted) controller.abort(other.reason);
  return signal;
}

/** Loads a script, for which browsers would wait without a limit. @throws DOMException `TimeoutError` if it does not arrive. */
export const loadInTime = <Module>(script: Promise<Module>): Promise<Module> =>
  new Promise((resolve, reject) => {
    const signal = limitWait();
    signal.addEventListener('abort', () => reject(signal.reason as DOMException));
    script.then(resolve, reject);
  });

/** Limits the wait for each response but streams. It creates the request that the other middlewares see, so it comes first. */
export const limitRequest: Middleware = {
  onRequest: ({ request, options }) =>
    options.parseAs === 'stream' ? request : new Request(request, { signal: limitWait(request.signal) }),
};

/** The only warning of the client is about a server with a different revision of its contract. */
export const onWarning = (): void => void (isOutdated = true);

/** Authenticates with the session cookie, so that pages never hold a token. */
export const dashboardClient = createDashboardClient('/', { retry, onWarning });

/** How long a repeated change counts as the one whose response was lost. */
const LOST_CHANGE_MS = 300_000;

interface LostChange {
  readonly key: string;
  readonly until: number;
  /** Whether the request has neither a response nor an error yet. */
  isOpen: boolean;
}

/** The changes that the server has not responded to, by method, address and body. */
const lostChanges = new Map<string, LostChange>();

const sentChanges = new WeakMap<Request, LostChange>();

/**
 * Sends a change with the `Idempotency-Key` of an equal one whose response was lost. A user who tries again after a lost
 * connection makes the change once, although the server may have received the first request. After a response to any change,
 * an equal one is new: a pull request may be snoozed again after its snooze was ended. Changes that are still open keep their
 * keys.
 */
export const repeatLostChange: Middleware = {
  async onRequest({ request }) {
    // A value that is saved twice is the same, unless it must replace a certain one.
    if (request.method === 'GET' || (request.method === 'PUT' && !request.headers.has('If-Match'))) return;
    const now = performance.now();
    for (const [change, { until }] of lostChanges) if (until < now) lostChanges.delete(change);
    const change = [request.method, request.url, await request.clone().text()].join('\n');
    const key = lostChanges.get(change)?.key ?? createKey();
    const sent = { key, until: now + LOST_CHANGE_MS, isOpen: true };
    lostChanges.set(change, sent);
    sentChanges.set(request, sent);
    request.headers.set('Idempotency-Key', key);
  },
  onResponse({ request, response }) {
    endChange(request);
    // A response without this header is that of a proxy.
    if (request.method === 'GET' || !response.headers.has('X-Trellis-Revision')) return;
    for (const [change, { isOpen }] of lostChanges) if (!isOpen) lostChanges.delete(change);
  },
  onError({ request }) {
    endChange(request);
  },
};

function endChange(request: Request): void {
  const sent = sentChanges.get(request);
  if (sent !== undefined) sent.isOpen = false;
}

/** Returns 32 random digits. `crypto.randomUUID` exists only at secure addresses. */
const createKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');

/** Compares the clock of the browser with that of the server, which a response names. */
export const measureClock: Middleware = { onResponse: ({ response }) => recordServerTime(response) };

dashboardClient.use(limitRequest, repeatLostChange, measureClock);

/** Lets the browser load the document of a clicked link, in place of the router, once this tab is outdated. */
export function loadDocumentsWhenOutdated(): void {
  const onClick = (event: MouseEvent): void => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    // The router ignores an event that does not reach the window.
    if (isOutdated && link?.origin === location.origin) event.stopPropagation();
  };
  document.addEventListener('click', onClick);
}

/** An error as pages show it. */
export interface Problem {
  /** One or two sentences that the user can act on. */
  readonly message: string;
  /** The error code of the contract, if the server sent one. */
  readonly code?: string;
  /** The invalid field of the request. */
  readonly field?: string;
  /** Identifies a request that failed in the server, for a search of its log. */
  readonly requestId?: string;
  /** Whether the same attempt may succeed later. */
  readonly canRetry?: boolean;
  /** Whether the cause ends without the user, as an outage does, so that pages read again automatically. */
  readonly isTemporary?: boolean;
}

/** The longest wait between two attempts after a failure. */
const MAX_RETRY_MS = 30_000;

/**
 * Waits before an attempt after a number of failures in a row: up to a bound that doubles with each of them, and not at all
 * once the page becomes visible or the browser is online again. Also resolves when the signal is aborted.
 *
 * @param isHiddenToo Whether attempts are made while the page is hidden, too. Otherwise they wait until it is visible.
 */
export function waitToRetry(failures: number, signal: AbortSignal, isHiddenToo = false): Promise<void> {
  const bound = Math.min(MAX_RETRY_MS, 1_000 * 2 ** failures);
  return new Promise((resolve) => {
    const listeners = new AbortController();
    const end = (): void => {
      clearTimeout(timer);
      listeners.abort();
      resolve();
    };
    const isVisible = (): boolean => document.visibilityState === 'visible';
    const endIf = (isDue: boolean): void => (isDue ? end() : undefined);
    const timer = setTimeout(() => endIf(isHiddenToo || isVisible()), bound * (0.5 + Math.random() / 2));
    document.addEventListener('visibilitychange', () => endIf(isVisible()), listeners);
    addEventListener('online', end, listeners);
    signal.addEventListener('abort', end, listeners);
    if (signal.aborted) end();
  });
}

/** Returns the earlier problem while the message stays the same, so that screen readers don't announce every attempt. */
export const keepProblem = (earlier: Problem | undefined, next: Problem): Problem =>
  earlier?.message === next.message ? earlier : next;

/** Converts an error of a request or of the browser to words that the user of a page can act on. */
export function toProblem(error: unknown): Problem {
  if (error instanceof ApiError) {
    const { statusCode } = error;
    // An internal error needs the administrator, and its request ID should stay the same until then.
    return { ...toResponseProblem(error), isTemporary: statusCode === 408 || statusCode === 429 || statusCode > 500 };
  }
  if (!(error instanceof Error)) return { message: 'Something went wrong.', canRetry: true };
  // The messages of Chromium, Firefox, Safari and Vite for a script or a style sheet that cannot be loaded.
  if (/dynamically imported module|importing a module script failed|preload css/i.test(error.message))
    return { message: navigator.onLine ? NOT_LOADED : toNetworkMessage(), canRetry: true };
  const isTemporary = error.name === 'TimeoutError' || (error.name === 'TypeError' && isOfNetwork(error));
  return { message: toBrowserMessage(error), canRetry: true, isTemporary };
}

function toResponseProblem(error: ApiError): Problem {
  const { statusCode, code, message, field, requestId } = error;
  if (statusCode === 401) return { message: 'You’ve been signed out. Sign in to continue.', code, canRetry: true };
  const canRetry = statusCode === 408 || statusCode === 429 || statusCode >= 500;
  // A forge explains a rejected action in its own words.
  const { forgeMessage } = (error.body ?? {}) as { readonly forgeMessage?: string };
  if (forgeMessage !== undefined) return { message: `${message} (${forgeMessage})`, code, field, canRetry };
  // Such a message is for programs: pages send the header themselves.
  if (message.includes('Idempotency-Key')) return { message: NO_RESULT, code, canRetry: true };
  const shown =
    IN_WORDS[message] ??
    message.replace(PATTERN, '“$1” contains a character that isn’t allowed, or one in the wrong place.');
  if (code !== undefined) return { message: shown, code, field, ...(statusCode >= 500 && { requestId }), canRetry };
  // Every error of this server has a code.
  return { message: `A proxy in front of the server responded with status ${statusCode}.`, canRetry };
}

/** The message for a text that differs from a pattern, which is written for programs. */
const PATTERN = /^Expected (\S+) to match pattern ".*$/s;

/** A change that was interrupted, such as by a restart of the server, has no result for some minutes. */
const NO_RESULT =
  'The first attempt has no result: it is still running, or it was interrupted. Before you repeat the change, check whether it was made.';

/** Messages of the secrets service that programs know by their texts. */
const IN_WORDS: Readonly<Record<string, string>> = {
  'unknown object': 'This secret no longer exists.',
  'unknown consumer': 'This consumer no longer exists.',
  'consumer already exists': 'A consumer with this name already exists.',
};

/** Returns a problem as text, with the id of its request. */
export const describeProblem = ({ message, requestId }: Problem): string =>
  requestId === undefined ? message : `${message} Request ID: ${requestId}`;

function toBrowserMessage(error: Error): string {
  if (error.name === 'TypeError') return isOfNetwork(error) ? toNetworkMessage() : UNREADABLE;
  // A response that ends early, or that is not JSON.
  if (error.name === 'SyntaxError') return UNREADABLE;
  return BY_NAME[error.name] ?? error.message;
}

/**
 * The messages of Chromium, Firefox, Safari and the generated client for a request without a complete response. Firefox has
 * one of its own for a response that ends early.
 */
const isOfNetwork = ({ message }: Error): boolean =>
  /failed to fetch|network ?error|load failed|network connection was lost|connection lost|exceeds response body/i.test(
    message,
  );

const toNetworkMessage = (): string =>
  navigator.onLine ? 'The server could not be reached.' : 'You’re offline. Connect to the network.';

const UNREADABLE = 'The page can’t read the data that it received. Reload the page.';

const NOT_LOADED =
  'A part of this page could not be loaded. Try again. If that does not help, reload the page: the server may have been updated.';

/** Messages by the name of a browser error: the browsers' own messages are written for developers. */
const BY_NAME: Readonly<Record<string, string>> = {
  NotAllowedError: 'The passkey request was cancelled or timed out.',
  AbortError: 'The passkey request was cancelled or timed out.',
  InvalidStateError: 'This device already has a passkey for this account.',
  TimeoutError: 'The server did not respond in time. Before you repeat a change, check whether it was made.',
  SecurityError: 'Passkeys don’t work at this address. Open the server by its host name.',
  ConstraintError: 'This device can’t store the kind of passkey that is needed. Try another device.',
  NotSupportedError: 'This device can’t store the kind of passkey that is needed. Try another device.',
};

/**
 * Returns a function that saves values one at a time. A value that is passed during a save replaces any waiting one.
 *
 * @param save must not reject, as later values would not be saved
 */
export function saveLatest<Value>(save: (value: Value) => Promise<void>): (value: Value) => void {
  const waiting: Value[] = [];
  let isBusy = false;
  return (value) => {
    waiting[0] = value;
    if (!isBusy) void work();
  };

  async function work(): Promise<void> {
    isBusy = true;
    while (waiting.length > 0) {
      const [value] = waiting.splice(0) as [Value];
      await save(value);
    }
    isBusy = false;
  }
}
