import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { SessionCaller } from '../../../src/accounts/callers.js';
import { createUserStore } from '../../../src/accounts/users.js';
import { createDashboard } from '../../../src/dashboard/dashboard.js';
import type { Database, DatabaseTarget } from '../../../src/storage/database.js';
import { createIdempotencyStore } from '../../../src/storage/idempotency-store.js';
import { openDatabase } from '../../../src/storage/open-database.js';
import { createServerKey } from '../../../src/storage/server-key.js';
import { spawnNode } from '../../child-process.js';
import { LOOPBACK } from '../../forges/forge-server.js';
import { githubPullRequest, githubRepository, type GithubPullRequest } from '../../forges/github-state.js';
import { GITHUB_TOKEN, startGithub, type TestGithub } from '../../forges/github.js';
import { createMigratedTarget } from '../../storage/engine.js';
import { onGithub, actionError } from './fixtures.js';

let place: DatabaseTarget;
let database: Database;
let github: TestGithub;
let one: GithubPullRequest;

beforeEach(async () => {
  place = await createMigratedTarget();
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

/** Sends a merge from a child process, and kills the child before the forge responds. */
async function killDuringMerge(caller: SessionCaller): Promise<void> {
  let report = (): void => undefined;
  const received = new Promise<void>((resolve) => (report = resolve));
  const answer = () => {
    report();
    return new Promise<never>(() => undefined);
  };
  github.failNext(answer, { path: /merge$/ });
  const script = fileURLToPath(new URL('./act-in-child.ts', import.meta.url));
  const argument = JSON.stringify({ place, caller });
  const child = spawnNode(['--conditions=trellis-source', '--import', 'tsx', script, argument]);
  child.stderr.pipe(process.stderr);
  await received;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

test('merge: after the server is killed during it, the outcome is checked and the merge is not sent again', async () => {
  const { id: personId, username } = await createUserStore(database).add({ username: 'ada', displayName: 'Ada' });
  const caller: SessionCaller = { kind: 'session', sessionId: '', personId, username, isAdmin: true };
  await open(0).settings.save(caller, { githubUrl: github.url, githubToken: GITHUB_TOKEN });
  await killDuringMerge(caller);

  const act = (ahead: number) => open(ahead).actions.perform(caller, onGithub, 'merge');
  const repeat = (ahead: number) => {
    const request = { scope: 'ada mergePullRequest', key: 'click', request: {}, reachesOut: true };
    return createIdempotencyStore(database, () => Date.now() + ahead).answerOnce(request, () => act(ahead));
  };
  await expect(act(0)).rejects.toMatchObject(actionError('in_progress'));
  await expect(repeat(0)).rejects.toMatchObject(actionError('in_progress'));
  await expect(repeat(3_600_000)).rejects.toMatchObject(actionError('unknown'));
  // The forge completed the merge after the kill.
  one.state = 'MERGED';
  expect(await act(120_000)).toBe('done');
  expect(merges()).toBe(1);
  await expect(act(120_000)).rejects.toMatchObject(actionError('already_merged'));
});
