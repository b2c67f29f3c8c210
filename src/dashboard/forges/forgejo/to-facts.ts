import type { CiStatus, ForgeRepository, PullRequestFacts } from '../facts.js';
import { toKnownCi } from '../facts.js';
import { toIssueFacts, toRevision } from '../rest-issues.js';
import type { IssueNode, PullRequestNode, RepositoryNode, ReviewNode } from './nodes.js';

/** A board follows what its person may push to, and no forks, mirrors or archives. */
export function isFollowed({ archived, fork, mirror, permissions }: RepositoryNode): boolean {
  return !archived && !fork && !mirror && permissions?.push === true;
}

/** @param open Its open issues and pull requests, of which the newest change counts. */
export function toRepository(node: RepositoryNode, open: readonly IssueNode[]): ForgeRepository {
  const { id, full_name: fullName, html_url: url, updated_at, permissions } = node;
  const revision = toRevision([fullName, updated_at], open);
  return { id: String(id), fullName, url, canManageWebhooks: permissions?.admin === true, revision };
}

export interface Known {
  readonly repo: string;
  /** `undefined` when the forge does not give it. */
  readonly ci: CiStatus | undefined;
  readonly review: PullRequestFacts['review'];
}

export function toPullRequestFacts(node: PullRequestNode, { repo, ci, review }: Known): PullRequestFacts {
  const { base, head, mergeable, merge_base, changed_files, requested_reviewers } = node;
  return {
    ...toIssueFacts(node, repo),
    draft: isDraft(node),
    ...toKnownCi(ci),
    // Protection, conflicts and checks that are missing all look the same here.
    mergeStatus: mergeable ? 'mergeable' : 'blocked',
    behind: base.sha !== merge_base,
    headSha: head.sha,
    baseBranch: base.ref,
    headBranch: head.ref,
    crossRepository: head.repo_id !== base.repo_id,
    requestedReviewerLogins: (requested_reviewers ?? []).map(({ login }) => login),
    empty: changed_files === 0 && mergeable,
    ...(review && { review }),
  };
}

/** Older servers know drafts by their titles only. */
export function isDraft({ draft, title }: PullRequestNode): boolean {
  return draft ?? /^(\[WIP\]|WIP:)/i.test(title);
}

/** The last word of each reviewer counts, if it is one and still stands. */
export function toReview(reviews: readonly ReviewNode[], node: PullRequestNode): PullRequestFacts['review'] {
  const last = new Map<string, string>();
  for (const { user, state, dismissed, official } of reviews) {
    if (user === null || dismissed || !official) continue;
    if (state === 'APPROVED' || state === 'REQUEST_CHANGES') last.set(user.login, state);
  }
  const states = [...last.values()];
  const approvals = states.filter((state) => state === 'APPROVED').length;
  const approved = approvals > 0 ? 'approved' : 'none';
  return {
    decision: states.includes('REQUEST_CHANGES') ? 'changes_requested' : approved,
    approvals,
    requestedReviewers: (node.requested_reviewers ?? []).length + (node.requested_reviewers_teams ?? []).length,
  };
}
