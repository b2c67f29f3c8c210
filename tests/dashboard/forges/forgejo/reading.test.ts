import type { ForgePullRequest } from '../../../../src/dashboard/forges/forge.js';
import {
  forgejoIssue,
  forgejoPullRequest,
  forgejoRepository,
  type ForgejoPullRequest,
} from '../../../forges/forgejo-state.js';
import { openForgejo, type OpenForgejo } from './open-forgejo.js';

let forgejo: OpenForgejo;

beforeEach(async () => {
  forgejo = await openForgejo();
});
afterEach(() => forgejo.server.close());

const fill = (count: number): ForgejoPullRequest[] =>
  Array.from({ length: count }, (_, index) => forgejoPullRequest(index + 1));

test('Forgejo discover: returns writable repositories without forks, mirrors and archived ones', async () => {
  forgejo.server.repositories.push(
    forgejoRepository('acme/shop', { admin: true }),
    forgejoRepository('acme/api'),
    forgejoRepository('acme/seen', { push: false }),
    forgejoRepository('acme/fork', { fork: true }),
    forgejoRepository('acme/copy', { mirror: true }),
    forgejoRepository('acme/old', { archived: true }),
  );
  const found = await forgejo.forge.discover();
  expect(found.map(({ fullName, canManageWebhooks }) => [fullName, canManageWebhooks])).toEqual([
    ['acme/shop', true],
    ['acme/api', false],
  ]);
});

test('Forgejo readRepository: returns all fields of pull requests and issues', async () => {
  const { server, forge } = forgejo;
  const one = forgejoPullRequest(7, {
    author: null,
    labels: [{ name: 'bug', color: '#ff0000' }],
    requested: ['mona'],
    teams: ['core'],
    fromFork: true,
    mergeBase: 'c'.repeat(40),
  });
  server.repositories.push(forgejoRepository('acme/shop', { pullRequests: [one], issues: [forgejoIssue(3)] }));
  const reading = await forge.readRepository('acme/shop');
  expect(reading?.pullRequests).toEqual([
    {
      repo: 'acme/shop',
      number: 7,
      title: 'Change 7',
      url: `${server.url}/acme/shop/pulls/7`,
      author: 'ghost',
      draft: false,
      labels: [{ name: 'bug', color: 'ff0000' }],
      createdAt: '2026-05-01T08:00:00Z',
      updatedAt: '2026-05-02T08:00:00Z',
      ci: 'success',
      mergeStatus: 'mergeable',
      behind: true,
      headSha: one.headSha,
      baseBranch: 'main',
      headBranch: 'change-7',
      crossRepository: true,
      requestedReviewerLogins: ['mona'],
      additions: 12,
      deletions: 3,
      empty: false,
      review: { decision: 'none', approvals: 0, requestedReviewers: 2 },
    },
  ]);
  expect(reading?.issues).toMatchObject([{ repo: 'acme/shop', number: 3 }]);
});

test.each<[string, Partial<ForgejoPullRequest>, Partial<ForgePullRequest>]>([
  ['no status', { status: '' }, { ci: 'none' }],
  ['a warning', { status: 'warning' }, { ci: 'pending' }],
  ['a failed status', { status: 'failure' }, { ci: 'failure' }],
  ['mergeable: false', { mergeable: false }, { mergeStatus: 'blocked' }],
  ['no files', { changedFiles: 0 }, { empty: true }],
  ['no files, and not mergeable', { changedFiles: 0, mergeable: false }, { empty: false }],
  ['a draft flag', { draft: true }, { draft: true }],
])('Forgejo readRepository: converts a pull request with %s', async (_reason, change, facts) => {
  const { server, forge } = forgejo;
  server.repositories.push(forgejoRepository('acme/shop', { pullRequests: [forgejoPullRequest(1, change)] }));
  expect((await forge.readRepository('acme/shop'))?.pullRequests).toMatchObject([facts]);
});

const statuses = (count: number, old: string) =>
  Array.from({ length: count }, (_, index) => {
    return { context: `test/${index}`, status: index === count - 1 ? old : 'success', target_url: '' };
  });

