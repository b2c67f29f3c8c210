import type { ForgeError } from '../../../src/dashboard/forges/forge-error.js';
import type { Forge } from '../../../src/dashboard/forges/forge.js';
import type { HistorySnapshot } from '../../../src/dashboard/forges/history.js';
import { findReviewTimes } from '../../../src/dashboard/insights/review-measures.js';
import type { TestFault } from '../../forges/forge-server.js';
import { forgejoPullRequest, forgejoRepository } from '../../forges/forgejo-state.js';
import { githubPullRequest, githubRepository } from '../../forges/github-state.js';
import { gitlabMergeRequest, gitlabProject } from '../../forges/gitlab-state.js';
import { openForgejo } from './forgejo/open-forgejo.js';
import { openGithub } from './github/open-github.js';
import { openGitlab } from './gitlab/open-gitlab.js';

const at = (hour: number): string => new Date(Date.parse('2026-05-01T00:00:00Z') + hour * 3_600_000).toISOString();
const hours = (time: number | undefined) => (time === undefined ? undefined : (time - Date.parse(at(0))) / 3_600_000);

async function readHistory(forge: Forge, id: string, since = 0): Promise<HistorySnapshot[]> {
  const saved: HistorySnapshot[] = [];
  await forge.readHistory!([{ id, fullName: 'acme/shop', since }], async (read) => void saved.push(...read));
  return saved;
}

const merged = { createdAt: at(0), updatedAt: at(30), mergedAt: at(30), closedAt: at(30) };

/** The same review at each forge: a draft until 2, asked at 3, seen by a bot at 4, and by lisa at 5, 20 and 24. */
const OPENED = {
  async github() {
    const reviews = [
      { author: 'mona', state: 'COMMENTED', submittedAt: at(2.5) },
      { author: 'linter[bot]', state: 'COMMENTED', submittedAt: at(4) },
      { author: 'lisa', state: 'COMMENTED', submittedAt: at(5) },
      { author: 'lisa', state: 'APPROVED', submittedAt: at(20) },
      { author: 'lisa', state: 'APPROVED', submittedAt: at(24) },
      { author: 'lisa', state: 'PENDING', submittedAt: null },
    ];
    const timeline = [
      { type: 'READY_FOR_REVIEW_EVENT', createdAt: at(2) },
      { type: 'REVIEW_REQUESTED_EVENT', createdAt: at(3), login: 'lisa' },
      { type: 'REVIEW_REQUESTED_EVENT', createdAt: at(3), login: 'team:core' },
      { type: 'REVIEW_REQUESTED_EVENT', createdAt: at(3), login: 'joe' },
      { type: 'REVIEW_REQUEST_REMOVED_EVENT', createdAt: at(6), login: 'joe' },
    ];
    const pullRequest = githubPullRequest(1, { ...merged, state: 'MERGED', submitted: reviews, timeline });
    const repository = githubRepository('acme/shop', { pullRequests: [pullRequest] });
    return { ...(await openGithub([repository])), id: repository.id };
  },
  async gitlab() {
    const note = (username: string, hour: number, body: string, system = true) => {
      return { system, body, createdAt: at(hour), username };
    };
    const notes = [
      note('mona', 2, 'marked this merge request as **ready**'),
      note('mona', 2.5, 'Please have a look.', false),
      note('mona', 3, 'requested review from @lisa and @joe'),
      note('project_1_bot_a', 4, 'Looks fine.', false),
      note('lisa', 5, 'Why?', false),
      note('mona', 6, 'removed review request for @joe'),
      note('lisa', 20, 'approved this merge request'),
      note('lisa', 24, 'approved this merge request'),
    ];
    const request = gitlabMergeRequest(1, { ...merged, state: 'merged', notes });
    const project = gitlabProject('acme/shop', { mergeRequests: [request] });
    return { ...(await openGitlab([project])), id: `gid://gitlab/Project/${project.id}` };
  },
  async forgejo() {
    const reviews = [
      { login: 'mona', state: 'COMMENT', submittedAt: at(2.5) },
      { login: 'renovate-bot', state: 'COMMENT', submittedAt: at(4) },
      { login: 'lisa', state: 'COMMENT', submittedAt: at(5) },
      { login: 'lisa', state: 'APPROVED', submittedAt: at(20) },
      { login: 'lisa', state: 'APPROVED', submittedAt: at(24) },
      { login: 'joe', state: 'REQUEST_REVIEW', submittedAt: at(3) },
    ];
    const timeline = [
      { type: 'change_title', created_at: at(2), old_title: 'WIP: Round taxes', new_title: 'Round taxes' },
      { type: 'review_request', created_at: at(3), assignee: { login: 'lisa' }, removed_assignee: false },
      { type: 'review_request', created_at: at(3), assignee: { login: 'joe' }, removed_assignee: false },
      { type: 'review_request', created_at: at(3), assignee: null, assignee_team: { name: 'core' } },
      { type: 'review_request', created_at: at(6), assignee: { login: 'joe' }, removed_assignee: true },
    ];
    const pullRequest = forgejoPullRequest(1, { ...merged, state: 'closed', merged: true, reviews, timeline });
    const repository = forgejoRepository('acme/shop', { pullRequests: [pullRequest] });
    return { ...(await openForgejo([repository])), id: String(repository.id) };
  },
} as const;

