import { forgejoPullRequest, forgejoRepository } from '../../forges/forgejo-state.js';
import { githubPullRequest, githubRepository } from '../../forges/github-state.js';
import type { GithubPullRequest } from '../../forges/github-state.js';
import { settingsFor } from '../refresh/forges.js';
import { openStage } from '../refresh/stage.js';
import type { Stage } from '../refresh/stage.js';

let stage: Stage;

beforeEach(async () => {
  stage = await openStage();
  stage.github.repositories.push(
    githubRepository('acme/shop', { pullRequests: [githubPullRequest(1), githubPullRequest(2)] }),
  );
  stage.forgejo.repositories.push(forgejoRepository('acme/depot', { pullRequests: [forgejoPullRequest(4)] }));
  await stage.refresh();
});
afterEach(async () => {
  await stage.close();
  expect(stage.reported).toEqual([]);
});

const shop = () => stage.github.repositories[0]!;
const open = (number: number, change: Partial<GithubPullRequest> = {}) =>
  shop().pullRequests.push(githubPullRequest(number, { createdAt: new Date().toISOString(), ...change }));
const readShop = (dashboard = stage.dashboard) =>
  dashboard.refresher.refreshRepository(stage.ada.personId, 'github', shop().nameWithOwner);

/** Everything that was counted, and how many are open now. */
async function counted(): Promise<{ opened: number; left: number; open: number | undefined }> {
  const { periods } = await stage.dashboard.throughput.read(stage.ada, { days: 365, per: 'day' });
  const sum = (part: 'left' | 'opened') => periods.reduce((total, period) => total + period[part], 0);
  return { opened: sum('opened'), left: sum('left'), open: periods.findLast(({ open: of }) => of !== undefined)?.open };
}

test('what is there when a forge is first read was not opened then', async () => {
  expect(await counted()).toEqual({ opened: 0, left: 0, open: 3 });
});

test('what comes and what goes is counted once, however often it is read', async () => {
  open(7);
  shop().pullRequests[0]!.state = 'MERGED';
  stage.forgejo.repositories[0]!.pullRequests[0]!.state = 'closed';
  await stage.refresh();
  await stage.refresh();
  expect(await counted()).toEqual({ opened: 1, left: 2, open: 2 });
});

test('what is opened again counts again', async () => {
  shop().pullRequests[0]!.state = 'CLOSED';
  await stage.refresh();
  shop().pullRequests[0]!.state = 'OPEN';
  await stage.refresh();
  expect(await counted()).toEqual({ opened: 1, left: 1, open: 3 });
});

test('several processes that read the same at once count it once', async () => {
  open(7);
  shop().pullRequests[1]!.state = 'MERGED';
  const others = [stage.another(), stage.another()];
  const { personId } = stage.ada;
  await Promise.all([
    stage.refresh(),
    ...others.map(({ refresher }) => refresher.refresh(personId)),
    ...others.map((other) => readShop(other)),
  ]);
  expect(await counted()).toEqual({ opened: 1, left: 1, open: 3 });
});

test('what happened while no server ran is found by the next, on the day it was opened', async () => {
  const createdAt = new Date(Date.now() + 86_400_000).toISOString();
  await stage.dashboard.refresher.close();
  stage.wait(2 * 86_400_000);
  open(7, { createdAt });
  await stage.another().refresher.refresh(stage.ada.personId);
  const { periods } = await stage.dashboard.throughput.read(stage.ada, { days: 7, per: 'day' });
  expect(periods.find(({ opened }) => opened === 1)).toEqual({ start: createdAt.slice(0, 10), opened: 1, left: 0 });
});

test('a forge that fails keeps its rows, and nothing has left', async () => {
  stage.github.failNext({ status: 500, body: {} }, { times: 50 });
  const board = await stage.refresh();
  expect(board.forges[0]).toMatchObject({ forge: 'github', reachable: false });
  expect(await counted()).toEqual({ opened: 0, left: 0, open: 3 });
});

test.each<[string, number, () => Promise<unknown> | undefined, number]>([
  ['a forge that is taken out', 1, () => stage.dashboard.settings.save(stage.ada, withoutGithub()), 3],
  ['a repository that is gone', 1, () => void stage.github.repositories.pop(), 3],
  [
    'a repository whose pull requests are ignored',
    1,
    () => stage.dashboard.repositories.ignore(stage.ada, { ...shopOnBoard, prs: true, issues: false }),
    3,
  ],
])('%s is no merge, and none opens as it comes back', async (_reason, left, leave, again) => {
  const [repository] = stage.github.repositories;
  await leave();
  await stage.refresh();
  expect(await counted()).toEqual({ opened: 0, left: 0, open: left });
  if (stage.github.repositories.length === 0) stage.github.repositories.push(repository!);
  await stage.dashboard.settings.save(stage.ada, settingsFor(stage));
  await stage.dashboard.repositories.unignore(stage.ada, shopOnBoard);
  await stage.refresh();
  expect(await counted()).toEqual({ opened: 0, left: 0, open: again });
});

const shopOnBoard = { forge: 'github', fullName: 'acme/shop' } as const;
const withoutGithub = () => ({ ...settingsFor(stage), githubUsername: '', githubToken: null });

test('what comes to a repository that is ignored, and leaves it, is not counted', async () => {
  await stage.dashboard.repositories.ignore(stage.ada, { ...shopOnBoard, prs: true, issues: false });
  open(7);
  shop().pullRequests[0]!.state = 'MERGED';
  await stage.refresh();
  expect(await counted()).toEqual({ opened: 0, left: 0, open: 1 });
});

test('a repository under another name has the pull requests that it had', async () => {
  Object.assign(shop(), { nameWithOwner: 'acme/store', formerNames: ['acme/shop'] });
  open(7);
  await stage.refresh();
  expect(await counted()).toEqual({ opened: 1, left: 0, open: 4 });
});

test('a repository that is new brings what was opened since its forge was read', async () => {
  const young = githubPullRequest(8, { createdAt: new Date(Date.now() + 1_000).toISOString() });
  stage.wait(60_000);
  stage.github.repositories.push(githubRepository('acme/new', { pullRequests: [githubPullRequest(7), young] }));
  await stage.refresh();
  expect(await counted()).toEqual({ opened: 1, left: 0, open: 5 });
});

test('what is merged from here has left', async () => {
  await stage.dashboard.actions.act(stage.ada, { ...shopOnBoard, number: 1 }, 'merge');
  await stage.refresh();
  expect(await counted()).toEqual({ opened: 0, left: 1, open: 2 });
});
