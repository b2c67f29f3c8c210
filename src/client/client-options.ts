import type { RetryEvent, RetrySettings } from './retry.js';

/** The options of a client. All are optional. */
export interface ClientOptions {
  /** Sent as `Authorization: Bearer …`. Defaults to the token in the environment; an empty string sends none. */
  readonly token?: string;
  /** Overrides of the default retry settings. `{ maxRetries: 0 }` turns retries off. */
  readonly retry?: Partial<RetrySettings>;
  /** Called once for each attempt, instead of the platform's `fetch`. */
  readonly fetch?: (request: Request) => Promise<Response>;
  /**
   * The time limit of one attempt, from its start to the last byte of the response. Defaults to 30,000; 0 sets no
   * limit. An attempt that takes longer is retried like a network error. For a streamed response the limit applies to
   * the headers only. To limit a whole call including its waits, pass a `signal`.
   */
  readonly timeoutMs?: number;
  /** Called before the wait that precedes each retry. */
  readonly onRetry?: (notice: RetryEvent) => void;
  /** Called once when the server uses a different revision of the contract. Defaults to `console.warn`. */
  readonly onWarning?: (message: string) => void;
}

/** The validated options of a client, with all defaults applied. */
export interface ResolvedOptions {
  readonly fetch: (request: Request) => Promise<Response>;
  readonly retry: RetrySettings;
  readonly timeoutMs: number;
  readonly onRetry: (notice: RetryEvent) => void;
}

/** Allows 4 attempts. The cap on `Retry-After` keeps a server from blocking a script for a year. */
const RETRY_DEFAULTS: RetrySettings = {
  maxRetries: 3,
  baseDelayMs: 250,
  maxDelayMs: 10_000,
  maxRetryAfterMs: 60_000,
};

const DEFAULT_TIMEOUT_MS = 30_000;

/** The longest delay of a timer (24.8 days). Timers with longer delays fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Applies the defaults to the options.
 *
 * @throws RangeError when a number is not a whole number from 0 to {@link MAX_TIMER_MS}.
 */
export function resolveOptions({ retry, fetch, timeoutMs, onRetry }: ClientOptions): ResolvedOptions {
  const settings = { ...RETRY_DEFAULTS };
  for (const name of Object.keys(RETRY_DEFAULTS) as (keyof RetrySettings)[]) {
    settings[name] = requireWholeNumber(`retry.${name}`, retry?.[name] ?? RETRY_DEFAULTS[name]);
  }
  return {
    retry: settings,
    // Looked up at each call, so that pages and tests can replace the global function.
    fetch: fetch ?? ((request) => globalThis.fetch(request)),
    timeoutMs: requireWholeNumber('timeoutMs', timeoutMs ?? DEFAULT_TIMEOUT_MS),
    onRetry: onRetry ?? (() => undefined),
  };
}

function requireWholeNumber(name: string, value: number): number {
  if (!Number.isInteger(value) || value < 0 || value > MAX_TIMER_MS) {
    throw new RangeError(`Expected ${name} to be a whole number from 0 to ${MAX_TIMER_MS}; received ${value}.`);
  }
  return value;
}
