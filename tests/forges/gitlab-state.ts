import type { TestHook } from './hooks.js';

/** A label in the state of the test GitLab. */
export interface GitlabJob {
  readonly id: number;
  readonly name: string;
  readonly status: string;
  readonly duration: number | null;
  readonly failure_reason?: string;
}

/** A status that GitLab does not list among the jobs. */
export interface GitlabStatus {
  readonly id: number;
  readonly name: string;
  readonly status: string;
  readonly target_url: string | null;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  readonly pipeline_id?: number;
}

export interface GitlabIssue {
  readonly iid: number;
  title: string;
  username: string | null;
  labels: { title: string; color: string }[];
  createdAt: string;
  updatedAt: string;
  state: 'closed' | 'merged' | 'opened';
}

export interface GitlabMergeRequest extends GitlabIssue {
  draft: boolean;
  sourceBranch: string;
  targetBranch: string;
  fromFork: boolean;
  diffHeadSha: string;
  detailedMergeStatus: string;
  conflicts: boolean;
  divergedFromTargetBranch: boolean;
  autoMergeEnabled: boolean;
  fileCount: number;
  approvedBy: string[];
  /** Whether the merge request has the required approvals. */
  approved: boolean;
  reviewers: string[];
  assignees: string[];
  /** People with a pending to-do item because they were mentioned. */
  mentions: string[];
  /** The review states by reviewer. Reviewers without an entry have not reviewed. */
  reviewStates: Record<string, string>;
  /** Null without a pipeline. */
  pipeline: string | null;
  /** The project of the pipeline, if it runs in a fork. */
  pipelineProject: string | null;
  jobs: GitlabJob[];
  statuses: GitlabStatus[];
  additions: number;
  deletions: number;
  /** The threads and comments, in the format of the REST API. */
  discussions: object[];
  /** Comments, and the notes that GitLab writes itself. */
  notes: { system: boolean; body: string; createdAt: string; username: string }[];
  mergedAt: string | null;
  closedAt: string | null;
}

export interface GitlabProject {
  readonly id: number;
  fullPath: string;
  archived: boolean;
  isForked: boolean;
  lastActivityAt: string;
  /** Whether the user is a member. */
  isMember: boolean;
  pushCode: boolean;
  adminProject: boolean;
  mergeRequests: GitlabMergeRequest[];
  issues: GitlabIssue[];
  hooks: TestHook[];
}

const CREATED = '2026-05-01T08:00:00Z';
const UPDATED = '2026-05-02T08:00:00Z';

export function gitlabIssue(iid: number, change: Partial<GitlabIssue> = {}): GitlabIssue {
  const times = { createdAt: CREATED, updatedAt: UPDATED };
  return { iid, title: `Issue ${iid}`, username: 'mona', labels: [], ...times, state: 'opened', ...change };
}

/** Creates a mergeable merge request with a passed pipeline. */
export function gitlabMergeRequest(iid: number, change: Partial<GitlabMergeRequest> = {}): GitlabMergeRequest {
  return {
    ...gitlabIssue(iid, { title: `Change ${iid}` }),
    draft: false,
    sourceBranch: `change-${iid}`,
    targetBranch: 'main',
    fromFork: false,
    diffHeadSha: String(iid).padStart(40, '0'),
    detailedMergeStatus: 'MERGEABLE',
    conflicts: false,
    divergedFromTargetBranch: false,
    autoMergeEnabled: false,
    fileCount: 1,
    approvedBy: [],
    approved: true,
    reviewers: [],
    assignees: [],
    mentions: [],
    reviewStates: {},
    pipeline: 'SUCCESS',
    pipelineProject: null,
    jobs: [],
    statuses: [],
    additions: 12,
    deletions: 3,
    discussions: [],
    notes: [],
    mergedAt: null,
    closedAt: null,
    ...change,
  };
}

export function gitlabProject(fullPath: string, change: Partial<GitlabProject> = {}): GitlabProject {
  return {
    id: 12,
    fullPath,
    archived: false,
    isForked: false,
    lastActivityAt: CREATED,
    isMember: true,
    pushCode: true,
    adminProject: false,
    mergeRequests: [],
    issues: [],
    hooks: [],
    ...change,
  };
}
