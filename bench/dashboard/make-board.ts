import { createHash } from 'node:crypto';
import type { BoardSnapshot } from '../../src/dashboard/boards/board.js';
import { toBoardRows } from '../../src/dashboard/forges/board-rows.js';

type Forge = BoardSnapshot['pullRequests'][number]['forge'];
type Facts = Parameters<typeof toBoardRows>[0]['pullRequests'][number];

const FORGES: readonly Forge[] = ['github', 'forgejo', 'gitlab'];
const AUTHORS = ['mona', 'lisa', 'hubot', 'renovate[bot]', 'dependabot[bot]', 'octavia', 'grace', 'edsger'];
const TITLES = [
  'Send receipts as PDF when the customer asked for them',
  'Update dependency typescript to v6.0.3',
  'Fix the rounding of taxes in baskets with several currencies',
  'Bump the production group across 1 directory with 12 updates',
  'Let the search forget what it found before',
  'Move sessions to the database, so that a restart keeps them',
];
const LABELS = [
  'bug',
  'dependencies',
  'documentation',
  'needs-design',
  'area/billing',
  'area/search',
  'good first issue',
];
const CI = ['success', 'success', 'success', 'failure', 'pending', 'none'] as const;
const MERGE_STATUS = ['mergeable', 'mergeable', 'blocked', 'unstable', 'conflicting'] as const;

const START = Date.parse('2026-05-02T08:00:00Z');
const MINUTE_MS = 60_000;

/** Returns the board of a busy user, the same each time, with rows like those of forges. */
export function makeBoard({
  repositories,
  pullRequests,
}: Record<'pullRequests' | 'repositories', number>): BoardSnapshot {
  const each = Array.from({ length: repositories }, (_none, index) => index);
  const factsOf = (index: number): Facts[] =>
    Array.from({ length: Math.ceil((pullRequests - index) / repositories) }, (_none, turn) =>
      facts(index, turn * repositories + index),
    );
  return {
    forges: FORGES.map((forge) => ({ forge, reachable: true, repoCount: repositories / 3, truncated: false })),
    pullRequests: each.flatMap((index) => {
      const reader = { forge: forgeOf(index), username: 'mona', renovateAuthors: [] };
      return toBoardRows({ pullRequests: factsOf(index), issues: [] }, reader).pullRequests;
    }),
    issues: [],
    repos: each.map((index) => ({
      forge: forgeOf(index),
      fullName: nameOf(index),
      url: urlOf(index),
      hasWebhook: true,
      canManageWebhooks: true,
      ignored: false,
      ignoredPRs: false,
      ignoredIssues: false,
      autoUpdateBranch: false,
    })),
    autoMerged: [],
  };
}

function pick<T>(list: readonly T[], index: number): T {
  const found = list[index % list.length];
  if (found === undefined) throw new Error('Expected a list with at least one item.');
  return found;
}

const forgeOf = (index: number): Forge => pick(FORGES, index);
const nameOf = (index: number): string => `${index % 4 === 0 ? 'mona' : 'acme-engineering'}/service-${index}`;
const urlOf = (index: number): string => `https://${forgeOf(index)}.example/${nameOf(index)}`;
const timeOf = (minutesAgo: number): string => new Date(START - minutesAgo * MINUTE_MS).toISOString();

function facts(repository: number, index: number): Facts {
  const author = pick(AUTHORS, index * 7 + repository);
  const requestedReviewerLogins = index % 3 === 0 ? [pick(AUTHORS, index)] : [];
  return {
    repo: nameOf(repository),
    number: 100 + index,
    title: pick(TITLES, index),
    url: `${urlOf(repository)}/pull/${100 + index}`,
    author,
    draft: index % 12 === 0,
    labels: Array.from({ length: index % 4 }, (_none, turn) => ({ name: pick(LABELS, index + turn), color: '0e8a16' })),
    createdAt: timeOf(index * 11 + 60),
    updatedAt: timeOf(index * 7),
    ci: pick(CI, index),
    mergeStatus: pick(MERGE_STATUS, index),
    behind: index % 5 === 0,
    headSha: createHash('sha1').update(String(index)).digest('hex'),
    baseBranch: 'main',
    headBranch: `${author}/change-${index}`,
    crossRepository: index % 9 === 0,
    requestedReviewerLogins,
    empty: false,
    autoMergeEnabled: false,
    autoMergeAllowed: true,
    review: {
      decision: index % 3 === 0 ? 'review_required' : 'approved',
      approvals: index % 3 === 0 ? 0 : 1,
      requestedReviewers: requestedReviewerLogins.length,
    },
  };
}
