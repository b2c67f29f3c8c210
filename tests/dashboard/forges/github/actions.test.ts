import type { ActionName } from '../../../../src/dashboard/forges/forge.js';
import {
  githubPullRequest,
  githubRepository,
  githubRun,
  githubStatus,
  type GithubPullRequest,
  type GithubRepository,
} from '../../../forges/github-state.js';
import { openGithub, type OpenGithub } from './open-github.js';

let github: OpenGithub;
let repository: GithubRepository;
let one: GithubPullRequest;
const target = { fullName: 'acme/shop', number: 1 };

beforeEach(async () => {
  one = githubPullRequest(1);
  repository = githubRepository('acme/shop', { pullRequests: [one] });
  github = await openGithub([repository]);
});
afterEach(() => github.server.close());

const writes = () => github.server.seen.filter(({ method, path }) => method !== 'GET' && path !== '/graphql');

test.each<[string, Partial<GithubRepository>, string]>([
  ['a merge commit by default', {}, 'merge'],
  ['a squash if merge commits are not allowed', { mergeCommitAllowed: false }, 'squash'],
  ['a rebase if nothing else is allowed', { mergeCommitAllowed: false, squashMergeAllowed: false }, 'rebase'],
  ['a squash if the base requires a linear history', { requiresLinearHistory: true }, 'squash'],
  ['a squash if a ruleset requires a linear history', { branchRules: [{ type: 'required_linear_history' }] }, 'squash'],
  [
    'a rebase if rulesets allow nothing else',
    {
      branchRules: [
        { type: 'deletion' },
        { type: 'pull_request', parameters: { allowed_merge_methods: ['merge', 'rebase'] } },
        { type: 'pull_request', parameters: { allowed_merge_methods: ['rebase', 'squash'] } },
      ],
    },
    'rebase',
  ],
])('GitHub act: merges with %s', async (_reason, change, method) => {
  Object.assign(repository, change);
  await expect(github.forge.act(target, 'merge')).resolves.toBe('done');
  expect([one.state, one.mergedBy]).toEqual(['MERGED', method]);
});

test.each<[ActionName, Partial<GithubPullRequest>, 'done' | 'queued' | 'comment', Partial<GithubPullRequest>]>([
  ['close', {}, 'done', { state: 'CLOSED' }],
  ['update_branch', { mergeStateStatus: 'BEHIND' }, 'queued', { mergeStateStatus: 'CLEAN' }],
  ['auto_merge', { mergeStateStatus: 'BLOCKED' }, 'done', { autoMerge: 'MERGE' }],
  ['cancel_auto_merge', { autoMerge: 'MERGE' }, 'done', { autoMerge: null }],
  ['dequeue', { queued: true }, 'done', { queued: false }],
  ['dependabot_rebase', {}, 'comment', { comments: ['@dependabot rebase'] }],
  ['dependabot_recreate', {}, 'comment', { comments: ['@dependabot recreate'] }],
  ['renovate_rebase', {}, 'done', { labels: [{ name: 'rebase', color: 'ededed' }] }],
])('GitHub act: performs %s', async (action, before, outcome, after) => {
  Object.assign(one, before);
  await expect(github.forge.act(target, action)).resolves.toEqual(
    outcome === 'comment' ? { commentId: `IC_0_${one.id}`, commentUrl: 'https://github.com/comment/1' } : outcome,
  );
  expect(one).toMatchObject(after);
});

test('GitHub act: enables auto-merge with a method that the rulesets of the base allow', async () => {
  one.mergeStateStatus = 'BLOCKED';
  repository.branchRules = [{ type: 'required_linear_history' }];
  await expect(github.forge.act(target, 'auto_merge')).resolves.toBe('done');
  expect(one.autoMerge).toBe('SQUASH');
});

test.each([403, 404, 502])('GitHub act: merges if the rulesets can not be read: %i', async (status) => {
  github.server.failNext({ status, body: { message: 'No.' } }, { path: /\/rules\/branches\/main$/ });
  await expect(github.forge.act(target, 'merge')).resolves.toBe('done');
  expect([one.state, one.mergedBy]).toEqual(['MERGED', 'merge']);
});

test('GitHub act: reruns each workflow run with a failed job once', async () => {
  const failed = { conclusion: 'FAILURE' };
  one.checks = [
    githubRun({ databaseId: 1, workflowRun: 900, ...failed }),
    githubRun({ databaseId: 2, workflowRun: 900, ...failed }),
    githubRun({ databaseId: 3, workflowRun: 901 }),
    githubRun({ databaseId: 4, workflowRun: 902, conclusion: 'TIMED_OUT' }),
    githubRun({ databaseId: 5, workflowRun: null, ...failed }),
    githubStatus({ state: 'FAILURE' }),
  ];
  await expect(github.forge.act(target, 'rerun_checks')).resolves.toBe('queued');
  const runs = '/repos/acme/shop/actions/runs';
  const paths = [`${runs}/900/rerun-failed-jobs`, `${runs}/902/rerun-failed-jobs`];
  expect(writes().map(({ path }) => path)).toEqual(paths);
});

