import { sql } from 'kysely';
import { sequenceAuditEntries } from '../../src/secrets/audit/sequence.js';
import { engine } from '../storage/engine.js';
import { ageHeader, ageValue } from './age-files.js';
import { DAY_MS, START, consumer, openFixtures, owner, script, stranger, type SecretsFixtures } from './fixtures.js';

/** The table to which the transaction of a change adds its entry. */
const ENTRIES = engine === 'SQLite' ? 'audit_log' : 'audit_pending';

let stage: SecretsFixtures;

beforeEach(async () => {
  stage = await openFixtures();
});
afterEach(() => stage.database.destroy());

const value = (payload: string): string => ageValue({ payload });
const sealed = (payload: string): Buffer => Buffer.from(value(payload), 'base64');
const list = async (filter = {}) => (await stage.objects.list(owner, filter)).secrets;

describe('a slug', () => {
  test.each([
    ['a leading digit', '0-a_B'],
    ['one character', 'x'],
    ['128 characters', 'x'.repeat(128)],
  ])('is valid with %s', async (_reason, slug) => {
    expect(await stage.add({ slug })).toMatchObject({ slug });
  });

  test.each([
    ['no characters', '', 'no character'],
    ['129 characters', 'x'.repeat(129), '129 characters'],
    ['a leading hyphen', '-a', '"-" as character 1'],
    ['a leading underscore', '_a', '"_" as character 1'],
    ['a dot', 'a.b', '"." as character 2'],
    ['a slash', 'a/b', '"/" as character 2'],
    ['a space', 'a b', '" " as character 2'],
    ['a trailing line feed', 'a\n', 'U+000A as character 2'],
    ['a Cyrillic letter that looks like a Latin one', 'dbpаssword', '"а" (U+0430) as character 4'],
    ['a full-width letter', 'ａbc', '"ａ" (U+FF41) as character 1'],
    ['an Arabic digit', '٣abc', '"٣" (U+0663) as character 1'],
    ['the Kelvin sign', '\u212a1', '"\u212a" (U+212A) as character 1'],
    ['an en dash', 'a–b', '"–" (U+2013) as character 2'],
    ['a combining mark', 'e\u0301a', 'U+0301 as character 2'],
    ['an invisible character', 'a\u200bb', 'U+200B as character 2'],
  ])('is invalid with %s, in create and rename', async (_reason, slug, received) => {
    const expected = 'Expected slug to be 1 to 128 letters, digits, "_" and "-", starting with a letter or digit';
    const message = `${expected}; received ${received}.`;
    const failure = { code: 'invalid_input', field: 'slug', message };
    await expect(stage.add({ slug })).rejects.toMatchObject(failure);
    await stage.add();
    await expect(stage.objects.patch({ slug: 'a' }, { slug: slug }, stage.from())).rejects.toMatchObject(failure);
    expect(await stage.listActions()).toEqual(['create a']);
  });

  test('is case-sensitive', async () => {
    await stage.add({ slug: 'Key' });
    await stage.add({ slug: 'key' });
    expect((await list()).map(({ slug }) => slug)).toEqual(['Key', 'key']);
    await expect(stage.objects.read({ slug: 'KEY' }, stage.from())).rejects.toMatchObject({ code: 'not_found' });
  });
});

const TEN = Array.from('abcdefghij');

