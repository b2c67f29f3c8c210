import type { PullRequestFacts } from '../../../../src/dashboard/forges/facts.js';
import { gitlabIssue, gitlabMergeRequest, gitlabProject } from '../../../forges/gitlab-state.js';
import type { GitlabMergeRequest } from '../../../forges/gitlab-state.js';
import { openGitlab } from './open-gitlab.js';
import type { OpenGitlab } from './open-gitlab.js';

let gitlab: OpenGitlab;

beforeEach(async () => {
  gitlab = await openGitlab();
});
afterEach(() => gitlab.server.close());

const fill = (count: number): GitlabMergeRequest[] =>
  Array.from({ length: count }, (_, index) => gitlabMergeRequest(index + 1));

test('discovers what may be pushed to, and is neither a fork nor archived', async () => {
  gitlab.server.projects.push(
    gitlabProject('acme/web/shop', { adminProject: true }),
    gitlabProject('acme/api'),
    gitlabProject('acme/seen', { pushCode: false }),
    gitlabProject('acme/fork', { isForked: true }),
    gitlabProject('acme/old', { archived: true }),
  );
  const found = await gitlab.forge.discover();
  expect(found.map(({ fullName, canManageWebhooks }) => [fullName, canManageWebhooks])).toEqual([
    ['acme/web/shop', true],
    ['acme/api', false],
  ]);
});

test('reads everything that a board shows', async () => {
  const { server, forge } = gitlab;
  const one = gitlabMergeRequest(7, {
    username: null,
    labels: [{ title: 'bug', color: '#ff0000' }],
    reviewers: ['mona'],
    approvedBy: ['lisa'],
    fromFork: true,
    divergedFromTargetBranch: true,
    autoMergeEnabled: true,
  });
  server.projects.push(gitlabProject('acme/web/shop', { mergeRequests: [one], issues: [gitlabIssue(3)] }));
  const reading = await forge.readRepository('acme/web/shop');
  expect(reading?.pullRequests).toEqual([
    {
      repo: 'acme/web/shop',
      number: 7,
      title: 'Change 7',
      url: `${server.url}/acme/web/shop/-/merge_requests/7`,
      author: 'ghost',
      draft: false,
      labels: [{ name: 'bug', color: 'ff0000' }],
      createdAt: '2026-05-01T08:00:00Z',
      updatedAt: '2026-05-02T08:00:00Z',
      ci: 'success',
      mergeStatus: 'mergeable',
      behind: true,
      headSha: one.diffHeadSha,
      baseBranch: 'main',
      headBranch: 'change-7',
      crossRepository: true,
      requestedReviewerLogins: ['mona'],
      empty: false,
      autoMergeEnabled: true,
      review: { decision: 'approved', approvals: 1, requestedReviewers: 1 },
    },
  ]);
  expect(reading?.issues).toMatchObject([{ repo: 'acme/web/shop', number: 3 }]);
});

test.each<[string, Partial<GitlabMergeRequest>, Partial<PullRequestFacts>]>([
  ['no pipeline', { pipeline: null }, { ci: 'none' }],
  ['a pipeline that waits for somebody', { pipeline: 'MANUAL' }, { ci: 'pending' }],
  ['a pipeline that was cancelled', { pipeline: 'CANCELED' }, { ci: 'failure' }],
  ['conflicts', { conflicts: true, detailedMergeStatus: 'CHECKING' }, { mergeStatus: 'conflicting' }],
  ['a status that is not known yet', { detailedMergeStatus: 'UNCHECKED' }, { mergeStatus: 'unknown' }],
  ['a pipeline that must pass', { detailedMergeStatus: 'CI_MUST_PASS' }, { mergeStatus: 'blocked' }],
  ['need of a rebase', { detailedMergeStatus: 'NEED_REBASE' }, { mergeStatus: 'blocked', behind: true }],
  ['no files', { fileCount: 0 }, { empty: true }],
  ['no files counted yet', { fileCount: 0, detailedMergeStatus: 'PREPARING' }, { empty: false }],
  ['a draft', { draft: true, detailedMergeStatus: 'DRAFT_STATUS' }, { draft: true, mergeStatus: 'blocked' }],
])('reads a merge request with %s', async (_reason, change, facts) => {
  const { server, forge } = gitlab;
  server.projects.push(gitlabProject('acme/shop', { mergeRequests: [gitlabMergeRequest(1, change)] }));
  expect((await forge.readRepository('acme/shop'))?.pullRequests).toMatchObject([facts]);
});

test.each<[string, Partial<GitlabMergeRequest>, string]>([
  ['nobody', {}, 'none'],
  ['an approval', { approvedBy: ['lisa'] }, 'approved'],
  ['too few approvals', { approvedBy: ['lisa'], detailedMergeStatus: 'NOT_APPROVED' }, 'review_required'],
  ['changes asked for', { detailedMergeStatus: 'REQUESTED_CHANGES' }, 'changes_requested'],
])('reads what reviews come to: %s', async (_reason, change, decision) => {
  const { server, forge } = gitlab;
  server.projects.push(gitlabProject('acme/shop', { mergeRequests: [gitlabMergeRequest(1, change)] }));
  expect((await forge.readRepository('acme/shop'))?.pullRequests[0]?.review?.decision).toBe(decision);
});

test('reads on until everything is read', async () => {
  const { server, forge } = gitlab;
  const issues = Array.from({ length: 70 }, (_, index) => gitlabIssue(index + 500));
  server.projects.push(gitlabProject('acme/shop', { mergeRequests: fill(120), issues }));
  for (let count = 0; count < 60; count += 1) server.projects.push(gitlabProject(`acme/r${count}`));
  const found = await forge.discover();
  const { repositories, truncated } = await forge.read(found);
  const { pullRequests, issues: read } = repositories[0]!;
  expect([repositories.length, pullRequests.length, read.length, truncated]).toEqual([61, 120, 70, false]);
});

test('sees by the revision of a project whether anything is new', async () => {
  const { server, forge } = gitlab;
  const project = gitlabProject('acme/shop', { mergeRequests: fill(2), issues: [gitlabIssue(9)] });
  server.projects.push(project);
  const revision = async () => (await forge.discover())[0]?.revision;
  const revisions = [await revision()];
  expect(await revision()).toBe(revisions[0]);
  for (const change of [
    () => (project.mergeRequests[0]!.updatedAt = '2026-05-03T08:00:00Z'),
    () => (project.mergeRequests[1]!.state = 'merged'),
    () => (project.issues[0]!.updatedAt = '2026-05-03T08:00:00Z'),
    () => (project.lastActivityAt = '2026-05-03T08:00:00Z'),
  ]) {
    change();
    revisions.push(await revision());
  }
  expect(new Set(revisions).size).toBe(5);
});

test('leaves out what is gone, and keeps the rest', async () => {
  const { server, forge } = gitlab;
  server.projects.push(gitlabProject('acme/shop'), gitlabProject('acme/gone'));
  const found = await forge.discover();
  server.projects.pop();
  const { repositories } = await forge.read(found);
  expect(repositories.map(({ repository }) => repository.fullName)).toEqual(['acme/shop']);
  expect(await forge.readRepository('acme/gone')).toBeUndefined();
});
