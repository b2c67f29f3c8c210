import type { RetryNotice, RetrySettings } from './retry.js';

/** What a caller may choose. Everything has a default. */
export interface ClientOptions {
  /** Sent as `Authorization: Bearer …`. Left out, the environment's token is used; empty, none is sent. */
  readonly token?: string;
  /** Any of the settings; `{ maxRetries: 0 }` turns retries off. */
  readonly retry?: Partial<RetrySettings>;
  /** Called once for each attempt, instead of the platform's `fetch`. */
  readonly fetch?: (request: Request) => Promise<Response>;
  /**
   * How long one attempt may take, from its start to the last byte of the
   * answer; 30,000 unless told, 0 for no limit. An attempt that takes longer
   * is retried like a network failure. Bound a whole call, waits included,
   * with a `signal`. Of a streamed answer only the headers are timed.
   */
  readonly timeoutMs?: number;
  /** Told before each wait. */
  readonly onRetry?: (notice: RetryNotice) => void;
  /** Told once when the server speaks another revision of the contract; `console.warn` unless given. */
  readonly onWarning?: (message: string) => void;
}

/** What an attempt and its repeats go by, complete and within bounds. */
export interface SendSettings {
  readonly fetch: (request: Request) => Promise<Response>;
  readonly retry: RetrySettings;
  readonly timeoutMs: number;
  readonly onRetry: (notice: RetryNotice) => void;
}

/** 4 calls in all. The cap on Retry-After keeps a server from parking a script for a year. */
const RETRY_DEFAULTS: RetrySettings = {
  maxRetries: 3,
  baseDelayMs: 250,
  maxDelayMs: 10_000,
  maxRetryAfterMs: 60_000,
};

const DEFAULT_TIMEOUT_MS = 30_000;

/** What a timer can count to (24.8 days); it fires at once for anything longer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** @throws RangeError when a number is not a whole one from 0 to {@link MAX_TIMER_MS}. */
export function toSendSettings({ retry, fetch, timeoutMs, onRetry }: ClientOptions): SendSettings {
  const settings = { ...RETRY_DEFAULTS };
  for (const name of Object.keys(RETRY_DEFAULTS) as (keyof RetrySettings)[]) {
    settings[name] = requireWhole(`retry.${name}`, retry?.[name] ?? RETRY_DEFAULTS[name]);
  }
  return {
    retry: settings,
    // Looked up at each call, so that a page or a test may replace the platform's.
    fetch: fetch ?? ((request) => globalThis.fetch(request)),
    timeoutMs: requireWhole('timeoutMs', timeoutMs ?? DEFAULT_TIMEOUT_MS),
    onRetry: onRetry ?? (() => undefined),
  };
}

function requireWhole(name: string, value: number): number {
  if (!Number.isInteger(value) || value < 0 || value > MAX_TIMER_MS) {
    throw new RangeError(`Expected ${name} to be a whole number from 0 to ${MAX_TIMER_MS}; received ${value}.`);
  }
  return value;
}
