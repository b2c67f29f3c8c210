import { setTimeout as sleep } from 'node:timers/promises';
import { createAccounts } from '../../src/accounts/accounts.js';
import { serviceTokens } from '../../src/accounts/bearer-tokens.js';
import { createSecretsClient, type SecretsClient } from '../../src/generated/secrets/client.js';
import { sequenceAuditEntries } from '../../src/secrets/audit/sequence.js';
import { verifyAuditChain } from '../../src/secrets/audit/verify-chain.js';
import { createCliServiceTokens } from '../../src/secrets/service-tokens.js';
import type { Database } from '../../src/storage/database.js';
import { openDatabase } from '../../src/storage/open-database.js';
import { ageValue } from '../secrets/age-files.js';
import { KILLED_TIMEOUT_MS, KILLS, createKilledServer, type KilledServer } from './killed-server.js';

const WRITERS = 6;

let server: KilledServer;

beforeAll(async () => {
  server = await createKilledServer('secrets');
});
afterAll(() => server.close());

test(
  `After ${KILLS} kills during writes, the secrets service stores each acknowledged write with exactly one audit entry`,
  async () => {
    const writers = await seed();
    await server.start();
    const stop = new AbortController();
    const writing = Promise.all(writers.map((writer) => write(writer, stop.signal)));
    const killing = killAgain(writers).finally(() => stop.abort());
    await Promise.all([writing, killing]);
    await server.kill();
    await server.start();
    for (const writer of writers) await expectTokenHolds(writer);
    await server.kill();
    const database = await openDatabase(server.place);
    await sequenceAuditEntries(database);
    expect((await verifyAuditChain(database)).broken).toBeUndefined();
    await expectWhole(database, writers);
    await database.destroy();
  },
  KILLED_TIMEOUT_MS,
);

async function killAgain(writers: readonly Writer[]): Promise<void> {
  for (let kills = 0; kills < KILLS; kills += 1) {
    await untilDone(writers, WRITERS + Math.random() * 50);
    await server.kill();
    await server.start();
  }
}

/** Waits until `count` more requests are acknowledged. Others are still running by then. */
async function untilDone(writers: readonly Writer[], count: number): Promise<void> {
  const done = () => writers.reduce((sum, { steps }) => sum + steps.length, 0);
  const enough = done() + count;
  while (done() < enough) await sleep(1);
}

/** A request with its retries. Each try has a unique name, by which the audit log distinguishes them. */
interface Step {
  readonly action: string;
  readonly tries: string[];
  /** Whether an earlier try may have been performed although its response was lost. */
  readonly mayRepeat: boolean;
}

/**
 * A client that stores secrets, changes, restores and labels them, deletes half of them, and adds consumers. It retries
 * each request until it succeeds.
 */
interface Writer {
  readonly name: string;
  readonly client: SecretsClient;
  readonly steps: Step[];
  /** The secrets that are expected at the end, by id. */
  readonly objects: Map<string, { slug: string; payload: string; tags: string }>;
  /** The consumers that are expected at the end. */
  readonly consumers: string[];
  consumerToken: string;
}

async function seed(): Promise<Writer[]> {
  const database = await openDatabase(server.place);
  await createAccounts(database, { origin: () => server.origin }).users.add({ username: 'ada', displayName: 'Ada' });
  const tokens = createCliServiceTokens(database, { store: serviceTokens });
  const writers: Writer[] = [];
  for (let index = 0; index < WRITERS; index += 1) {
    const { token } = await tokens.create('write', { description: 'writer' });
    const client = createSecretsClient(`${server.origin}/secrets`, { token, retry: { maxRetries: 0 } });
    writers.push({ name: `w${index}`, client, steps: [], objects: new Map(), consumers: [], consumerToken: '' });
  }
  // Servers, which have a key, reject entries without signatures.
  await sequenceAuditEntries(database);
  await database.destroy();
  return writers;
}

