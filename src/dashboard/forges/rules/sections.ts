import type { PullRequest } from '../facts.js';

type Section = PullRequest['section'];
type Judged = Pick<
  PullRequest,
  'author' | 'ci' | 'draft' | 'mergeStatus' | 'readyToMerge' | 'review' | 'reviewRequestedFromMe'
>;

/** Sections by urgency, as a board lists them. */
export const SECTIONS: readonly Section[] = [
  'needs_your_review',
  'returned_to_you',
  'ready_to_merge',
  'waiting_for_others',
  'drafts',
];

/** Says whose turn it is; `username` is the reader's at the forge, empty when they didn't say. */
export function findSection(one: Judged, username: string): Section {
  if (one.draft) return 'drafts';
  if (one.reviewRequestedFromMe) return 'needs_your_review';
  if (isBy(one, username) && isReturned(one)) return 'returned_to_you';
  return one.readyToMerge ? 'ready_to_merge' : 'waiting_for_others';
}

function isBy({ author }: Judged, username: string): boolean {
  return username !== '' && author.toLowerCase() === username.toLowerCase();
}

/** Nobody else will go on before its author has. */
function isReturned({ ci, mergeStatus, review }: Judged): boolean {
  return ci === 'failure' || mergeStatus === 'conflicting' || review?.decision === 'changes_requested';
}
