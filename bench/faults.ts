/**
 * Provokes the faults of disk and database that `docs/operations.md` lists, and prints what a server does: its response
 * to a write, `/readyz`, its log, and whether it recovers. Needs root, to mount small file systems.
 */
import { execFileSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, statfs, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import { createAccounts } from '../src/accounts/accounts.js';
import { openDatabase } from '../src/storage/open-database.js';
import { spawnNode } from '../tests/child-process.js';
import { findFreePort } from '../tests/contract/free-port.js';
import { startPostgres } from './postgres.js';
import { toTable } from './table.js';

const root = await mkdtemp(path.join(tmpdir(), 'trellis-faults-'));
const rows: string[][] = [];

interface Server {
  readonly child: ChildProcess;
  readonly origin: string;
  readonly log: () => string;
}

async function start(state: string, env: Readonly<Record<string, string>> = {}, args: readonly string[] = []) {
  const port = await findFreePort();
  const all = ['dist/cli.js', 'serve', '--port', String(port), '--state', state, ...args];
  const child = spawnNode(all, { env: { ...process.env, NODE_ENV: 'production', LOG_LEVEL: 'warn', ...env } });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const server: Server = { child, origin: `http://127.0.0.1:${port}`, log: () => text };
  const ended = once(child, 'exit').then(() => true);
  const isReady = async (): Promise<boolean> => {
    while (!text.includes(' ready at ')) await sleep(50);
    return false;
  };
  return { ...server, hasEnded: await Promise.race([ended, isReady()]) };
}

async function stop({ child }: Server): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

async function signIn(place: { readonly file: string } | { readonly url: string }): Promise<string> {
  const database = await openDatabase(place);
  const accounts = createAccounts(database, { origin: () => 'http://localhost' });
  const { id } = await accounts.users.add({ username: 'ada', displayName: 'Ada' });
  const session = await accounts.sessions.start(id);
  await database.destroy();
  return `trellis_session=${session}`;
}

/** Writes a setting of about 12 KB, and describes the response. */
async function write({ origin }: Server, cookie: string): Promise<string> {
  const body = JSON.stringify({ text: Math.random().toString(36).repeat(1_000) });
  const startedAt = performance.now();
  const headers = { cookie, origin: origin.replace('127.0.0.1', 'localhost'), 'content-type': 'application/json' };
  const response = await fetch(`${origin}/api/settings/filter-state`, { method: 'PUT', headers, body });
  const { error = '' } = JSON.parse((await response.text()) || '{}') as { error?: string };
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  return `${response.status} after ${seconds} s, Retry-After ${response.headers.get('retry-after') ?? '-'}: ${error}`;
}

async function readiness({ origin }: Server): Promise<string> {
  // Longer than a result is reused for.
  await sleep(16_000);
  const response = await fetch(`${origin}/readyz`);
  const { error = '' } = (await response.json()) as { error?: string };
  return `${response.status} ${error}`.trim();
}

/** Returns the last line of the log that matters, without its stack. */
function lastLine({ log }: Server): string {
  const lines = log().trim().split('\n');
  const json = lines
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { level: number; msg?: string });
  return json.filter(({ level }) => level >= 40).at(-1)?.msg ?? lines.at(-1) ?? '';
}

const mount = (folder: string, size: string): void =>
  void execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=700`, 'tmpfs', folder]);
/** Waits until no killed process has the folder open. */
async function makeReadOnly(folder: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      execFileSync('mount', ['-o', 'remount,ro', folder], { stdio: 'ignore' });
      return;
    } catch (error) {
      if (tries === 20) throw error;
      await sleep(500);
    }
  }
}

/** Makes a state folder on a file system of its own, with a user. */
async function createState(name: string): Promise<{ state: string; cookie: string }> {
  const state = path.join(root, name);
  await mkdir(state, { recursive: true });
  mount(state, '30m');
  await stop(await start(state));
  return { state, cookie: await signIn({ file: path.join(state, 'trellis.db') }) };
}

async function fill(state: string): Promise<string> {
  const file = path.join(state, 'filling');
  const { bavail, bsize } = await statfs(state);
  await writeFile(file, Buffer.alloc(bavail * bsize - 4096)).catch(() => undefined);
  return file;
}

/** Describes a fault that has been provoked, and the state after its repair. */
async function add(fault: string, server: Server, cookie: string, repair: () => Promise<void> | void): Promise<void> {
  let response = await write(server, cookie);
  // The write-ahead log may have space for the first writes.
  for (let tries = 0; response.startsWith('204') && tries < 400; tries += 1) response = await write(server, cookie);
  const ready = await readiness(server);
  const line = lastLine(server);
  await repair();
  await sleep(16_000);
  const after = `${(await write(server, cookie)).slice(0, 3)}, readyz ${await readiness(server)}`;
  rows.push([fault, response, ready, line, after]);
}

/** Runs work for a fault, and unmounts the file systems of it. */
async function withState(name: string, work: (state: string, cookie: string) => Promise<void>): Promise<void> {
  const { state, cookie } = await createState(name);
  try {
    await work(state, cookie);
  } finally {
    execFileSync('umount', ['-l', state]);
  }
}

await withState('full', async (state, cookie) => {
  const server = await start(state);
  const file = await fill(state);
  await add('full disk', server, cookie, () => unlink(file));
  await fill(state);
  await stop(server);
  const again = await start(state);
  const found = again.hasEnded ? lastLine(again) : 'starts and serves';
  rows.push(['start on a full disk', found, again.hasEnded ? '-' : await readiness(again), lastLine(again), '-']);
  await stop(again);
});

// Linux does not make a file system read-only while a server has files open for writing.
await withState('readonly', async (state) => {
  await makeReadOnly(state);
  const server = await start(state);
  rows.push(['start on a read-only disk', server.hasEnded ? 'ends' : 'starts', '-', lastLine(server), '-']);
  await stop(server);
});

await withState('locked', async (state, cookie) => {
  const server = await start(state);
  const other = new DatabaseSync(path.join(state, 'trellis.db'));
  other.exec('begin immediate');
  await add('database locked by another process', server, cookie, () => other.close());
  await stop(server);
});

const postgres = await startPostgres();
try {
  const state = path.join(root, 'postgres');
  const env = { DATABASE_URL: postgres.url };
  const first = await start(state, env);
  const cookie = await signIn({ url: postgres.url });
  const pids = await findPostgres();
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  await add('PostgreSQL hangs (SIGSTOP)', first, cookie, () => {
    for (const pid of pids) process.kill(pid, 'SIGCONT');
  });
  await stop(first);
} finally {
  await postgres.stop();
}
await rm(root, { recursive: true, force: true });
process.stdout.write(`${toTable(['fault', 'write', '/readyz', 'log', 'after the repair'], rows)}\n`);

/** Finds the processes of the PostgreSQL server that this process has started. */
async function findPostgres(): Promise<number[]> {
  const { port } = new URL(postgres.url);
  const found: number[] = [];
  const parents = new Map<number, number>();
  for (const name of (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry))) {
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
    const line = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '');
    const parent = Number(/\) \S (\d+)/.exec(stat)?.[1]);
    parents.set(Number(name), parent);
    if (line.includes('postgres') && line.includes(port) && line.includes('-D')) found.push(Number(name));
  }
  return [...found, ...[...parents].filter(([, parent]) => found.includes(parent)).map(([pid]) => pid)];
}
