import type { TestHook } from './hooks.js';

/** A label in the state of the test GitHub. */
export interface GithubLabel {
  readonly name: string;
  readonly color: string;
}

export interface GithubRun {
  readonly kind: 'run';
  readonly databaseId: number;
  readonly name: string;
  status: string;
  conclusion: string | null;
  /** Null for checks of other apps than GitHub Actions. */
  readonly workflowRun: number | null;
  readonly required: boolean;
  readonly steps: readonly { readonly name: string; readonly conclusion: string | null }[];
  readonly log: string;
}

export interface GithubStatus {
  readonly kind: 'status';
  readonly context: string;
  readonly state: string;
  readonly targetUrl: string | null;
  readonly required: boolean;
}

export interface GithubThread {
  readonly isResolved: boolean;
  readonly path: string;
  readonly line: number | null;
  readonly author: string;
  readonly text: string;
}

export interface GithubIssue {
  readonly id: string;
  readonly number: number;
  title: string;
  author: string | null;
  labels: GithubLabel[];
  createdAt: string;
  updatedAt: string;
  state: 'CLOSED' | 'OPEN';
}

export interface GithubPullRequest extends Omit<GithubIssue, 'state'> {
  state: 'CLOSED' | 'MERGED' | 'OPEN';
  isDraft: boolean;
  changedFiles: number;
  headRefOid: string;
  headRefName: string;
  baseRefName: string;
  isCrossRepository: boolean;
  mergeable: string;
  mergeStateStatus: string;
  reviewDecision: string | null;
  /** Logins of requested reviewers; teams have the prefix `team:`. */
  requested: string[];
  /** The requested reviewers who own changed files. */
  codeOwners: string[];
  milestone: string | null;
  assignees: string[];
  /** Logins of people who are mentioned in the text or a comment. */
  mentions: string[];
  reviews: string[];
  autoMerge: string | null;
  /** Whether it is in the merge queue. */
  queued: boolean;
  checks: (GithubRun | GithubStatus)[];
  comments: string[];
  /** The times of Dependabot's thumbs-up reactions, by the index of the comment. */
  thumbs: Record<number, string>;
  additions: number;
  deletions: number;
  /** Submitted reviews with their authors, in order. */
  submitted: { author: string | null; state: string; submittedAt: string | null }[];
  /** Requests for reviews and changes of draft state; `requested` has the reviewers who are asked now. */
  timeline: { type: string; createdAt: string; login?: string }[];
  mergedAt: string | null;
  closedAt: string | null;
  threads: GithubThread[];
  /** Dependabot's comments. */
  replies: string[];
  mergedBy: string | null;
}

export interface GithubRepository {
  readonly id: string;
  nameWithOwner: string;
  formerNames: string[];
  isArchived: boolean;
  isFork: boolean;
  isPrivate: boolean;
  /** Null where GitHub withholds it. */
  viewerPermission: string | null;
  /** The viewer's affiliation with a repository that the viewer doesn't own. */
  affiliation: 'COLLABORATOR' | 'NONE' | 'ORGANIZATION_MEMBER';
  pushedAt: string;
  autoMergeAllowed: boolean;
  mergeCommitAllowed: boolean;
  squashMergeAllowed: boolean;
  rebaseMergeAllowed: boolean;
  requiresLinearHistory: boolean;
  /** The approvals that branch protection, and each ruleset, require. */
  requiredApprovals: readonly number[];
  usesMergeQueue: boolean;
  /** People and `team:` names who can be asked for reviews and assigned. */
  collaborators: readonly string[];
  /** The rules of rulesets for all branches, in the format of the REST API. */
  branchRules: readonly { readonly type: string; readonly parameters?: { readonly allowed_merge_methods: string[] } }[];
  /** Messages of rules that reject a merge. */
  ruleViolations: readonly string[];
  pullRequests: GithubPullRequest[];
  issues: GithubIssue[];
  hooks: TestHook[];
}

const CREATED = '2026-05-01T08:00:00Z';
const UPDATED = '2026-05-02T08:00:00Z';

export function githubRun(change: Partial<GithubRun> = {}): GithubRun {
  const run = { kind: 'run', databaseId: 1, name: 'build', status: 'COMPLETED', conclusion: 'SUCCESS' } as const;
  return { ...run, workflowRun: 900, required: true, steps: [], log: '', ...change };
}

export function githubStatus(change: Partial<GithubStatus> = {}): GithubStatus {
  return { kind: 'status', context: 'deploy', state: 'SUCCESS', targetUrl: null, required: false, ...change };
}

/** Creates a mergeable pull request with a passed check. */
export function githubPullRequest(number: number, change: Partial<GithubPullRequest> = {}): GithubPullRequest {
  return {
    id: `PR_${number}_${Math.random()}`,
    number,
    title: `Change ${number}`,
    author: 'mona',
    labels: [],
    createdAt: CREATED,
    updatedAt: UPDATED,
    state: 'OPEN',
    isDraft: false,
    changedFiles: 1,
    headRefOid: String(number).padStart(40, '0'),
    headRefName: `change-${number}`,
    baseRefName: 'main',
    isCrossRepository: false,
    mergeable: 'MERGEABLE',
    mergeStateStatus: 'CLEAN',
    reviewDecision: null,
    requested: [],
    codeOwners: [],
    milestone: null,
    assignees: [],
    mentions: [],
    reviews: [],
    autoMerge: null,
    queued: false,
    checks: [githubRun()],
    comments: [],
    thumbs: {},
    replies: [],
    additions: 12,
    deletions: 3,
    submitted: [],
    timeline: [],
    mergedAt: null,
    closedAt: null,
    threads: [],
    mergedBy: null,
    ...change,
  };
}

export function githubIssue(number: number, change: Partial<GithubIssue> = {}): GithubIssue {
  const times = { createdAt: CREATED, updatedAt: UPDATED };
  const issue = { id: `I_${number}_${Math.random()}`, number, title: `Issue ${number}`, author: 'mona', labels: [] };
  return { ...issue, ...times, state: 'OPEN', ...change };
}

export function githubRepository(nameWithOwner: string, change: Partial<GithubRepository> = {}): GithubRepository {
  return {
    id: `R_${nameWithOwner}`,
    nameWithOwner,
    formerNames: [],
    isArchived: false,
    isFork: false,
    isPrivate: false,
    viewerPermission: 'WRITE',
    affiliation: 'COLLABORATOR',
    pushedAt: CREATED,
    autoMergeAllowed: true,
    mergeCommitAllowed: true,
    squashMergeAllowed: true,
    rebaseMergeAllowed: true,
    requiresLinearHistory: false,
    requiredApprovals: [0],
    usesMergeQueue: false,
    collaborators: ['mona', 'lisa', 'team:core'],
    branchRules: [],
    ruleViolations: [],
    pullRequests: [],
    issues: [],
    hooks: [],
    ...change,
  };
}