test.each([
  ['the oldest of 40 failed', statuses(40, 'failure'), 'failure', 2],
  ['the oldest of 60 failed', statuses(60, 'failure'), 'failure', 2],
  ['the oldest of 60 is pending', statuses(60, 'pending'), 'pending', 2],
  ['all 60 succeeded', statuses(60, 'success'), 'success', 2],
  ['the oldest of 20 failed', statuses(20, 'failure'), 'failure', 1],
])('Forgejo readRepository: combines all statuses of a commit: %s', async (_reason, of, ci, pages) => {
  const { server, forge } = forgejo;
  const one = forgejoPullRequest(1, { statuses: of });
  server.repositories.push(forgejoRepository('acme/shop', { pullRequests: [one] }));
  expect((await forge.readRepository('acme/shop'))?.pullRequests).toMatchObject([{ ci }]);
  expect(server.seen.filter(({ path }) => path.endsWith('/status'))).toHaveLength(pages);
});

const approved = { login: 'lisa', state: 'APPROVED' };
const refused = { login: 'lisa', state: 'REQUEST_CHANGES' };

test.each<[string, ForgejoPullRequest['reviews'], string, number]>([
  ['no review', [], 'none', 0],
  ['an approval', [approved], 'approved', 1],
  ['a comment', [{ login: 'lisa', state: 'COMMENT' }], 'none', 0],
  ['an approval after requested changes', [refused, approved], 'approved', 1],
  ['changes requested by a second reviewer', [approved, { ...refused, login: 'otto' }], 'changes_requested', 1],
  ['a dismissed approval', [{ ...approved, dismissed: true }], 'none', 0],
  ['an unofficial approval', [{ ...approved, official: false }], 'none', 0],
])('Forgejo readRepository: computes the review decision from %s', async (_reason, reviews, decision, approvals) => {
  const { server, forge } = forgejo;
  server.repositories.push(forgejoRepository('acme/shop', { pullRequests: [forgejoPullRequest(1, { reviews })] }));
  const reading = await forge.readRepository('acme/shop');
  expect(reading?.pullRequests[0]?.review).toEqual({ decision, approvals, requestedReviewers: 0 });
});

test('Forgejo readRepository: counts the newest of more than 50 reviews, of which the server links no further page', async () => {
  const { server, forge } = forgejo;
  const comments = Array.from({ length: 60 }, () => ({ login: 'otto', state: 'COMMENT' }));
  const one = forgejoPullRequest(1, { reviews: [...comments, refused] });
  server.repositories.push(forgejoRepository('acme/shop', { pullRequests: [one] }));
  const reading = await forge.readRepository('acme/shop');
  expect(reading?.pullRequests[0]?.review).toMatchObject({ decision: 'changes_requested' });
  expect(server.seen.filter(({ path }) => path.endsWith('/reviews'))).toHaveLength(2);
});

test('Forgejo readRepository: skips reviews of drafts, and reads others again only after an update', async () => {
  const { server, forge } = forgejo;
  const draft = forgejoPullRequest(2, { draft: true });
  const one = forgejoPullRequest(1);
  server.repositories.push(forgejoRepository('acme/shop', { pullRequests: [one, draft] }));
  const reviews = () => server.seen.filter(({ path }) => path.endsWith('/reviews')).length;
  expect((await forge.readRepository('acme/shop'))?.pullRequests[1]?.review).toBeUndefined();
  await forge.readRepository('acme/shop');
  expect(reviews()).toBe(1);
  one.updatedAt = '2026-05-03T08:00:00Z';
  await forge.readRepository('acme/shop');
  expect(reviews()).toBe(2);
});

test('Forgejo readRepository: omits checks after 404, and throws after a gateway error', async () => {
  const { server, forge } = forgejo;
  server.repositories.push(forgejoRepository('acme/shop', { pullRequests: fill(1) }));
  server.failNext({ status: 404, body: {} }, { path: /status$/ });
  expect((await forge.readRepository('acme/shop'))?.pullRequests[0]?.ci).toBe('none');
  server.failNext({ status: 502, body: {} }, { path: /status$/ });
  await expect(forge.readRepository('acme/shop')).rejects.toMatchObject({ kind: 'unreachable' });
});

test.each<[string, RegExp, number, number]>([
  ['issues', /\/issues$/, 1, 0],
  ['pull requests', /\/pulls$/, 0, 1],
])('Forgejo read: reads a repository with disabled %s', async (_reason, path, pullRequests, issues) => {
  const { server, forge } = forgejo;
  server.repositories.push(forgejoRepository('acme/shop', { pullRequests: fill(1), issues: [forgejoIssue(9)] }));
  const found = await forge.discover();
  server.failNext({ status: 404, body: {} }, { path });
  const { repositories } = await forge.read(found);
  expect([repositories[0]?.pullRequests.length, repositories[0]?.issues.length]).toEqual([pullRequests, issues]);
});
