import {
  githubPullRequest,
  githubRepository,
  githubRun,
  githubStatus,
  type GithubPullRequest,
} from '../../../forges/github-state.js';
import { openGithub, type OpenGithub } from './open-github.js';

let github: OpenGithub;
let one: GithubPullRequest;
const target = { fullName: 'acme/shop', number: 1 };

beforeEach(async () => {
  one = githubPullRequest(1, { checks: [] });
  github = await openGithub([githubRepository('acme/shop', { pullRequests: [one] })]);
});
afterEach(() => github.server.close());

test('GitHub checks: returns an empty list without checks', async () => {
  await expect(github.forge.checks(target)).resolves.toEqual([]);
});

test.each([
  ['SUCCESS', 'success'],
  ['NEUTRAL', 'success'],
  ['SKIPPED', 'skipped'],
  ['STALE', 'cancelled'],
  ['CANCELLED', 'cancelled'],
  ['TIMED_OUT', 'timed_out'],
  ['FAILURE', 'failure'],
  ['STARTUP_FAILURE', 'failure'],
  ['ACTION_REQUIRED', 'failure'],
])('GitHub checks: converts a check run with the conclusion %s to %s', async (conclusion, state) => {
  one.checks.push(githubRun({ conclusion, workflowRun: null }));
  const url = 'https://github.com/runs/1';
  const check = { name: 'build', url, state, required: true, durationSeconds: 90 };
  await expect(github.forge.checks(target)).resolves.toEqual([check]);
});

test.each([
  ['IN_PROGRESS', 'running'],
  ['QUEUED', 'queued'],
  ['WAITING', 'queued'],
])('GitHub checks: converts a check run with the status %s to %s', async (status, state) => {
  one.checks.push(githubRun({ status, conclusion: null }));
  await expect(github.forge.checks(target)).resolves.toMatchObject([{ state }]);
});

test.each([
  ['SUCCESS', 'success'],
  ['PENDING', 'running'],
  ['EXPECTED', 'queued'],
  ['FAILURE', 'failure'],
  ['ERROR', 'failure'],
])('GitHub checks: converts a commit status %s to %s', async (given, state) => {
  one.checks.push(githubStatus({ state: given, targetUrl: 'https://ci.example/1' }));
  const check = { name: 'deploy', url: 'https://ci.example/1', state, required: false };
  await expect(github.forge.checks(target)).resolves.toEqual([check]);
});

const steps = [
  { name: 'Check out', conclusion: 'success' },
  { name: 'Test', conclusion: 'failure' },
];

test('GitHub checks: returns the failed step and the end of the log as plain text', async () => {
  const log = `${'x'.repeat(9_000)}\n2026-05-02T08:00:00.1234567Z \u001b[31mexpected 1\u001b[0m\r\n2026-05-02T08:00:01.1Z got 2\n`;
  one.checks.push(githubRun({ conclusion: 'FAILURE', steps, log }));
  const [check] = await github.forge.checks(target);
  expect(check?.failedStep).toBe('Test');
  expect(check?.excerpt).toHaveLength(2_000);
  expect(check?.excerpt?.endsWith('x\nexpected 1\ngot 2')).toBe(true);
});

test('GitHub checks: the end of a log begins with a character', async () => {
  one.checks.push(githubRun({ conclusion: 'FAILURE', steps, log: `${'🎉'.repeat(1_500)}x` }));
  const [check] = await github.forge.checks(target);
  expect(check?.excerpt).toBe(`${'🎉'.repeat(999)}x`);
});

test('GitHub checks: omits the excerpt of a deleted log', async () => {
  one.checks.push(githubRun({ conclusion: 'FAILURE', steps }));
  github.server.failNext({ status: 410, body: { message: 'Gone' } }, { path: /logs$/ });
  const [check] = await github.forge.checks(target);
  expect([check?.state, check?.failedStep, check?.excerpt]).toEqual(['failure', 'Test', undefined]);
});

test('GitHub checks: lists all checks and explains the first five failures', async () => {
  one.checks = Array.from({ length: 250 }, (_, index) =>
    githubRun({ databaseId: index + 1, name: `job ${index}`, conclusion: 'FAILURE', steps, log: 'no' }),
  );
  const checks = await github.forge.checks(target);
  expect([checks.length, checks.filter(({ excerpt }) => excerpt !== undefined).length]).toEqual([250, 5]);
  // Three pages, and a job, a log and its storage for each of the five failures.
  expect(github.server.seen).toHaveLength(18);
});

test('GitHub checks: revalidates a job with its ETag, which costs no quota', async () => {
  one.checks.push(githubRun({ conclusion: 'FAILURE', steps }));
  const { core } = github.server.budgets;
  await github.forge.checks(target);
  const remaining = core.remaining;
  const [check] = await github.forge.checks(target);
  expect(check?.failedStep).toBe('Test');
  // Only the log costs a request.
  expect(remaining - core.remaining).toBe(1);
});

test('GitHub checks: throws not_found for a missing pull request', async () => {
  await expect(github.forge.checks({ ...target, number: 2 })).rejects.toMatchObject({ kind: 'not_found' });
});
