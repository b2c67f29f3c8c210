import type { BoardSnapshot } from '../../src/dashboard/boards/board.js';
import { forgePullRequest, forgeIssue } from './forges/model-fixtures.js';

type PullRequest = BoardSnapshot['pullRequests'][number];
type Issue = BoardSnapshot['issues'][number];
type Repo = BoardSnapshot['repos'][number];

export function pullRequest(change: Partial<PullRequest> = {}): PullRequest {
  return {
    ...forgePullRequest(),
    forge: 'github',
    headSha: '',
    headBranch: 'receipts',
    kind: 'regular',
    stack: null,
    stackedOn: null,
    stackChildren: [],
    reviewRequestedFromMe: false,
    readyToMerge: true,
    needsReview: false,
    section: 'ready_to_merge',
    allowedActions: [{ action: 'merge' }, { action: 'close' }],
    ...change,
  };
}

export function issue(change: Partial<Issue> = {}): Issue {
  return { ...forgeIssue(), forge: 'github', author: 'ghost', housekeeping: false, ...change };
}

export function repo(change: Partial<Repo> = {}): Repo {
  return {
    forge: 'github',
    fullName: 'acme/shop',
    url: 'https://github.com/acme/shop',
    hasWebhook: false,
    canManageWebhooks: false,
    ignored: false,
    ignoredPRs: false,
    ignoredIssues: false,
    autoUpdateBranch: false,
    ...change,
  };
}
