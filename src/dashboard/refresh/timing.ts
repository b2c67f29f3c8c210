/** When forges are asked again. */
import type { Budget, Forge } from '../forges/forge.js';
import type { ForgeErrorKind } from '../forges/forge-error.js';

const MINUTE_MS = 60_000;
/** Budgets are refilled every hour; a forge that asks for more is not believed. */
export const MAX_WAIT_MS = 3_600_000;

/** Forges give few thousand points an hour, and a person has other programs that need some. */
const LOW_SHARE = 0.05;

/** Clocks differ, and what is refilled is asked for by everybody at once. */
const AFTER_RESET_MS = 30_000;

/** CI takes minutes. */
const SETTLING_MS = MINUTE_MS;

/** What has been as it is for an hour is looked at every six minutes. */
const SETTLING_SHARE = 0.1;

/** No person waits longer for a repository that is not settled than for one that is. */
const MAX_SETTLING_MS = 20 * MINUTE_MS;

/** Until when requests are spared, as some budget is nearly spent; 0 when none is. */
export function sparedUntil(budgets: Forge['budgets'], at: number): number {
  const low = [budgets.graphql, budgets.rest].filter((budget) => budget !== undefined && isLow(budget, at));
  const resets = low.map((budget) => Date.parse(budget?.resetsAt ?? '') + AFTER_RESET_MS);
  return resets.length === 0 ? 0 : Math.min(Math.max(...resets), at + MAX_WAIT_MS);
}

function isLow({ limit, remaining, resetsAt }: Budget, at: number): boolean {
  return remaining < limit * LOW_SHARE && Date.parse(resetsAt) > at;
}

/** When what is about to change is looked at again: the longer it has been as it is, the later. */
export function settlesAt({ read_at, changed_at }: { readonly read_at: number; readonly changed_at: number }): number {
  const wait = Math.round((read_at - changed_at) * SETTLING_SHARE);
  return read_at + Math.min(Math.max(wait, SETTLING_MS), MAX_SETTLING_MS);
}

export interface Failure {
  readonly kind: ForgeErrorKind;
  /** How many there were in a row. */
  readonly failures: number;
  readonly resetsAt: number | undefined;
}

/** Errors that last until a person changes the settings. */
const LASTING: ReadonlySet<ForgeErrorKind> = new Set(['address_refused', 'not_found', 'unauthorized']);

/** When a forge that failed is tried before the next refresh; `undefined` when only a person can fix it. */
export function retryAt({ kind, failures, resetsAt }: Failure, at: number): number | undefined {
  if (LASTING.has(kind)) return undefined;
  // 1, 2, 4 and 8 minutes; by then the next refresh is due as a rule.
  const wait = Math.min(2 ** (failures - 1), 60) * MINUTE_MS;
  return Math.max(at + wait, resetsAt === undefined ? 0 : Math.min(resetsAt + AFTER_RESET_MS, at + MAX_WAIT_MS));
}
