import type { Caller } from '../../src/accounts/callers.js';
import { appendAuditEntries, appendAuditEntry, hashAuditEntry } from '../../src/secrets/audit/chain.js';
import { type AuditFilter, type AuditLog, createAuditLog } from '../../src/secrets/audit/log.js';
import { sequenceAuditEntries } from '../../src/secrets/audit/sequence.js';
import { useAuditKey } from '../../src/secrets/audit/signatures.js';
import { createSecretStore } from '../../src/secrets/secret-store.js';
import type { Database } from '../../src/storage/database.js';
import { createServerKey } from '../../src/storage/server-key.js';
import type { AuditLogTable } from '../../src/storage/tables.js';
import { engine, openTestDatabase } from '../storage/engine.js';
import { ageValue } from './age-files.js';
import { openFixtures, owner, script, type SecretsFixtures, START } from './fixtures.js';

describe('the audit log', () => {
  const owner: Caller = {
    kind: 'token',
    tokenId: 't1',
    personId: 'p',
    username: 'ada',
    isAdmin: true,
    scopes: ['write'],
  };
  const guest: Caller = { ...owner, isAdmin: false };
  const origin = { caller: owner, ip: '192.0.2.7', at: 1_795_000_000_000 };

  let database: Database;

  beforeEach(async () => {
    database = await openTestDatabase();
  });
  afterEach(() => database.destroy());

  const entries = async () => {
    await sequenceAuditEntries(database);
    return database.selectFrom('audit_log').selectAll().orderBy('id').execute();
  };

  test('appendAudit: chains each entry to the previous one', async () => {
    for (const slug of ['a', 'b', 'c'])
      await appendAuditEntry(database, { slug, variantId: 'v', action: 'read' }, origin);
    let previous = '';
    for (const { hash, ...row } of await entries()) {
      expect(hash).toBe(hashAuditEntry(previous, row));
      previous = hash;
    }
    expect((await entries()).map(({ id }) => id)).toEqual([1, 2, 3]);
  });

  test('hashEntry: depends on the column of each value', () => {
    const row = {
      id: 1,
      action: 'read',
      slug: 'a',
      subject_type: 'object',
      variant_id: 'v',
      version: null,
      subject_id: null,
      previous_name: null,
      at: 1,
      ip: '',
      caller: 'x',
      actor_type: null,
      actor_id: null,
      detail: null,
    };
    expect(hashAuditEntry('', row)).not.toBe(hashAuditEntry('', { ...row, caller: null, subject_id: 'x' }));
  });

  test('create: stores nothing if the audit entry cannot be written', async () => {
    const table = engine === 'SQLite' ? 'audit_log' : 'audit_pending';
    await database.schema.dropTable(table).execute();
    const created = createSecretStore(database).create({ slug: 'a', value: ageValue() }, origin);
    await expect(created).rejects.toThrow(table);
    expect(await database.selectFrom('secret_objects').select('id').execute()).toEqual([]);
  });

  test.each([
    ['a different user', guest, 'forbidden'],
    ['a request without a credential', undefined, 'unauthenticated'],
  ])('the audit log and the list of secrets reject %s', async (_reason, caller, code) => {
    await expect(createAuditLog(database).query(caller, {})).rejects.toMatchObject({ code });
    await expect(createSecretStore(database).list(caller, {})).rejects.toMatchObject({ code });
  });
});

describe('filters of the audit log', () => {
  let stage: SecretsFixtures;

  // One entry per second: 1 and 3 by the owner, 2 by a write token.
  beforeAll(async () => {
    stage = await openFixtures();
    for (const [slug, caller] of [
      ['a', owner],
      ['b', script],
      ['c', owner],
    ] as const) {
      await stage.add({ slug }, caller);
      stage.advance(1_000);
    }
  });
  afterAll(() => stage.database.destroy());

  test.each<[string, AuditFilter, number[]]>([
    ['no condition', {}, [1, 2, 3]],
    ['a slug', { slug: 'b' }, [2]],
    ['an actor', { actor: 'admin' }, [1, 3]],
    ['a missing credential', { actor: 'none' }, []],
    ['a start time', { from: new Date(START + 1_000) }, [2, 3]],
    ['an end time', { to: new Date(START + 1_000) }, [1]],
    ['several conditions', { from: new Date(START + 1_000), actor: 'admin' }, [3]],
    ['descending order', { order: 'desc' }, [3, 2, 1]],
    ['a preceding entry', { after: 2 }, [3]],
    ['a preceding entry in descending order', { order: 'desc', after: 3 }, [2, 1]],
    ['a limit', { limit: 2 }, [1, 2]],
  ])('query: filters the audit log by %s', async (_reason, filter, ids) => {
    const { entries, total } = await createAuditLog(stage.database).query(owner, filter);
    expect(entries.map(({ id }) => id)).toEqual(ids);
    const isUnfiltered = Object.keys(filter).every((name) => ['after', 'limit', 'order'].includes(name));
    expect(total).toBe(isUnfiltered ? 3 : ids.length);
  });
});