describe.each(['github', 'gitlab', 'forgejo'] as const)('%s history', (name) => {
  test('has the times of a review, without bots and the author', async () => {
    const { server, forge, id } = await OPENED[name]();
    const [{ pullRequests = [] } = {}] = await readHistory(forge, id);
    await server.close();
    const times = findReviewTimes(pullRequests[0]!);
    const { openedAt, readyAt, reviewedAt, approvedAt, mergedAt, closedAt, reviewers } = times;
    expect([openedAt, readyAt, reviewedAt, approvedAt, mergedAt, closedAt].map(hours)).toEqual([0, 2, 5, 24, 30, 30]);
    expect(
      reviewers.map(({ login, requestedAt, ...one }) => {
        return [login, hours(requestedAt), hours(one.reviewedAt), hours(one.lastReviewedAt), one.isPending];
      }),
    ).toEqual([['lisa', 3, 5, 24, false]]);
  });

  test('omits pull requests that have not changed since the last read', async () => {
    const { server, forge, id } = await OPENED[name]();
    expect(await readHistory(forge, id, Date.parse(at(30)))).toEqual([{ id, pullRequests: [] }]);
    await server.close();
  });
});

test.each(['gitlab', 'forgejo'] as const)('%s history: skips repositories that fail, unless all do', async (name) => {
  const names = ['acme/one', 'acme/broken', 'acme/three'];
  const { server, forge } =
    name === 'gitlab'
      ? await openGitlab(names.map((fullName) => gitlabProject(fullName)))
      : await openForgejo(names.map((fullName) => forgejoRepository(fullName)));
  const fail = (pattern: RegExp): void => {
    const fault: TestFault = ({ path, body }) => (pattern.test(`${path} ${body}`) ? { status: 500 } : undefined);
    server.failNext(fault, { times: Infinity });
  };
  const read = async () => {
    const saved: unknown[] = [];
    const requests = names.map((fullName) => ({ id: fullName, fullName, since: 0 }));
    const error = await forge.readHistory!(
      requests,
      async (some) => void saved.push(...some.map((one) => one.pullRequests?.length)),
    ).catch((caught: unknown) => (caught as ForgeError).kind);
    return [saved, error];
  };
  fail(/acme\/broken/);
  expect(await read()).toEqual([[0, undefined, 0], undefined]);
  fail(/acme/);
  expect(await read()).toEqual([[undefined, undefined, undefined], 'unreachable']);
  await server.close();
});

test('GitHub history: reads further pages while they have changes, and skips nodes that GitHub hides', async () => {
  const pullRequests = Array.from({ length: 70 }, (_none, index) =>
    githubPullRequest(index + 1, { updatedAt: at(index), state: index % 2 === 0 ? 'OPEN' : 'CLOSED' }),
  );
  const { server, forge } = await openGithub([githubRepository('acme/shop', { pullRequests })]);
  const [read] = await readHistory(forge, 'R_acme/shop', Date.parse(at(4.5)));
  expect(read!.pullRequests!.map(({ number }) => number)).toEqual(Array.from({ length: 65 }, (_none, i) => 70 - i));
  // A first page of 10, then 50 and 10 of 50.
  expect(server.seen).toHaveLength(3);
  server.hiddenOrganizations = ['acme'];
  expect(await readHistory(forge, 'R_acme/shop')).toEqual([]);
  await server.close();
});

test('GitLab history: reads older servers, which have no bots and no time of closing', async () => {
  const request = gitlabMergeRequest(1, { ...merged, mergedAt: null, state: 'closed', closedAt: at(9) });
  const { server, forge } = await openGitlab([gitlabProject('acme/shop', { mergeRequests: [request] })]);
  server.lacks = ['UserCore.bot', 'MergeRequest.closedAt'];
  const [read] = await readHistory(forge, '12');
  await server.close();
  expect(read!.pullRequests).toMatchObject([{ closedAt: at(30), authorIsBot: false }]);
});

test.each([
  ['entries', 70, 'comment', 0],
  ['comments on lines, which the server leaves out', 70, 'code', 70],
])('forgejo history: reads all pages of a timeline with many %s', async (_reason, count, type, comments) => {
  const reviews = [{ login: 'lisa', state: 'COMMENT', submittedAt: at(5), comments: Array<object>(comments).fill({}) }];
  const timeline = [
    ...Array.from({ length: count }, () => ({ type, created_at: at(1) })),
    { type: 'review_request', created_at: at(3), assignee: { login: 'lisa' }, removed_assignee: false },
  ];
  const pullRequest = forgejoPullRequest(1, { ...merged, state: 'closed', merged: true, reviews, timeline });
  const { server, forge } = await openForgejo([forgejoRepository('acme/shop', { pullRequests: [pullRequest] })]);
  const [saved] = await readHistory(forge, '1');
  expect(saved?.pullRequests?.[0]?.events.map(({ kind }) => kind)).toEqual(['reviewed', 'requested']);
  await server.close();
});

test('history of Forgejo: a proxy that responds with 404 for the server does not count as a deleted repository', async () => {
  const repository = forgejoRepository('acme/shop', { pullRequests: [forgejoPullRequest(1)] });
  const { server, forge } = await openForgejo([repository]);
  server.failNext({ status: 404, body: '404 page not found' }, { times: 9 });
  await expect(readHistory(forge, String(repository.id))).resolves.toEqual([
    { id: String(repository.id), pullRequests: undefined },
  ]);
  await server.close();
});
