import type { CiStatus } from '../facts.js';

const OF_COMBINED: Readonly<Record<string, CiStatus>> = {
  success: 'success',
  failure: 'failure',
  error: 'failure',
  pending: 'pending',
  warning: 'pending',
};

/** Judges Forgejo's combined status of a commit; `undefined` when it could not be read. */
export function judgeCombinedStatus(state: string | undefined): CiStatus {
  return OF_COMBINED[state ?? ''] ?? 'none';
}
