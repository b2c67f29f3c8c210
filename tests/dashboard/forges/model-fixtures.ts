import type { ForgeIssue, ForgePullRequest } from '../../../src/dashboard/forges/forge.js';

const times = { createdAt: '2026-05-01T08:00:00Z', updatedAt: '2026-05-02T08:00:00Z' };

/** Creates a mergeable pull request as a forge client returns it. */
export function forgePullRequest(change: Partial<ForgePullRequest> = {}): ForgePullRequest {
  const number = change.number ?? 17;
  return {
    repo: 'acme/shop',
    number,
    title: 'Send receipts as PDF',
    url: `https://github.com/acme/shop/pull/${number}`,
    author: 'mona',
    draft: false,
    labels: [],
    ...times,
    ci: 'success',
    mergeStatus: 'mergeable',
    behind: false,
    headSha: 'a'.repeat(40),
    baseBranch: 'main',
    headBranch: `branch-${number}`,
    crossRepository: false,
    requestedReviewerLogins: [],
    empty: false,
    ...change,
  };
}

export function forgeIssue(change: Partial<ForgeIssue> = {}): ForgeIssue {
  return {
    repo: 'acme/shop',
    number: 12,
    title: 'Receipts miss the tax number',
    url: 'https://github.com/acme/shop/issues/12',
    author: 'mona',
    labels: [],
    ...times,
    ...change,
  };
}