async function write(writer: Writer, signal: AbortSignal): Promise<void> {
  const { client } = writer;
  const { data: token } = await send(writer, 'create', (header) =>
    client.POST('/consumer-tokens', {
      params: { header },
      body: { consumer: writer.name, description: writer.name, ttl_seconds: 3_600 },
    }),
  );
  for (let index = 0; !signal.aborted; index += 1) {
    const name = `${writer.name}-${index}`;
    await writeObject(writer, name, index % 2 === 0);
    await send(writer, 'create', (header) => client.POST('/consumers', { params: { header }, body: { name } }));
    writer.consumers.push(name);
    const path = { id: token!.id };
    const { data } = await send(writer, 'rotate', (header) =>
      client.POST('/consumer-tokens/{id}/rotate', { params: { path, header }, body: { ttl_seconds: 3_600 } }),
    );
    writer.consumerToken = data!.value;
  }
}

/** Creates, changes, reads and restores a secret, renames and labels it, and deletes it unless `isKept`. */
async function writeObject(writer: Writer, name: string, isKept: boolean): Promise<void> {
  const { client, objects } = writer;
  const used_by = [writer.name];
  const { data } = await send(writer, 'create', (header, payload) =>
    client.POST('/objects', { params: { header }, body: { slug: name, value: ageValue({ payload }), used_by } }),
  );
  const { id } = data!;
  const payload = `${writer.steps.length - 1}`;
  const slug = `${name}-renamed`;
  const at = (current: string) => ({ path: { slug: current }, query: { id } });
  await send(writer, 'update', (header, payload) =>
    client.PUT('/objects/{slug}', { params: { ...at(name), header }, body: { value: ageValue({ payload }) } }),
  );
  await send(writer, 'read', (header) =>
    client.GET('/objects/{slug}', { params: { ...at(name), header }, parseAs: 'arrayBuffer' }),
  );
  const first = { path: { slug: name, version: 1 }, query: { id } };
  await send(writer, 'restore', (header) =>
    client.POST('/objects/{slug}/versions/{version}/restore', { params: { ...first, header }, body: {} }),
  );
  await send(writer, 'rename', (header) =>
    client.PATCH('/objects/{slug}', { params: { ...at(name), header }, body: { slug } }),
  );
  await send(writer, 'label', (header) =>
    client.PATCH('/objects/{slug}', { params: { ...at(slug), header }, body: { tags: [writer.name] } }),
  );
  objects.set(id, { slug, payload, tags: writer.name });
  if (isKept) return;
  await send(writer, 'delete', (header) => client.DELETE('/objects/{slug}', { params: { ...at(slug), header } }));
  objects.delete(id);
}

interface Answer<T> {
  readonly data?: T;
  readonly error?: unknown;
  readonly response: Response;
}

interface Header {
  readonly 'X-Caller': string;
  readonly 'Idempotency-Key': string;
}

/** Retries a request until there is a response. @param make Receives the headers of the try and a unique payload. */
async function send<T>(
  { name, steps }: Writer,
  action: string,
  make: (header: Header, payload: string) => Promise<Answer<T>>,
): Promise<Answer<T>> {
  const mark = `${steps.length}`;
  // A repeated read can't be distinguished from a new one, so both are performed.
  const step: Step = { action, tries: [], mayRepeat: action === 'read' };
  for (;;) {
    step.tries.push(`${name} ${mark} ${step.tries.length}`);
    const header = { 'X-Caller': step.tries.at(-1)!, 'Idempotency-Key': `${name}-${mark}` };
    const answer = await make(header, mark).catch(ignoreConnection);
    if (answer === undefined || answer.response.status >= 500) {
      await sleep(20);
      continue;
    }
    if (!answer.response.ok) throw new Error(`${action}: ${JSON.stringify(answer.error)}`);
    steps.push(step);
    return answer;
  }
}

/** Ignores the error that fetch throws when it can't reach the server or loses the connection. */
function ignoreConnection(error: unknown): undefined {
  if ((error as Error).name !== 'TypeError') throw error;
}

/** Asserts that the token of the last acknowledged rotation is valid. */
async function expectTokenHolds({ consumerToken, name, objects }: Writer): Promise<void> {
  const [kept] = [...objects.values()];
  const client = createSecretsClient(`${server.origin}/secrets`, { token: consumerToken });
  const params = { path: { slug: kept!.slug }, header: { 'X-Caller': `${name} last` } };
  const { data } = await client.GET('/objects/{slug}', { params, parseAs: 'text' });
  expect(payloadOf(Buffer.from(data!))).toBe(kept!.payload);
}

