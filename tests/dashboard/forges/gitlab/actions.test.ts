import type { ActionName } from '../../../../src/dashboard/forges/forge.js';
import { gitlabMergeRequest, gitlabProject, type GitlabMergeRequest } from '../../../forges/gitlab-state.js';
import { openGitlab, type OpenGitlab } from './open-gitlab.js';

let gitlab: OpenGitlab;
let one: GitlabMergeRequest;
const target = { fullName: 'acme/web/shop', number: 1 };

beforeEach(async () => {
  one = gitlabMergeRequest(1);
  gitlab = await openGitlab([gitlabProject('acme/web/shop', { mergeRequests: [one] })]);
});
afterEach(() => gitlab.server.close());

const writes = () => gitlab.server.seen.filter(({ path }) => path !== '/api/graphql');
const running = { detailedMergeStatus: 'CI_STILL_RUNNING', pipeline: 'RUNNING' };

test.each<[ActionName, Partial<GitlabMergeRequest>, 'done' | 'queued', Partial<GitlabMergeRequest>]>([
  ['merge', {}, 'done', { state: 'merged' }],
  ['auto_merge', running, 'done', { autoMergeEnabled: true, state: 'opened' }],
  ['cancel_auto_merge', { ...running, autoMergeEnabled: true }, 'done', { autoMergeEnabled: false }],
  ['close', {}, 'done', { state: 'closed' }],
  ['update_branch', { divergedFromTargetBranch: true }, 'queued', { divergedFromTargetBranch: false }],
  ['renovate_rebase', {}, 'done', { labels: [{ title: 'rebase', color: '#428bca' }] }],
  ['rerun_checks', { pipeline: 'FAILED' }, 'queued', { pipeline: 'RUNNING' }],
])('GitLab act: performs %s', async (action, before, outcome, after) => {
  Object.assign(one, before);
  await expect(gitlab.forge.act(target, action)).resolves.toBe(outcome);
  expect(one).toMatchObject(after);
});

test.each<[string, ActionName, Partial<GitlabMergeRequest>, string]>([
  ['not approved', 'merge', { detailedMergeStatus: 'NOT_APPROVED' }, 'blocked_by_protection'],
  ['failing', 'merge', { detailedMergeStatus: 'CI_MUST_PASS', pipeline: 'FAILED' }, 'checks_failing'],
  ['still running checks', 'merge', running, 'checks_pending'],
  ['behind', 'merge', { detailedMergeStatus: 'NEED_REBASE' }, 'behind'],
  ['conflicting', 'merge', { detailedMergeStatus: 'CONFLICT', conflicts: true }, 'conflict'],
  ['a draft', 'merge', { detailedMergeStatus: 'DRAFT_STATUS', draft: true }, 'not_mergeable'],
  ['conflicting', 'update_branch', { conflicts: true }, 'conflict'],
])(
  'GitLab act: derives the reason of a rejection from the merge request, which is %s: %s',
  async (_reason, action, change, refusal) => {
    Object.assign(one, change);
    await expect(gitlab.forge.act(target, action)).rejects.toMatchObject({ kind: 'conflict', refusal });
    expect(writes()).toHaveLength(1);
  },
);

test('GitLab act: rejects rerun_checks without a pipeline', async () => {
  one.pipeline = null;
  await expect(gitlab.forge.act(target, 'rerun_checks')).rejects.toMatchObject({ kind: 'conflict' });
  expect(writes()).toEqual([]);
});

test('GitLab act: throws for an unsupported action without a request', async () => {
  expect(gitlab.forge.actions).not.toContain('dependabot_rebase');
  await expect(gitlab.forge.act(target, 'dependabot_rebase')).rejects.toMatchObject({ kind: 'unknown' });
  expect(gitlab.server.seen).toEqual([]);
});

