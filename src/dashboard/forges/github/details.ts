import { ForgeError } from '../forge-error.js';
import type { PullRequestDetails, PullRequestTarget } from '../forge.js';
import { type FieldError, withoutNulls } from '../http/graphql-pages.js';
import { toOwnerAndName } from '../read-repositories.js';
import { READ_DETAILS } from './queries.js';
import type { GithubRequests } from './requests.js';

/** The longest excerpt of a comment. */
const MAX_EXCERPT = 500;

interface Author {
  readonly author: { readonly login: string } | null;
}

interface CommentNode extends Author {
  readonly bodyText: string;
  readonly url: string;
  readonly createdAt: string;
}

type Nodes<T> = { readonly nodes: readonly (FieldError | T | null)[] | null } | FieldError | null;

interface DetailsNode {
  readonly additions: number;
  readonly deletions: number;
  readonly changedFiles: number;
  readonly commits: { readonly totalCount: number };
  readonly milestone: { readonly title: string } | null;
  readonly assignees: Nodes<{ readonly login: string }>;
  readonly reviewRequests: Nodes<{
    readonly asCodeOwner: boolean;
    readonly requestedReviewer: { readonly login?: string; readonly combinedSlug?: string } | null;
  }>;
  readonly baseRef: {
    readonly branchProtectionRule: RequiredReviews | null;
    readonly rules: Nodes<{ readonly parameters: RequiredReviews | null }>;
  } | null;
  readonly reviews: Nodes<Author & { readonly state: string; readonly submittedAt: string | null }>;
  readonly reviewThreads: Nodes<{
    readonly isResolved: boolean;
    readonly path: string;
    readonly line: number | null;
    readonly comments: Nodes<CommentNode>;
  }>;
  readonly comments: Nodes<CommentNode>;
}

interface RequiredReviews {
  readonly requiredApprovingReviewCount?: number | null;
}

interface DetailsData {
  readonly repository: { readonly pullRequest: DetailsNode | null } | null;
}

/** Reads the newest 50 reviews, the unresolved ones of the newest 100 threads, and the newest 20 comments. */
export async function readGithubDetails(
  requests: GithubRequests,
  { fullName, number }: PullRequestTarget,
): Promise<PullRequestDetails> {
  const { owner, name } = toOwnerAndName(fullName);
  const { repository } = (await requests.graphql(READ_DETAILS, { owner, name, number })) as DetailsData;
  const node = repository?.pullRequest;
  if (!node) throw new ForgeError('not_found');
  const { additions, deletions, changedFiles, commits, reviews, reviewThreads, comments } = node;
  const open = nodesOf(reviewThreads).filter(({ isResolved }) => !isResolved);
  return {
    ...{ additions, deletions, changedFiles, commits: commits.totalCount },
    ...toRules(node),
    // Pending reviews are visible to their author only.
    reviews: nodesOf(reviews).flatMap(({ author, state, submittedAt }) =>
      submittedAt === null
        ? []
        : [{ author: author?.login ?? 'ghost', state: state.toLowerCase() as ReviewState, submittedAt }],
    ),
    threads: open.flatMap(({ path, line, comments: of }) =>
      nodesOf(of).map((comment) => ({ ...toComment(comment), path, ...(line !== null && { line }) })),
    ),
    comments: nodesOf(comments).map(toComment),
  };
}

/** Branch protection and all rulesets apply, so the largest number counts. */
function toRules({ milestone, assignees, reviewRequests, baseRef }: DetailsNode): Partial<PullRequestDetails> {
  const owners = nodesOf(reviewRequests)
    .filter(({ asCodeOwner }) => asCodeOwner)
    .map(({ requestedReviewer }) => requestedReviewer?.login ?? requestedReviewer?.combinedSlug ?? '');
  const rules = [
    baseRef?.branchProtectionRule,
    ...nodesOf(baseRef?.rules ?? null).map(({ parameters }) => parameters),
  ].map((rule) => rule?.requiredApprovingReviewCount ?? 0);
  const requiredApprovals = Math.max(0, ...rules);
  return {
    ...(requiredApprovals > 0 && { requiredApprovals }),
    codeOwners: owners.filter((name) => name !== ''),
    assignees: nodesOf(assignees).map(({ login }) => login),
    ...(milestone && { milestone: milestone.title }),
  };
}

type ReviewState = PullRequestDetails['reviews'][number]['state'];

/** Returns the nodes that the credential has access to. */
function nodesOf<T>(list: Nodes<T>): T[] {
  return list === null || !('nodes' in list) ? [] : withoutNulls(list.nodes ?? []);
}

function toComment({ author, bodyText, url, createdAt }: CommentNode): PullRequestDetails['comments'][number] {
  return { author: author?.login ?? 'ghost', excerpt: bodyText.slice(0, MAX_EXCERPT), url, createdAt };
}
