import type { CiStatus, ForgeRepository, ForgePullRequest } from '../model.js';
import { toCiFields } from '../model.js';
import { toForgeIssue, toRevision } from '../rest-issues.js';
import type { PublicIssueNode, PublicPullRequestNode, PublicRepositoryNode } from './anonymous-nodes.js';

/** Reports whether a repository belongs on a board, which omits forks and archived repositories. */
export function belongsOnBoard({ archived, fork }: PublicRepositoryNode): boolean {
  return !archived && !fork;
}

/** Converts a repository. @param open Its open issues and pull requests; any change to them changes the revision. */
export function toRepository(
  node: PublicRepositoryNode,
  open: readonly Pick<PublicIssueNode, 'number' | 'updated_at'>[],
): ForgeRepository {
  const { node_id: id, full_name: fullName, html_url: url, pushed_at } = node;
  return { id, fullName, url, canManageWebhooks: false, revision: toRevision([fullName, pushed_at], open) };
}

/** Converts a pull request. Leaves mergeability and reviews unknown, as each would cost another request. */
export function toForgePullRequest(
  node: PublicPullRequestNode,
  { repo, ci }: { readonly repo: string; readonly ci: CiStatus | undefined },
): ForgePullRequest {
  const { head, base, requested_reviewers } = node;
  return {
    ...toForgeIssue(node, repo),
    draft: node.draft === true,
    ...toCiFields(ci),
    mergeStatus: 'unknown',
    behind: false,
    headSha: head.sha,
    baseBranch: base.ref,
    headBranch: head.ref,
    crossRepository: head.repo?.full_name !== base.repo?.full_name,
    requestedReviewerLogins: (requested_reviewers ?? []).map(({ login }) => login),
    empty: false,
    autoMergeEnabled: node.auto_merge !== null,
  };
}
