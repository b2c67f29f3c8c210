import type { ActionName } from '../../../../src/dashboard/forges/forge.js';
import {
  forgejoPullRequest,
  forgejoRepository,
  type ForgejoPullRequest,
  type ForgejoRepository,
} from '../../../forges/forgejo-state.js';
import { openForgejo, type OpenForgejo } from './open-forgejo.js';

let forgejo: OpenForgejo;
let repository: ForgejoRepository;
let one: ForgejoPullRequest;
const target = { fullName: 'acme/shop', number: 1 };

beforeEach(async () => {
  one = forgejoPullRequest(1);
  repository = forgejoRepository('acme/shop', { pullRequests: [one], labels: [{ id: 4, name: 'rebase' }] });
  forgejo = await openForgejo([repository]);
});
afterEach(() => forgejo.server.close());

const writes = () => forgejo.server.seen.filter(({ method }) => method !== 'GET');

test.each<[string, Partial<ForgejoRepository>, string]>([
  ['a merge commit by default', {}, 'merge'],
  ['a squash if merge commits are not allowed', { merge: false }, 'squash'],
  ['a rebase if nothing else is allowed', { merge: false, squash: false }, 'rebase'],
  ['a rebase and a merge commit', { merge: false, squash: false, rebase: false, rebaseMerge: true }, 'rebase-merge'],
  ['a fast-forward', { merge: false, squash: false, rebase: false, fastForward: true }, 'fast-forward-only'],
])('Forgejo act: merges with %s', async (_reason, change, style) => {
  Object.assign(repository, change);
  await expect(forgejo.forge.act(target, 'merge')).resolves.toBe('done');
  expect([one.merged, one.mergedBy]).toEqual([true, style]);
});

test.each<[ActionName, Partial<ForgejoPullRequest>, Partial<ForgejoPullRequest>]>([
  ['close', {}, { state: 'closed' }],
  ['update_branch', { mergeBase: 'c'.repeat(40) }, { mergeBase: 'b'.repeat(40) }],
  ['renovate_rebase', {}, { labels: [{ name: 'rebase', color: 'ededed' }] }],
])('Forgejo act: performs %s', async (action, before, after) => {
  Object.assign(one, before);
  await expect(forgejo.forge.act(target, action)).resolves.toBe('done');
  expect(one).toMatchObject(after);
});

test.each<[string, ActionName, Partial<ForgejoPullRequest>, string]>([
  ['blocked', 'merge', { mergeable: false }, 'blocked_by_protection'],
  ['failing', 'merge', { mergeable: false, status: 'failure' }, 'checks_failing'],
  ['still running checks', 'merge', { mergeable: false, status: 'pending' }, 'checks_pending'],
  ['behind', 'merge', { mergeable: false, mergeBase: 'c'.repeat(40) }, 'behind'],
  ['a draft', 'merge', { draft: true }, 'not_mergeable'],
  ['up to date', 'update_branch', {}, 'already_up_to_date'],
])(
  'Forgejo act: derives the reason of a rejection from the pull request, which is %s: %s',
  async (_reason, action, change, refusal) => {
    Object.assign(one, change);
    await expect(forgejo.forge.act(target, action)).rejects.toMatchObject({ kind: 'conflict', refusal });
    expect(writes()).toHaveLength(1);
  },
);

test('Forgejo act: reports a missing permission to update a branch, for which Gitea responds without a body', async () => {
  one.mergeBase = 'c'.repeat(40);
  forgejo.server.failNext({ status: 403, body: '' }, { path: /\/update$/ });
  const refused = forgejo.forge.act(target, 'update_branch');
  await expect(refused).rejects.toMatchObject({ kind: 'unauthorized', refusal: 'permission' });
});

test('Forgejo act: adds and removes labels of the organization, which the list of the repository lacks', async () => {
  repository.organizationLabels = [{ id: 9, name: 'triage' }];
  await forgejo.forge.act({ ...target, edit: { labels: { add: ['triage'] } } }, 'edit');
  expect(one.labels.map(({ name }) => name)).toEqual(['triage']);
  forgejo.server.mayReadOrganizations = false;
  await forgejo.forge.act({ ...target, edit: { labels: { remove: ['triage'] } } }, 'edit');
  expect(one.labels).toEqual([]);
  const unread = forgejo.forge.act({ ...target, edit: { labels: { add: ['triage'] } } }, 'edit');
  await expect(unread).rejects.toMatchObject({ refusal: 'label_missing' });
});

test.each([
  [409, 'head out of date', 'conflict', 'head_changed'],
  [409, 'head target does not match', 'conflict', 'head_changed'],
  [405, 'User not allowed to merge PR', 'conflict', 'permission'],
  [405, 'not allowed to merge [reason: Does not have enough approvals]', 'conflict', 'blocked_by_protection'],
  [405, 'not ready to merge: There are official review requests', 'conflict', 'blocked_by_protection'],
  [405, 'rebase is not allowed an allowed merge style for this repository', 'conflict', 'method_not_allowed'],
  [405, 'Please try again later', 'conflict', 'unknown'],
])('Forgejo act: derives the reason from the message of the server: %d, %s', async (status, message, kind, refusal) => {
  forgejo.server.failNext({ status, body: { message } }, { path: /\/merge$/ });
  await expect(forgejo.forge.act(target, 'merge')).rejects.toMatchObject({ kind, refusal, words: message });
});

test('Forgejo act: finds a label on the second page, to which the server does not link', async () => {
  repository.labels = Array.from({ length: 60 }, (_, id) => ({ id, name: id === 59 ? 'rebase' : `label-${id}` }));
  await expect(forgejo.forge.act(target, 'renovate_rebase')).resolves.toBe('done');
  expect(one.labels.map(({ name }) => name)).toEqual(['rebase']);
});

