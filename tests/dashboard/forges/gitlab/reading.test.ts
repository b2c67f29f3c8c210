import type { ForgePullRequest } from '../../../../src/dashboard/forges/forge.js';
import {
  gitlabIssue,
  gitlabMergeRequest,
  gitlabProject,
  type GitlabMergeRequest,
} from '../../../forges/gitlab-state.js';
import { openGitlab, type OpenGitlab } from './open-gitlab.js';

let gitlab: OpenGitlab;

beforeEach(async () => {
  gitlab = await openGitlab();
});
afterEach(() => gitlab.server.close());

test('GitLab read: finds a renamed project by its id, also if a different one has its former name', async () => {
  const shop = gitlabProject('acme/shop', { id: 1, mergeRequests: [gitlabMergeRequest(1)] });
  gitlab.server.projects.push(shop);
  const known = await gitlab.forge.discover();
  shop.fullPath = 'initech/web/store';
  const renamed = [{ repository: { id: known[0]!.id, fullName: 'initech/web/store' }, pullRequests: [{ number: 1 }] }];
  expect((await gitlab.forge.read(known)).repositories).toMatchObject(renamed);
  gitlab.server.projects.push(gitlabProject('acme/shop', { id: 2 }));
  expect((await gitlab.forge.read(known)).repositories).toMatchObject(renamed);
});

test('GitLab read: omits a project that was deleted or archived', async () => {
  gitlab.server.projects.push(gitlabProject('acme/shop', { id: 1 }), gitlabProject('acme/api', { id: 2 }));
  const known = await gitlab.forge.discover();
  gitlab.server.projects[1]!.archived = true;
  gitlab.server.projects.splice(0, 1);
  await expect(gitlab.forge.read(known)).resolves.toMatchObject({ repositories: [], unread: [] });
});

test('GitLab discover: returns writable projects without forks and archived ones', async () => {
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

test('GitLab readRepository: returns all fields of merge requests and issues', async () => {
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
      additions: 12,
      deletions: 3,
      empty: false,
      autoMergeEnabled: true,
      review: { decision: 'approved', approvals: 1, requestedReviewers: 1 },
    },
  ]);
  expect(reading?.issues).toMatchObject([{ repo: 'acme/web/shop', number: 3 }]);
});

test.each<[string, Partial<GitlabMergeRequest>, Partial<ForgePullRequest>]>([
  ['no pipeline', { pipeline: null }, { ci: 'none' }],
  ['a manual pipeline', { pipeline: 'MANUAL' }, { ci: 'pending' }],
  ['a cancelled pipeline', { pipeline: 'CANCELED' }, { ci: 'failure' }],
  ['conflicts', { conflicts: true, detailedMergeStatus: 'CHECKING' }, { mergeStatus: 'conflicting' }],
  ['an unchecked merge status', { detailedMergeStatus: 'UNCHECKED' }, { mergeStatus: 'unknown' }],
  ['approvals that are being counted', { detailedMergeStatus: 'APPROVALS_SYNCING' }, { mergeStatus: 'unknown' }],
  ['a pipeline that must pass', { detailedMergeStatus: 'CI_MUST_PASS' }, { mergeStatus: 'blocked' }],
  ['a required rebase', { detailedMergeStatus: 'NEED_REBASE' }, { mergeStatus: 'blocked', behind: true }],
  ['no files', { fileCount: 0 }, { empty: true }],
  ['no files counted yet', { fileCount: 0, detailedMergeStatus: 'PREPARING' }, { empty: false }],
  ['a draft flag', { draft: true, detailedMergeStatus: 'DRAFT_STATUS' }, { draft: true, mergeStatus: 'blocked' }],
])('GitLab readRepository: converts a merge request with %s', async (_reason, change, facts) => {
  const { server, forge } = gitlab;
  server.projects.push(gitlabProject('acme/shop', { mergeRequests: [gitlabMergeRequest(1, change)] }));
  expect((await forge.readRepository('acme/shop'))?.pullRequests).toMatchObject([facts]);
});

