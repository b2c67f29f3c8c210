import type { AppError } from '@trellis/core/errors';
import type { CompiledQuery } from 'kysely';
import type { RequestOrigin } from '../../src/secrets/audit/chain.js';
import { verifyAuditChain } from '../../src/secrets/audit/verify-chain.js';
import { createConsumerStore, type ConsumerStore } from '../../src/secrets/consumers.js';
import { createSecretStore } from '../../src/secrets/secret-store.js';
import { type Database, inTransaction } from '../../src/storage/database.js';
import { engine } from '../storage/engine.js';
import { ageKey, ageValue } from './age-files.js';
import { openFixtures, owner } from './fixtures.js';

const SLUGS = Array.from({ length: 20 }, (_none, index) => `s${String(index).padStart(2, '0')}`);

test('concurrent replacements: each gets its own result, and the audit log records those that succeeded', async () => {
  const stage = await openFixtures();
  const { database, objects } = stage;
  const [first] = [await stage.add({ slug: 'a', tags: ['prod'], usedBy: ['web'] }), await stage.add({ slug: 'b' })];
  await stage.add({ slug: 'twice', usedBy: ['web'] });
  const second = await stage.add({ slug: 'twice', usedBy: ['db'] });
  const replace = (slug: string, change: object = {}, id?: string) =>
    objects.update({ slug, id }, { value: ageValue({ payload: slug }), ...change }, stage.from());
  const results = await Promise.allSettled([
    replace('a', { ifMatch: first.etag }),
    replace('b', { ifMatch: first.etag }),
    replace('none'),
    replace('twice'),
    replace('twice', {}, second.id.toUpperCase()),
  ]);
  expect(
    results.map((result) => (result.status === 'fulfilled' ? result.value.etag : (result.reason as AppError).code)),
  ).toEqual([`"${first.id}.2"`, 'precondition_failed', 'not_found', 'conflict', `"${second.id}.2"`]);
  expect(results[0]).toMatchObject({ value: { tags: ['prod'], usedBy: ['web'], recipientCount: 1 } });
  expect((await stage.listActions()).slice(4).sort()).toEqual(['update a', 'update twice']);
  const read = await objects.read({ slug: 'a' }, stage.from());
  expect(Buffer.from(read.sealed).toString('base64')).toBe(ageValue({ payload: 'a' }));
  await database.destroy();
});

test('concurrent replacements of one secret: all are stored, one after the other', async () => {
  const stage = await openFixtures();
  const { database, objects, versions } = stage;
  await stage.add();
  const values = Array.from({ length: 14 }, (_none, index) => ageValue({ payload: `v${index}` }));
  const etags = await Promise.all(
    values.map(async (value) => (await objects.update({ slug: 'a' }, { value }, stage.from())).etag),
  );
  expect(new Set(etags).size).toBe(14);
  const { sealed, etag } = await objects.read({ slug: 'a' }, stage.from());
  expect(etag).toMatch(/\.15"$/);
  expect(values.map((_value, index) => etags[index] === etag)).toContain(true);
  expect(Buffer.from(sealed).toString('base64')).toBe(values[etags.indexOf(etag)]);
  expect((await versions.list(owner, { slug: 'a' })).map(({ version }) => version)).toEqual(
    Array.from({ length: 10 }, (_none, index) => 14 - index),
  );
  expect((await stage.listActions()).filter((action) => action === 'update a')).toHaveLength(14);
  await database.destroy();
});

/** Repeats a request as a client does, as long as other transactions conflict with it. */
async function whenFree<T>(send: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await send();
    } catch (error) {
      if ((error as AppError).code !== 'unavailable') throw error;
    }
  }
}