test('Forgejo act: reports label_missing if the repository lacks the rebase label of Renovate', async () => {
  repository.labels = [];
  const refused = forgejo.forge.act(target, 'renovate_rebase');
  await expect(refused).rejects.toMatchObject({ kind: 'not_found', refusal: 'label_missing' });
  expect(writes()).toEqual([]);
});

test.each<ActionName>(['auto_merge', 'cancel_auto_merge', 'dependabot_rebase'])(
  'Forgejo act: throws for the unsupported action %s without a request',
  async (action) => {
    expect(forgejo.forge.actions).not.toContain(action);
    await expect(forgejo.forge.act(target, action)).rejects.toMatchObject({ kind: 'unknown' });
    expect(forgejo.server.seen).toEqual([]);
  },
);

test('Forgejo act: merges immediately, without scheduling an auto-merge on the server', async () => {
  await forgejo.forge.act(target, 'merge');
  const sent = writes().map(({ method, path, body }) => [method, path, JSON.parse(body) as unknown]);
  const body = { Do: 'merge', head_commit_id: one.headSha };
  expect(sent).toEqual([['POST', '/api/v1/repos/acme/shop/pulls/1/merge', body]]);
});

const jobs = [
  { name: 'build', status: 'completed', conclusion: 'failure' },
  { name: 'test', status: 'completed', conclusion: 'success' },
];

test('Forgejo act: reruns failed checks if the server supports it', async () => {
  forgejo.server.reruns = true;
  one.jobs = jobs;
  await expect(forgejo.forge.act(target, 'rerun_checks')).resolves.toBe('queued');
  expect(one.jobs.map(({ status }) => status)).toEqual(['waiting', 'completed']);
});

test('Forgejo act: explains that the server cannot rerun checks', async () => {
  one.jobs = jobs;
  const message = expect.stringMatching(
    /^The forge rejected the request\. Required: a server whose API can rerun checks/,
  ) as string;
  const refusal = { kind: 'conflict', refusal: 'unknown', message };
  await expect(forgejo.forge.act(target, 'rerun_checks')).rejects.toMatchObject(refusal);
  expect(writes()).toHaveLength(1);
});

test.each(['none', 'wrapped'] as const)(
  'Forgejo act: rejects rerun_checks without a failed run (job lists: %s)',
  async (kind) => {
    forgejo.server.jobs = kind;
    one.jobs = jobs.slice(1);
    await expect(forgejo.forge.act(target, 'rerun_checks')).rejects.toMatchObject({ kind: 'conflict' });
    expect(writes()).toEqual([]);
  },
);

test('Forgejo checks: lists jobs in both response formats of servers', async () => {
  const times = { started_at: '2026-05-02T08:00:00Z', completed_at: '2026-05-02T08:00:05Z' };
  one.jobs = [
    { name: 'build', status: 'completed', conclusion: 'success', ...times },
    { name: 'test', status: 'running' },
    { name: 'lint', status: 'waiting' },
  ];
  const checks = [
    { name: 'build', url: '', state: 'success', durationSeconds: 5 },
    { name: 'test', url: '', state: 'running' },
    { name: 'lint', url: '', state: 'queued' },
  ];
  await expect(forgejo.forge.checks(target)).resolves.toEqual(checks);
  forgejo.server.jobs = 'bare';
  await expect(forgejo.forge.checks(target)).resolves.toEqual(checks);
});

test.each(['none', 'wrapped'] as const)(
  'Forgejo checks: lists commit statuses if there are no jobs (job lists: %s)',
  async (jobs) => {
    forgejo.server.jobs = jobs;
    one.statuses = [{ context: 'ci/woodpecker', status: 'failure', target_url: 'https://ci.example/1' }];
    const check = { name: 'ci/woodpecker', url: 'https://ci.example/1', state: 'failure' };
    await expect(forgejo.forge.checks(target)).resolves.toEqual([check]);
  },
);

test('Forgejo checks: lists the statuses of other systems beside jobs, and links jobs on servers that list none', async () => {
  const job = '/acme/shop/actions/runs/7/jobs/0';
  one.jobs = [{ name: 'build', status: 'success' }];
  one.statuses = [
    { context: 'CI / build (pull_request)', status: 'success', target_url: job },
    { context: 'ci/woodpecker', status: 'failure', target_url: 'https://ci.example/1' },
  ];
  const other = { name: 'ci/woodpecker', url: 'https://ci.example/1', state: 'failure' };
  const checks = [{ name: 'build', url: '', state: 'success' }, other];
  await expect(forgejo.forge.checks(target)).resolves.toEqual(checks);
  forgejo.server.jobs = 'none';
  const url = `${forgejo.server.url}${job}`;
  const statuses = [{ name: 'CI / build (pull_request)', url, state: 'success' }, other];
  await expect(forgejo.forge.checks(target)).resolves.toEqual(statuses);
});

test('Forgejo checks: lists more jobs and statuses than a page has', async () => {
  one.jobs = Array.from({ length: 70 }, (_, index) => ({ name: `job-${index}`, status: 'running' }));
  await expect(forgejo.forge.checks(target)).resolves.toHaveLength(70);
  forgejo.server.jobs = 'bare';
  await expect(forgejo.forge.checks(target)).resolves.toHaveLength(70);
  one.statuses = one.jobs.map(({ name }) => ({ context: name, status: 'success', target_url: '' }));
  forgejo.server.jobs = 'none';
  await expect(forgejo.forge.checks(target)).resolves.toHaveLength(70);
});
