/** The times of the next requests to forges. */
import type { ApiQuota, Forge } from '../forges/forge.js';
import type { ForgeErrorKind } from '../forges/forge-error.js';

const MINUTE_MS = 60_000;
/** API quotas are reset every hour. Longer waits that a forge requests are ignored. */
export const MAX_WAIT_MS = 3_600_000;

/** The reserve of an API quota that is left for the user's other programs. */
const LOW_SHARE = 0.05;

/** Allows for clock differences, and avoids the moment at which all clients resume. */
const AFTER_RESET_MS = 30_000;

/** The shortest delay between reads of a pending repository, because CI takes minutes. */
const MIN_DELAY_MS = MINUTE_MS;

/** A repository that has not changed for an hour is read every six minutes. */
const DELAY_SHARE = 0.1;

/** Equals the default refresh interval, so that pending repositories are not read less often than others. */
const MAX_DELAY_MS = 20 * MINUTE_MS;

/** Returns until when to pause requests, in milliseconds, because an API quota is low; 0 if none is. */
export function quotaPauseUntil(budgets: Forge['quotas'], at: number): number {
  const low = [budgets.graphql, budgets.rest].filter((quota) => quota !== undefined && isLow(quota, at));
  const resets = low.map((quota) => Date.parse(quota?.resetsAt ?? '') + AFTER_RESET_MS);
  return resets.length === 0 ? 0 : Math.min(Math.max(...resets), at + MAX_WAIT_MS);
}

function isLow({ limit, remaining, resetsAt }: ApiQuota, at: number): boolean {
  return remaining < limit * LOW_SHARE && Date.parse(resetsAt) > at;
}

/** Returns when to read a repository with pending changes again, in milliseconds: later the longer it is unchanged. */
export function nextPollAt({ read_at, changed_at }: { readonly read_at: number; readonly changed_at: number }): number {
  const delay = Math.round((read_at - changed_at) * DELAY_SHARE);
  return read_at + Math.min(Math.max(delay, MIN_DELAY_MS), MAX_DELAY_MS);
}

export interface ForgeFailure {
  readonly kind: ForgeErrorKind;
  /** The number of consecutive failures. */
  readonly failures: number;
  readonly resetsAt: number | undefined;
}

/** Errors that persist until the user changes the settings. */
const LASTING: ReadonlySet<ForgeErrorKind> = new Set(['address_refused', 'not_found', 'unauthorized']);

/** Returns when to retry a forge before the next refresh, in milliseconds; `undefined` if only the user can fix it. */
export function nextRetryAt({ kind, failures, resetsAt }: ForgeFailure, at: number): number | undefined {
  if (LASTING.has(kind)) return undefined;
  // 1, 2, 4 and 8 minutes; after that, the next refresh is usually due.
  const wait = Math.min(2 ** (failures - 1), 60) * MINUTE_MS;
  return Math.max(at + wait, resetsAt === undefined ? 0 : Math.min(resetsAt + AFTER_RESET_MS, at + MAX_WAIT_MS));
}
