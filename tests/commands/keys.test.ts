import { copyFile, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import { keysCommand } from '../../src/commands/keys.js';
import {
  decryptForgeSettings,
  findSettingsRow,
  getOrCreateSettingsRow,
} from '../../src/dashboard/settings/settings-rows.js';
import { appendAuditEntries } from '../../src/secrets/audit/chain.js';
import { sequenceAuditEntries } from '../../src/secrets/audit/sequence.js';
import { useAuditKey } from '../../src/secrets/audit/signatures.js';
import { verifyAuditChain } from '../../src/secrets/audit/verify-chain.js';
import { openDatabase } from '../../src/storage/open-database.js';
import { assertServerKey, createServerKey, openServerKey } from '../../src/storage/server-key.js';
import { openStateFolder } from '../../src/storage/state-folder.js';
import { createDatabaseTarget, createTestFolder, engine } from '../storage/engine.js';
import { runCommand } from './run-command.js';

async function createServer() {
  const state = await createTestFolder();
  const place = engine === 'SQLite' ? { file: path.join(state, 'trellis.db') } : await createDatabaseTarget();
  const database = await openDatabase(place);
  const key = await openServerKey(state);
  await assertServerKey(database, key);
  const person = { username: 'A', username_key: 'a', display_name: 'A', is_admin: 1, created_at: 1 };
  await database
    .insertInto('people')
    .values({ id: 'ada', ...person })
    .execute();
  await getOrCreateSettingsRow(database, key, 'ada');
  const where = 'url' in place ? ['--database-url', place.url] : [];
  const rotate = () => runCommand(({ out }) => keysCommand(out), ['rotate', '--state', state, ...where]);
  return { state, database, key, rotate, file: path.join(state, 'server.key') };
}

test('keys rotate: encrypts all data with a new key', async () => {
  const { state, database, key, rotate, file } = await createServer();
  const before = await readFile(file, 'utf8');
  const row = (await findSettingsRow(database, 'ada'))!;
  expect(await rotate()).toMatchObject({ code: 0 });
  const current = await openServerKey(state);
  expect(await readFile(file, 'utf8')).not.toBe(before);
  expect(await readFile(`${file}.before-rotation`, 'utf8')).toBe(before);
  await assertServerKey(database, current);
  const renewed = (await findSettingsRow(database, 'ada'))!;
  expect(decryptForgeSettings(current, renewed)).toEqual(decryptForgeSettings(key, row));
  expect(() => decryptForgeSettings(key, renewed)).toThrow();
  await database.destroy();
});

test('keys rotate: keeps the checkpoints of the audit log, and chains its pending entries', async () => {
  const { state, database, key, rotate } = await createServer();
  useAuditKey(database, key);
  const entry = { action: 'create', subjectType: 'consumer', subjectId: 'acme' } as const;
  const origin = { caller: 'machine', ip: '192.0.2.1', at: 1 } as const;
  const append = (count: number) =>
    appendAuditEntries(
      database,
      Array.from({ length: count }, () => ({ entry, origin })),
    );
  await append(1_000);
  await sequenceAuditEntries(database);
  await append(5);
  expect(await rotate()).toMatchObject({ code: 0 });
  useAuditKey(database, await openServerKey(state));
  expect(await verifyAuditChain(database, {})).toMatchObject({
    head: { count: 1_005 },
    from: 1_001,
    broken: undefined,
  });
  await database.destroy();
});

test('keys rotate: names data that is encrypted with a different key, and changes nothing', async () => {
  const { state, database, rotate, file } = await createServer();
  const before = await readFile(file, 'utf8');
  const other = createServerKey('o'.repeat(43));
  await database
    .insertInto('push_keys')
    .values({ id: 1, public_key: 'p', sealed: other.encrypt('p', 'push keys') })
    .execute();
  const outcome = await rotate();
  const problem = 'is not encrypted with server.key; the key and the data were not changed';
  expect(outcome).toMatchObject({
    code: 1,
    err: expect.stringContaining(`"push keys" in the database ${problem}\n`) as string,
  });
  expect(await readFile(file, 'utf8')).toBe(before);
  await assertServerKey(database, await openServerKey(state));
  await database.deleteFrom('push_keys').execute();
  expect(await rotate()).toMatchObject({ code: 0 });
  await database.destroy();
});

test('keys rotate: completes a rotation that was interrupted after its transaction', async () => {
  const { state, database, rotate, file } = await createServer();
  await copyFile(file, `${file}.old`);
  await rotate();
  await rename(file, `${file}.next`);
  await rename(`${file}.old`, file);
  await expect(assertServerKey(database, await openServerKey(state))).rejects.toThrow('differs');
  expect(await rotate()).toMatchObject({ code: 0 });
  await assertServerKey(database, await openServerKey(state));
  await database.destroy();
});

test.each([
  ['TRELLIS_SERVER_KEY', 'k'.repeat(43)],
  ['TRELLIS_SERVER_KEY_COMMAND', 'exit 1'],
])('keys rotate: replaces no key that is outside of the state folder, set by %s', async (variable, value) => {
  const { database, rotate, file } = await createServer();
  const before = await readFile(file, 'utf8');
  process.env[variable] = value;
  try {
    const err = `${variable}: the key is not in the state folder, so it can't be replaced there\n`;
    expect(await rotate()).toMatchObject({ code: 1, err });
  } finally {
    Reflect.deleteProperty(process.env, variable);
  }
  expect(await readFile(file, 'utf8')).toBe(before);
  await database.destroy();
});

test('keys rotate: stops while a server uses the state folder', async () => {
  const { state, database, rotate, file } = await createServer();
  const before = await readFile(file, 'utf8');
  const folder = await openStateFolder(state);
  expect(await rotate()).toMatchObject({ code: 1, err: expect.stringContaining('in use by another server') as string });
  expect(await readFile(file, 'utf8')).toBe(before);
  folder.close();
  await database.destroy();
});
