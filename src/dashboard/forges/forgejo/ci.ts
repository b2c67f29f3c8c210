import type { CiStatus } from '../facts.js';

const OF_COMBINED: Readonly<Record<string, CiStatus>> = {
  success: 'success',
  failure: 'failure',
  error: 'failure',
  pending: 'pending',
  warning: 'pending',
};

/** Judges Forgejo's combined status of a commit, which is empty without any. @returns `undefined` when it is not known. */
export function judgeCombinedStatus(state: string | undefined): CiStatus | undefined {
  return state === '' ? 'none' : OF_COMBINED[state ?? 'unknown'];
}
