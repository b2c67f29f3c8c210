import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { archiveAuditLog } from '../../src/secrets/audit/archive.js';
import { appendAuditEntries, hashAuditEntry } from '../../src/secrets/audit/chain.js';
import { createAuditLog } from '../../src/secrets/audit/log.js';
import { replaceAuditKey } from '../../src/secrets/audit/sequence.js';
import { useAuditKey } from '../../src/secrets/audit/signatures.js';
import { type BackupTarget, openBackupTarget } from '../../src/storage/backups/target.js';
import { type Database, inTransaction } from '../../src/storage/database.js';
import { createServerKey } from '../../src/storage/server-key.js';
import type { AuditLogTable } from '../../src/storage/tables.js';
import { openTestDatabase } from '../storage/engine.js';
import { owner } from './fixtures.js';

const NOW = Date.parse('2026-11-23T12:00:00Z');
const DAYS = ['2026-08-01', '2026-08-31', '2026-09-01', '2026-09-30', '2026-10-01', '2026-11-23'];

const key = createServerKey('k'.repeat(43));
let database: Database;
let folder: string;
let target: BackupTarget;

beforeEach(async () => {
  database = await openTestDatabase();
  useAuditKey(database, key);
  folder = mkdtempSync(join(tmpdir(), 'trellis-audit-archive-'));
  target = await openBackupTarget(folder, { folder, env: {} });
  const entries = DAYS.map((day, index) => ({
    entry: { slug: `s${index}`, variantId: 'v', action: 'read' as const },
    origin: { caller: owner, ip: '192.0.2.7', at: Date.parse(`${day}T10:00:00Z`) },
  }));
  await appendAuditEntries(database, entries);
});
afterEach(async () => {
  await database.destroy();
  rmSync(folder, { recursive: true, force: true });
});

const archive = (options: object = {}) => archiveAuditLog(database, { target, months: 2, at: NOW, ...options });
const verify = (request?: object) => createAuditLog(database).verify(owner, request);
const listIds = async () => {
  const rows = await database.selectFrom('audit_log').select('id').orderBy('id').execute();
  return rows.map(({ id }) => id);
};

describe('archiveAuditLog', () => {
  test('moves the entries of earlier months to files, and the rest is still verified', async () => {
    const { head } = await verify();
    await archive({ maxEntries: 1 });
    expect(await listIds()).toEqual([3, 4, 5, 6]);
    expect(readdirSync(folder)).toEqual([
      'trellis-audit-000000000001-000000000001.jsonl.gz',
      'trellis-audit-000000000002-000000000002.jsonl.gz',
    ]);
    expect(await verify({ full: true })).toMatchObject({ broken: undefined, head, from: 3 });
    const { entries, total } = await createAuditLog(database).query(owner, {});
    expect([entries.map(({ slug }) => slug), total]).toEqual([['s2', 's3', 's4', 's5'], 4]);
    await archive();
    expect(readdirSync(folder)).toHaveLength(2);
    await archive({ months: 1 });
    expect(await listIds()).toEqual([5, 6]);
    expect(await verify({ full: true })).toMatchObject({ broken: undefined, head, from: 5 });
  });

  test('a file contains the rows with their hashes, and gzip can read it', async () => {
    await archive({ months: 1 });
    const [name = ''] = readdirSync(folder);
    const text = execFileSync('gzip', ['-dc', join(folder, name)], { encoding: 'utf8' });
    const rows = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as AuditLogTable);
    expect(rows.map(({ slug }) => slug)).toEqual(['s0', 's1', 's2', 's3']);
    let hash = '';
    for (const row of rows) expect(row.hash).toBe((hash = hashAuditEntry(hash, row)));
  });

  test('a folder that can not be written: nothing is deleted, and the next run archives', async () => {
    const failing = { ...target, write: () => Promise.reject(new Error('the disk is full')) };
    await expect(archive({ target: failing })).rejects.toThrow('the disk is full');
    const truncating: BackupTarget = {
      ...target,
      async write(name, content, options) {
        await target.write(name, content, options);
        writeFileSync(join(folder, name), readFileSync(join(folder, name)).subarray(0, -12));
      },
    };
    await expect(archive({ target: truncating })).rejects.toThrow();
    expect(await listIds()).toHaveLength(6);
    expect(await verify({ full: true })).toMatchObject({ broken: undefined, from: 1 });
    for (const name of readdirSync(folder)) rmSync(join(folder, name));
    await archive();
    expect(await listIds()).toEqual([3, 4, 5, 6]);
  });

  test('a file of the same name with different entries: nothing is deleted', async () => {
    const name = 'trellis-audit-000000000001-000000000002.jsonl.gz';
    const { Readable } = await import('node:stream');
    const { gzipSync } = await import('node:zlib');
    await target.write(name, Readable.from([gzipSync('{}\n')]), { overwrite: false });
    await expect(archive()).rejects.toThrow(/differs from the audit log/);
    expect(await listIds()).toHaveLength(6);
    expect(gunzipSync(readFileSync(join(folder, name))).toString()).toBe('{}\n');
  });

  test('a changed entry: nothing is archived', async () => {
    await verify();
    await database.updateTable('audit_log').set({ ip: 'x' }).where('id', '=', 2).execute();
    await expect(archive()).rejects.toThrow('The audit log is broken at entry 2; verify it. No entry was archived.');
    expect([await listIds(), readdirSync(folder)]).toEqual([[1, 2, 3, 4, 5, 6], []]);
  });

  test('several servers at the same time: one archives', async () => {
    const runs = await Promise.allSettled([archive(), archive(), archive()]);
    expect(runs.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled']);
    expect(await database.selectFrom('audit_archives').select(['first_id', 'last_id']).execute()).toEqual([
      { first_id: 1, last_id: 2 },
    ]);
    expect(await verify({ full: true })).toMatchObject({ broken: undefined, from: 3 });
  });
});

