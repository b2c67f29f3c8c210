/** GitLab's GraphQL queries. Each reads one project, as GitLab limits the complexity of a query. */
import type { ConnectionPage } from '../http/graphql-pages.js';

const PROJECT = `
  fragment project on Project {
    id fullPath webUrl archived isForked lastActivityAt
    userPermissions { pushCode adminProject }
    latestMergeRequests: mergeRequests(state: opened, first: 1, sort: UPDATED_DESC) { count nodes { updatedAt } }
    latestIssues: issues(state: opened, first: 1, sort: UPDATED_DESC) { count nodes { updatedAt } }
  }`;

const MERGE_REQUEST = `
  fragment mergeRequest on MergeRequest {
    iid title webUrl createdAt updatedAt draft state
    author { username }
    labels(first: 20) { nodes { title color } }
    sourceBranch targetBranch sourceProjectId targetProjectId diffHeadSha
    detailedMergeStatus conflicts divergedFromTargetBranch autoMergeEnabled
    diffStatsSummary { additions deletions fileCount }
    approved approvedBy { nodes { username } }
    reviewers { nodes { username mergeRequestInteraction { reviewState } } }
    headPipeline { id status }
  }`;

const MERGE_REQUESTS = `
  fragment mergeRequests on Project {
    mergeRequests(state: opened, first: 50, after: $mergeRequestsAfter, sort: CREATED_ASC) {
      pageInfo { hasNextPage endCursor }
      nodes { ...mergeRequest }
    }
  }`;

const ISSUES = `
  fragment issues on Project {
    issues(state: opened, first: 50, after: $issuesAfter, sort: CREATED_ASC) {
      pageInfo { hasNextPage endCursor }
      nodes {
        iid title webUrl createdAt updatedAt
        author { username }
        labels(first: 20) { nodes { title color } }
      }
    }
  }`;

export const DISCOVER = `
  query Discover($after: String) {
    projects(membership: true, first: 50, after: $after, sort: "id_asc") {
      pageInfo { hasNextPage endCursor }
      nodes { ...project }
    }
  }${PROJECT}`;

/** Finds the current path of a project. GitLab finds a renamed or transferred project by its id only. */
export const FIND_PROJECT = `
  query FindProject($ids: [ID!]!) { projects(ids: $ids, first: 1) { nodes { fullPath } } }`;

export const READ_PROJECT = `
  query ReadProject($path: ID!, $mergeRequestsAfter: String, $issuesAfter: String) {
    project(fullPath: $path) { ...project ...mergeRequests ...issues }
  }${PROJECT}${MERGE_REQUEST}${MERGE_REQUESTS}${ISSUES}`;

export const MORE_MERGE_REQUESTS = `
  query MoreMergeRequests($path: ID!, $mergeRequestsAfter: String) {
    project(fullPath: $path) { ...mergeRequests }
  }${MERGE_REQUEST}${MERGE_REQUESTS}`;

export const MORE_ISSUES = `
  query MoreIssues($path: ID!, $issuesAfter: String) { project(fullPath: $path) { ...issues } }${ISSUES}`;

const FOUND = 'iid project { id fullPath webUrl }';

const toSearch = (connection: string): string => `
  query SearchMergeRequests($after: String) {
    currentUser {
      found: ${connection}(state: opened, first: 100, after: $after, sort: UPDATED_DESC) {
        pageInfo { hasNextPage endCursor }
        nodes { ${FOUND} }
      }
    }
  }`;

/**
 * Find merge requests of the user, with few fields because of GitLab's limit of complexity. It lists mentions only as
 * to-do items, until they are done.
 */
export const SEARCHES = {
  author: toSearch('authoredMergeRequests'),
  review_requested: toSearch('reviewRequestedMergeRequests'),
  assigned: toSearch('assignedMergeRequests'),
  mentioned: `
  query SearchMentions($after: String) {
    currentUser {
      found: todos(
        action: [mentioned, directly_addressed], type: [MERGEREQUEST], state: [pending], first: 100, after: $after
      ) {
        pageInfo { hasNextPage endCursor }
        nodes { target { ... on MergeRequest { ${FOUND} } } }
      }
    }
  }`,
} as const;

/** Reads a merge request of a project that the board may not list. */
export const READ_INVOLVED = `
  query ReadInvolved($path: ID!, $iid: String!) {
    project(fullPath: $path) {
      userPermissions { pushCode }
      mergeRequest(iid: $iid) { ...mergeRequest }
    }
  }${MERGE_REQUEST}`;

/** Reads the newest changes of merge requests. GitLab has the steps of a review as notes only. */
export const READ_HISTORY = `
  query ReadHistory($path: ID!, $after: String) {
    project(fullPath: $path) {
      mergeRequests(first: 20, after: $after, sort: UPDATED_DESC) {
        pageInfo { hasNextPage endCursor }
        nodes {
          iid title webUrl draft state createdAt updatedAt mergedAt closedAt
          author { username bot }
          notes(first: 100) { nodes { system body createdAt author { username bot } } }
        }
      }
    }
  }`;

export const READ_MERGE_REQUEST = `
  query ReadMergeRequest($path: ID!, $iid: String!) {
    project(fullPath: $path) { mergeRequest(iid: $iid) { ...mergeRequest headPipeline { sha project { fullPath } } } }
  }${MERGE_REQUEST}`;