test.each<[string, Partial<GitlabMergeRequest>, string]>([
  ['no review', {}, 'none'],
  ['an approval', { approvedBy: ['lisa'] }, 'approved'],
  ['too few approvals', { approvedBy: ['lisa'], detailedMergeStatus: 'NOT_APPROVED' }, 'review_required'],
  ['too few approvals, and a conflict', { approved: false, detailedMergeStatus: 'CONFLICT' }, 'review_required'],
  ['requested changes', { detailedMergeStatus: 'REQUESTED_CHANGES' }, 'changes_requested'],
  [
    'requested changes that do not block merging',
    { approvedBy: ['lisa'], reviewers: ['hugo'], reviewStates: { hugo: 'REQUESTED_CHANGES' } },
    'changes_requested',
  ],
])('GitLab readRepository: computes the review decision from %s', async (_reason, change, decision) => {
  const { server, forge } = gitlab;
  server.projects.push(gitlabProject('acme/shop', { mergeRequests: [gitlabMergeRequest(1, change)] }));
  expect((await forge.readRepository('acme/shop'))?.pullRequests[0]?.review?.decision).toBe(decision);
});

test.each([
  ['UNREVIEWED', true],
  ['REVIEW_STARTED', true],
  ['UNAPPROVED', true],
  ['REVIEWED', false],
  ['APPROVED', false],
  ['REQUESTED_CHANGES', false],
])('GitLab readRepository: a reviewer in the state %s counts as requested: %s', async (state, isAwaited) => {
  const { server, forge } = gitlab;
  const reviewing = { reviewers: ['hugo', 'lisa'], reviewStates: { hugo: state } };
  server.projects.push(gitlabProject('acme/shop', { mergeRequests: [gitlabMergeRequest(1, reviewing)] }));
  const [row] = (await forge.readRepository('acme/shop'))!.pullRequests;
  const awaited = isAwaited ? ['hugo', 'lisa'] : ['lisa'];
  expect(row).toMatchObject({ requestedReviewerLogins: awaited, review: { requestedReviewers: awaited.length } });
});

describe('GitLab client with an older server', () => {
  const LATER = [
    'Project.isForked',
    'MergeRequest.detailedMergeStatus',
    'MergeRequest.approved',
    'MergeRequestReviewer.mergeRequestInteraction',
  ];

  test.each([
    ['all later fields', LATER],
    ['only the review state of interactions', ['UserMergeRequestInteraction.reviewState']],
  ])('reads projects if the server lacks %s', async (_what, lacks) => {
    const { server, forge } = gitlab;
    server.lacks = [...lacks];
    const given = { reviewers: ['hugo', 'lisa'], approvedBy: ['lisa'] };
    server.projects.push(gitlabProject('acme/shop', { mergeRequests: [gitlabMergeRequest(1, given)] }));
    expect((await forge.discover()).map(({ fullName }) => fullName)).toEqual(['acme/shop']);
    const [row] = (await forge.readRepository('acme/shop'))!.pullRequests;
    expect(row).toMatchObject({ requestedReviewerLogins: ['hugo'], review: { decision: 'approved', approvals: 1 } });
  });

  test('omits unsupported fields after one rejected query, also with concurrent queries', async () => {
    const { server, forge } = gitlab;
    server.lacks = LATER;
    server.projects.push(...['a', 'b', 'c'].map((name, id) => gitlabProject(`acme/${name}`, { id })));
    const found = await forge.discover();
    await forge.read(found);
    const before = server.seen.length;
    expect((await forge.read(found)).repositories).toHaveLength(3);
    expect(server.seen.length - before).toBe(3);
  });

  test('throws unknown if the server lacks a required field', async () => {
    gitlab.server.lacks = ['Project.webUrl'];
    await expect(gitlab.forge.discover()).rejects.toMatchObject({ kind: 'unknown' });
    expect(gitlab.server.seen).toHaveLength(1);
  });
});
