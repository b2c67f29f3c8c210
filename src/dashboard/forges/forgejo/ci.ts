import type { CiStatus } from '../model.js';

const CI_BY_STATE: Readonly<Record<string, CiStatus>> = {
  success: 'success',
  failure: 'failure',
  error: 'failure',
  pending: 'pending',
  warning: 'pending',
};

/**
 * Computes the CI status from the combined status of a commit, which is empty without any statuses.
 *
 * @returns `undefined` for an unknown state.
 */
export function ciFromCombinedStatus(state: string | undefined): CiStatus | undefined {
  return state === '' ? 'none' : CI_BY_STATE[state ?? 'unknown'];
}
