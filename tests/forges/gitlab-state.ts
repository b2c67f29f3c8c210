import type { TestHook } from './hooks.js';

/** What the test forge of GitLab keeps, in GitLab's words. */
export interface GitlabJob {
  readonly id: number;
  readonly name: string;
  readonly status: string;
  readonly duration: number | null;
  readonly failure_reason?: string;
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
  /** Whether there are as many approvals as are required. */
  approved: boolean;
  reviewers: string[];
  /** How far reviewers are, by name; those who are missing have done nothing. */
  reviewStates: Record<string, string>;
  /** Null when nothing ran. */
  pipeline: string | null;
  /** Where it runs, if not in the project itself: that of a fork may run there. */
  pipelineProject: string | null;
  jobs: GitlabJob[];
}

export interface GitlabProject {
  readonly id: number;
  fullPath: string;
  archived: boolean;
  isForked: boolean;
  lastActivityAt: string;
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

/** One that can be merged, with a green pipeline. */
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
    reviewStates: {},
    pipeline: 'SUCCESS',
    pipelineProject: null,
    jobs: [],
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
    pushCode: true,
    adminProject: false,
    mergeRequests: [],
    issues: [],
    hooks: [],
    ...change,
  };
}
