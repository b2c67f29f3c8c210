import { ForgeError } from '../forge-error.js';
import {
  type ForgeIssue,
  type ForgePullRequest,
  type ForgeRepository,
  type PullRequest,
  toCiFields,
} from '../forge.js';
import { FieldError, withoutNulls } from '../http/graphql-pages.js';
import type { RepositoryAccess } from './access.js';
import { ciFromRollup } from './checks.js';
import type { IssueNode, PullRequestNode, PullRequestStatusNode, RepositoryNode } from './nodes.js';

/** Reports whether a repository belongs on a board: it is not known to be read-only, not a fork and not archived. */
export function belongsOnBoard(node: RepositoryNode, reach: RepositoryAccess): boolean {
  // Otherwise an invalid repository would count as one that the user can't write to.
  if (!isName(node.nameWithOwner)) throw new ForgeError('unknown', { cause: new Error('A repository has no name.') });
  return !node.isArchived && !node.isFork && reach.isListed(node);
}

export function toRepository(node: RepositoryNode, reach: RepositoryAccess): ForgeRepository {
  const { id, nameWithOwner, url, pushedAt, latestPullRequests, latestIssues } = node;
  const latest = [latestPullRequests, latestIssues].map(({ totalCount, nodes }) => [totalCount, nodes[0]?.updatedAt]);
  const revision = JSON.stringify([nameWithOwner, pushedAt, ...latest, ...(reach.canWrite(node) ? [] : ['readOnly'])]);
  return { id, fullName: nameWithOwner, url, canManageWebhooks: reach.canManageWebhooks(node), revision };
}

/** Reports whether the revision says that a repository has no open pull request and no open issue. */
export function isEmpty({ revision }: Pick<ForgeRepository, 'revision'>): boolean {
  if (!revision.startsWith('[')) return false;
  const [, , pullRequests, issues] = JSON.parse(revision) as readonly (readonly unknown[] | null)[];
  return pullRequests?.[0] === 0 && issues?.[0] === 0;
}

interface PullRequestRepository {
  readonly nameWithOwner: string;
  readonly autoMergeAllowed: boolean;
}

/**
 * Converts a pull request.
 *
 * @param teamRequests The ids of the pull requests that wait for a review of a team of the viewer, if they were read.
 */
export function toForgePullRequest(
  node: PullRequestNode,
  repository: PullRequestRepository,
  teamRequests?: ReadonlySet<string>,
): ForgePullRequest {
  const { mergeStateStatus, mergeable, reviewRequests, mergeQueueEntry } = node;
  const asked = withoutNulls(reviewRequests?.nodes ?? []).map(({ requestedReviewer }) => requestedReviewer?.login);
  return {
    ...toForgeIssue(node, repository),
    ...(node.author && { authorIsBot: node.author.__typename === 'Bot' }),
    draft: node.isDraft,
    ...toCiFields(toCi(node)),
    mergeStatus: toMergeStatus(mergeable, mergeStateStatus),
    behind: mergeStateStatus === 'BEHIND',
    headSha: node.headRefOid,
    baseBranch: node.baseRefName,
    headBranch: node.headRefName,
    crossRepository: node.isCrossRepository,
    // Teams have no login.
    requestedReviewerLogins: asked.filter((login) => login !== undefined),
    // GitHub counts files with a delay, but no later than it finds a pull request mergeable.
    empty: node.changedFiles === 0 && mergeable === 'MERGEABLE',
    ...{ additions: node.additions, deletions: node.deletions },
    autoMergeEnabled: node.autoMergeRequest !== null,
    autoMergeAllowed: repository.autoMergeAllowed,
    mergeQueueRequired: node.isMergeQueueEnabled,
    ...(mergeQueueEntry && { mergeQueue: toMergeQueuePlace(mergeQueueEntry) }),
    ...(teamRequests && { reviewRequestedFromMyTeam: !node.isDraft && teamRequests.has(node.id) }),
    review: toReview(node),
  };
}

/** Reports whether a row has the current values of its pull request, of those that a status has. */
export function isCurrent(node: PullRequestStatusNode, row: ForgePullRequest): boolean {
  const rollup = node.statusCheckRollup;
  const ci = toCiFields(rollup instanceof FieldError ? undefined : ciFromRollup(rollup));
  const { mergeQueueEntry } = node;
  const queue = mergeQueueEntry === null ? undefined : toMergeQueuePlace(mergeQueueEntry);
  return (
    row.updatedAt === node.updatedAt &&
    // Rows that an earlier release read have no size.
    row.additions !== undefined &&
    row.headSha === node.headRefOid &&
    row.draft === node.isDraft &&
    row.mergeStatus === toMergeStatus(node.mergeable, node.mergeStateStatus) &&
    row.behind === (node.mergeStateStatus === 'BEHIND') &&
    row.ci === ci.ci &&
    row.ciKnown === ci.ciKnown &&
    isSameDecision(node, row.review?.decision) &&
    row.autoMergeEnabled === (node.autoMergeRequest !== null) &&
    row.mergeQueueRequired === node.isMergeQueueEnabled &&
    row.mergeQueue?.position === queue?.position &&
    row.mergeQueue?.state === queue?.state
  );
}

