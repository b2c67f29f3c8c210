import { type ForgeIssue, type ForgePullRequest, type ForgeRepository, toCiFields } from '../forge.js';
import { withoutNulls } from '../http/graphql-pages.js';
import { ciFromPipeline } from './details.js';
import type { IssueNode, MergeRequestNode, ProjectNode, Reviewer } from './queries.js';

/** Reports whether a project belongs on a board: the user can push to it, and it is not a fork and not archived. */
export function belongsOnBoard({ archived, isForked, userPermissions }: ProjectNode): boolean {
  return !archived && isForked !== true && userPermissions.pushCode;
}

export function toRepository(node: ProjectNode): ForgeRepository {
  const { id, fullPath, webUrl, userPermissions, lastActivityAt, latestMergeRequests, latestIssues } = node;
  const latest = [latestMergeRequests, latestIssues].map((one) => [one?.count, one?.nodes[0]?.updatedAt]);
  const revision = JSON.stringify([fullPath, lastActivityAt, ...latest]);
  return { id, fullName: fullPath, url: webUrl, canManageWebhooks: userPermissions.adminProject, revision };
}

export function toForgePullRequest(node: MergeRequestNode, repo: string): ForgePullRequest {
  const mergeStatus = toMergeStatus(node);
  const { diffStatsSummary } = node;
  return {
    ...toForgeIssue(node, repo),
    draft: node.draft,
    ...toCiFields(ciFromPipeline(node.headPipeline?.status)),
    mergeStatus,
    behind: node.divergedFromTargetBranch || node.detailedMergeStatus === 'NEED_REBASE',
    headSha: node.diffHeadSha ?? '',
    baseBranch: node.targetBranch,
    headBranch: node.sourceBranch,
    crossRepository: node.sourceProjectId !== node.targetProjectId,
    requestedReviewerLogins: listAwaited(node).map(({ username }) => username),
    // GitLab counts files with a delay, but no later than it finds a merge request mergeable.
    empty: diffStatsSummary?.fileCount === 0 && mergeStatus === 'mergeable',
    ...(diffStatsSummary && { additions: diffStatsSummary.additions, deletions: diffStatsSummary.deletions }),
    autoMergeEnabled: node.autoMergeEnabled,
    review: toReview(node),
  };
}

export function toForgeIssue(node: IssueNode, repo: string): ForgeIssue {
  const { iid, title, webUrl: url, createdAt, updatedAt, author, labels } = node;
  return {
    repo,
    number: Number(iid),
    title,
    url,
    author: author?.username ?? 'ghost',
    labels: withoutNulls(labels?.nodes ?? []).map((label) => ({
      name: label.title,
      color: label.color,
    })),
    createdAt,
    updatedAt,
  };
}

/** Temporary statuses: GitLab computes the merge status on request. */
const UNKNOWN = new Set(['APPROVALS_SYNCING', 'CHECKING', 'PREPARING', 'UNCHECKED']);

function toMergeStatus({ conflicts, detailedMergeStatus }: MergeRequestNode): ForgePullRequest['mergeStatus'] {
  if (conflicts || detailedMergeStatus === 'CONFLICT') return 'conflicting';
  if (detailedMergeStatus === 'MERGEABLE') return 'mergeable';
  return !detailedMergeStatus || UNKNOWN.has(detailedMergeStatus) ? 'unknown' : 'blocked';
}

/** States of finished reviews. A reviewer who has withdrawn an approval or only started a review is still awaited. */
const REVIEWED = new Set(['APPROVED', 'REQUESTED_CHANGES', 'REVIEWED']);

/** Lists the reviewers who have not finished a review. GitLab keeps all reviewers in its list. */
function listAwaited({ approvedBy, reviewers }: MergeRequestNode): Reviewer[] {
  const approvers = new Set(withoutNulls(approvedBy?.nodes ?? []).map(({ username }) => username));
  return withoutNulls(reviewers?.nodes ?? []).filter(
    (one) => !approvers.has(one.username) && !REVIEWED.has(stateOf(one) ?? ''),
  );
}

const stateOf = ({ mergeRequestInteraction }: Reviewer) => mergeRequestInteraction?.reviewState;

function toReview(node: MergeRequestNode): NonNullable<ForgePullRequest['review']> {
  const approvals = withoutNulls(node.approvedBy?.nodes ?? []).length;
  return { decision: decisionOf(node, approvals), approvals, requestedReviewers: listAwaited(node).length };
}

/** Combines several fields, as the detailed merge status names only one of several blockers. */
function decisionOf(
  { detailedMergeStatus, approved, reviewers }: MergeRequestNode,
  approvals: number,
): NonNullable<ForgePullRequest['review']>['decision'] {
  const isRefused = withoutNulls(reviewers?.nodes ?? []).some((one) => stateOf(one) === 'REQUESTED_CHANGES');
  if (isRefused || detailedMergeStatus === 'REQUESTED_CHANGES') return 'changes_requested';
  if (approved === false || detailedMergeStatus === 'NOT_APPROVED') return 'review_required';
  return approvals > 0 ? 'approved' : 'none';
}