describe('GitLab act: an approval that GitLab rejects with 401', () => {
  const review = { verdict: 'approve', text: 'Nice.' } as const;

  test('counts as done if the user has approved, and its text is sent', async () => {
    one.approvedBy = ['mona'];
    await expect(gitlab.forge.act({ ...target, review }, 'review')).resolves.toBe('done');
    expect(one).toMatchObject({ approvedBy: ['mona'], notes: [{ body: 'Nice.' }] });
  });

  test('is reported as a missing permission otherwise', async () => {
    gitlab.server.failNext({ status: 401, body: { message: '401 Unauthorized' } }, { path: /\/approve$/ });
    const refused = { kind: 'unauthorized', refusal: 'permission' };
    await expect(gitlab.forge.act({ ...target, review }, 'review')).rejects.toMatchObject(refused);
    expect(one).toMatchObject({ approvedBy: [], notes: [] });
  });
});

test('GitLab checks: lists the jobs of the head pipeline', async () => {
  one.jobs = [
    { id: 1, name: 'build', status: 'success', duration: 12.4 },
    { id: 2, name: 'test', status: 'failed', duration: 3, failure_reason: 'job_execution_timeout' },
    { id: 3, name: 'deploy', status: 'manual', duration: null },
  ];
  await expect(gitlab.forge.checks(target)).resolves.toEqual([
    { name: 'build', url: 'https://gitlab.example/-/jobs/1', state: 'success', durationSeconds: 12 },
    { name: 'test', url: 'https://gitlab.example/-/jobs/2', state: 'timed_out', durationSeconds: 3 },
    { name: 'deploy', url: 'https://gitlab.example/-/jobs/3', state: 'queued' },
  ]);
});

test('GitLab checks: lists the statuses of the head pipeline that are not jobs', async () => {
  one.jobs = [{ id: 1, name: 'build', status: 'success', duration: 12 }];
  const unknown = { target_url: null, started_at: null, finished_at: null };
  one.statuses = [
    { id: 2, name: 'trigger child', status: 'failed', ...unknown, pipeline_id: 1 },
    {
      ...{ id: 3, name: 'jenkins', status: 'failed', target_url: 'https://jenkins.example/7' },
      ...{ started_at: '2026-05-02T08:00:00.000Z', finished_at: '2026-05-02T08:01:30.000Z' },
    },
    { id: 4, name: 'of another pipeline', status: 'failed', ...unknown, pipeline_id: 2 },
  ];
  await expect(gitlab.forge.checks(target)).resolves.toEqual([
    { name: 'build', url: 'https://gitlab.example/-/jobs/1', state: 'success', durationSeconds: 12 },
    { name: 'trigger child', url: '', state: 'failure' },
    { name: 'jenkins', url: 'https://jenkins.example/7', state: 'failure', durationSeconds: 90 },
  ]);
});

test.each([403, 404])('GitLab checks: lists the jobs if the other statuses are refused with %i', async (status) => {
  one.jobs = [{ id: 1, name: 'build', status: 'success', duration: 12 }];
  gitlab.server.failNext({ status, body: { message: `${status}` } }, { path: /\/statuses$/ });
  await expect(gitlab.forge.checks(target)).resolves.toMatchObject([{ name: 'build' }]);
});

test.each([null, 'lisa/shop'])(
  'GitLab checks: finds the pipeline of a merge request from a fork in the project %s',
  async (pipelineProject) => {
    Object.assign(one, { fromFork: true, pipelineProject, pipeline: 'FAILED' });
    one.jobs = [{ id: 1, name: 'build', status: 'failed', duration: 3 }];
    await expect(gitlab.forge.checks(target)).resolves.toMatchObject([{ name: 'build', state: 'failure' }]);
    await expect(gitlab.forge.act(target, 'rerun_checks')).resolves.toBe('queued');
    expect(one.pipeline).toBe('RUNNING');
  },
);

test('GitLab checks: returns an empty list without a pipeline, and throws without a merge request', async () => {
  one.pipeline = null;
  await expect(gitlab.forge.checks(target)).resolves.toEqual([]);
  await expect(gitlab.forge.checks({ ...target, number: 2 })).rejects.toMatchObject({ kind: 'not_found' });
});
