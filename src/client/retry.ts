import { attempt } from './attempt.js';
import type { SendSettings } from './client-options.js';
import { toReplayable } from './replay.js';
import { discard, readWhole } from './response-body.js';
import { parseRetryAfter } from './retry-after.js';
import { wait } from './wait.js';

export interface RetrySettings {
  /** Repeats after the first try. */
  readonly maxRetries: number;
  /** The wait before the first repeat is random below this; the bound doubles with each repeat. */
  readonly baseDelayMs: number;
  /** Where the doubling stops. */
  readonly maxDelayMs: number;
  /** The longest wait that a server's `Retry-After` is granted. */
  readonly maxRetryAfterMs: number;
}

export interface RetryNotice {
  /** The repeat that is about to be made: 1 for the first. */
  readonly attempt: number;
  readonly delayMs: number;
  /** Why, in words for a log line: `status 503`, or the network's own. */
  readonly reason: string;
}

/** How one try ended: with an answer, or with the failure to get one. */
type Outcome =
  { readonly response: Response; readonly failure?: never } | { readonly response?: never; readonly failure: unknown };

/**
 * Sends a request until it is answered for good: again after 429, any 5xx and
 * network failures, never after another status. Its body is read once and
 * replayed, and whatever may change something carries one `Idempotency-Key` through
 * all its tries.
 *
 * @param streamed Whether the caller reads the body as it comes; it can't be
 * replayed then, and a connection lost in the middle is the caller's to see.
 * @returns The last response, refused or not, once the tries are spent.
 * @throws The last network failure, as it came; the signal's reason, at once,
 * when the caller aborts.
 */
export async function sendWithRetries(request: Request, settings: SendSettings, streamed: boolean): Promise<Response> {
  const { retry, fetch, timeoutMs, onRetry } = settings;
  const caller = request.signal;
  const makeRequest = await toReplayable(request);
  const isStreamed = (response: Response) => streamed && response.ok;
  for (let repeat = 0; ; repeat += 1) {
    const isLast = repeat === retry.maxRetries;
    const work = async (signal: AbortSignal) => {
      const response = await fetch(makeRequest(signal));
      if (!isLast && isRetried(response.status)) return discard(response);
      return isStreamed(response) ? response : readWhole(response, request);
    };
    const outcome = await toOutcome(attempt(work, { caller, timeoutMs, goesOn: isStreamed }));
    if (outcome.response && (isLast || !isRetried(outcome.response.status))) return outcome.response;
    if (!outcome.response && (isLast || caller.aborted)) throw outcome.failure;
    const delayMs = delayBefore(repeat, outcome.response, retry);
    onRetry({ attempt: repeat + 1, delayMs, reason: describe(outcome) });
    await wait(delayMs, caller);
  }
}

async function toOutcome(response: Promise<Response>): Promise<Outcome> {
  try {
    return { response: await response };
  } catch (failure) {
    return { failure };
  }
}

const isRetried = (status: number) => status === 429 || status >= 500;

/** What the server asks for, up to the cap; without a wish of its own, a random share of the doubling bound. */
function delayBefore(repeat: number, response: Response | undefined, settings: RetrySettings): number {
  const asked = response && parseRetryAfter(response.headers);
  // A wait of nothing, or until a moment already past, is no reason to hurry.
  if (asked) return Math.min(asked, settings.maxRetryAfterMs);
  return Math.random() * Math.min(settings.maxDelayMs, settings.baseDelayMs * 2 ** repeat);
}

function describe({ response, failure }: Outcome): string {
  if (response) return `status ${response.status}`;
  const { message, code } = reasonOf(failure);
  return [message, code].find(Boolean) ?? String(failure);
}

/** `fetch` says "fetch failed" and hides the reason one level down, at times with a code only. */
function reasonOf(failure: unknown): { readonly message?: string; readonly code?: string } {
  const { cause } = Object(failure) as { cause?: unknown };
  return Object(cause ?? failure) as { message?: string; code?: string };
}
