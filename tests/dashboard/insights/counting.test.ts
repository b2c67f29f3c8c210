import { forgejoPullRequest, forgejoRepository } from '../../forges/forgejo-state.js';
import { githubPullRequest, githubRepository, type GithubPullRequest } from '../../forges/github-state.js';
import { openStage, type Stage } from '../refresh/fixtures.js';
import { settingsFor } from '../refresh/forges.js';

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

/** Returns the sums of all counts, and the current number of open pull requests. */
async function counted(): Promise<{ opened: number; left: number; open: number | undefined }> {
  const { periods } = await stage.dashboard.throughput.read(stage.ada, { days: 365, per: 'day' });
  const sum = (part: 'left' | 'opened') => periods.reduce((total, period) => total + period[part], 0);
  return { opened: sum('opened'), left: sum('left'), open: periods.findLast(({ open: of }) => of !== undefined)?.open };
}

test('throughput: pull requests of the first read of a forge do not count as opened', async () => {
  expect(await counted()).toEqual({ opened: 0, left: 0, open: 3 });
});

test('throughput: counts opened and closed pull requests once, however often they are read', async () => {
  open(7);
  shop().pullRequests[0]!.state = 'MERGED';
  stage.forgejo.repositories[0]!.pullRequests[0]!.state = 'closed';
  await stage.refresh();
  await stage.refresh();
  expect(await counted()).toEqual({ opened: 1, left: 2, open: 2 });
});

test('throughput: counts reopened pull requests again', async () => {
  shop().pullRequests[0]!.state = 'CLOSED';
  await stage.refresh();
  shop().pullRequests[0]!.state = 'OPEN';
  await stage.refresh();
  expect(await counted()).toEqual({ opened: 1, left: 1, open: 3 });
});

test('throughput: several processes that read the same changes count them once', async () => {
  open(7);
  shop().pullRequests[1]!.state = 'MERGED';
  const others = [stage.openProcess(), stage.openProcess()];
  const { personId } = stage.ada;
  await Promise.all([
    stage.refresh(),
    ...others.map(({ refresher }) => refresher.refresh(personId)),
    ...others.map((other) => readShop(other)),
  ]);
  expect(await counted()).toEqual({ opened: 1, left: 1, open: 3 });
});

test('throughput: pull requests opened while no server ran count on the day they were opened', async () => {
  const createdAt = new Date(Date.now() + 86_400_000).toISOString();
  await stage.dashboard.refresher.close();
  stage.wait(2 * 86_400_000);
  open(7, { createdAt });
  await stage.openProcess().refresher.refresh(stage.ada.personId);
  const { periods } = await stage.dashboard.throughput.read(stage.ada, { days: 7, per: 'day' });
  expect(periods.find(({ opened }) => opened === 1)).toEqual({ start: createdAt.slice(0, 10), opened: 1, left: 0 });
});

test("throughput: pull requests in repositories that are not the user's count neither as opened nor as left", async () => {
  const createdAt = new Date().toISOString();
  const foreign = githubRepository('kernel/linux', {
    ...{ affiliation: 'NONE', viewerPermission: 'READ' },
    pullRequests: [githubPullRequest(1, { author: 'mona', createdAt })],
  });
  stage.github.repositories.push(foreign);
  expect((await stage.refresh()).pullRequests).toHaveLength(4);
  foreign.pullRequests.push(githubPullRequest(2, { author: 'mona', createdAt }));
  foreign.pullRequests[0]!.state = 'MERGED';
  expect((await stage.refresh()).pullRequests).toHaveLength(4);
  expect(await counted()).toMatchObject({ opened: 0, left: 0 });
});

test('throughput: a failing forge keeps its rows, and nothing counts as closed', async () => {
  stage.github.failNext({ status: 500, body: {} }, { times: 50 });
  const board = await stage.refresh();
  expect(board.forges[0]).toMatchObject({ forge: 'github', reachable: false });
  expect(await counted()).toEqual({ opened: 0, left: 0, open: 3 });
});

test.each<[string, number, () => Promise<unknown> | undefined, number]>([
  ['a removed forge', 1, () => stage.dashboard.settings.save(stage.ada, withoutGithub()), 3],
  ['a deleted repository', 1, () => void stage.github.repositories.pop(), 3],
  [
    'an ignored repository',
    1,
    () => stage.dashboard.repositories.ignore(stage.ada, { ...shopOnBoard, prs: true, issues: false }),
    3,
  ],
])(
  'throughput: %s does not count as closed, nor as opened when it is restored',
  async (_reason, left, leave, again) => {
    const [repository] = stage.github.repositories;
    await leave();
    await stage.refresh();
    expect(await counted()).toEqual({ opened: 0, left: 0, open: left });
    if (stage.github.repositories.length === 0) stage.github.repositories.push(repository!);
    await stage.dashboard.settings.save(stage.ada, settingsFor(stage));
    await stage.dashboard.repositories.unignore(stage.ada, shopOnBoard);
    await stage.refresh();
    expect(await counted()).toEqual({ opened: 0, left: 0, open: again });
  },
);

const shopOnBoard = { forge: 'github', fullName: 'acme/shop' } as const;
const withoutGithub = () => ({ ...settingsFor(stage), githubUsername: '', githubToken: null });

test('throughput: ignores opened and closed pull requests of ignored repositories', async () => {
  await stage.dashboard.repositories.ignore(stage.ada, { ...shopOnBoard, prs: true, issues: false });
  open(7);
  shop().pullRequests[0]!.state = 'MERGED';
  await stage.refresh();
  expect(await counted()).toEqual({ opened: 0, left: 0, open: 1 });
});

test('throughput: a renamed repository keeps its pull requests', async () => {
  Object.assign(shop(), { nameWithOwner: 'acme/store', formerNames: ['acme/shop'] });
  open(7);
  await stage.refresh();
  expect(await counted()).toEqual({ opened: 1, left: 0, open: 4 });
});

test('throughput: of a new repository, counts pull requests that were opened since the last refresh', async () => {
  const young = githubPullRequest(8, { createdAt: new Date(Date.now() + 1_000).toISOString() });
  stage.wait(60_000);
  stage.github.repositories.push(githubRepository('acme/new', { pullRequests: [githubPullRequest(7), young] }));
  await stage.refresh();
  expect(await counted()).toEqual({ opened: 1, left: 0, open: 5 });
});

test('throughput: counts pull requests that were merged through Trellis as closed', async () => {
  await stage.dashboard.actions.perform(stage.ada, { ...shopOnBoard, number: 1 }, 'merge');
  await stage.refresh();
  expect(await counted()).toEqual({ opened: 0, left: 1, open: 2 });
});
