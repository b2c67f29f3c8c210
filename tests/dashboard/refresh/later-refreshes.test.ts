/** Refreshes of GitHub after the first one: the requests they send, and the changes they notice. */
import type { Board } from '../../../src/dashboard/boards/board.js';
import type { RecordedRequest } from '../../forges/forge-server.js';
import {
  githubIssue,
  githubPullRequest,
  type GithubPullRequest,
  githubRepository,
  githubRun,
} from '../../forges/github-state.js';
import { openStage, type Stage } from './fixtures.js';

const LATER = '2026-05-03T08:00:00Z';
const FOREIGN = { affiliation: 'NONE', viewerPermission: 'READ' } as const;

let stage: Stage;
beforeEach(async () => {
  stage = await openStage();
});
afterEach(async () => {
  await stage.close();
  expect(stage.reported).toEqual([]);
});

const nameOf = ({ path, body }: RecordedRequest): string =>
  /query (\w+)/.exec(body)?.[1] ?? path.replace('/api/v3', '');
const rowsOf = ({ pullRequests }: Board) =>
  pullRequests.filter(({ forge }) => forge === 'github').toSorted((a, b) => a.number - b.number);

/** Refreshes the board, and returns it with the requests to GitHub. */
async function refresh() {
  const before = stage.github.seen.length;
  const board = await stage.refresh();
  return { board, sent: stage.github.seen.slice(before).map(nameOf) };
}

describe('refresh: listed repositories', () => {
  const DIFFERENCES = ['ReadHeads', '/issues'];
  const COMPARED = [...DIFFERENCES, 'ReadStatuses', 'SearchInvolved'];
  let shop: ReturnType<typeof githubRepository>;

  beforeEach(async () => {
    shop = githubRepository('acme/shop', { pullRequests: [githubPullRequest(1), githubPullRequest(2)] });
    stage.github.repositories.push(shop, githubRepository('acme/idle'));
    await refresh();
  });

  test('an unchanged repository is compared and not read', async () => {
    const { board, sent } = await refresh();
    expect(sent).toEqual(COMPARED);
    expect(rowsOf(board).map(({ number }) => number)).toEqual([1, 2]);
  });

  test.each<[string, (one: GithubPullRequest) => unknown, object]>([
    ['its checks run again', (one) => (one.checks = [githubRun({ conclusion: 'FAILURE' })]), { ci: 'failure' }],
    [
      'it conflicts with its base',
      (one) => Object.assign(one, { mergeable: 'CONFLICTING', mergeStateStatus: 'DIRTY' }),
      { mergeStatus: 'conflicting' },
    ],
    [
      'branch protection requires a review',
      (one) => (one.reviewDecision = 'REVIEW_REQUIRED'),
      { review: { decision: 'review_required' } },
    ],
  ])('a pull request without a new revision is read when %s', async (_reason, change, row) => {
    change(shop.pullRequests[0]!);
    const { board, sent } = await refresh();
    expect(sent).toEqual([...DIFFERENCES, 'ReadStatuses', 'ReadRepositories', 'SearchInvolved']);
    expect(rowsOf(board)[0]).toMatchObject(row);
  });

  test('repositories are compared in turns', async () => {
    const other = githubRepository('acme/other', { pullRequests: [githubPullRequest(3)] });
    stage.github.repositories.push(other);
    await refresh();
    for (const { pullRequests } of [shop, other]) pullRequests[0]!.checks = [githubRun({ conclusion: 'FAILURE' })];
    // The share is less than one repository for each refresh.
    const states = async () => rowsOf((await refresh()).board).map(({ ci }) => ci);
    expect([await states(), await states()]).toEqual([
      ['failure', 'success', 'success'],
      ['failure', 'success', 'failure'],
    ]);
  });

  test('changes of items, of repositories and of the list of repositories are on the board', async () => {
    shop.pullRequests[0]!.state = 'MERGED';
    shop.pullRequests.push(githubPullRequest(5));
    expect(rowsOf((await refresh()).board).map(({ number }) => number)).toEqual([2, 5]);
    stage.github.repositories[1]!.issues.push(githubIssue(7));
    const { board } = await refresh();
    expect(board.issues.map(({ number }) => number)).toEqual([7]);
    shop.nameWithOwner = 'acme/store';
    stage.github.repositories.push(githubRepository('acme/new', { pullRequests: [githubPullRequest(9)] }));
    const { board: after } = await refresh();
    expect(rowsOf(after).map(({ repo, number }) => `${repo}#${number}`)).toEqual([
      'acme/store#2',
      'acme/store#5',
      'acme/new#9',
    ]);
    shop.isArchived = true;
    stage.github.hiddenOrganizations = ['other'];
    expect(rowsOf((await refresh()).board).map(({ repo }) => repo)).toEqual(['acme/new']);
  });
});