describe('the verification of the audit log', () => {
  const owner: Caller = {
    kind: 'session',
    sessionId: 's',
    personId: 'p',
    username: 'ada',
    isAdmin: true,
  };
  const origin = { caller: owner, callerName: 'laptop', ip: '192.0.2.7', at: 1_795_000_000_000 };
  const ENTRIES = 12;

  let database: Database;
  let audit: AuditLog;

  beforeEach(async () => {
    database = await openTestDatabase();
    audit = createAuditLog(database);
    await append(ENTRIES);
  });
  afterEach(() => database.destroy());

  const append = async (count: number) => {
    await appendAuditEntries(
      database,
      Array.from({ length: count }, (_, at) => ({
        entry: { action: 'read', slug: `s${at}`, variantId: `v${at}` } as const,
        origin,
      })),
    );
    await sequenceAuditEntries(database);
  };

  const change = (id: number, columns: Partial<AuditLogTable>) =>
    database.updateTable('audit_log').set(columns).where('id', '=', id).execute();
  const remove = (id: number) => database.deleteFrom('audit_log').where('id', '=', id).execute();
  const read = (id: number) =>
    database.selectFrom('audit_log').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

  /** Computes a hash again, as a forger could. */
  async function rehash(id: number): Promise<void> {
    const { hash } = id === 1 ? { hash: '' } : await read(id - 1);
    await change(id, { hash: hashAuditEntry(hash, await read(id)) });
  }

  async function swap(one: number, other: number): Promise<void> {
    const [first, second] = [await read(one), await read(other)];
    await change(one, { ...second, id: one });
    await change(other, { ...first, id: other });
  }

  async function insert(id: number): Promise<void> {
    const row = { ...(await read(3)), id };
    const { hash } = await read(ENTRIES);
    await database
      .insertInto('audit_log')
      .values({ ...row, hash: hashAuditEntry(hash, row) })
      .execute();
  }

  test('verify: returns the head of an intact log', async () => {
    expect(await audit.verify(owner)).toMatchObject({
      head: { count: ENTRIES, hash: (await read(ENTRIES)).hash },
      broken: undefined,
      from: 1,
    });
  });

  test('verify: accepts an empty log', async () => {
    for (const table of ['audit_log', 'audit_head'] as const) await database.deleteFrom(table).execute();
    expect(await audit.verify(owner)).toMatchObject({ head: { count: 0, hash: '' }, broken: undefined, from: 1 });
  });

  test.each<[string, () => Promise<unknown>, object]>([
    ['with a changed actor', () => change(5, { actor_id: 'someone' }), { id: 5, reason: 'changed' }],
    ['with a removed caller', () => change(5, { caller: null }), { id: 5, reason: 'changed' }],
    ['with a changed time', () => change(1, { at: 0 }), { id: 1, reason: 'changed' }],
    ['with a changed slug', () => change(ENTRIES, { slug: 'other' }), { id: ENTRIES, reason: 'changed' }],
    [
      'with a changed slug and hash',
      () => change(5, { slug: 'other' }).then(() => rehash(5)),
      { id: 6, reason: 'changed' },
    ],
    [
      'with a changed slug and hash, at the end',
      () => change(ENTRIES, { slug: 'other' }).then(() => rehash(ENTRIES)),
      { id: ENTRIES, reason: 'changed' },
    ],
    ['that was removed', () => remove(5), { id: 5, reason: 'missing' }],
    ['that was removed at the start', () => remove(1), { id: 1, reason: 'missing' }],
    ['that was removed at the end', () => remove(ENTRIES), { id: ENTRIES, reason: 'missing' }],
    ['that was swapped with the next one', () => swap(5, 6), { id: 5, reason: 'changed' }],
    ['that was added at the end', () => insert(ENTRIES + 1), { id: ENTRIES + 1, reason: 'added' }],
    ['that was added before the start', () => insert(0), { id: 1, reason: 'added' }],
    ['in a log without a head', () => database.deleteFrom('audit_head').execute(), { id: 1, reason: 'added' }],
  ])('verify: detects an entry %s', async (_how, tamper, broken) => {
    await tamper();
    expect((await audit.verify(owner)).broken).toEqual(broken);
  });

  describe('verify with a saved head', () => {
    const saveHead = async () => {
      const { head } = await audit.verify(owner);
      return { entries: head.count, head: head.hash };
    };

    test('accepts a log with new entries', async () => {
      const saved = await saveHead();
      await append(3);
      expect((await audit.verify(owner, saved)).broken).toBeUndefined();
    });

    test('detects entries that were removed together with the stored head', async () => {
      const saved = await saveHead();
      await remove(ENTRIES);
      const { hash } = await read(ENTRIES - 1);
      await database
        .updateTable('audit_head')
        .set({ count: ENTRIES - 1, hash })
        .execute();
      expect((await audit.verify(owner)).broken).toBeUndefined();
      expect((await audit.verify(owner, saved)).broken).toEqual({ id: ENTRIES, reason: 'missing' });
    });

    test('detects a chain that was computed again', async () => {
      const saved = await saveHead();
      await change(2, { actor_id: 'someone' });
      for (let id = 2; id <= ENTRIES; id += 1) await rehash(id);
      await database
        .updateTable('audit_head')
        .set({ hash: (await read(ENTRIES)).hash })
        .execute();
      expect((await audit.verify(owner)).broken).toBeUndefined();
      expect((await audit.verify(owner, saved)).broken).toEqual({ id: ENTRIES, reason: 'changed' });
    });

    test.each([{ entries: 3 }, { head: 'a'.repeat(64) }])('requires both parts: %j', async (half) => {
      await expect(audit.verify(owner, half)).rejects.toMatchObject({ code: 'invalid_input' });
    });
  });

  test('verify: reads more than one page, and can be aborted', async () => {
    await append(1_100);
    expect((await audit.verify(owner)).head.count).toBe(ENTRIES + 1_100);
    await change(1_050, { ip: 'x' });
    expect((await audit.verify(owner)).broken).toEqual({ id: 1_050, reason: 'changed' });
    await expect(audit.verify(owner, { signal: AbortSignal.abort() })).rejects.toThrow(/abort/);
  });

  describe('verify with the server key', () => {
    const LAST_SIGNED = ENTRIES + 1_000;

    beforeEach(async () => {
      useAuditKey(database, createServerKey('k'.repeat(43)));
      await append(1_000);
      await append(3);
    });

    test('starts after the last signed position, unless all entries are asked for', async () => {
      expect(await audit.verify(owner)).toMatchObject({ broken: undefined, from: LAST_SIGNED + 1 });
      expect(await audit.verify(owner, { full: true })).toMatchObject({ broken: undefined, from: 1 });
      await change(5, { actor_id: 'someone' });
      expect((await audit.verify(owner, { full: true })).broken).toEqual({ id: 5, reason: 'changed' });
    });

    test('detects a chain that was computed again, and one whose end was removed', async () => {
      const ids = Array.from({ length: LAST_SIGNED + 3 }, (_none, at) => at + 1);
      await database
        .deleteFrom('audit_log')
        .where('id', 'in', ids.slice(LAST_SIGNED - 1))
        .execute();
      const count = LAST_SIGNED - 1;
      const { hash } = await read(count);
      await database.updateTable('audit_head').set({ count, hash }).execute();
      expect((await audit.verify(owner)).broken).toEqual({ id: LAST_SIGNED, reason: 'missing' });
      await append(1);
      expect((await audit.verify(owner)).broken).toEqual({ id: LAST_SIGNED, reason: 'changed' });
    });

    test('ignores a signature of a different key', async () => {
      await database
        .updateTable('audit_checkpoints')
        .set({ signature: 'f'.repeat(64) })
        .execute();
      expect(await audit.verify(owner)).toMatchObject({ broken: undefined, from: 1 });
    });

    test('reports a pending entry that no server has signed', async () => {
      const { id, hash, ...entry } = await read(3);
      void [id, hash];
      const forged = { ...entry, number: 1, signature: 'f'.repeat(64), is_rejected: 0 };
      await database.insertInto('audit_pending').values(forged).execute();
      const { head, broken } = await audit.verify(owner);
      expect(head.count).toBe(LAST_SIGNED + 3);
      expect(broken).toEqual({ id: LAST_SIGNED + 4, reason: 'added' });
    });
  });

  test('listFilterOptions: returns each distinct value once', async () => {
    const token: Caller = { ...owner, kind: 'token', tokenId: 't1', scopes: [] };
    const subject = { action: 'create', subjectType: 'consumer', subjectId: 'web' } as const;
    await appendAuditEntries(database, [
      { entry: { action: 'rotation_due', slug: 'a', variantId: 'v' }, origin: { ...origin, caller: undefined } },
      { entry: subject, origin: { ...origin, caller: token, callerName: 'deploy' } },
      { entry: subject, origin: { caller: 'machine', ip: 'this machine', at: 1 } },
    ]);
    const { slugs, actors, callers } = await audit.listFilterOptions(owner);
    expect(slugs).toEqual(['a', ...Array.from({ length: ENTRIES }, (_, at) => `s${at}`)].sort());
    expect(actors).toEqual([
      { value: 'admin', label: 'admin' },
      { value: 'machine', label: 'machine' },
      { value: 't1', label: 'token:t1' },
      { value: 'none', label: 'none' },
    ]);
    expect(callers).toEqual(['deploy', 'laptop']);
  });
});