describe('tags', () => {
  test.each([
    ['are lower-cased, deduplicated and sorted', ['B/2', 'a.1', 'b/2', 'A.1'], ['a.1', 'b/2']],
    ['have 1 to 32 characters', ['x', 'y'.repeat(32)], ['x', 'y'.repeat(32)]],
    ['are limited to 10 after deduplication', [...TEN, 'A', 'B'], TEN],
  ])('%s', async (_reason, tags, want) => {
    expect((await stage.add({ tags })).tags).toEqual(want);
  });

  test.each([
    ['an empty tag', ['']],
    ['33 characters', ['x'.repeat(33)]],
    ['a space', ['a b']],
    ['a non-ASCII letter', ['ä']],
    ['the Kelvin sign, whose lower case is a k', ['\u212a']],
    ['a dotless i', ['ı']],
    ['a trailing line feed', ['a\n']],
    ['eleven tags', [...TEN, 'k']],
  ])('are rejected for %s', async (_reason, tags) => {
    await expect(stage.add({ tags })).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('are matched regardless of case, and all of them must match', async () => {
    await stage.add({ slug: 'a', tags: ['prod', 'db'] });
    await stage.add({ slug: 'b', tags: ['prod'] });
    expect((await list({ tags: ['PROD', 'prod', 'Db'] })).map(({ slug }) => slug)).toEqual(['a']);
  });
});

describe('values', () => {
  test.each([
    ['a text that is not base64', '%%%', 'unprocessable'],
    ['base64 without padding', value('xx').replace(/=+$/, ''), 'unprocessable'],
    ['base64url', '-_-_', 'unprocessable'],
    ['base64 with line feeds', `${value('x')}\n`, 'unprocessable'],
    ['a file of a different format', Buffer.from('hello').toString('base64'), 'unprocessable'],
    ['an age file without recipients', Buffer.from(ageHeader('')).toString('base64'), 'unprocessable'],
    ['one byte more than 1 MiB', Buffer.alloc(1024 ** 2 + 1).toString('base64'), 'too_large'],
  ])('are rejected for %s, and nothing is stored', async (_reason, text, code) => {
    await expect(stage.add({ value: text })).rejects.toMatchObject({ code, field: 'value' });
    await stage.add();
    const update = stage.objects.update({ slug: 'a' }, { value: text }, stage.from());
    await expect(update).rejects.toMatchObject({ code, field: 'value' });
    expect(await stage.listActions()).toEqual(['create a']);
  });

  test('of 1 MiB are returned byte for byte', async () => {
    const { length } = sealed('');
    const payload = 'x'.repeat(1024 ** 2 - length);
    await stage.add({ value: value(payload) });
    const read = await stage.objects.read({ slug: 'a' }, stage.from());
    expect(Buffer.compare(read.sealed, sealed(payload))).toBe(0);
  });
});

test('updated_at changes only with the value', async () => {
  await stage.add({ tags: ['x'] });
  const times = async () => {
    const [object] = await list();
    return [object!.createdAt.getTime() - START, object!.updatedAt.getTime() - START, object!.updatedBy];
  };
  stage.advance(1_000);
  await stage.objects.read({ slug: 'a' }, stage.from(script));
  await stage.objects.patch({ slug: 'a' }, { slug: 'b' }, stage.from(script));
  expect(await times()).toEqual([0, 0, { type: 'session', id: 'admin' }]);
  await stage.objects.update({ slug: 'b' }, { value: value('2') }, stage.from(script));
  expect(await times()).toEqual([0, 1_000, { type: 'token', id: 't1' }]);
  stage.advance(1_000);
  await stage.versions.restore({ slug: 'b', version: 1 }, stage.from());
  expect(await times()).toEqual([0, 2_000, { type: 'session', id: 'admin' }]);
});

test('update and rename keep the description', async () => {
  await stage.add({ description: 'Opens the shop.' });
  await stage.objects.update({ slug: 'a' }, { value: value('2') }, stage.from());
  expect(await stage.objects.patch({ slug: 'a' }, { slug: 'b' }, stage.from())).toMatchObject({
    description: 'Opens the shop.',
  });
});

describe('consumers', () => {
  test('belong to one variant, despite concurrent requests', async () => {
    const requests = Array.from({ length: 8 }, () => stage.add({ usedBy: ['web'] }));
    const settled = await Promise.allSettled(requests);
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await stage.listActions()).toEqual(['create a']);
  });

  test('are replaced if they are given, and unchanged otherwise', async () => {
    await stage.add({ usedBy: ['web', 'db', 'web'] });
    const update = (usedBy?: string[]) =>
      stage.objects.update({ slug: 'a' }, { value: value('2'), usedBy }, stage.from());
    expect((await update()).usedBy).toEqual(['db', 'web']);
    expect((await update(['web'])).usedBy).toEqual(['web']);
    expect((await update([])).usedBy).toEqual([]);
  });

  test('can move between variants', async () => {
    const { id: first } = await stage.add({ usedBy: ['web', 'db'] });
    const { id: second } = await stage.add({ usedBy: ['cache'] });
    const update = (id: string, usedBy: string[]) =>
      stage.objects.update({ slug: 'a', id }, { value: value('2'), usedBy }, stage.from());
    await expect(update(second, ['cache', 'db'])).rejects.toMatchObject({ code: 'conflict', field: 'used_by' });
    await update(first, ['web']);
    expect((await update(second, ['cache', 'db'])).usedBy).toEqual(['cache', 'db']);
  });

  test('read only the value of their own variant', async () => {
    await stage.add({ usedBy: ['web'], value: value('web') });
    const { id } = await stage.add({ usedBy: ['db'], value: value('db') });
    const read = (slug: string, who: string, wanted?: string) =>
      stage.objects.read({ slug, id: wanted }, stage.from(consumer(who)));
    expect(Buffer.from((await read('a', 'web')).sealed)).toEqual(sealed('web'));
    const failure = { code: 'not_found', message: 'unknown object', field: undefined };
    await expect(read('a', 'web', id)).rejects.toMatchObject(failure);
    await expect(read('a', 'cache')).rejects.toMatchObject(failure);
    await expect(read('b', 'web')).rejects.toMatchObject(failure);
    expect(await stage.listActions()).toEqual(['create a', 'create a', 'read a']);
  });
});

describe('a caller', () => {
  const calls: readonly (readonly [string, (from: ReturnType<SecretsFixtures['from']>) => Promise<unknown>])[] = [
    ['list', ({ caller }) => stage.objects.list(caller, {})],
    ['listUsedBy', ({ caller }) => stage.objects.listUsedBy(caller, { slug: 'none' })],
    ['create', (from) => stage.objects.create({ slug: 'x', value: 'none' }, from)],
    ['update', (from) => stage.objects.update({ slug: 'none' }, { value: 'none' }, from)],
    ['rename', (from) => stage.objects.patch({ slug: 'none' }, { slug: '!' }, from)],
    ['remove', (from) => stage.objects.remove({ slug: 'none' }, from)],
    ['versions.list', ({ caller }) => stage.versions.list(caller, { slug: 'none' })],
    ['versions.read', (from) => stage.versions.read({ slug: 'none', version: 1 }, from)],
    ['versions.restore', (from) => stage.versions.restore({ slug: 'none', version: 1 }, from)],
  ];

  test.each([...calls, ['read', (from) => stage.objects.read({ slug: 'none' }, from)] as (typeof calls)[number]])(
    'must be the owner, which is checked first: %s',
    async (_name, call) => {
      await expect(call(stage.from(stranger))).rejects.toMatchObject({ code: 'forbidden' });
      await expect(call({ ...stage.from(), caller: undefined })).rejects.toMatchObject({ code: 'unauthenticated' });
    },
  );

  // A consumer lists its own secrets.
  test.each(calls.filter(([name]) => name !== 'list'))('must not be a consumer: %s', async (_name, call) => {
    await expect(call(stage.from(consumer('web')))).rejects.toMatchObject({ code: 'unauthenticated' });
  });
});

describe('the audit log', () => {
  test('has one entry for each change and read, and none for failed requests', async () => {
    const { objects, versions } = stage;
    const { id } = await stage.add({ usedBy: ['web'] });
    await objects.update({ slug: 'a' }, { value: value('2') }, stage.from(script));
    await objects.read({ slug: 'a' }, stage.from(consumer('web')));
    await versions.read({ slug: 'a', version: 1 }, stage.from());
    await versions.restore({ slug: 'a', version: 1 }, stage.from());
    await objects.patch({ slug: 'a' }, { slug: 'b' }, stage.from());
    await objects.remove({ slug: 'b' }, stage.from());
    for (const fail of [
      () => objects.read({ slug: 'b' }, stage.from()),
      () => objects.remove({ slug: 'b' }, stage.from()),
      () => objects.create({ slug: 'c', value: 'none' }, stage.from()),
    ]) {
      await expect(fail()).rejects.toThrow();
    }
    const columns = ['action', 'slug', 'version', 'previous_name', 'actor_type', 'actor_id', 'variant_id'] as const;
    await sequenceAuditEntries(stage.database);
    const rows = await stage.database.selectFrom('audit_log').select(columns).orderBy('id').execute();
    expect(rows.map((row) => Object.values(row))).toEqual([
      ['create', 'a', null, null, 'session', 'admin', id],
      ['update', 'a', null, null, 'token', 't1', id],
      ['read', 'a', null, null, 'consumer_token', 'c-web', id],
      ['read', 'a', 1, null, 'session', 'admin', id],
      ['restore', 'a', 1, null, 'session', 'admin', id],
      ['rename', 'b', null, 'a', 'session', 'admin', id],
      ['delete', 'b', null, null, 'session', 'admin', id],
    ]);
  });

  test.each([
    ['update', () => stage.objects.update({ slug: 'a' }, { value: value('2') }, stage.from())],
    ['rename', () => stage.objects.patch({ slug: 'a' }, { slug: 'b' }, stage.from())],
    ['delete', () => stage.objects.remove({ slug: 'a' }, stage.from())],
    ['restore', () => stage.versions.restore({ slug: 'a', version: 1 }, stage.from())],
    ['read', () => stage.objects.read({ slug: 'a' }, stage.from())],
  ])('is written in the transaction of the change: %s', async (_name, change) => {
    await stage.add();
    await stage.objects.update({ slug: 'a' }, { value: value('present') }, stage.from());
    await stage.database.schema.dropTable(ENTRIES).execute();
    const before = await list();
    await expect(change()).rejects.toThrow(ENTRIES);
    expect(await list()).toEqual(before);
    expect(await stage.versions.list(owner, { slug: 'a' })).toHaveLength(1);
  });
});

test('concurrent reads each return their own value or error', async () => {
  for (const slug of ['a', 'b', 'c']) await stage.add({ slug, value: value(slug) });
  const slugs = Array.from({ length: 100 }, (_, index) => ['a', 'b', 'c', 'none'][index % 4]!);
  const read = (slug: string) => stage.objects.read({ slug }, stage.from());
  const settled = await Promise.allSettled(slugs.map(read));
  for (const [index, outcome] of settled.entries()) {
    const slug = slugs[index]!;
    if (slug === 'none') expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'not_found' } });
    else
      expect(Buffer.from((outcome as PromiseFulfilledResult<{ sealed: Uint8Array }>).value.sealed)).toEqual(
        sealed(slug),
      );
  }
  expect((await stage.listActions()).filter((action) => action.startsWith('read'))).toHaveLength(75);
});

