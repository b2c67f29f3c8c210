/**
 * Provokes the faults of disk, caches, database and bucket that `docs/operations.md` lists, and prints what a server does:
 * its response, `/readyz`, its log, and whether it recovers. Needs root, to mount small file systems, and PgBouncer.
 *
 * Usage: npm run bench:faults -- [part of a fault's name]
 */
import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, rm, stat, statfs, truncate, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import pg from 'pg';
import {
  BUCKET,
  errorDocument,
  type Fault as BucketFault,
  startS3Server,
} from '../../tests/storage/objects/s3-server.js';
import { startPostgres, type BenchPostgres } from '../postgres.js';
import { toTable } from '../table.js';
import { listFamily, signIn, start, stop, type FaultServer } from './fault-server.js';
import { startPgbouncer, type Pooler } from './pooler.js';

const root = await mkdtemp(path.join(tmpdir(), 'trellis-faults-'));
const [wanted = ''] = process.argv.slice(2);
const rows: string[][] = [];

/** `/readyz` repeats a result for 15 seconds. */
const READINESS_MS = 45_000;

interface Fault {
  readonly server: FaultServer;
  /** Sends the request that shows the fault. @returns its status, time and error. */
  readonly send: () => Promise<string>;
  readonly repair: () => Promise<void> | void;
  /** The status of `/readyz` during the fault; 503 by default. */
  readonly ready?: number;
}

/** Describes a fault that has been provoked, and the state after its repair. */
async function observe({ server, send, repair, ready = 503 }: Fault): Promise<string[]> {
  let response = await send();
  // A disk may have space for the first writes.
  for (let tries = 0; /^20[04]/.test(response) && ready === 503 && tries < 400; tries += 1) response = await send();
  const during = await readiness(server, ready);
  const line = server.lastProblem();
  await repair();
  const repairedAt = performance.now();
  let after = await send();
  while (!/^20[04]/.test(after) && performance.now() - repairedAt < READINESS_MS) {
    await sleep(100);
    after = await send();
  }
  const seconds = ((performance.now() - repairedAt) / 1000).toFixed(1);
  return [response, during, line, `${after.slice(0, 3)} after ${seconds} s, readyz ${await readiness(server, 200)}`];
}

/** Waits until `/readyz` has the expected status, and returns the last one with its reason. */
async function readiness({ origin }: FaultServer, expected: number): Promise<string> {
  const startedAt = performance.now();
  for (;;) {
    const response = await fetch(`${origin}/readyz`);
    const { error = '' } = (await response.json()) as { error?: string };
    const isLate = performance.now() - startedAt > READINESS_MS;
    if (response.status === expected || isLate) return `${response.status} ${error}`.trim();
    await sleep(500);
  }
}

async function describe(request: Promise<Response>): Promise<string> {
  const startedAt = performance.now();
  const response = await request;
  const text = await response.text();
  const { error = '' } = text.startsWith('{') ? (JSON.parse(text) as { error?: string }) : {};
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const retry = response.headers.get('retry-after');
  return `${response.status} after ${seconds} s${retry === null ? '' : `, Retry-After ${retry}`}${error && `: ${error}`}`;
}

/** Returns a function that writes a setting of about 12 KB. */
const writing =
  ({ origin }: FaultServer, cookie: string) =>
  (): Promise<string> => {
    const body = JSON.stringify({ text: Math.random().toString(36).repeat(1_000) });
    const headers = { cookie, origin: origin.replace('127.0.0.1', 'localhost'), 'content-type': 'application/json' };
    return describe(fetch(`${origin}/api/settings/filter-state`, { method: 'PUT', headers, body }));
  };

const querying =
  ({ origin }: FaultServer) =>
  (): Promise<string> =>
    describe(fetch(`${origin}/graphql?query={allFile{totalCount}}`));

/** Starts on a damaged or missing file, and describes the start. */
async function observeStart(state: string): Promise<string[]> {
  const server = await start(state);
  // A server may also end after it was ready.
  const found = server.hasEnded ? undefined : await querying(server)().catch(() => undefined);
  const ready = found === undefined ? '-' : await readiness(server, 200);
  await stop(server);
  return [found === undefined ? 'no start' : `starts; a query: ${found}`, ready, server.lastProblem(), '-'];
}