test('a replacement beside changes of keys and consumers: whether to reseal is stored as the rule says', async () => {
  const stage = await openFixtures();
  const { database, objects } = stage;
  // Several servers, each with its own batches.
  const stores = [objects, createSecretStore(database), createSecretStore(database)];
  const consumers = createConsumerStore(database);
  const keys = ['one', 'two', 'three'].map(ageKey);
  await consumers.update(stage.from(), 'web', { publicKey: keys[0] }).catch(() => undefined);
  for (const slug of SLUGS) await stage.add({ slug, usedBy: ['web'], recipients: [keys[0] ?? ''] });
  const replaceAll = async (round: number) => {
    const recipients = [keys[round % 3] ?? ''];
    const store = stores[round % 3] ?? objects;
    await Promise.all(
      SLUGS.map((slug) => whenFree(() => store.update({ slug }, { value: ageValue(), recipients }, stage.from()))),
    );
  };
  const changeKeys = async () => {
    for (const publicKey of [...keys, ...keys])
      await whenFree(() => consumers.update(stage.from(), 'web', { publicKey }));
  };
  const changeConsumers = async () => {
    for (const slug of SLUGS.slice(0, 8)) {
      await whenFree(() => objects.patch({ slug }, { usedBy: ['web', 'db'] }, stage.from()));
      await whenFree(() => objects.patch({ slug }, { usedBy: ['db'] }, stage.from()));
    }
  };
  await Promise.all([replaceAll(0), replaceAll(1), changeKeys(), changeConsumers(), replaceAll(2)]);
  const stored = await database.selectFrom('secret_objects').select(['slug', 'needs_reseal']).orderBy('slug').execute();
  const { secrets } = await objects.list(owner, { limit: 50 });
  expect(stored.map(({ needs_reseal }) => needs_reseal === 1)).toEqual(
    secrets.map(({ reseal }) => reseal !== undefined),
  );
  expect((await verifyAuditChain(database)).broken).toBeUndefined();
  await database.destroy();
});

/** Returns the database, which runs `work` before the first statement with this text. */
function interrupt(database: Database, text: string, work: () => Promise<unknown>): Database {
  let isDone = false;
  const executeQuery = async (query: CompiledQuery) => {
    if (!isDone && query.sql.includes(text)) {
      isDone = true;
      await work();
    }
    return database.executeQuery(query);
  };
  const get = (target: Database, key: string | symbol): unknown =>
    key === 'executeQuery' ? executeQuery : Reflect.get(target, key);
  return new Proxy(database, { get });
}

type Change = (consumers: ConsumerStore, from: RequestOrigin) => Promise<unknown>;

test.each<[string, Change, boolean]>([
  ['the key of a consumer', (consumers, from) => consumers.update(from, 'web', { publicKey: ageKey('new') }), true],
  ['a removed consumer, whose key then counts as chosen', (consumers, from) => consumers.remove(from, 'db'), false],
])('a change between the statements of a replacement is respected: %s', async (_what, change, isNeeded) => {
  if (engine === 'SQLite') return;
  const stage = await openFixtures();
  const { database, objects } = stage;
  const consumers = createConsumerStore(database);
  for (const name of ['web', 'db']) await consumers.add(stage.from(), { name, publicKey: ageKey(name) });
  // It should be resealed before and after the change, so the change does not affect the column.
  await stage.add({ usedBy: ['web', 'db'], recipients: [ageKey('old')] });
  const interrupted = interrupt(database, 'with given as', () => change(consumers, stage.from()));
  const replacement = { value: ageValue({ recipients: 2 }), recipients: [ageKey('web'), ageKey('db')] };
  await createSecretStore(interrupted).update({ slug: 'a' }, replacement, stage.from());
  const row = await database.selectFrom('secret_objects').select(['version', 'needs_reseal']).executeTakeFirst();
  expect(row).toEqual({ version: 2, needs_reseal: isNeeded ? 1 : 0 });
  expect((await objects.list(owner, {})).secrets[0]?.reseal !== undefined).toBe(isNeeded);
  await database.destroy();
});

test('a secret that a different transaction locks: replacements of others do not wait for it', async () => {
  if (engine === 'SQLite') return;
  const stage = await openFixtures();
  const { database, objects } = stage;
  for (const slug of ['a', 'b']) await stage.add({ slug });
  let locked!: () => void;
  let unlock!: () => void;
  const isLocked = new Promise<void>((resolve) => (locked = resolve));
  const mayUnlock = new Promise<void>((resolve) => (unlock = resolve));
  const other = inTransaction(
    database,
    async (transaction) => {
      await transaction.selectFrom('secret_objects').selectAll().where('slug', '=', 'a').forUpdate().execute();
      locked();
      await mayUnlock;
    },
    'read committed',
  );
  await isLocked;
  const replace = (slug: string) => objects.update({ slug }, { value: ageValue() }, stage.from());
  const waiting = replace('a');
  expect((await replace('b')).etag).toMatch(/\.2"$/);
  unlock();
  expect((await waiting).etag).toMatch(/\.2"$/);
  await other;
  await database.destroy();
});
