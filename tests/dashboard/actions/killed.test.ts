import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { SessionCaller } from '../../../src/accounts/callers.js';
import { createPeople } from '../../../src/accounts/people.js';
import { createDashboard } from '../../../src/dashboard/dashboard.js';
import { openDatabase } from '../../../src/storage/database.js';
import type { Database, DatabasePlace } from '../../../src/storage/database.js';
import { createReplays } from '../../../src/storage/replays.js';
import { createServerKey } from '../../../src/storage/server-key.js';
import { spawnNode } from '../../child-process.js';
import { LOOPBACK } from '../../forges/forge-server.js';
import { GITHUB_TOKEN, startGithub } from '../../forges/github.js';
import type { TestGithub } from '../../forges/github.js';
import { githubPullRequest, githubRepository } from '../../forges/github-state.js';
import type { GithubPullRequest } from '../../forges/github-state.js';
import { createPlace } from '../../storage/engine.js';
import { onGithub, refusal } from './stage.js';

let place: DatabasePlace;
let database: Database;
let github: TestGithub;
let one: GithubPullRequest;

beforeEach(async () => {
  place = await createPlace();
  database = await openDatabase(place);
  one = githubPullRequest(1);
  github = await startGithub([githubRepository('acme/shop', { pullRequests: [one] })]);
});
afterEach(async () => {
  await github.close();
  await database.destroy();
});

const open = (ahead: number) => {
  const now = () => Date.now() + ahead;
  return createDashboard({
    forgeAllow: LOOPBACK,
    database,
    key: createServerKey('k'.repeat(43)),
    origin: () => 'http://localhost',
    now,
  });
};
const merges = () => github.seen.filter(({ method }) => method === 'PUT').length;

/** The forge is told to merge, and whoever told it is gone before it answers. */
async function killAmid(caller: SessionCaller): Promise<void> {
  let tell = (): void => undefined;
  const told = new Promise<void>((resolve) => (tell = resolve));
  github.failNext(() => (tell(), new Promise<never>(() => undefined)), { path: /merge$/ });
  const script = fileURLToPath(new URL('./act-in-child.ts', import.meta.url));
  const given = JSON.stringify({ place, caller });
  const child = spawnNode(['--import', 'tsx', script, given]);
  child.stderr.pipe(process.stderr);
  await told;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

test('a server that is killed amid a merge leaves it to be found out, not to be sent again', async () => {
  const { id: personId, username } = await createPeople(database).add({ username: 'ada', displayName: 'Ada' });
  const caller: SessionCaller = { kind: 'session', sessionId: '', personId, username, isAdmin: true };
  await open(0).settings.save(caller, { githubUrl: github.url, githubToken: GITHUB_TOKEN });
  await killAmid(caller);

  const act = (ahead: number) => open(ahead).actions.act(caller, onGithub, 'merge');
  const repeat = (ahead: number) => {
    const request = { scope: 'ada mergePullRequest', key: 'click', request: {}, reachesOut: true };
    return createReplays(database, () => Date.now() + ahead).answerOnce(request, () => act(ahead));
  };
  await expect(act(0)).rejects.toMatchObject(refusal('in_progress'));
  await expect(repeat(0)).rejects.toMatchObject(refusal('in_progress'));
  await expect(repeat(3_600_000)).rejects.toMatchObject(refusal('unknown'));
  // It came to the forge, which took its time.
  one.state = 'MERGED';
  expect(await act(120_000)).toBe('done');
  expect(merges()).toBe(1);
  await expect(act(120_000)).rejects.toMatchObject(refusal('already_merged'));
});