async function overwrite(file: string): Promise<void> {
  await writeFile(file, Buffer.alloc((await stat(file)).size, 'x'), { flag: 'r+' });
}

/** Overwrites a database, and deletes the changes beside it. */
async function damage(file: string): Promise<void> {
  for (const end of ['-wal', '-shm']) await rm(file + end, { force: true });
  await overwrite(file);
}

async function fill(state: string): Promise<string> {
  const file = path.join(state, 'filling');
  const { bavail, bsize } = await statfs(state);
  await writeFile(file, Buffer.alloc(bavail * bsize - 4096)).catch(() => undefined);
  return file;
}

/** Makes a state folder on a small file system of its own, runs work with it, and unmounts it. */
async function onDisk(work: (state: string) => Promise<string[]>): Promise<string[]> {
  const state = await mkdtemp(path.join(root, 'disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=30m,mode=700', 'tmpfs', state]);
  try {
    const first = await start(state);
    // A site that no query has read yet may not be stored.
    await querying(first)();
    await stop(first);
    return await work(state);
  } finally {
    execFileSync('umount', ['-l', state]);
  }
}

async function withServer(
  state: string,
  provoke: (server: FaultServer) => Promise<Pick<Fault, 'repair'> & Partial<Fault>>,
): Promise<string[]> {
  const cookie = await signIn({ file: path.join(state, 'trellis.db') });
  const server = await start(state);
  try {
    return await observe({ server, send: writing(server, cookie), ...(await provoke(server)) });
  } finally {
    await stop(server);
  }
}

type Provoke = (postgres: BenchPostgres, pooler: Pooler | undefined) => Promise<Fault['repair']>;

/** Runs a server on a PostgreSQL of its own, or on a pooler before it. */
async function onPostgres(provoke: Provoke, pooled = false): Promise<string[]> {
  const postgres = await startPostgres();
  const pooler = pooled ? await startPgbouncer(postgres.url) : undefined;
  try {
    const state = await mkdtemp(path.join(root, 'postgres-'));
    const server = await start(state, { DATABASE_URL: pooler?.url ?? postgres.url });
    const cookie = await signIn({ url: postgres.url });
    await writing(server, cookie)();
    try {
      return await observe({ server, send: writing(server, cookie), repair: await provoke(postgres, pooler) });
    } finally {
      await stop(server);
    }
  } finally {
    await pooler?.stop();
    await postgres.stop();
  }
}

/** Stops processes with SIGSTOP. @returns the function that continues them. */
function hang(pids: readonly number[]): () => void {
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  return () => {
    for (const pid of pids) process.kill(pid, 'SIGCONT');
  };
}

/** Takes all connections that PostgreSQL accepts, and ends those of the server. */
async function takeConnections(url: string): Promise<() => Promise<void>> {
  const clients: pg.Client[] = [];
  const name = 'faults';
  const connect = async (): Promise<boolean> => {
    const client = new pg.Client({ connectionString: url, application_name: name });
    client.on('error', () => undefined);
    const isOpen = await client.connect().then(
      () => true,
      () => false,
    );
    if (isOpen) clients.push(client);
    return isOpen;
  };
  await connect();
  const [own] = clients;
  if (own === undefined) throw new Error('PostgreSQL accepts no connection.');
  const others = `from pg_stat_activity where application_name <> $1 and backend_type = 'client backend'`;
  for (let left = 1; left > 0;) {
    await own.query(`select pg_terminate_backend(pid) ${others}`, [name]);
    while (await connect());
    const { rows: found } = await own.query<{ count: string }>(`select count(*) ${others}`, [name]);
    left = Number(found[0]?.count);
  }
  while (await connect());
  return async () => void (await Promise.all(clients.map((client) => client.end())));
}