/** Returns the payload after the age header, without the dots that fill it up. */
const payloadOf = (value: Uint8Array): string => Buffer.from(value).toString().split('\n').at(-1)!.replace(/^\.+/, '');

interface Entry {
  readonly action: string;
  readonly slug: string | null;
  readonly variant_id: string | null;
  readonly caller: string | null;
  readonly detail: string | null;
}

async function expectWhole(database: Database, writers: readonly Writer[]): Promise<void> {
  const columns = ['action', 'slug', 'variant_id', 'caller', 'detail'] as const;
  const entries = await database.selectFrom('audit_log').select(columns).orderBy('id').execute();
  expectEntries(entries, writers);
  await expectObjects(database, writers);
  await expectConsumers(database, writers);
  await expectValues(database, entries);
}

/** Asserts that every acknowledged request has one entry, and a repeated read one entry for each time it was performed. */
function expectEntries(entries: readonly Entry[], writers: readonly Writer[]): void {
  const counts = new Map<string, number>();
  for (const { caller } of entries) if (caller !== null) counts.set(caller, (counts.get(caller) ?? 0) + 1);
  const countOf = (one: string): number => counts.get(one) ?? 0;
  let lost = 0;
  for (const { action, tries, mayRepeat } of writers.flatMap(({ steps }) => steps)) {
    lost += tries.length - 1;
    const made = tries.map(countOf);
    const step = { action, tries, made };
    expect(mayRepeat ? { ...step, made: made.at(-1) } : { ...step, made: sum(made) }).toEqual({ ...step, made: 1 });
    expect(Math.max(...made)).toBe(1);
  }
  expect(lost).toBeGreaterThanOrEqual(KILLS);
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

/** Asserts that the stored secrets are exactly those that the writers expect. */
async function expectObjects(database: Database, writers: readonly Writer[]): Promise<void> {
  const rows = await database
    .selectFrom('secret_objects as objects')
    .innerJoin('secret_object_values as present', (join) =>
      join.onRef('present.object_id', '=', 'objects.id').onRef('present.version', '=', 'objects.version'),
    )
    .innerJoin('secret_object_tags as tags', 'tags.object_id', 'objects.id')
    .select(['objects.id', 'objects.slug', 'sealed', 'tag'])
    .execute();
  const found = rows.map(
    ({ id, slug, sealed, tag: tags }) => [id, { slug, payload: payloadOf(sealed), tags }] as const,
  );
  const expected = writers.flatMap(({ objects }) => [...objects]);
  expect(new Map(found)).toEqual(new Map(expected));
}

async function expectConsumers(database: Database, writers: readonly Writer[]): Promise<void> {
  const rows = await database.selectFrom('secret_consumers').select('name').execute();
  const names = rows.map(({ name }) => name).filter((name) => writers.every((writer) => writer.name !== name));
  expect(names.toSorted()).toEqual(writers.flatMap(({ consumers }) => consumers).toSorted());
}

/** Asserts that each stored value of a secret has an audit entry, and the reverse. */
async function expectValues(database: Database, entries: readonly Entry[]): Promise<void> {
  const rows = await database
    .selectFrom('secret_object_values')
    .select(['object_id', 'sealed'])
    .orderBy('version')
    .execute();
  const objects = new Set(entries.flatMap(({ variant_id }) => variant_id ?? []));
  const [values, logs] = [groupBy(rows, (row) => row.object_id), groupBy(entries, (entry) => entry.variant_id)];
  for (const id of objects) {
    const own = logs.get(id)!;
    const stored = (values.get(id) ?? []).map(({ sealed }) => payloadOf(sealed));
    const written = own
      .filter(({ action, detail }) => action === 'create' || (action === 'update' && detail !== null))
      .map(({ caller }) => caller!.split(' ')[1]);
    const restored = own.filter(({ action }) => action === 'restore').map(() => written[0]);
    const isGone = own.at(-1)?.action === 'delete';
    expect({ id, stored }).toEqual({ id, stored: isGone ? [] : [...written, ...restored] });
  }
}

function groupBy<T, Key>(rows: readonly T[], keyOf: (row: T) => Key): ReadonlyMap<Key, T[]> {
  const groups = new Map<Key, T[]>();
  for (const row of rows) groups.set(keyOf(row), [...(groups.get(keyOf(row)) ?? []), row]);
  return groups;
}
