import type { PullRequest } from '../facts.js';

const OF_STATE: Readonly<Record<string, PullRequest['mergeStatus']>> = {
  CLEAN: 'mergeable',
  HAS_HOOKS: 'mergeable',
  UNSTABLE: 'unstable',
  DIRTY: 'conflicting',
  BLOCKED: 'blocked',
  // The base asks for branches that are up to date.
  BEHIND: 'blocked',
  DRAFT: 'blocked',
};

/** What GitHub's two words for whether it would merge come to. */
export function toMergeStatus(mergeable: string, mergeStateStatus: string): PullRequest['mergeStatus'] {
  return mergeable === 'CONFLICTING' ? 'conflicting' : (OF_STATE[mergeStateStatus] ?? 'unknown');
}
