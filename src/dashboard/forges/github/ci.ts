import type { CiStatus } from '../facts.js';

/** How many checks are in a state, as GitHub counts them. */
export interface StateCount {
  readonly state: string;
  readonly count: number;
}

export interface Rollup {
  readonly state: string;
  /** Null or missing where a server is too old to count. */
  readonly checkRuns?: readonly StateCount[] | null | undefined;
  readonly statuses?: readonly StateCount[] | null | undefined;
}

const OF_ROLLUP: Readonly<Record<string, CiStatus>> = {
  SUCCESS: 'success',
  ERROR: 'failure',
  FAILURE: 'failure',
  PENDING: 'pending',
  EXPECTED: 'pending',
};

const FAILED_RUNS = new Set(['FAILURE', 'TIMED_OUT', 'ACTION_REQUIRED', 'STARTUP_FAILURE']);
const FAILED_STATUSES = new Set(['FAILURE', 'ERROR']);
const RUNNING = new Set(['QUEUED', 'IN_PROGRESS', 'PENDING']);

/**
 * Judges GraphQL's rollup of a commit. Where it fails for a cancelled run alone and others go on, it isn't red yet.
 *
 * @returns `undefined` for a state that is not known.
 */
export function judgeRollup(rollup: Rollup | null | undefined): CiStatus | undefined {
  const ci = rollup ? OF_ROLLUP[rollup.state] : 'none';
  if (ci !== 'failure' || !rollup?.checkRuns || !rollup.statuses) return ci;
  const { checkRuns, statuses } = rollup;
  if (hasAny(checkRuns, FAILED_RUNS) || hasAny(statuses, FAILED_STATUSES)) return 'failure';
  return hasAny([...checkRuns, ...statuses], RUNNING) ? 'pending' : 'failure';
}

function hasAny(counts: readonly StateCount[], states: ReadonlySet<string>): boolean {
  return counts.some(({ state, count }) => count > 0 && states.has(state));
}

export interface CheckRun {
  readonly status: string;
  readonly conclusion: string | null;
}

/** Judges REST's check runs of a commit: a failure beats what runs, and that beats what was cancelled. */
export function judgeCheckRuns(runs: readonly CheckRun[]): CiStatus {
  if (runs.length === 0) return 'none';
  if (runs.some(({ conclusion }) => FAILED_RUNS.has((conclusion ?? '').toUpperCase()))) return 'failure';
  if (runs.some(({ status }) => status !== 'completed')) return 'pending';
  return runs.some(({ conclusion }) => conclusion === 'cancelled') ? 'failure' : 'success';
}
