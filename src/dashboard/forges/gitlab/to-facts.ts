import type { ForgeRepository, IssueFacts, PullRequestFacts } from '../facts.js';
import { compact } from '../http/connections.js';
import { judgePipeline } from './ci.js';
import type { IssueNode, MergeRequestNode, ProjectNode } from './nodes.js';

/** A board follows what its person may push to, and no forks or archives. */
export function isFollowed({ archived, isForked, userPermissions }: ProjectNode): boolean {
  return !archived && isForked !== true && userPermissions.pushCode;
}

export function toRepository(node: ProjectNode): ForgeRepository {
  const { id, fullPath, webUrl, userPermissions, lastActivityAt, latestMergeRequests, latestIssues } = node;
  const latest = [latestMergeRequests, latestIssues].map((one) => [one?.count, one?.nodes[0]?.updatedAt]);
  const revision = JSON.stringify([fullPath, lastActivityAt, ...latest]);
  return { id, fullName: fullPath, url: webUrl, canManageWebhooks: userPermissions.adminProject, revision };
}

export function toPullRequestFacts(node: MergeRequestNode, repo: string): PullRequestFacts {
  const mergeStatus = toMergeStatus(node);
  return {
    ...toIssueFacts(node, repo),
    draft: node.draft,
    ci: judgePipeline(node.headPipeline?.status),
    mergeStatus,
    behind: node.divergedFromTargetBranch || node.detailedMergeStatus === 'NEED_REBASE',
    headSha: node.diffHeadSha ?? '',
    baseBranch: node.targetBranch,
    headBranch: node.sourceBranch,
    crossRepository: node.sourceProjectId !== node.targetProjectId,
    requestedReviewerLogins: compact(node.reviewers?.nodes ?? []).map(({ username }) => username),
    // Files are counted late; when it can be merged they have been.
    empty: node.diffStatsSummary?.fileCount === 0 && mergeStatus === 'mergeable',
    autoMergeEnabled: node.autoMergeEnabled,
    review: toReview(node),
  };
}

export function toIssueFacts(node: IssueNode, repo: string): IssueFacts {
  const { iid, title, webUrl: url, createdAt, updatedAt, author, labels } = node;
  return {
    repo,
    number: Number(iid),
    title,
    url,
    author: author?.username ?? 'ghost',
    labels: compact(labels?.nodes ?? []).map((label) => ({ name: label.title, color: label.color.replace(/^#/, '') })),
    createdAt,
    updatedAt,
  };
}

/** GitLab looks at it when somebody asks, and says for a moment that it doesn't know. */
const UNKNOWN = new Set(['APPROVALS_SYNCING', 'CHECKING', 'PREPARING', 'UNCHECKED']);

function toMergeStatus({ conflicts, detailedMergeStatus }: MergeRequestNode): PullRequestFacts['mergeStatus'] {
  if (conflicts || detailedMergeStatus === 'CONFLICT') return 'conflicting';
  if (detailedMergeStatus === 'MERGEABLE') return 'mergeable';
  return detailedMergeStatus === null || UNKNOWN.has(detailedMergeStatus) ? 'unknown' : 'blocked';
}

function toReview(node: MergeRequestNode): NonNullable<PullRequestFacts['review']> {
  const approvals = compact(node.approvedBy?.nodes ?? []).length;
  return { decision: decisionOf(node, approvals), approvals, requestedReviewers: node.reviewers?.nodes.length ?? 0 };
}

function decisionOf(
  { detailedMergeStatus }: MergeRequestNode,
  approvals: number,
): NonNullable<PullRequestFacts['review']>['decision'] {
  if (detailedMergeStatus === 'REQUESTED_CHANGES') return 'changes_requested';
  if (detailedMergeStatus === 'NOT_APPROVED') return 'review_required';
  return approvals > 0 ? 'approved' : 'none';
}