describe('GitHub act: rerun_checks while a workflow run with a failed job is in progress', () => {
  const failed = { conclusion: 'FAILURE' };
  const running = [
    githubRun({ databaseId: 1, workflowRun: 900, ...failed }),
    githubRun({ databaseId: 2, workflowRun: 900, status: 'IN_PROGRESS', conclusion: null }),
  ];

  test('reruns the completed workflow runs only', async () => {
    one.checks = [...running, githubRun({ databaseId: 3, workflowRun: 901, ...failed })];
    await expect(github.forge.act(target, 'rerun_checks')).resolves.toBe('queued');
    expect(writes().map(({ path }) => path)).toEqual(['/repos/acme/shop/actions/runs/901/rerun-failed-jobs']);
  });

  test('is rejected with checks_pending if no other one has failed', async () => {
    one.checks = running;
    const refused = { kind: 'conflict', refusal: 'checks_pending' };
    await expect(github.forge.act(target, 'rerun_checks')).rejects.toMatchObject(refused);
    expect(writes()).toEqual([]);
  });
});

const pending = [githubRun({ status: 'IN_PROGRESS', conclusion: null })];
const failing = [githubRun({ conclusion: 'FAILURE' })];

test.each<[string, ActionName, Partial<GithubPullRequest>, string]>([
  ['protected', 'merge', { mergeStateStatus: 'BLOCKED' }, 'blocked_by_protection'],
  ['still running checks', 'merge', { mergeStateStatus: 'BLOCKED', checks: pending }, 'checks_pending'],
  ['failing', 'merge', { mergeStateStatus: 'BLOCKED', checks: failing }, 'checks_failing'],
  ['behind', 'merge', { mergeStateStatus: 'BEHIND' }, 'behind'],
  ['conflicting', 'merge', { mergeStateStatus: 'DIRTY', mergeable: 'CONFLICTING' }, 'conflict'],
  ['a draft', 'merge', { mergeStateStatus: 'BLOCKED', isDraft: true }, 'not_mergeable'],
  ['up to date', 'update_branch', {}, 'already_up_to_date'],
  ['conflicting', 'update_branch', { mergeStateStatus: 'DIRTY', mergeable: 'CONFLICTING' }, 'conflict'],
  ['clean', 'auto_merge', {}, 'ready_to_merge'],
])(
  'GitHub act: derives the reason of a rejection from the pull request, which is %s: %s',
  async (_reason, action, change, refusal) => {
    Object.assign(one, change);
    await expect(github.forge.act(target, action)).rejects.toMatchObject({ kind: 'conflict', refusal });
  },
);

test('GitHub act: reports auto_merge_not_allowed if the repository disables auto-merge', async () => {
  repository.autoMergeAllowed = false;
  one.mergeStateStatus = 'BLOCKED';
  const refused = github.forge.act(target, 'auto_merge');
  await expect(refused).rejects.toMatchObject({ kind: 'conflict', refusal: 'auto_merge_not_allowed' });
});

test('GitHub act: works with the former name of a renamed repository', async () => {
  Object.assign(repository, { nameWithOwner: 'acme/store', formerNames: ['acme/shop'] });
  await expect(github.forge.act(target, 'merge')).resolves.toBe('done');
  expect(one.state).toBe('MERGED');
});

test('GitHub act: adds a pull request to the merge queue, and merging names the queue', async () => {
  repository.usesMergeQueue = true;
  await expect(github.forge.act(target, 'merge')).rejects.toMatchObject({
    refusal: 'merge_queue',
    words: 'Changes must be made through the merge queue',
  });
  await expect(github.forge.act({ ...target, headSha: 'f'.repeat(40) }, 'enqueue')).rejects.toMatchObject({
    refusal: 'head_changed',
  });
  await expect(github.forge.act(target, 'enqueue')).resolves.toBe('done');
  expect([one.queued, one.state]).toEqual([true, 'OPEN']);
});

test.each<[string, Partial<GithubRepository>, 'merge' | 'squash', object]>([
  [
    'a rule of the repository',
    { ruleViolations: ['Code owner review required'] },
    'merge',
    { refusal: 'rule_violation', words: 'Repository rule violations found Code owner review required' },
  ],
  [
    'a method that is not allowed',
    { squashMergeAllowed: false },
    'squash',
    { refusal: 'method_not_allowed', words: 'Squash merges are not allowed on this repository.' },
  ],
])("GitHub act: reports %s as a code and in GitHub's words", async (_reason, change, method, refusal) => {
  Object.assign(repository, change);
  await expect(github.forge.act({ ...target, method }, 'merge')).rejects.toMatchObject({
    kind: 'conflict',
    ...refusal,
  });
  expect(one.state).toBe('OPEN');
});

test('GitHub act: merges by the requested method', async () => {
  await expect(github.forge.act({ ...target, method: 'rebase' }, 'merge')).resolves.toBe('done');
  expect(one.mergedBy).toBe('rebase');
});
