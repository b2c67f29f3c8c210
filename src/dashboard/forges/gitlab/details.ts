import { ForgeError } from '../forge-error.js';
import type { PullRequestDetails, PullRequestTarget } from '../forge.js';
import { withoutNulls } from '../http/graphql-pages.js';
import { type DetailsNode, type DiscussionNode, type NoteNode, READ_MERGE_REQUEST_DETAILS } from './queries.js';
import { type GitlabRequests, toProjectPath } from './requests.js';

/** The most discussions that are read of a merge request. */
const MAX_DISCUSSIONS = 200;

/** The longest excerpt of a comment. */
const MAX_EXCERPT = 500;

/** Reads the size, the approvals, the unresolved threads and the comments of a merge request. */
export async function readGitlabDetails(
  requests: GitlabRequests,
  { fullName, number }: PullRequestTarget,
): Promise<PullRequestDetails> {
  const data = await requests.graphql(READ_MERGE_REQUEST_DETAILS, { path: fullName, iid: String(number) });
  const node = (data as { readonly project: { readonly mergeRequest: DetailsNode | null } | null }).project
    ?.mergeRequest;
  if (!node) throw new ForgeError('not_found');
  const path = `${toProjectPath(fullName)}/merge_requests/${number}/discussions?per_page=100`;
  const discussions = await requests.list<DiscussionNode>(path, MAX_DISCUSSIONS);
  const first = discussions.flatMap(({ notes }) => notes?.slice(0, 1) ?? []).filter(({ system }) => !system);
  const toComment = (note: NoteNode) => toExcerpt(note, node.webUrl);
  return {
    ...toSize(node),
    reviews: toReviews(node),
    threads: first.filter(({ resolvable, resolved }) => resolvable && resolved !== true).map(toComment),
    comments: first.filter(({ resolvable }) => !resolvable).map(toComment),
  };
}

function toSize({ commitCount, diffStatsSummary }: DetailsNode): Partial<PullRequestDetails> {
  return {
    ...(commitCount !== null && { commits: commitCount }),
    ...(diffStatsSummary && {
      additions: diffStatsSummary.additions,
      deletions: diffStatsSummary.deletions,
      changedFiles: diffStatsSummary.fileCount,
    }),
  };
}

const STATES: Readonly<Record<string, PullRequestDetails['reviews'][number]['state']>> = {
  REQUESTED_CHANGES: 'changes_requested',
  REVIEWED: 'commented',
};

/** GitLab reports no times of reviews here. Every user with access can approve, not only the reviewers. */
function toReviews({ approvedBy, reviewers }: DetailsNode): PullRequestDetails['reviews'] {
  const approvals = withoutNulls(approvedBy?.nodes ?? []);
  const others = withoutNulls(reviewers?.nodes ?? []).flatMap(({ username, mergeRequestInteraction }) => {
    const state = STATES[mergeRequestInteraction?.reviewState ?? ''];
    return state === undefined ? [] : [{ author: username, state }];
  });
  return [...others, ...approvals.map(({ username }) => ({ author: username, state: 'approved' as const }))];
}

function toExcerpt(
  { id, body, author, created_at, position }: NoteNode,
  webUrl: string,
): PullRequestDetails['comments'][number] {
  return {
    author: author?.username ?? 'ghost',
    excerpt: body.slice(0, MAX_EXCERPT),
    url: `${webUrl}#note_${id}`,
    ...(position?.new_path && { path: position.new_path }),
    ...(position?.new_line && { line: position.new_line }),
    createdAt: created_at,
  };
}