test('100,000 variants of one slug: each request finds its own', async () => {
  await stage.add({ slug: 'own', usedBy: ['web'] });
  await sql`insert into secret_objects (id, slug, version, created_at, updated_at, created_by_type, created_by_id, updated_by_type, updated_by_id)
    with recursive numbers (n) as (select 2 union all select n + 1 from numbers where n < 100000)
    select 'id-' || n, 'fleet', 1, n, n, 'token', 't', 'token', 't' from numbers`.execute(stage.database);
  const taken = { code: 'conflict', field: 'slug' };
  await expect(stage.objects.patch({ slug: 'own' }, { slug: 'fleet' }, stage.from())).rejects.toMatchObject(taken);
  expect((await stage.objects.patch({ slug: 'fleet', id: 'ID-77' }, { slug: 'apart' }, stage.from())).slug).toBe(
    'apart',
  );
  await expect(stage.objects.remove({ slug: 'fleet' }, stage.from())).rejects.toMatchObject({ field: 'id' });
  expect((await stage.add({ slug: 'more' })).slug).toBe('more');
});

test('list: returns pages and the total', async () => {
  for (const slug of ['e', 'd', 'c', 'b', 'a']) await stage.add({ slug });
  const page = await stage.objects.list(owner, { limit: 2, offset: 2 });
  expect([page.secrets.map(({ slug }) => slug), page.total]).toEqual([['c', 'd'], 5]);
  expect(await stage.objects.list(owner, { limit: 2, offset: 4 })).toMatchObject({ total: 5, next: undefined });
  const last = await stage.objects.list(owner, { limit: 2, cursor: page.next });
  expect([last.secrets.map(({ slug }) => slug), last.total, last.next]).toEqual([['e'], 5, undefined]);
});

test('a secret is due rotateAfterDays after its current value was stored', async () => {
  await stage.add({ rotateAfterDays: 30 });
  await stage.add({ slug: 'never' });
  const due = async (isDue: boolean) => (await list({ isDue })).map(({ slug }) => slug);
  stage.advance(30 * DAY_MS - 1);
  expect([await due(true), await due(false)]).toEqual([[], ['a', 'never']]);
  stage.advance(1);
  expect([await due(true), await due(false)]).toEqual([['a'], ['never']]);
  await stage.objects.update({ slug: 'a' }, { value: value('2') }, stage.from());
  expect(await due(true)).toEqual([]);
});