/** A server whose bucket of derived images fails generates them itself. */
async function onBucket(fault: BucketFault): Promise<string[]> {
  const bucket = await startS3Server();
  const state = await mkdtemp(path.join(root, 'bucket-'));
  const env = { ...bucket.env, TRELLIS_OBJECTS: `s3://${BUCKET}/faults` };
  const server = await start(state, env);
  let width = 20;
  const send = async (): Promise<string> => {
    const query = `{ imageProc { fixed(width: ${(width += 1)}) { src } } }`;
    const response = await fetch(`${server.origin}/graphql?query=${encodeURIComponent(query)}`);
    const { data } = (await response.json()) as { data: { imageProc: { fixed: { src: string } } } };
    return describe(fetch(server.origin + data.imageProc.fixed.src));
  };
  try {
    bucket.fault = () => fault;
    const repair = (): void => {
      bucket.fault = undefined;
    };
    return await observe({ server, send, repair, ready: 200 });
  } finally {
    await stop(server);
    await bucket.close();
  }
}

const FAULTS: Readonly<Record<string, () => Promise<string[]>>> = {
  'full disk': () =>
    onDisk((state) =>
      withServer(state, async () => {
        const file = await fill(state);
        return { repair: () => unlink(file) };
      }),
    ),
  'start on a full disk': () =>
    onDisk(async (state) => {
      await fill(state);
      return observeStart(state);
    }),
  'start on a read-only disk': () =>
    onDisk(async (state) => {
      await makeReadOnly(state);
      return observeStart(state);
    }),
  'SQLite locked by another process': () =>
    onDisk((state) =>
      withServer(state, async () => {
        const other = new DatabaseSync(path.join(state, 'trellis.db'));
        other.exec('begin immediate');
        return { repair: () => other.close() };
      }),
    ),
  '`trellis.db` damaged at a start': () =>
    onDisk(async (state) => {
      await damage(path.join(state, 'trellis.db'));
      return observeStart(state);
    }),
  '`trellis.db` empty at a start': () =>
    onDisk(async (state) => {
      for (const name of ['trellis.db-wal', 'trellis.db-shm']) await rm(path.join(state, name), { force: true });
      await truncate(path.join(state, 'trellis.db'));
      return observeStart(state);
    }),
  'site records damaged at a start': () =>
    onDisk(async (state) => {
      for (const name of await readdir(path.join(state, 'site')))
        if (name.endsWith('.db')) await damage(path.join(state, 'site', name));
      return observeStart(state);
    }),
  '`images.db` damaged at a start': () =>
    onDisk(async (state) => {
      await damage(path.join(state, 'images.db'));
      return observeStart(state);
    }),
  'site records damaged while running': () =>
    onDisk((state) =>
      withServer(state, async (server) => {
        // The records may all be in the log, which the server has open.
        for (const name of await readdir(path.join(state, 'site')))
          if (!name.endsWith('-shm')) await overwrite(path.join(state, 'site', name));
        return { send: querying(server), ready: 200, repair: () => undefined };
      }),
    ),
  'PostgreSQL hangs (SIGSTOP)': () => onPostgres(async (postgres) => hang(await listFamily(await postgres.findPid()))),
  'PostgreSQL ends, and starts again': () =>
    onPostgres(async (postgres) => {
      await postgres.end();
      return () => postgres.startAgain();
    }),
  'PostgreSQL has no connections left': () => onPostgres(({ url }) => takeConnections(url)),
  'PgBouncer hangs (SIGSTOP)': () => onPostgres(async (_, pooler) => hang(pooler ? [pooler.pid] : []), true),
  'PostgreSQL behind PgBouncer ends, and starts again': () =>
    onPostgres(async (postgres) => {
      await postgres.end();
      return () => postgres.startAgain();
    }, true),
  'the bucket refuses access': () => onBucket({ status: 403, body: errorDocument('AccessDenied') }),
  'the bucket does not respond': () => onBucket('hang'),
  'the bucket resets connections': () => onBucket('reset'),
  'the bucket is overloaded': () => onBucket({ status: 503, body: errorDocument('SlowDown') }),
};

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

for (const [name, provoke] of Object.entries(FAULTS).filter(([one]) => one.includes(wanted))) {
  const row = await provoke().catch((error: unknown) => [`FAILED: ${String(error)}`, '', '', '']);
  rows.push([name, ...row]);
  process.stderr.write(`${[name, ...row].join(' | ')}\n`);
}
await rm(root, { recursive: true, force: true });
process.stdout.write(`${toTable(['fault', 'response', '/readyz', 'log', 'after the repair'], rows)}\n`);