describe("refresh: the user's pull requests elsewhere", () => {
  const LIGHT = ['SearchInvolved', 'ReadPullRequestStatuses'];
  let pullRequests: GithubPullRequest[];
  let linux: ReturnType<typeof githubRepository>;

  /** The requests after those that list the repositories. */
  async function search() {
    const { board, sent } = await refresh();
    return { board, sent: sent.filter((name) => !/^(Discover|ReadHeads|\/issues)$/.test(name)) };
  }

  beforeEach(async () => {
    pullRequests = [githubPullRequest(1), githubPullRequest(2), githubPullRequest(3)];
    linux = githubRepository('kernel/linux', { ...FOREIGN, pullRequests });
    stage.github.repositories.push(linux);
    await refresh();
  });

  test('are not read again when they are unchanged', async () => {
    const { generatedAt, ...before } = await stage.board();
    const { board, sent } = await search();
    expect(sent).toEqual(LIGHT);
    expect({ ...board, generatedAt }).toMatchObject({ pullRequests: before.pullRequests, repos: before.repos });
  });

  test.each<[string, () => unknown, object]>([
    ['it is updated', () => Object.assign(pullRequests[1]!, { title: 'Newer', updatedAt: LATER }), { title: 'Newer' }],
    [
      'its checks run again',
      () => (pullRequests[1]!.checks = [githubRun({ conclusion: 'FAILURE' })]),
      { ci: 'failure' },
    ],
    ['its merge status changes', () => (pullRequests[1]!.mergeStateStatus = 'BLOCKED'), { mergeStatus: 'blocked' }],
    ['its repository is renamed', () => (linux.nameWithOwner = 'kernel/unix'), { repo: 'kernel/unix' }],
  ])('one is read again when %s', async (_reason, change, row) => {
    change();
    const { board, sent } = await search();
    expect(sent).toContain('ReadPullRequests');
    expect(rowsOf(board)[1]).toMatchObject({ number: 2, ...row });
  });

  test('a new relation is shown without reading the pull request again', async () => {
    pullRequests[1]!.assignees = ['mona'];
    const { board, sent } = await search();
    expect(sent).toEqual(LIGHT);
    expect(rowsOf(board)[1]).toMatchObject({ foundBy: ['author', 'assigned'] });
  });

  test('one with pending checks is read again without a comparison', async () => {
    Object.assign(pullRequests[1]!, { updatedAt: LATER, checks: [githubRun({ status: 'QUEUED', conclusion: null })] });
    await refresh();
    const { graphql } = stage.github.budgets;
    const before = graphql.remaining;
    expect((await search()).sent).toEqual([...LIGHT, 'ReadPullRequests']);
    expect(before - graphql.remaining).toBe(1 + 1 + 1 + 1);
  });

  test('one that is closed leaves the board', async () => {
    pullRequests[1]!.state = 'CLOSED';
    expect(rowsOf((await search()).board).map(({ number }) => number)).toEqual([1, 3]);
  });

  test('all are read if GitHub cannot compare them', async () => {
    stage.github.failNext(
      (seen) => (seen.body.includes('PullRequestStatuses') ? { status: 502, body: '' } : undefined),
      {
        times: 99,
      },
    );
    const { board, sent } = await search();
    expect(sent).toEqual([...LIGHT, 'ReadPullRequests']);
    expect(rowsOf(board)).toHaveLength(3);
  });
});

test("refresh: a first reading shows 20 of the user's pull requests after two queries, even right after another forge", async () => {
  const { github, gitlab } = stage;
  const many = Array.from({ length: 250 }, (_none, index) => githubPullRequest(index + 1));
  github.repositories.push(githubRepository('acme/shop', { pullRequests: many }));
  // GitLab sends this after its first part.
  const shown = new Promise<void>((resolve) => {
    gitlab.beforeSending = ({ body }) => {
      if (body.includes('query Discover')) resolve();
      return Promise.resolve();
    };
  });
  const seen: [string[], number][] = [];
  github.beforeSending = async ({ body }) => {
    if (body.includes('query SearchInvolved')) await shown;
    if (body.includes('query Discover')) seen.push([github.seen.map(nameOf), rowsOf(await stage.board()).length]);
  };
  await refresh();
  expect(seen).toEqual([[['SearchInvolved', 'ReadPullRequests', 'Discover'], 20]]);
});
