import type { CiStatus } from '../facts.js';

/**
 * As GitHub's runs are judged: a pipeline that was cancelled is red, one that waits
 * for anything (also for somebody to start a job) is pending. One that was skipped
 * has checked nothing.
 */
const OF_PIPELINE: Readonly<Record<string, CiStatus>> = {
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

/** Judges the status of GitLab's head pipeline, in either case; there may be none. @returns `undefined` when it is not known. */
export function judgePipeline(status: string | null | undefined): CiStatus | undefined {
  return status === null || status === undefined ? 'none' : OF_PIPELINE[status.toLowerCase()];
}
