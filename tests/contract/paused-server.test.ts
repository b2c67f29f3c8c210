import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { createAccounts } from '../../src/accounts/accounts.js';
import { serviceTokens } from '../../src/accounts/bearer-tokens.js';
import { createSecretsClient, type SecretsClient } from '../../src/generated/secrets/client.js';
import { sequenceAuditEntries } from '../../src/secrets/audit/sequence.js';
import { createCliServiceTokens } from '../../src/secrets/service-tokens.js';
import { openDatabase } from '../../src/storage/open-database.js';
import { ageValue } from '../secrets/age-files.js';
import { createDatabaseTarget, createTestFolder } from '../storage/engine.js';
import { compileServer } from './compiled-server.js';
import { findFreePort } from './free-port.js';

const PAUSES = Number(process.env.PAUSES ?? 4);
const WRITERS = 4;

/** Longer than `lock_timeout`, after which a request that needs a locked row is rejected. */
const LONGEST_MS = 2_900;

let databaseUrl: string;
let token: string;
let first: Started;
let second: Started;

interface Started {
  readonly child: ChildProcess;
  readonly client: SecretsClient;
}

beforeAll(async () => {
  const place = await createDatabaseTarget();
  databaseUrl = 'url' in place ? place.url : '';
  token = await seed();
  const folder = await createTestFolder();
  const folders = [path.join(folder, 'one'), path.join(folder, 'two')] as const;
  for (const one of folders) await mkdir(one, { mode: 0o700 });
  first = await start(folders[0]);
  await copyFile(path.join(folders[0], 'server.key'), path.join(folders[1], 'server.key'));
  second = await start(folders[1]);
  for (let index = 0; index < WRITERS; index += 1) await create(`written-${index}`);
  await create('other');
});
afterAll(() => Promise.all([first, second].map(({ child }) => end(child))));

async function seed(): Promise<string> {
  const database = await openDatabase({ url: databaseUrl });
  await createAccounts(database, { origin: () => 'http://localhost' }).users.add({ username: 'a', displayName: 'A' });
  const tokens = createCliServiceTokens(database, { store: serviceTokens });
  const { token: issued } = await tokens.create('write', { description: 'writer' });
  await sequenceAuditEntries(database);
  await database.destroy();
  return issued;
}

async function start(state: string): Promise<Started> {
  const port = String(await findFreePort());
  const server = await compileServer();
  const args = ['--port', port, '--state', state, '--services', 'secrets', '--rate-limit', '0'];
  const child = await server.start(args, { DATABASE_URL: databaseUrl });
  const client = createSecretsClient(`http://localhost:${port}/secrets`, { token, retry: { maxRetries: 0 } });
  return { child, client };
}

async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

async function create(slug: string): Promise<void> {
  const { response } = await first.client.POST('/objects', { body: { slug, value: ageValue() } });
  expect(response.status).toBe(201);
}

/** The names of each acknowledged write in the audit log, one for each of its tries. */
const acknowledged: string[][] = [];

/** Replaces the value of one secret until the signal, and retries each request until it succeeds. */
async function write(writer: number, signal: AbortSignal): Promise<void> {
  for (let step = 0; !signal.aborted; step += 1) {
    const tries: string[] = [];
    const body = { value: ageValue() };
    for (let isDone = false; !isDone;) {
      tries.push(`${writer} ${step} ${tries.length}`);
      const header = { 'Idempotency-Key': `paused-${writer}-${step}`, 'X-Caller': tries.at(-1)! };
      const params = { path: { slug: `written-${writer}` }, header };
      const { response, error } = await first.client.PUT('/objects/{slug}', { params, body });
      isDone = response.ok;
      if (!isDone) expect({ status: response.status, error }).toMatchObject({ status: 503 });
    }
    acknowledged.push(tries);
  }
}

interface Outcome {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly ms: number;
}

async function time(request: Promise<{ readonly response: Response }>): Promise<Outcome> {
  const startedAt = performance.now();
  const { response } = await request;
  const ms = performance.now() - startedAt;
  return { status: response.status, retryAfter: response.headers.get('retry-after'), ms };
}

const replace = (slug: string) =>
  time(second.client.PUT('/objects/{slug}', { params: { path: { slug } }, body: { value: ageValue() } }));
const read = (slug: string) =>
  time(second.client.GET('/objects/{slug}', { params: { path: { slug } }, parseAs: 'arrayBuffer' }));
const readLog = () => time(second.client.GET('/audit-log'));

/** Asserts a response, or after the time that a lock is waited for, a rejection that says when to retry. */
function expectPrompt({ status, retryAfter, ms }: Outcome): void {
  expect([200, 503]).toContain(status);
  if (status === 503) expect(Number(retryAfter)).toBeGreaterThan(0);
  expect(ms).toBeLessThan(LONGEST_MS);
}

test(`Another server responds while one is paused during writes, ${PAUSES} times, and nothing is lost`, async () => {
  const stop = new AbortController();
  const writing = Promise.all(Array.from({ length: WRITERS }, (_none, writer) => write(writer, stop.signal)));
  writing.catch(() => stop.abort());
  for (let pause = 0; pause < PAUSES; pause += 1) {
    const enough = acknowledged.length + WRITERS + Math.random() * 20;
    while (acknowledged.length < enough && !stop.signal.aborted) await sleep(1);
    first.child.kill('SIGSTOP');
    const [own, found, ...contended] = await Promise.all([
      replace('other'),
      read('written-0'),
      readLog(),
      ...Array.from({ length: WRITERS }, (_none, writer) => replace(`written-${writer}`)),
    ]);
    first.child.kill('SIGCONT');
    for (const outcome of [own, found]) {
      expect(outcome.status).toBe(200);
      expect(outcome.ms).toBeLessThan(2_000);
    }
    contended.forEach(expectPrompt);
  }
  stop.abort();
  await writing;
  const entries = await listCallers();
  const counts = acknowledged.map((tries) => entries.filter((caller) => tries.includes(caller)).length);
  expect(counts).toEqual(acknowledged.map(() => 1));
  const { data } = await second.client.GET('/audit-log/verify', { params: { query: { full: true } } });
  expect(data).toMatchObject({ intact: true });
});

async function listCallers(): Promise<string[]> {
  const found: string[] = [];
  for (let after = 0; ;) {
    const { data = [] } = await second.client.GET('/audit-log', { params: { query: { after, limit: 500 } } });
    if (data.length === 0) return found;
    found.push(...data.map(({ caller = '' }) => caller));
    after = data.at(-1)!.id;
  }
}

test('A sequencer that holds its lock delays only readers of the audit log, whose responses name the time to retry', async () => {
  const stalled = new pg.Client({ connectionString: databaseUrl });
  await stalled.connect();
  await stalled.query('begin; select pg_advisory_xact_lock(7872656916); lock table audit_head in exclusive mode');
  for (const { status, ms } of [await replace('other'), await read('other')]) {
    expect(status).toBe(200);
    expect(ms).toBeLessThan(2_000);
  }
  const refused = await readLog();
  expect(refused).toMatchObject({ status: 503, retryAfter: '2' });
  expect(refused.ms).toBeLessThan(LONGEST_MS);
  await stalled.end();
  const { data } = await second.client.GET('/audit-log', { params: { query: { order: 'desc', limit: 2 } } });
  expect(data!.map(({ action, object_id }) => `${action} ${object_id}`)).toEqual(['read other', 'update other']);
});
