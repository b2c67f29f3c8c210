import { toBoardRows } from '../../../../src/dashboard/forges/board-rows.js';
import {
  githubIssue,
  githubPullRequest,
  githubRepository,
  githubRun,
  githubStatus,
  type GithubPullRequest,
} from '../../../forges/github-state.js';
import { openGithub, type OpenGithub } from './open-github.js';

let github: OpenGithub;

beforeEach(async () => {
  github = await openGithub();
});
afterEach(() => github.server.close());

const fill = (count: number, from = 1): GithubPullRequest[] =>
  Array.from({ length: count }, (_, index) => githubPullRequest(from + index));

test('GitHub discover: returns writable repositories without forks and archived ones', async () => {
  const { server, forge } = github;
  server.repositories.push(
    githubRepository('acme/shop', { viewerPermission: 'ADMIN' }),
    githubRepository('acme/api'),
    githubRepository('acme/seen', { viewerPermission: 'READ' }),
    githubRepository('acme/fork', { isFork: true }),
    githubRepository('acme/old', { isArchived: true }),
  );
  const found = await forge.discover();
  expect(found.map(({ fullName, canManageWebhooks }) => [fullName, canManageWebhooks])).toEqual([
    ['acme/shop', true],
    ['acme/api', false],
  ]);
});

test.each<[string, Partial<GithubPullRequest>, string]>([
  ['the decision of GitHub', { reviewDecision: 'APPROVED', reviews: ['CHANGES_REQUESTED'] }, 'approved'],
  ['requested changes', { reviews: ['APPROVED', 'CHANGES_REQUESTED', 'DISMISSED'] }, 'changes_requested'],
  ['an approval', { reviews: ['DISMISSED', 'APPROVED'] }, 'approved'],
  ['no review that counts', { reviews: ['DISMISSED'] }, 'none'],
  [
    'the other reviews while a reviewer is requested again',
    { reviews: ['CHANGES_REQUESTED', 'APPROVED'], requested: ['reviewer-1'] },
    'approved',
  ],
])(
  'GitHub readRepository: where no review is required, the decision is that of %s',
  async (_name, change, decision) => {
    const { server, forge } = github;
    server.repositories.push(githubRepository('acme/shop', { pullRequests: [githubPullRequest(7, change)] }));
    const { pullRequests, repository } = (await forge.readRepository('acme/shop'))!;
    expect(pullRequests[0]?.review?.decision).toBe(decision);
    await expect(forge.findOutdated?.([{ id: repository.id, pullRequests }])).resolves.toEqual(new Set());
  },
);

test('GitHub readRepository: returns all fields of pull requests and issues', async () => {
  const { server, forge } = github;
  const label = { name: 'autorelease: pending', color: 'ededed' };
  const one = githubPullRequest(7, {
    author: null,
    labels: [label],
    reviewDecision: 'REVIEW_REQUIRED',
    requested: ['Mona', 'team:core'],
    reviews: ['APPROVED', 'CHANGES_REQUESTED'],
    mergeStateStatus: 'BEHIND',
    isCrossRepository: true,
    autoMerge: 'SQUASH',
  });
  server.repositories.push(githubRepository('acme/shop', { pullRequests: [one], issues: [githubIssue(3)] }));
  const reading = await forge.readRepository('acme/shop');
  const rows = toBoardRows(reading!, { forge: 'github', username: 'mona', renovateAuthors: [] });
  expect(rows.pullRequests).toEqual([
    {
      forge: 'github',
      repo: 'acme/shop',
      number: 7,
      title: 'Change 7',
      url: 'https://github.com/acme/shop/pull/7',
      author: 'ghost',
      draft: false,
      labels: [label],
      createdAt: '2026-05-01T08:00:00Z',
      updatedAt: '2026-05-02T08:00:00Z',
      ci: 'success',
      mergeStatus: 'blocked',
      behind: true,
      headSha: one.headRefOid,
      baseBranch: 'main',
      headBranch: 'change-7',
      crossRepository: true,
      kind: 'release',
      stack: null,
      stackedOn: null,
      stackChildren: [],
      requestedReviewerLogins: ['Mona'],
      reviewRequestedFromMe: true,
      reviewRequestedFromMyTeam: false,
      mergeQueueRequired: false,
      readyToMerge: false,
      needsReview: true,
      section: 'needs_your_review',
      additions: 12,
      deletions: 3,
      empty: false,
      allowedActions: [
        { action: 'merge', blocked: expect.objectContaining({ code: 'behind' }) as unknown },
        { action: 'close' },
        { action: 'update_branch' },
        { action: 'cancel_auto_merge' },
      ],
      autoMergeEnabled: true,
      autoMergeAllowed: true,
      review: { decision: 'review_required', approvals: 1, requestedReviewers: 2 },
    },
  ]);
  expect(rows.issues).toMatchObject([{ forge: 'github', repo: 'acme/shop', number: 3, housekeeping: false }]);
});

