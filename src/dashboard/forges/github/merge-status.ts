import type { PullRequest } from '../model.js';

const MERGE_STATUS_BY_STATE: Readonly<Record<string, PullRequest['mergeStatus']>> = {
  CLEAN: 'mergeable',
  HAS_HOOKS: 'mergeable',
  UNSTABLE: 'unstable',
  DIRTY: 'conflicting',
  BLOCKED: 'blocked',
  // The base branch requires branches to be up to date.
  BEHIND: 'blocked',
  DRAFT: 'blocked',
};

/** Combines GitHub's two fields about mergeability. */
export function toMergeStatus(mergeable: string, mergeStateStatus: string): PullRequest['mergeStatus'] {
  return mergeable === 'CONFLICTING' ? 'conflicting' : (MERGE_STATUS_BY_STATE[mergeStateStatus] ?? 'unknown');
}
