import type { Snapshot } from '../../src/dashboard/board.js';
import { facts, issueFacts } from './forges/facts.js';

type PullRequest = Snapshot['pullRequests'][number];
type Issue = Snapshot['issues'][number];
type Repo = Snapshot['repos'][number];

export function pullRequest(change: Partial<PullRequest> = {}): PullRequest {
  return {
    ...facts(),
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
  return { ...issueFacts(), forge: 'github', author: 'ghost', housekeeping: false, ...change };
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
