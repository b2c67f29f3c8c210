import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAccounts } from '../../src/accounts/accounts.js';
import type { Board } from '../../src/dashboard/boards/board.js';
import { createDashboardClient } from '../../src/generated/dashboard/client.js';
import { openDatabase } from '../../src/storage/open-database.js';
import { githubPullRequest, githubRepository } from '../forges/github-state.js';
import { GITHUB_TOKEN, startGithub, type TestGithub } from '../forges/github.js';
import { createDatabaseTarget, createTestFolder } from '../storage/engine.js';
import { compileServer, type CompiledServer } from './compiled-server.js';
import { findFreePort } from './free-port.js';

let compiled: CompiledServer;
let github: TestGithub;
let databaseUrl: string;
let cookie: string;
const children: ChildProcess[] = [];

beforeAll(async () => {
  compiled = await compileServer();
  github = await startGithub([githubRepository('acme/shop', { pullRequests: [githubPullRequest(1)] })]);
  const place = await createDatabaseTarget();
  databaseUrl = 'url' in place ? place.url : '';
  cookie = await signIn();
});
afterAll(async () => {
  await Promise.all(children.map(kill));
  await compiled.remove();
  await github.close();
});

test('Two servers share a board, and one takes over when the other is killed during a refresh', async () => {
  const folders = await createFolders();
  const first = await start(folders[0]);
  await copyFile(path.join(folders[0], 'server.key'), path.join(folders[1], 'server.key'));
  const body = { githubUrl: github.url, githubUsername: 'mona', githubToken: GITHUB_TOKEN };
  expect((await first.client.PUT('/api/settings', { body })).response.status).toBe(200);
  const board = await first.until(
    ({ pullRequests, forges }) => pullRequests.length > 0 && !forges.some(({ reading }) => reading),
  );
  const second = await start(folders[1]);
  expect((await second.read()).pullRequests).toEqual(board.pullRequests);

  const held = holdGithub();
  const refused = first.client.POST('/api/dashboard/refresh').catch(() => undefined);
  const release = await held;
  await kill(first.child);
  github.repositories[0]!.pullRequests.push(githubPullRequest(2));
  release();
  await refused;
  await second.until(({ pullRequests }) => pullRequests.length === 2);
});

/** Delays the next response of GitHub. Resolves once the request has arrived, with a function that releases it. */
function holdGithub(): Promise<() => void> {
  return new Promise((resolve) => {
    github.beforeSending = () =>
      new Promise((release) => {
        delete github.beforeSending;
        resolve(release);
      });
  });
}

async function signIn(): Promise<string> {
  const database = await openDatabase({ url: databaseUrl });
  const accounts = createAccounts(database, { origin: () => 'http://localhost' });
  const { id } = await accounts.users.add({ username: 'ada', displayName: 'Ada' });
  const session = await accounts.sessions.start(id);
  await database.destroy();
  return `trellis_session=${session}`;
}

async function createFolders(): Promise<[string, string]> {
  const folder = await createTestFolder();
  const folders: [string, string] = [path.join(folder, 'one'), path.join(folder, 'two')];
  for (const one of folders) await mkdir(one, { mode: 0o700 });
  return folders;
}

async function start(state: string) {
  const origin = `http://localhost:${await findFreePort()}`;
  const args = ['--port', new URL(origin).port, '--state', state, '--services', 'dashboard', '--rate-limit', '0'];
  const child = await compiled.start(args, { DATABASE_URL: databaseUrl });
  children.push(child);
  const client = createDashboardClient(origin, {
    token: '',
    retry: { maxRetries: 0 },
    fetch(request) {
      request.headers.set('cookie', cookie);
      request.headers.set('origin', origin);
      return fetch(request);
    },
  });
  const read = async (): Promise<Board> => (await client.GET('/api/dashboard')).data!;
  const until = async (isExpected: (board: Board) => boolean): Promise<Board> => {
    for (;;) {
      const board = await read();
      if (isExpected(board)) return board;
      await sleep(100);
    }
  };
  return { child, client, read, until };
}

/** Kills a server with a signal that it can't handle. */
async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
