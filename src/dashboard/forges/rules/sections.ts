import type { PullRequest } from '../facts.js';

type Section = PullRequest['section'];
type Judged = Pick<
  PullRequest,
  | 'allowedActions'
  | 'author'
  | 'ci'
  | 'ciKnown'
  | 'draft'
  | 'empty'
  | 'kind'
  | 'mergeStatus'
  | 'needsReview'
  | 'readyToMerge'
  | 'repo'
  | 'requestedReviewerLogins'
  | 'review'
  | 'reviewRequestedFromMe'
>;

/** Sections by urgency, as a board lists them. */
export const SECTIONS: readonly Section[] = [
  'needs_your_review',
  'returned_to_you',
  'ready_to_merge',
  'waiting_for_others',
  'drafts',
];

/** Says whose turn it is; `username` is the reader's at the forge, empty when they didn't say. The first line that fits. */
export function findSection(one: Judged, username: string): Section {
  if (one.draft) return 'drafts';
  if (one.reviewRequestedFromMe) return 'needs_your_review';
  if (isYours(one, username) && isReturned(one)) return 'returned_to_you';
  if (isForYou(one, username) && !one.readyToMerge) return 'needs_your_review';
  return isReady(one) ? 'ready_to_merge' : 'waiting_for_others';
}

const isSame = (login: string | undefined, username: string): boolean =>
  username !== '' && login?.toLowerCase() === username.toLowerCase();

/** A person's own repositories are those that stand right below their name. */
const isInYours = ({ repo }: Judged, username: string): boolean => isSame(repo.split('/')[0], username);

/** Nobody answers for what a bot opened but the owner of the repository. */
function isYours(one: Judged, username: string): boolean {
  return isSame(one.author, username) || (isByBot(one) && isInYours(one, username));
}

const isByBot = ({ author, kind }: Judged): boolean => kind === 'dependency' || author.toLowerCase().endsWith('[bot]');

/** Nobody else will go on before its author has. */
function isReturned(one: Judged): boolean {
  if (one.ci === 'failure' || one.empty || one.review?.decision === 'changes_requested') return true;
  // Bots mend these by themselves.
  return !isByBot(one) && (one.mergeStatus === 'conflicting' || blockOf(one) === 'behind');
}

const blockOf = ({ allowedActions }: Judged): string | undefined =>
  allowedActions.find(({ action }) => action === 'merge')?.blocked?.code;

/** Somebody else's, in your repository, which its author has done with and nobody else looks at. */
function isForYou(one: Judged, username: string): boolean {
  if (isSame(one.author, username) || !isInYours(one, username)) return false;
  const { decision = 'none', approvals = 0, requestedReviewers = 0 } = one.review ?? {};
  const isAsked = requestedReviewers > 0 || one.requestedReviewerLogins.length > 0;
  const isUndecided = approvals === 0 && (decision === 'none' || decision === 'review_required');
  return isUndecided && !isAsked && isSettled(one) && one.mergeStatus !== 'conflicting';
}

/** A repository without checks is never green. Checks that are not known may still fail. */
const isSettled = ({ ci, ciKnown }: Judged): boolean => ciKnown !== false && (ci === 'success' || ci === 'none');

/** A review that was asked for is to come first, even where the forge would go without. */
function isReady(one: Judged): boolean {
  return (
    blockOf(one) === undefined && isSettled(one) && !one.needsReview && one.review?.decision !== 'changes_requested'
  );
}
