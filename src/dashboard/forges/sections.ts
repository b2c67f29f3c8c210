import type { PullRequest } from './forge.js';

type Section = PullRequest['section'];
type Judged = Pick<
  PullRequest,
  | 'allowedActions'
  | 'author'
  | 'authorIsBot'
  | 'ci'
  | 'ciKnown'
  | 'draft'
  | 'empty'
  | 'kind'
  | 'mergeQueue'
  | 'mergeStatus'
  | 'needsReview'
  | 'readOnly'
  | 'readyToMerge'
  | 'repo'
  | 'requestedReviewerLogins'
  | 'review'
  | 'reviewRequestedFromMe'
  | 'reviewRequestedFromMyTeam'
>;

/** Sections in the order of the board, the most urgent first. */
export const SECTIONS: readonly Section[] = [
  'needs_your_review',
  'returned_to_you',
  'ready_to_merge',
  'waiting_for_others',
  'drafts',
];

/**
 * Finds the section of a pull request by whose turn it is.
 *
 * @param username The viewer's username at the forge, empty if they have not entered one.
 */
export function findSection(pullRequest: Judged, username: string): Section {
  if (pullRequest.draft) return 'drafts';
  // In a merge queue, users wait until the queue has merged or removed it.
  if (pullRequest.mergeQueue && pullRequest.mergeQueue.state !== 'unmergeable') return 'waiting_for_others';
  if (pullRequest.reviewRequestedFromMe || pullRequest.reviewRequestedFromMyTeam === true) return 'needs_your_review';
  if (isYours(pullRequest, username) && isReturned(pullRequest)) return 'returned_to_you';
  if (isForYou(pullRequest, username) && !pullRequest.readyToMerge) return 'needs_your_review';
  return pullRequest.readOnly !== true && isReady(pullRequest) ? 'ready_to_merge' : 'waiting_for_others';
}

/** Compares logins without case. An empty username was not entered, and equals none. */
export const isSame = (login: string | undefined, username: string): boolean =>
  username !== '' && login?.toLowerCase() === username.toLowerCase();

/** A repository belongs to the user who is its owner at the forge, not to every member of an organization. */
const isInYours = ({ repo }: Judged, username: string): boolean => isSame(repo.split('/')[0], username);

/** The owner of the repository is responsible for pull requests of bots. */
function isYours(pullRequest: Judged, username: string): boolean {
  return isSame(pullRequest.author, username) || (isByBot(pullRequest) && isInYours(pullRequest, username));
}

const isByBot = ({ author, authorIsBot, kind }: Judged): boolean =>
  kind === 'dependency' || authorIsBot === true || author.toLowerCase().endsWith('[bot]');

/** Reports whether the author has to act before anyone else can. */
function isReturned(pullRequest: Judged): boolean {
  if (pullRequest.ci === 'failure' || pullRequest.empty || pullRequest.review?.decision === 'changes_requested')
    return true;
  // Bots resolve these automatically.
  return !isByBot(pullRequest) && (pullRequest.mergeStatus === 'conflicting' || blockOf(pullRequest) === 'behind');
}

/** Reports whether the next step is to add it to the merge queue. */
const canEnqueue = ({ allowedActions }: Judged): boolean =>
  allowedActions.some(({ action, blocked }) => action === 'enqueue' && blocked === undefined);

const blockOf = ({ allowedActions }: Judged): string | undefined =>
  allowedActions.find(({ action }) => action === 'merge')?.blocked?.code;

/**
 * Reports whether another user's pull request in the viewer's repository waits for a review, with no reviewer
 * requested.
 */
function isForYou(pullRequest: Judged, username: string): boolean {
  if (isSame(pullRequest.author, username) || !isInYours(pullRequest, username)) return false;
  const { decision = 'none', approvals = 0, requestedReviewers = 0 } = pullRequest.review ?? {};
  const isAsked = requestedReviewers > 0 || pullRequest.requestedReviewerLogins.length > 0;
  const isUndecided = approvals === 0 && (decision === 'none' || decision === 'review_required');
  return isUndecided && !isAsked && isSettled(pullRequest) && pullRequest.mergeStatus !== 'conflicting';
}

/**
 * Reports whether no check is pending or failing, which includes pull requests without checks. Unknown checks may fail.
 */
const isSettled = ({ ci, ciKnown }: Judged): boolean => ciKnown !== false && (ci === 'success' || ci === 'none');

/** Requires a requested review, even if the forge would allow merging without it. */
function isReady(pullRequest: Judged): boolean {
  const isOpen = blockOf(pullRequest) === undefined || canEnqueue(pullRequest);
  return (
    isOpen && isSettled(pullRequest) && !pullRequest.needsReview && pullRequest.review?.decision !== 'changes_requested'
  );
}
