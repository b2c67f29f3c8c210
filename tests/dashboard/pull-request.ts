import type { Snapshot } from '../../src/dashboard/board.js';

type PullRequest = Snapshot['pullRequests'][number];
type Issue = Snapshot['issues'][number];
type Repo = Snapshot['repos'][number];

const times = { createdAt: '2026-05-01T08:00:00Z', updatedAt: '2026-05-02T08:00:00Z' };

export function pullRequest(change: Partial<PullRequest> = {}): PullRequest {
  return {
    forge: 'github',
    repo: 'acme/shop',
    number: 17,
    title: 'Send receipts as PDF',
    url: 'https://github.com/acme/shop/pull/17',
    author: 'mona',
    draft: false,
    labels: [],
    ...times,
    ci: 'success',
    mergeStatus: 'mergeable',
    behind: false,
    headSha: '',
    baseBranch: 'main',
    headBranch: 'receipts',
    crossRepository: false,
    kind: 'regular',
    stack: null,
    stackedOn: null,
    stackChildren: [],
    requestedReviewerLogins: [],
    reviewRequestedFromMe: false,
    readyToMerge: true,
    needsReview: false,
    empty: false,
    section: 'ready_to_merge',
    allowedActions: [{ action: 'merge' }, { action: 'close' }],
    ...change,
  };
}

export function issue(change: Partial<Issue> = {}): Issue {
  return {
    forge: 'github',
    repo: 'acme/shop',
    number: 12,
    title: 'Receipts miss the tax number',
    url: 'https://github.com/acme/shop/issues/12',
    author: 'ghost',
    labels: [],
    ...times,
    housekeeping: false,
    ...change,
  };
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
