import { setTimeout as sleep } from 'node:timers/promises';
import { createAccounts } from '../../src/accounts/accounts.js';
import { createDashboardClient, type DashboardClient } from '../../src/generated/dashboard/client.js';
import type { Database } from '../../src/storage/database.js';
import { openDatabase } from '../../src/storage/open-database.js';
import { KILLED_TIMEOUT_MS, KILLS, createKilledServer, type KilledServer } from './killed-server.js';

const WRITERS = 6;

let server: KilledServer;

beforeAll(async () => {
  server = await createKilledServer('dashboard');
});
afterAll(() => server.close());

test(
  `After ${KILLS} kills during writes, the dashboard stores each acknowledged write once and completely`,
  async () => {
    const writers = await seed();
    await server.start();
    const stop = new AbortController();
    const writing = Promise.all(writers.map((writer) => write(writer, stop.signal)));
    const killing = killAgain(writers).finally(() => stop.abort());
    await Promise.all([writing, killing]);
    await server.kill();
    await server.start();
    for (const writer of writers) await expectAll(writer);
    await server.kill();
    const database = await openDatabase(server.place);
    await expectWhole(database, writers);
    await database.destroy();
  },
  KILLED_TIMEOUT_MS,
);

async function killAgain(writers: readonly Writer[]): Promise<void> {
  for (let kills = 0; kills < KILLS; kills += 1) {
    await untilWritten(writers, WRITERS + Math.random() * 50);
    await server.kill();
    await server.start();
  }
}

/** Waits until `count` more writes are acknowledged. Others are still running by then. */
async function untilWritten(writers: readonly Writer[], count: number): Promise<void> {
  const written = () => writers.reduce((sum, { made, revoked }) => sum + made.length + revoked.size, 0);
  const enough = written() + count;
  while (written() < enough) await sleep(1);
}

/** A client that creates tokens and revokes most of them, and retries each request until it succeeds. */
interface Writer {
  readonly client: DashboardClient;
  readonly expiresAt: string;
  readonly made: { readonly id: string; readonly token: string }[];
  readonly revoked: Set<string>;
  /** The number of retries. */
  retries: number;
}

async function seed(): Promise<Writer[]> {
  const database = await openDatabase(server.place);
  const accounts = createAccounts(database, { origin: () => server.origin });
  const writers: Writer[] = [];
  for (let index = 0; index < WRITERS; index += 1) {
    const person = await accounts.users.add({ username: `writer${index}`, displayName: 'Writer' });
    writers.push(createWriter(`trellis_session=${await accounts.sessions.start(person.id)}`));
  }
  await database.destroy();
  return writers;
}

function createWriter(cookie: string): Writer {
  const client = createDashboardClient(server.origin, {
    token: '',
    retry: { maxRetries: 9, baseDelayMs: 20, maxDelayMs: 100 },
    onRetry: () => (writer.retries += 1),
    fetch(request) {
      request.headers.set('cookie', cookie);
      request.headers.set('origin', server.origin);
      return fetch(request);
    },
  });
  const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
  const writer: Writer = { client, expiresAt, made: [], revoked: new Set(), retries: 0 };
  return writer;
}

async function write(writer: Writer, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const index = writer.made.length;
    const made = await untilDone(() => create(writer, index));
    writer.made.push(made);
    // A user can have at most 100 tokens.
    if (index % 50 !== 0) await untilDone(() => revoke(writer, made.id));
  }
}

/** Retries up to 100 times, because a start may take longer than the retries of the client. */
async function untilDone<T>(send: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await send();
    } catch (error) {
      if (!['TypeError', 'NotReady'].includes((error as Error).name) || tries === 100) throw error;
    }
  }
}

function assertReady({ status }: Response): void {
  if (status >= 500) throw Object.assign(new Error(`status ${status}`), { name: 'NotReady' });
}

/** Creates a token whose label is also its idempotency key. */
async function create({ client, expiresAt }: Writer, index: number) {
  const label = `token-${index}`;
  const params = { header: { 'Idempotency-Key': label } };
  const { data, error, response } = await client.POST('/api/tokens', { params, body: { label, expiresAt } });
  assertReady(response);
  if (data === undefined) throw new Error(JSON.stringify(error));
  return { id: data.id, token: data.token };
}

async function revoke({ client, revoked }: Writer, id: string): Promise<void> {
  const { response } = await client.DELETE('/api/tokens/{id}', { params: { path: { id } } });
  assertReady(response);
  expect(response.status).toBe(204);
  revoked.add(id);
}

/** Asserts that all tokens are stored, also after each request is repeated. */
async function expectAll(writer: Writer): Promise<void> {
  for (const [index, made] of writer.made.entries()) expect(await create(writer, index)).toEqual(made);
  const { data } = await writer.client.GET('/api/tokens');
  const held = writer.made.filter(({ id }) => !writer.revoked.has(id)).map(({ id }) => id);
  expect(data?.map(({ id }) => id).sort()).toEqual(held.sort());
}

/** Asserts that each change has exactly one account event and one stored response. */
async function expectWhole(database: Database, writers: readonly Writer[]): Promise<void> {
  const made = writers.flatMap((writer) => writer.made.map(({ id }) => id));
  const events = database.selectFrom('account_events').select('subject').where('action', '=', 'token_created');
  expect((await events.execute()).map(({ subject }) => subject).sort()).toEqual(made.sort());
  const replays = await database.selectFrom('replays').select('id').execute();
  expect(replays).toHaveLength(made.length);
  expect(writers.reduce((sum, { retries }) => sum + retries, 0)).toBeGreaterThanOrEqual(KILLS);
}
