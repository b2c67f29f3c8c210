import type { CiStatus } from '../model.js';

/** The number of checks in one state. */
export interface StateCount {
  readonly state: string;
  readonly count: number;
}

export interface Rollup {
  readonly state: string;
  /** Null or missing on servers that are too old to count checks. */
  readonly checkRuns?: readonly StateCount[] | null | undefined;
  readonly statuses?: readonly StateCount[] | null | undefined;
}

const CI_BY_STATE: Readonly<Record<string, CiStatus>> = {
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
 * Computes the CI status from GraphQL's rollup of a commit. A rollup that fails only because of a cancelled run is
 * pending while other checks are running.
 *
 * @returns `undefined` for an unknown state.
 */
export function ciFromRollup(rollup: Rollup | null | undefined): CiStatus | undefined {
  const ci = rollup ? CI_BY_STATE[rollup.state] : 'none';
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

/**
 * Computes the CI status from REST's check runs. Failed runs take precedence over running ones, and those over
 * cancelled.
 */
export function ciFromCheckRuns(runs: readonly CheckRun[]): CiStatus {
  if (runs.length === 0) return 'none';
  if (runs.some(({ conclusion }) => FAILED_RUNS.has((conclusion ?? '').toUpperCase()))) return 'failure';
  if (runs.some(({ status }) => status !== 'completed')) return 'pending';
  return runs.some(({ conclusion }) => conclusion === 'cancelled') ? 'failure' : 'success';
}
