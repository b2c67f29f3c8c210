import { buildSchema } from 'graphql';

/** The part of GitHub's schema that the client uses. */
export const githubSchema = buildSchema(`
  scalar DateTime
  scalar GitObjectID
  scalar URI

  interface Node { id: ID! }
  interface Actor { login: String! }
  type PageInfo { hasNextPage: Boolean! endCursor: String }
  enum OrderDirection { ASC DESC }

  type Query {
    viewer: User!
    repository(owner: String!, name: String!, followRenames: Boolean = true): Repository
    node(id: ID!): Node
    nodes(ids: [ID!]!): [Node]!
    rateLimit(dryRun: Boolean = false): RateLimit
  }
  type Mutation {
    enablePullRequestAutoMerge(input: EnablePullRequestAutoMergeInput!): EnablePullRequestAutoMergePayload
  }
  input EnablePullRequestAutoMergeInput {
    pullRequestId: ID! mergeMethod: PullRequestMergeMethod = MERGE expectedHeadOid: GitObjectID clientMutationId: String
  }
  type EnablePullRequestAutoMergePayload { clientMutationId: String }
  enum PullRequestMergeMethod { MERGE REBASE SQUASH }
  type RateLimit { cost: Int! limit: Int! remaining: Int! resetAt: DateTime! used: Int! }

  enum RepositoryAffiliation { COLLABORATOR ORGANIZATION_MEMBER OWNER }
  enum RepositoryOrderField { CREATED_AT NAME PUSHED_AT STARGAZERS UPDATED_AT }
  input RepositoryOrder { field: RepositoryOrderField! direction: OrderDirection! }
  type User implements Actor & Node {
    id: ID!
    login: String!
    repositories(
      first: Int, after: String, isFork: Boolean, isArchived: Boolean, orderBy: RepositoryOrder
      affiliations: [RepositoryAffiliation], ownerAffiliations: [RepositoryAffiliation] = [OWNER, COLLABORATOR]
    ): RepositoryConnection!
  }
  type Bot implements Actor & Node { id: ID! login: String! }
  type RepositoryConnection { nodes: [Repository] pageInfo: PageInfo! totalCount: Int! }

  enum RepositoryPermission { ADMIN MAINTAIN READ TRIAGE WRITE }
  enum PullRequestState { CLOSED MERGED OPEN }
  enum IssueState { CLOSED OPEN }
  enum IssueOrderField { COMMENTS CREATED_AT UPDATED_AT }
  input IssueOrder { field: IssueOrderField! direction: OrderDirection! }
  type Repository implements Node {
    id: ID!
    nameWithOwner: String!
    url: URI!
    isArchived: Boolean!
    isFork: Boolean!
    viewerPermission: RepositoryPermission
    pushedAt: DateTime
    autoMergeAllowed: Boolean!
    mergeCommitAllowed: Boolean!
    squashMergeAllowed: Boolean!
    rebaseMergeAllowed: Boolean!
    pullRequest(number: Int!): PullRequest
    pullRequests(states: [PullRequestState!], first: Int, after: String, orderBy: IssueOrder): PullRequestConnection!
    issues(states: [IssueState!], first: Int, after: String, orderBy: IssueOrder): IssueConnection!
  }
  type PullRequestConnection { nodes: [PullRequest] pageInfo: PageInfo! totalCount: Int! }
  type IssueConnection { nodes: [Issue] pageInfo: PageInfo! totalCount: Int! }
  type Label { name: String! color: String! }
  type LabelConnection { nodes: [Label] totalCount: Int! }

  type Issue implements Node {
    id: ID!
    number: Int!
    title: String!
    url: URI!
    createdAt: DateTime!
    updatedAt: DateTime!
    author: Actor
    labels(first: Int, after: String): LabelConnection
  }

  enum MergeableState { CONFLICTING MERGEABLE UNKNOWN }
  enum MergeStateStatus { BEHIND BLOCKED CLEAN DIRTY DRAFT HAS_HOOKS UNKNOWN UNSTABLE }
  enum PullRequestReviewDecision { APPROVED CHANGES_REQUESTED REVIEW_REQUIRED }
  enum PullRequestReviewState { APPROVED CHANGES_REQUESTED COMMENTED DISMISSED PENDING }
  type PullRequest implements Node {
    id: ID!
    number: Int!
    title: String!
    url: URI!
    state: PullRequestState!
    isDraft: Boolean!
    createdAt: DateTime!
    updatedAt: DateTime!
    changedFiles: Int!
    author: Actor
    labels(first: Int, after: String): LabelConnection
    headRefOid: GitObjectID!
    headRefName: String!
    baseRefName: String!
    baseRef: Ref
    isCrossRepository: Boolean!
    mergeable: MergeableState!
    mergeStateStatus: MergeStateStatus!
    reviewDecision: PullRequestReviewDecision
    autoMergeRequest: AutoMergeRequest
    reviewRequests(first: Int, after: String): ReviewRequestConnection
    latestOpinionatedReviews(first: Int, writersOnly: Boolean = false): PullRequestReviewConnection
    comments(first: Int, last: Int): IssueCommentConnection!
    commits(first: Int, last: Int): PullRequestCommitConnection!
  }
  enum ReactionContent { CONFUSED EYES HEART HOORAY LAUGH ROCKET THUMBS_DOWN THUMBS_UP }
  union Reactor = Bot | User
  type ReactorEdge { node: Reactor! reactedAt: DateTime! }
  type ReactorConnection { edges: [ReactorEdge] totalCount: Int! }
  type ReactionGroup { content: ReactionContent! reactors(first: Int): ReactorConnection! }
  type IssueCommentConnection { nodes: [IssueComment] totalCount: Int! }
  type IssueComment implements Node {
    id: ID!
    createdAt: DateTime!
    body: String!
    author: Actor
    reactionGroups: [ReactionGroup!]
    pullRequest: PullRequest
  }
  type Ref { branchProtectionRule: BranchProtectionRule }
  type BranchProtectionRule { requiresLinearHistory: Boolean! }
  type AutoMergeRequest { enabledAt: DateTime }
  union RequestedReviewer = Team | User
  type Team { slug: String! }
  type ReviewRequest { requestedReviewer: RequestedReviewer }
  type ReviewRequestConnection { nodes: [ReviewRequest] totalCount: Int! }
  type PullRequestReview { state: PullRequestReviewState! }
  type PullRequestReviewConnection { nodes: [PullRequestReview] totalCount: Int! }
  type PullRequestCommitConnection { nodes: [PullRequestCommit] totalCount: Int! }
  type PullRequestCommit { commit: Commit! }
  type Commit { oid: GitObjectID! statusCheckRollup: StatusCheckRollup }

  enum StatusState { ERROR EXPECTED FAILURE PENDING SUCCESS }
  enum CheckStatusState { COMPLETED IN_PROGRESS PENDING QUEUED REQUESTED WAITING }
  enum CheckConclusionState {
    ACTION_REQUIRED CANCELLED FAILURE NEUTRAL SKIPPED STALE STARTUP_FAILURE SUCCESS TIMED_OUT
  }
  enum CheckRunState {
    ACTION_REQUIRED CANCELLED COMPLETED FAILURE IN_PROGRESS NEUTRAL PENDING QUEUED SKIPPED STALE STARTUP_FAILURE
    SUCCESS TIMED_OUT WAITING
  }
  type StatusCheckRollup {
    state: StatusState!
    contexts(first: Int, after: String): StatusCheckRollupContextConnection!
  }
  type StatusCheckRollupContextConnection {
    checkRunCountsByState: [CheckRunStateCount!]
    statusContextCountsByState: [StatusContextStateCount!]
    nodes: [StatusCheckRollupContext]
    pageInfo: PageInfo!
    totalCount: Int!
  }
  type CheckRunStateCount { count: Int! state: CheckRunState! }
  type StatusContextStateCount { count: Int! state: StatusState! }
  union StatusCheckRollupContext = CheckRun | StatusContext
  type CheckRun {
    databaseId: Int
    name: String!
    status: CheckStatusState!
    conclusion: CheckConclusionState
    startedAt: DateTime
    completedAt: DateTime
    detailsUrl: URI
    url: URI!
    isRequired(pullRequestId: ID, pullRequestNumber: Int): Boolean!
    checkSuite: CheckSuite
  }
  type CheckSuite { workflowRun: WorkflowRun }
  type WorkflowRun { databaseId: Int }
  type StatusContext {
    context: String!
    state: StatusState!
    targetUrl: URI
    isRequired(pullRequestId: ID, pullRequestNumber: Int): Boolean!
  }
`);