export function toForgeIssue(
  node: IssueNode,
  { nameWithOwner }: Pick<PullRequestRepository, 'nameWithOwner'>,
): ForgeIssue {
  const { number, title, url, author, labels, createdAt, updatedAt } = node;
  return {
    repo: nameWithOwner,
    number,
    title,
    url,
    author: author?.login ?? 'ghost',
    labels: withoutNulls(labels?.nodes ?? []).map(({ name, color }) => ({ name, color })),
    createdAt,
    updatedAt,
  };
}

/** Reports whether a review of any team is requested. */
export function asksTeam({ reviewRequests }: PullRequestNode): boolean {
  return withoutNulls(reviewRequests?.nodes ?? []).some((one) => one.requestedReviewer?.__typename === 'Team');
}

type MergeQueuePlace = NonNullable<ForgePullRequest['mergeQueue']>;

function toMergeQueuePlace({ position, state }: NonNullable<PullRequestNode['mergeQueueEntry']>): MergeQueuePlace {
  return { position, state: state.toLowerCase() as MergeQueuePlace['state'] };
}

/** Returns the CI status, or `undefined` when GitHub did not return it. */
function toCi({ commits }: PullRequestNode): ForgePullRequest['ci'] | undefined {
  const last = commits.nodes[0];
  const rollup = last instanceof FieldError ? last : last?.commit.statusCheckRollup;
  if (rollup instanceof FieldError) return undefined;
  if (!rollup) return 'none';
  const { checkRunCountsByState: checkRuns, statusContextCountsByState: statuses } = rollup.contexts;
  return ciFromRollup({ state: rollup.state, checkRuns, statuses });
}

const DECISIONS: Readonly<Record<string, 'approved' | 'changes_requested' | 'review_required'>> = {
  APPROVED: 'approved',
  CHANGES_REQUESTED: 'changes_requested',
  REVIEW_REQUIRED: 'review_required',
};

type Decision = NonNullable<ForgePullRequest['review']>['decision'];

/** Without a decision of GitHub, that of the row follows from reviews, which change `updatedAt` too. */
const isSameDecision = ({ reviewDecision }: Pick<PullRequestNode, 'reviewDecision'>, known: Decision | undefined) =>
  reviewDecision === null ? known !== 'review_required' : known === (DECISIONS[reviewDecision] ?? 'none');

function toReview(node: PullRequestNode): ForgePullRequest['review'] {
  const { reviewDecision, latestOpinionatedReviews, reviewRequests } = node;
  const reviews = withoutNulls(latestOpinionatedReviews?.nodes ?? []);
  return {
    decision: reviewDecision === null ? deriveDecision(node) : (DECISIONS[reviewDecision] ?? 'none'),
    approvals: reviews.filter(({ state }) => state === 'APPROVED').length,
    requestedReviewers: reviewRequests?.totalCount ?? 0,
  };
}

/** Derives the decision from the latest reviews, without those of reviewers who are requested again. */
function deriveDecision({ latestOpinionatedReviews, reviewRequests }: PullRequestNode): Decision {
  const requests = withoutNulls(reviewRequests?.nodes ?? []);
  const awaited = new Set(requests.map(({ requestedReviewer }) => requestedReviewer?.login));
  const reviews = withoutNulls(latestOpinionatedReviews?.nodes ?? []);
  const states = reviews.filter(({ author }) => !author || !awaited.has(author.login)).map(({ state }) => state);
  if (states.includes('CHANGES_REQUESTED')) return 'changes_requested';
  return states.includes('APPROVED') ? 'approved' : 'none';
}

const MERGE_STATUS_BY_STATE: Readonly<Record<string, PullRequest['mergeStatus']>> = {
  CLEAN: 'mergeable',
  HAS_HOOKS: 'mergeable',
  UNSTABLE: 'unstable',
  DIRTY: 'conflicting',
  BLOCKED: 'blocked',
  // The base branch requires branches to be up to date.
  BEHIND: 'blocked',
  DRAFT: 'blocked',
};

/** Combines GitHub's two fields about mergeability. */
export function toMergeStatus(mergeable: string, mergeStateStatus: string): PullRequest['mergeStatus'] {
  return mergeable === 'CONFLICTING' ? 'conflicting' : (MERGE_STATUS_BY_STATE[mergeStateStatus] ?? 'unknown');
}

const isName = (name: unknown): boolean => typeof name === 'string';