describe('verify after an archive', () => {
  test('compares with a saved head, unless its entries are archived', async () => {
    const first = await verify();
    await archive();
    const { head } = first;
    expect(await verify({ entries: head.count, head: head.hash })).toMatchObject({ broken: undefined });
    await expect(verify({ entries: 1, head: 'a'.repeat(64) })).rejects.toMatchObject({ code: 'invalid_input' });
    expect((await verify({ entries: 2, head: 'a'.repeat(64) })).broken).toEqual({ id: 2, reason: 'changed' });
  });

  test('detects deleted entries that are in no archive, and one that was added before the first', async () => {
    await archive();
    const third = await database.selectFrom('audit_log').selectAll().where('id', '=', 3).executeTakeFirstOrThrow();
    await database
      .insertInto('audit_log')
      .values({ ...third, id: 1 })
      .execute();
    expect((await verify({ full: true })).broken).toEqual({ id: 3, reason: 'added' });
    await database.deleteFrom('audit_log').where('id', '<=', 3).execute();
    expect((await verify({ full: true })).broken).toEqual({ id: 3, reason: 'missing' });
  });

  test('ignores an archive that no server has signed', async () => {
    await verify();
    const forged = { first_id: 1, last_id: 2, name: 'n', digest: 'd', archived_at: 1, signature: 'f'.repeat(64) };
    const { hash } = await database
      .selectFrom('audit_log')
      .select('hash')
      .where('id', '=', 2)
      .executeTakeFirstOrThrow();
    await database
      .insertInto('audit_archives')
      .values({ ...forged, hash })
      .execute();
    await database.deleteFrom('audit_log').where('id', '<=', 2).execute();
    expect((await verify({ full: true })).broken).toEqual({ id: 1, reason: 'missing' });
  });

  test('a different server key signs the archives again', async () => {
    await archive();
    const next = createServerKey('n'.repeat(43));
    await inTransaction(database, (transaction) => replaceAuditKey(transaction, key, next));
    useAuditKey(database, next);
    expect(await verify({ full: true })).toMatchObject({ broken: undefined, from: 3 });
    appendFileSync(join(folder, 'unrelated'), '');
    await archive({ months: 1 });
    expect(await verify({ full: true })).toMatchObject({ broken: undefined, from: 5 });
  });
});
