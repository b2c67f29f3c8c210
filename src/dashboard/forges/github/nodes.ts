/** The results of the GraphQL queries in `queries.ts`. */
import type { ConnectionPage, FieldError } from '../http/graphql-pages.js';

/** The number of checks in one state. */
export interface StateCount {
  readonly state: string;
  readonly count: number;
}

export interface RateLimitNode {
  readonly cost: number;
}

interface Latest {
  readonly totalCount: number;
  readonly nodes: readonly ({ readonly updatedAt: string } | null)[];
}

/** A repository without its connections. */
export interface HeadNode {
  readonly id: string;
  readonly nameWithOwner: string;
  readonly url: string;
  readonly isArchived: boolean;
  readonly isFork: boolean;
  /** Null for Apps, which have permissions of their own. */
  readonly viewerPermission: string | null;
  readonly pushedAt: string | null;
  readonly autoMergeAllowed: boolean;
}

export interface RepositoryNode extends HeadNode {
  readonly latestPullRequests: Latest;
  readonly latestIssues: Latest;
}

export interface IssueNode {
  readonly number: number;
  readonly title: string;
  readonly url: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Null for a deleted account. */
  readonly author: { readonly login: string } | null;
  readonly labels: { readonly nodes: readonly ({ readonly name: string; readonly color: string } | null)[] } | null;
}

export interface PullRequestNode extends IssueNode {
  readonly id: string;
  readonly author: { readonly __typename: string; readonly login: string } | null;
  readonly isDraft: boolean;
  readonly additions: number;
  readonly deletions: number;
  readonly changedFiles: number;
  readonly headRefOid: string;
  readonly headRefName: string;
  readonly baseRefName: string;
  readonly isCrossRepository: boolean;
  readonly mergeable: string;
  readonly mergeStateStatus: string;
  /** Null if the base branch requires no reviews, whatever the reviews are. */
  readonly reviewDecision: string | null;
  readonly autoMergeRequest: object | null;
  readonly isMergeQueueEnabled: boolean;
  readonly mergeQueueEntry: { readonly position: number; readonly state: string } | null;
  readonly reviewRequests: {
    readonly totalCount: number;
    readonly nodes: readonly ({
      readonly requestedReviewer: { readonly __typename: string; readonly login?: string } | null;
    } | null)[];
  } | null;
  readonly latestOpinionatedReviews: {
    readonly nodes: readonly ({ readonly state: string; readonly author: { readonly login: string } | null } | null)[];
  } | null;
  readonly commits: LastCommit<{
    readonly state: string;
    readonly contexts: {
      readonly checkRunCountsByState: readonly StateCount[] | null;
      readonly statusContextCountsByState: readonly StateCount[] | null;
    };
  }>;
}

/** The values of a pull request that change without a new revision of its repository. */
export interface PullRequestStatusNode extends Pick<
  PullRequestNode,
  | 'autoMergeRequest'
  | 'headRefOid'
  | 'isDraft'
  | 'isMergeQueueEnabled'
  | 'mergeQueueEntry'
  | 'mergeStateStatus'
  | 'mergeable'
  | 'number'
  | 'reviewDecision'
  | 'updatedAt'
> {
  readonly statusCheckRollup: FieldError | { readonly state: string } | null;
}

/** The same of a pull request that is read without its repository. */
export interface SinglePullRequestStatusNode
  extends PullRequestStatusNode, Pick<SinglePullRequestNode, 'id' | 'state'> {
  readonly repository: Pick<RepositoryNode, 'autoMergeAllowed' | 'nameWithOwner' | 'viewerPermission'>;
}

export interface LastCommit<Rollup> {
  readonly nodes: readonly (
    FieldError | { readonly commit: { readonly statusCheckRollup: FieldError | Rollup | null } } | null
  )[];
}

export interface WholeRepositoryNode extends RepositoryNode {
  readonly pullRequests: ConnectionPage<PullRequestNode>;
  readonly issues: ConnectionPage<IssueNode>;
}

/** A pull request in the results of a search. */
export interface FoundNode {
  readonly id: string;
  readonly number: number;
  readonly updatedAt: string;
  readonly repository: Pick<RepositoryNode, 'id' | 'nameWithOwner' | 'url'>;
}

/** A pull request that is read without its repository. */
export interface SinglePullRequestNode extends PullRequestNode {
  readonly state: 'CLOSED' | 'MERGED' | 'OPEN';
  readonly repository: Pick<RepositoryNode, 'autoMergeAllowed' | 'id' | 'nameWithOwner' | 'url' | 'viewerPermission'>;
}

export interface ActionRepositoryNode {
  readonly nameWithOwner: string;
  readonly autoMergeAllowed: boolean;
  readonly mergeCommitAllowed: boolean;
  readonly squashMergeAllowed: boolean;
  readonly rebaseMergeAllowed: boolean;
  readonly pullRequest:
    | (PullRequestNode & {
        readonly state: 'CLOSED' | 'MERGED' | 'OPEN';
        readonly baseRef: {
          readonly branchProtectionRule: { readonly requiresLinearHistory: boolean } | null;
        } | null;
      })
    | null;
}

export interface CommentNode {
  readonly id: string;
  readonly createdAt: string;
  readonly reactionGroups:
    | readonly {
        readonly content: string;
        readonly reactors: {
          /** Only bots have a login here. */
          readonly edges: readonly ({
            readonly reactedAt: string;
            readonly node: { readonly login?: string };
          } | null)[];
        };
      }[]
    | null;
  readonly pullRequest: {
    readonly comments: {
      readonly nodes: readonly ({
        readonly createdAt: string;
        readonly body: string;
        readonly author: { readonly login: string } | null;
      } | null)[];
    };
  } | null;
}

export interface CheckRunNode {
  readonly __typename: 'CheckRun';
  readonly databaseId: number | null;
  readonly name: string;
  readonly status: string;
  readonly conclusion: string | null;
  readonly startedAt: string | null;
  readonly completedAt: string | null;
  readonly detailsUrl: string | null;
  readonly url: string;
  readonly isRequired: boolean;
  /** The workflow run is null for checks of other apps than GitHub Actions. */
  readonly checkSuite: {
    readonly status: string;
    readonly workflowRun: { readonly databaseId: number | null } | null;
  } | null;
}

export interface StatusContextNode {
  readonly __typename: 'StatusContext';
  readonly context: string;
  readonly state: string;
  readonly targetUrl: string | null;
  readonly isRequired: boolean;
}
