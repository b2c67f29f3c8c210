import type { CiStatus } from '../model.js';

/**
 * Follows the rules for GitHub: a cancelled pipeline is a failure, and a pipeline that waits for anything, even for a
 * manual job, is pending. A skipped pipeline has no result.
 */
const CI_BY_STATUS: Readonly<Record<string, CiStatus>> = {
  success: 'success',
  failed: 'failure',
  canceled: 'failure',
  canceling: 'pending',
  created: 'pending',
  waiting_for_resource: 'pending',
  waiting_for_callback: 'pending',
  preparing: 'pending',
  pending: 'pending',
  running: 'pending',
  manual: 'pending',
  scheduled: 'pending',
  skipped: 'none',
};

/**
 * Computes the CI status from the status of a head pipeline, in upper or lower case.
 *
 * @returns `undefined` if unknown.
 */
export function ciFromPipeline(status: string | null | undefined): CiStatus | undefined {
  return status === null || status === undefined ? 'none' : CI_BY_STATUS[status.toLowerCase()];
}