/** Reads the size of a merge request and its reviewers. */
export const READ_MERGE_REQUEST_DETAILS = `
  query ReadDetails($path: ID!, $iid: String!) {
    project(fullPath: $path) {
      mergeRequest(iid: $iid) {
        webUrl commitCount
        diffStatsSummary { additions deletions fileCount }
        approvedBy { nodes { username } }
        reviewers { nodes { username mergeRequestInteraction { reviewState } } }
      }
    }
  }`;

// The results of the queries, and the responses of GitLab's REST API.

interface Latest {
  readonly count: number;
  readonly nodes: readonly ({ readonly updatedAt: string } | null)[];
}

export interface ProjectNode {
  readonly id: string;
  readonly fullPath: string;
  readonly webUrl: string;
  readonly archived: boolean;
  /** Missing on older servers. */
  readonly isForked?: boolean | null;
  readonly lastActivityAt: string | null;
  readonly userPermissions: { readonly pushCode: boolean; readonly adminProject: boolean };
  /** Null in projects with merge requests disabled. */
  readonly latestMergeRequests: Latest | null;
  readonly latestIssues: Latest | null;
}

interface User {
  readonly username: string;
}

export interface IssueNode {
  readonly iid: string;
  readonly title: string;
  readonly webUrl: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly author: User | null;
  readonly labels: { readonly nodes: readonly ({ readonly title: string; readonly color: string } | null)[] } | null;
}

interface Users {
  readonly nodes: readonly (User | null)[];
}

export interface Reviewer extends User {
  /** Missing on older servers. */
  readonly mergeRequestInteraction?: { readonly reviewState: string | null } | null;
}

export interface MergeRequestNode extends IssueNode {
  readonly draft: boolean;
  readonly state: 'closed' | 'locked' | 'merged' | 'opened';
  readonly sourceBranch: string;
  readonly targetBranch: string;
  readonly sourceProjectId: number | null;
  readonly targetProjectId: number;
  readonly diffHeadSha: string | null;
  /** Missing on older servers. */
  readonly detailedMergeStatus?: string | null;
  readonly conflicts: boolean;
  readonly divergedFromTargetBranch: boolean;
  readonly autoMergeEnabled: boolean;
  readonly diffStatsSummary: {
    readonly additions: number;
    readonly deletions: number;
    readonly fileCount: number;
  } | null;
  /** Whether the merge request has the required approvals. Missing on servers without approval rules. */
  readonly approved?: boolean;
  readonly approvedBy: Users | null;
  readonly reviewers: { readonly nodes: readonly (Reviewer | null)[] } | null;
  readonly headPipeline: { readonly id: string; readonly status: string } | null;
}

/** A merge request in the results of a search, or the target of a to-do item. */
export interface FoundMergeRequestNode {
  readonly iid?: string;
  readonly project?: Pick<ProjectNode, 'fullPath' | 'id' | 'webUrl'> | null;
}

export interface InvolvedProjectNode {
  readonly userPermissions: Pick<ProjectNode['userPermissions'], 'pushCode'>;
  readonly mergeRequest: MergeRequestNode | null;
}

export interface TargetMergeRequestNode extends MergeRequestNode {
  /** Runs in the fork for some merge requests from forks. Its project is null when it is hidden. */
  readonly headPipeline: PipelineNode | null;
}

export interface PipelineNode {
  readonly id: string;
  readonly status: string;
  /** The commit that it runs for, which may be the result of the merge instead of the head. */
  readonly sha: string | null;
  readonly project: { readonly fullPath: string } | null;
}

export interface WholeProjectNode extends ProjectNode {
  readonly mergeRequests: ConnectionPage<MergeRequestNode> | null;
  readonly issues: ConnectionPage<IssueNode> | null;
}

export interface JobNode {
  readonly id: number;
  readonly name: string;
  readonly status: string;
  readonly web_url: string;
  readonly duration: number | null;
  readonly failure_reason?: string | null;
}

/** A job of a pipeline, also one that triggers another pipeline, or the status that an external system has reported. */
export interface CommitStatusNode {
  readonly id: number;
  readonly name: string;
  readonly status: string;
  readonly target_url: string | null;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  /** Missing on older servers. */
  readonly pipeline_id?: number | null;
}

export interface DetailsNode extends Pick<MergeRequestNode, 'approvedBy' | 'reviewers'> {
  readonly webUrl: string;
  readonly commitCount: number | null;
  readonly diffStatsSummary: {
    readonly additions: number;
    readonly deletions: number;
    readonly fileCount: number;
  } | null;
}

/** A discussion of GitLab's REST API: a thread, or a single comment. */
export interface DiscussionNode {
  readonly notes: readonly NoteNode[] | null;
}

export interface NoteNode {
  readonly id: number;
  readonly body: string;
  readonly author: { readonly username: string } | null;
  readonly created_at: string;
  /** Whether GitLab wrote the note, for example about a new commit. */
  readonly system: boolean;
  readonly resolvable: boolean;
  readonly resolved?: boolean;
  readonly position?: { readonly new_path: string | null; readonly new_line: number | null } | null;
}
