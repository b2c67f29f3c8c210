import type { TestHook } from './hooks.js';

/** A review in the state of the test Forgejo. */
export interface ForgejoReview {
  readonly login: string;
  readonly state: string;
  readonly official?: boolean;
  readonly dismissed?: boolean;
  readonly submittedAt?: string;
  /** The comments on lines, in the format of the REST API. */
  readonly comments?: readonly object[];
}

export interface ForgejoJob {
  readonly name: string;
  readonly status: string;
  readonly conclusion?: string;
  readonly started_at?: string;
  readonly completed_at?: string;
}

export interface ForgejoIssue {
  readonly number: number;
  title: string;
  author: string | null;
  labels: { name: string; color: string }[];
  createdAt: string;
  updatedAt: string;
  state: 'closed' | 'open';
}

export interface ForgejoPullRequest extends ForgejoIssue {
  draft: boolean;
  mergeable: boolean;
  merged: boolean;
  mergedBy: string | null;
  baseRef: string;
  baseSha: string;
  mergeBase: string;
  headRef: string;
  headSha: string;
  fromFork: boolean;
  changedFiles: number;
  requested: string[];
  assignees: string[];
  mentions: string[];
  teams: string[];
  reviews: ForgejoReview[];
  additions: number;
  deletions: number;
  /** The comments outside of reviews, in the format of the REST API. */
  comments: object[];
  /** Changes of the title and requests for reviews, in the format of the REST API. */
  timeline: object[];
  mergedAt: string | null;
  closedAt: string | null;
  /** The combined commit status; empty without any statuses. */
  status: string;
  statuses: { context: string; status: string; target_url: string }[];
  jobs: ForgejoJob[];
}

export interface ForgejoRepository {
  readonly id: number;
  fullName: string;
  formerNames: string[];
  archived: boolean;
  fork: boolean;
  mirror: boolean;
  /** Whether the user owns it, or has access to it as a collaborator or a member of a team. */
  isMember: boolean;
  push: boolean;
  admin: boolean;
  updatedAt: string;
  merge: boolean;
  squash: boolean;
  rebase: boolean;
  /** Whether a rebase with a merge commit is allowed. */
  rebaseMerge: boolean;
  fastForward: boolean;
  labels: { id: number; name: string }[];
  /** The labels that its organization has for all repositories. */
  organizationLabels: { id: number; name: string }[];
  pullRequests: ForgejoPullRequest[];
  issues: ForgejoIssue[];
  hooks: TestHook[];
}

const CREATED = '2026-05-01T08:00:00Z';
const UPDATED = '2026-05-02T08:00:00Z';
const BASE = 'b'.repeat(40);

export function forgejoIssue(number: number, change: Partial<ForgejoIssue> = {}): ForgejoIssue {
  const times = { createdAt: CREATED, updatedAt: UPDATED };
  return { number, title: `Issue ${number}`, author: 'mona', labels: [], ...times, state: 'open', ...change };
}

/** Creates a mergeable pull request with passed checks. */
export function forgejoPullRequest(number: number, change: Partial<ForgejoPullRequest> = {}): ForgejoPullRequest {
  return {
    ...forgejoIssue(number, { title: `Change ${number}` }),
    draft: false,
    mergeable: true,
    merged: false,
    mergedBy: null,
    baseRef: 'main',
    baseSha: BASE,
    mergeBase: BASE,
    headRef: `change-${number}`,
    headSha: String(number).padStart(40, '0'),
    fromFork: false,
    changedFiles: 1,
    requested: [],
    assignees: [],
    mentions: [],
    teams: [],
    reviews: [],
    additions: 12,
    deletions: 3,
    comments: [],
    timeline: [],
    mergedAt: null,
    closedAt: null,
    status: 'success',
    statuses: [],
    jobs: [],
    ...change,
  };
}

export function forgejoRepository(fullName: string, change: Partial<ForgejoRepository> = {}): ForgejoRepository {
  return {
    id: Buffer.from(fullName).reduce((sum, byte) => (sum * 31 + byte) % 1_000_003, 7),
    fullName,
    formerNames: [],
    archived: false,
    fork: false,
    mirror: false,
    isMember: true,
    push: true,
    admin: false,
    updatedAt: CREATED,
    merge: true,
    squash: true,
    rebase: true,
    rebaseMerge: false,
    fastForward: false,
    labels: [],
    organizationLabels: [],
    pullRequests: [],
    issues: [],
    hooks: [],
    ...change,
  };
}