test.each<[string, Partial<GithubPullRequest>, object]>([
  ['no checks', { checks: [] }, { ci: 'none' }],
  ['a failed status', { checks: [githubRun(), githubStatus({ state: 'FAILURE' })] }, { ci: 'failure' }],
  [
    'a cancelled run and a queued one',
    { checks: [githubRun({ conclusion: 'CANCELLED' }), githubRun({ status: 'QUEUED', conclusion: null })] },
    { ci: 'pending' },
  ],
  ['no files', { changedFiles: 0 }, { empty: true }],
  ['no files counted yet', { changedFiles: 0, mergeable: 'UNKNOWN' }, { empty: false }],
  ['conflicts', { mergeable: 'CONFLICTING', mergeStateStatus: 'DIRTY' }, { mergeStatus: 'conflicting' }],
  ['a draft flag', { isDraft: true }, { draft: true }],
])('GitHub readRepository: converts a pull request with %s', async (_reason, change, facts) => {
  const { server, forge } = github;
  server.repositories.push(githubRepository('acme/shop', { pullRequests: [githubPullRequest(1, change)] }));
  expect((await forge.readRepository('acme/shop'))?.pullRequests).toMatchObject([facts]);
});

test('GitHub read: returns at most 5,000 pull requests and sets truncated', async () => {
  const { server, forge } = github;
  server.repositories.push(githubRepository('acme/a', { pullRequests: fill(3_000) }));
  server.repositories.push(githubRepository('acme/b', { pullRequests: fill(2_001) }));
  const { repositories, truncated } = await forge.read(await forge.discover());
  expect([repositories.map(({ pullRequests }) => pullRequests.length), truncated]).toEqual([[3_000, 2_000], true]);
}, 60_000);

test('GitHub read: sends no query for repositories that have nothing open according to the discovery', async () => {
  const { server, forge } = github;
  const closed = [githubPullRequest(1, { state: 'MERGED' })];
  server.repositories.push(githubRepository('acme/idle', { pullRequests: closed }), githubRepository('acme/new'));
  const found = await forge.discover();
  const asked = server.seen.length;
  const { repositories, unread } = await forge.read(found);
  expect(server.seen).toHaveLength(asked);
  expect(repositories).toEqual(found.map((repository) => ({ repository, pullRequests: [], issues: [] })));
  expect(unread).toEqual([]);
  server.repositories[1]!.issues.push(githubIssue(2));
  const again = await forge.read(await forge.discover());
  expect(again.repositories.map(({ issues }) => issues.length)).toEqual([0, 1]);
});

test('GitHub read: finds a renamed repository by its id and by its former name', async () => {
  const { server, forge } = github;
  const repository = githubRepository('acme/shop', { pullRequests: fill(1) });
  server.repositories.push(repository);
  const found = await forge.discover();
  Object.assign(repository, { nameWithOwner: 'acme/store', formerNames: ['acme/shop'] });
  const { repositories } = await forge.read(found);
  const byName = await forge.readRepository('acme/shop');
  for (const reading of [repositories[0], byName]) {
    expect([reading?.repository.fullName, reading?.pullRequests[0]?.repo]).toEqual(['acme/store', 'acme/store']);
  }
});

test('GitHub client: reports the API quota with the cost since the last discovery', async () => {
  const { server, forge, recorded } = github;
  server.repositories.push(githubRepository('acme/shop', { pullRequests: fill(1) }));
  await forge.discover();
  await forge.read(await forge.discover());
  const { reset } = server.budgets.graphql;
  const budget = { limit: 5000, remaining: 4997, resetsAt: new Date(reset * 1000).toISOString() };
  expect(forge.quotas.graphql).toEqual({ ...budget, cost: 2 });
  const asked = { forge: 'github', method: 'POST', endpoint: '/graphql', account: 'mona', statusCode: 200 };
  expect(recorded.at(-1)).toEqual({ ...asked, outcome: 'success', rateLimit: budget });
  expect(recorded).toHaveLength(4);
});

test('GitHub client: pages as small as the repositories keep the cost of a reading low', async () => {
  const list = (count: number) => Array.from({ length: count }, (_, index) => githubPullRequest(index + 1));
  const names = Array.from({ length: 39 }, (_, index) => `acme/part-${index}`);
  const small = names.map((name) => githubRepository(name, { pullRequests: list(2), issues: [githubIssue(9)] }));
  const large = githubRepository('acme/large', { pullRequests: list(70) });
  const { server, forge } = await openGithub([large, ...small]);
  const found = await forge.discover();
  // A pull request that is opened after the discovery is read too, with one more query.
  small[0]!.pullRequests.push(githubPullRequest(50));
  const before = server.budgets.graphql.remaining;
  const { repositories } = await forge.read(found);
  await server.close();
  expect(repositories.map(({ repository }) => repository.fullName)).toEqual(['acme/large', ...names]);
  expect(repositories.map(({ pullRequests }) => pullRequests.length)).toEqual([70, 3, ...names.slice(1).map(() => 2)]);
  // Two queries for small repositories, one for the large one, and two for further pages, of 3 points each. With pages
  // of 50, two queries for the 40 repositories cost 122 points.
  expect(before - server.budgets.graphql.remaining).toBe(15);
});
