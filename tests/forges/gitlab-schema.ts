import { buildSchema } from 'graphql';

/** The part of GitLab's schema that the client uses. */
export const gitlabSchema = buildSchema(`
  scalar Time
  scalar ProjectID
  scalar CiPipelineID

  type PageInfo { hasNextPage: Boolean! endCursor: String }
  type Query {
    project(fullPath: ID!): Project
    currentUser: CurrentUser
    projects(ids: [ID!], membership: Boolean, first: Int, after: String, sort: String): ProjectConnection
  }
  enum TodoActionEnum {
    approval_required assigned build_failed directly_addressed marked member_access_requested mentioned
    merge_train_removed okr_checkin_requested review_requested review_submitted unmergeable
  }
  enum TodoTargetEnum { ALERT COMMIT DESIGN EPIC ISSUE MERGEREQUEST PROJECT NAMESPACE WORKITEM }
  enum TodoStateEnum { pending done }
  union Todoable = Issue | MergeRequest
  type Todo { target: Todoable }
  type TodoConnection { nodes: [Todo] pageInfo: PageInfo! }
  type CurrentUser {
    assignedMergeRequests(state: MergeRequestState, first: Int, after: String, sort: MergeRequestSort = CREATED_DESC): MergeRequestConnection
    authoredMergeRequests(state: MergeRequestState, first: Int, after: String, sort: MergeRequestSort = CREATED_DESC): MergeRequestConnection
    reviewRequestedMergeRequests(state: MergeRequestState, first: Int, after: String, sort: MergeRequestSort = CREATED_DESC): MergeRequestConnection
    todos(
      action: [TodoActionEnum!], type: [TodoTargetEnum!], state: [TodoStateEnum!], first: Int, after: String
    ): TodoConnection
  }
  type ProjectConnection { nodes: [Project] pageInfo: PageInfo! }
  type ProjectPermissions { pushCode: Boolean! adminProject: Boolean! }

  enum MergeRequestState { all closed locked merged opened }
  enum MergeRequestSort { CREATED_ASC CREATED_DESC UPDATED_ASC UPDATED_DESC }
  enum IssuableState { all closed locked opened }
  enum IssueSort { CREATED_ASC CREATED_DESC UPDATED_ASC UPDATED_DESC }
  type Project {
    id: ID!
    fullPath: ID!
    webUrl: String
    archived: Boolean
    isForked: Boolean
    lastActivityAt: Time
    userPermissions: ProjectPermissions!
    mergeRequest(iid: String!): MergeRequest
    mergeRequests(
      state: MergeRequestState, first: Int, after: String, sort: MergeRequestSort = CREATED_DESC
    ): MergeRequestConnection
    issues(state: IssuableState, first: Int, after: String, sort: IssueSort = CREATED_DESC): IssueConnection
  }
  type MergeRequestConnection { count: Int nodes: [MergeRequest] pageInfo: PageInfo! }
  type IssueConnection { count: Int! nodes: [Issue] pageInfo: PageInfo! }

  type UserCore { username: String! bot: Boolean! }
  type Note { system: Boolean! body: String! createdAt: Time! author: UserCore }
  type NoteConnection { nodes: [Note] pageInfo: PageInfo! }
  type UserCoreConnection { count: Int! nodes: [UserCore] }
  enum MergeRequestReviewState { APPROVED REQUESTED_CHANGES REVIEWED REVIEW_STARTED UNAPPROVED UNREVIEWED }
  type UserMergeRequestInteraction { reviewState: MergeRequestReviewState }
  type MergeRequestReviewer { username: String! mergeRequestInteraction: UserMergeRequestInteraction }
  type MergeRequestReviewerConnection { count: Int! nodes: [MergeRequestReviewer] }
  type Label { title: String! color: String! }
  type LabelConnection { nodes: [Label] }
  type Issue {
    iid: ID!
    title: String!
    webUrl: String!
    createdAt: Time!
    updatedAt: Time!
    author: UserCore
    labels(first: Int, after: String): LabelConnection
  }

  enum DetailedMergeStatus {
    APPROVALS_SYNCING BLOCKED_STATUS CHECKING CI_MUST_PASS CI_STILL_RUNNING COMMITS_STATUS CONFLICT
    DISCUSSIONS_NOT_RESOLVED DRAFT_STATUS EXTERNAL_STATUS_CHECKS JIRA_ASSOCIATION LOCKED_PATHS MERGEABLE NEED_REBASE
    NOT_APPROVED NOT_OPEN PREPARING REQUESTED_CHANGES SECURITY_POLICY_PIPELINE_CHECK UNCHECKED
  }
  enum PipelineStatusEnum {
    CANCELED CANCELING CREATED FAILED MANUAL PENDING PREPARING RUNNING SCHEDULED SKIPPED SUCCESS WAITING_FOR_CALLBACK
    WAITING_FOR_RESOURCE
  }
  type DiffStatsSummary { additions: Int! deletions: Int! fileCount: Int! }
  type Pipeline { id: ID! status: PipelineStatusEnum! sha: String project: Project }
  type MergeRequest {
    iid: String!
    title: String!
    webUrl: String
    createdAt: Time!
    updatedAt: Time!
    mergedAt: Time
    closedAt: Time
    notes(first: Int, after: String): NoteConnection!
    draft: Boolean!
    state: MergeRequestState!
    author: UserCore
    labels(first: Int, after: String): LabelConnection
    sourceBranch: String!
    targetBranch: String!
    sourceProjectId: Int
    targetProjectId: Int!
    diffHeadSha: String
    detailedMergeStatus: DetailedMergeStatus
    conflicts: Boolean!
    divergedFromTargetBranch: Boolean!
    autoMergeEnabled: Boolean!
    diffStatsSummary: DiffStatsSummary
    commitCount: Int
    approvedBy(first: Int, after: String): UserCoreConnection
    approved: Boolean!
    reviewers(first: Int, after: String): MergeRequestReviewerConnection
    headPipeline: Pipeline
    project: Project!
  }
`);
