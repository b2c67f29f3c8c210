import type { components } from '../../../../generated/dashboard/client.js';
import type { PullRequest } from '../data/rows.js';

type Details = components['schemas']['PullRequestDetails'];
type Comment = Details['comments'][number];
type ReviewState = Details['reviews'][number]['state'];

interface Reviewer {
  readonly name: string;
  readonly state: ReviewState | 'awaited';
  readonly at?: string;
}

/**
 * Returns the latest verdict of each reviewer; a comment does not replace a verdict. Requested reviewers without one
 * come last.
 */
export function listReviewers(reviews: Details['reviews'], requested: readonly string[]): readonly Reviewer[] {
  const latest = new Map<string, Reviewer>();
  for (const { author: name, state, submittedAt: at } of reviews) {
    if (state === 'commented' && latest.has(name)) continue;
    latest.set(name, { name, state, ...(at !== undefined && { at }) });
  }
  for (const name of requested) latest.delete(name);
  return [...latest.values(), ...requested.map((name) => ({ name, state: 'awaited' as const }))];
}

interface Happening {
  readonly at: string;
  readonly actor: string;
  readonly text: string;
  readonly comment?: Comment;
}

/** Returns when a pull request was opened, reviewed and commented, in this order of time. */
export function toTimeline({ author, createdAt }: PullRequest, { reviews, comments }: Details): readonly Happening[] {
  const list: readonly Happening[] = [
    { at: createdAt, actor: author, text: 'opened it' },
    ...reviews.flatMap(({ author: actor, state, submittedAt: at }) =>
      at === undefined ? [] : [{ at, actor, text: REVIEWED[state] }],
    ),
    ...comments.map((comment) => ({ at: comment.createdAt, actor: comment.author, text: 'commented', comment })),
  ];
  return list.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

const REVIEWED: Readonly<Record<ReviewState, string>> = {
  approved: 'approved',
  changes_requested: 'requested changes',
  commented: 'reviewed',
  dismissed: 'left a review that was dismissed',
};
