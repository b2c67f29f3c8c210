import type { PullRequestDetails, PullRequestTarget } from '../forge.js';
import type { RestClient } from '../http/rest.js';
import { toRepositoryPath } from '../read-repositories.js';
import type { ForgejoCommentNode, PullRequestNode, ReviewCommentNode, ReviewNode } from './parse.js';

/** The most reviews that are read of a pull request. */
const MAX_REVIEWS = 200;

/** The most reviews whose comments are read. Each costs a request. */
const MAX_COMMENTED_REVIEWS = 10;

/** The longest excerpt of a comment. */
const MAX_EXCERPT = 500;

type Details = PullRequestDetails;

/** Reads the size, the reviews, the unresolved threads of the newest reviews, and the comments of a pull request. */
export async function readForgejoDetails(rest: RestClient, { fullName, number }: PullRequestTarget): Promise<Details> {
  const path = toRepositoryPath(fullName);
  const [pull, reviews, comments] = await Promise.all([
    rest.get(`${path}/pulls/${number}`) as Promise<PullRequestNode>,
    rest.list<ReviewNode>(`${path}/pulls/${number}/reviews?limit=50`, MAX_REVIEWS),
    rest.get(`${path}/issues/${number}/comments`) as Promise<readonly ForgejoCommentNode[]>,
  ]);
  const commented = reviews.filter((one) => (one.comments_count ?? 0) > 0).slice(-MAX_COMMENTED_REVIEWS);
  const threads = await Promise.all(
    commented.map(
      ({ id }) => rest.get(`${path}/pulls/${number}/reviews/${id}/comments`) as Promise<readonly ReviewCommentNode[]>,
    ),
  );
  const { additions, deletions, changed_files, assignees, milestone } = pull;
  return {
    ...(typeof additions === 'number' && { additions }),
    ...(typeof deletions === 'number' && { deletions }),
    ...(typeof changed_files === 'number' && { changedFiles: changed_files }),
    assignees: (assignees ?? []).map(({ login }) => login),
    ...(milestone && { milestone: milestone.title }),
    reviews: reviews.flatMap(toReview),
    threads: firstOfEachLine(threads.flat().filter(({ resolver }) => !resolver)).map((one) => ({
      ...toExcerpt(one),
      path: one.path,
      ...(typeof one.position === 'number' && one.position > 0 && { line: one.position }),
    })),
    comments: comments.map(toExcerpt),
  };
}

const STATES: Readonly<Record<string, Details['reviews'][number]['state']>> = {
  APPROVED: 'approved',
  REQUEST_CHANGES: 'changes_requested',
  COMMENT: 'commented',
};

/** Converts a submitted review. Requests for a review are in the same list. */
function toReview({ user, state, dismissed, submitted_at }: ReviewNode): Details['reviews'] {
  const known = STATES[state];
  if (known === undefined) return [];
  const time = submitted_at === undefined ? {} : { submittedAt: submitted_at };
  return [{ author: user?.login ?? 'ghost', state: dismissed ? 'dismissed' : known, ...time }];
}

/** All comments of a thread are on the same line; the API has no threads. */
function firstOfEachLine(comments: readonly ReviewCommentNode[]): ReviewCommentNode[] {
  const first = new Map<string, ReviewCommentNode>();
  for (const comment of comments) {
    const line = `${comment.path}\n${comment.position ?? 0}`;
    if (!first.has(line)) first.set(line, comment);
  }
  return [...first.values()];
}

function toExcerpt({ user, body, html_url: url, created_at }: ForgejoCommentNode): Details['comments'][number] {
  return { author: user?.login ?? 'ghost', excerpt: body.slice(0, MAX_EXCERPT), url, createdAt: created_at };
}
