import { mkdir, mkdtemp, readFile, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { backupCommand, restoreCommand } from '../../src/commands/backup.js';
import { createRowDigest, readRows, writeArchiveContents } from '../../src/storage/backups/archive.js';
import { restoreBackup } from '../../src/storage/backups/backup.js';
import { runDueBackup } from '../../src/storage/backups/schedule.js';
import { locateBackup } from '../../src/storage/backups/target.js';
import { type Database, type DatabaseTarget, inSnapshot, inTransaction } from '../../src/storage/database.js';
import { MIGRATIONS } from '../../src/storage/migrate.js';
import { openDatabase } from '../../src/storage/open-database.js';
import { assertServerKey, createServerKey, openServerKey } from '../../src/storage/server-key.js';
import { openStateFolder } from '../../src/storage/state-folder.js';
import { createDatabaseTarget, createMigratedTarget, engine } from '../storage/engine.js';
import { BUCKET, startS3Server } from '../storage/objects/s3-server.js';
import { type CommandOutcome, runCommand } from './run-command.js';

const like = (text: RegExp | string) => expect.stringMatching(text) as string;

const person = { username: 'Ada', display_name: 'naïve 🌱', is_admin: 1, created_at: 1_795_000_000_000 };

interface Server {
  readonly state: string;
  readonly place: DatabaseTarget;
}

let folder: string;
let file: string;
let server: Server;

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'trellis-backup-'));
  file = path.join(folder, 'trellis.backup');
  const { state } = await makeServer('old', 'SQLite');
  server = { state, place: await createMigratedTarget(path.join(state, 'trellis.db')) };
  const database = await openDatabase(server.place);
  await fill(database);
  await database.destroy();
  await openServerKey(server.state);
});
afterEach(() => rm(folder, { recursive: true }));

async function makeServer(name: string, kind: typeof engine): Promise<Server> {
  const state = path.join(folder, name);
  (await openStateFolder(state)).close();
  return { state, place: kind === 'SQLite' ? { file: path.join(state, 'trellis.db') } : await createDatabaseTarget() };
}

async function addPerson(database: Database, id: string): Promise<void> {
  await database
    .insertInto('people')
    .values({ ...person, id, username_key: id })
    .execute();
}

async function fill(database: Database): Promise<void> {
  await addPerson(database, 'ada');
  await database.insertInto('boards').values({ person_id: 'ada', generated_at: 1, snapshot: '{"a":1}' }).execute();
  const row = { id: 'r', fingerprint: 'f', sealed: new Uint8Array([0, 255, 10]), expires_at: 2 ** 52 };
  await database.insertInto('replays').values(row).execute();
}

async function readAll({ place }: Server): Promise<unknown> {
  const database = await openDatabase(place);
  const tables = [
    await database.selectFrom('people').selectAll().orderBy('id').execute(),
    await database.selectFrom('boards').selectAll().execute(),
    await database.selectFrom('replays').selectAll().execute(),
  ];
  await database.destroy();
  return tables;
}

const readKey = ({ state }: Server) => readFile(path.join(state, 'server.key'), 'utf8');

function run(make: typeof backupCommand, { state, place }: Server, ...flags: string[]): Promise<CommandOutcome> {
  const where = 'url' in place ? ['--database-url', place.url] : [];
  const args = [file, '--state', state, ...where, ...flags];
  return runCommand(
    ({ out, err }) => make({ release: '1.2.3', out, terminal: err as unknown as NodeJS.WriteStream }),
    args,
  );
}

const targets = engine === 'SQLite' ? (['SQLite'] as const) : (['PostgreSQL', 'SQLite'] as const);

test.each(targets)('backup and restore: preserve all data in %s', async (kind) => {
  const said = await run(backupCommand, server);
  expect(said).toMatchObject({
    code: 0,
    err: like(/^Backed up 3 rows of \d+ tables and server\.key to /),
  });
  const target = await makeServer('new', kind);
  expect(await run(restoreCommand, target)).toMatchObject({
    code: 0,
    err: like(/^Restored 3 rows of /),
  });
  expect(await readAll(target)).toEqual(await readAll(server));
  expect(await readKey(target)).toBe(await readKey(server));
  expect((await readdir(target.state)).filter((name) => name.startsWith('restore-'))).toEqual([]);
});

test('backup: contains the key that the data is encrypted with, also after an interrupted rotation', async () => {
  const [previous, next] = ['A', 'B'].map((letter) => `${letter.repeat(43)}\n`) as [string, string];
  const database = await openDatabase(server.place);
  await assertServerKey(database, createServerKey(next.trim()));
  await database.destroy();
  const keyFile = path.join(server.state, 'server.key');
  await writeFile(keyFile, previous);
  await writeFile(`${keyFile}.next`, next);
  expect(await run(backupCommand, server)).toMatchObject({ code: 0, err: like(/ and server\.key to /) });
  const target = await makeServer('new', engine);
  await run(restoreCommand, target);
  expect(await readKey(target)).toBe(next);

  // The key is a setting, and the file a previous one.
  await rm(`${keyFile}.next`);
  expect(await run(backupCommand, server, '--force')).toMatchObject({ code: 0, err: like(/ of \d+ tables to /) });
});

test('backup and restore: leave no copies when they are interrupted', async () => {
  const interrupt = async (running: Promise<CommandOutcome>, before = process.listenerCount('SIGINT')) => {
    while (process.listenerCount('SIGINT') === before) await setImmediate();
    // Other listeners end the databases of the tests.
    process.listeners('SIGINT').at(-1)?.('SIGINT');
    return running;
  };
  const listCopies = async ({ state }: Server) =>
    (await readdir(state)).filter((name) => /^(?:backup|restore)-/.test(name));
  expect(await interrupt(run(backupCommand, server))).toMatchObject({ err: 'Interrupted; no backup was made\n' });
  expect(await listCopies(server)).toEqual([]);
  await expect(stat(file)).rejects.toThrow('ENOENT');

  await run(backupCommand, server);
  const target = await makeServer('new', engine);
  const said = await interrupt(run(restoreCommand, target));
  expect(said).toMatchObject({ err: 'Interrupted; the database has not changed\n' });
  expect(await listCopies(target)).toEqual([]);
  expect(await run(restoreCommand, target)).toMatchObject({ code: 0 });
});

test('backup and restore: move a database from SQLite to the tested engine', async () => {
  const source = await makeServer('sqlite', 'SQLite');
  const database = await openDatabase(source.place);
  await fill(database);
  await database.destroy();
  await run(backupCommand, source);
  const target = await makeServer('new', engine);
  await run(restoreCommand, target);
  expect(await readAll(target)).toEqual(await readAll(source));
});

test('backup: creates a file with mode 0600, and overwrites one only with --force', async () => {
  await run(backupCommand, server);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const before = await readFile(file);
  expect(await run(backupCommand, server)).toMatchObject({ code: 1, err: like('Use --force to overwrite it') });
  expect(await readFile(file)).toEqual(before);
  expect(await run(backupCommand, server, '--force', '--quiet')).toEqual({ code: 0, out: '', err: '' });
  expect((await readdir(folder)).sort()).toEqual(['old', 'trellis.backup']);
});

test('backup: reads few large rows at a time, and many small ones', async () => {
  const database = await openDatabase(server.place);
  const ids = Array.from({ length: 30 }, (_, index) => `p${index}`);
  for (const id of ids) {
    await addPerson(database, id);
    const board = { person_id: id, generated_at: 1, snapshot: 'x'.repeat(2 ** 20) };
    await database.insertInto('boards').values(board).execute();
  }
  const countBatches = (table: 'boards' | 'people') =>
    inSnapshot(database, async (snapshot) => {
      const counts: number[] = [];
      for await (const rows of readRows(snapshot, table)) counts.push(rows.length);
      return counts;
    });
  expect(await countBatches('people')).toEqual([8, 16, 7]);
  const [first = 0, ...others] = await countBatches('boards');
  expect(first).toBe(8);
  expect(Math.max(...others)).toBeLessThanOrEqual(4);
  await database.destroy();
});

test('backup: contains a consistent snapshot while the server writes', async () => {
  const database = await openDatabase(server.place);
  const done = new AbortController();
  let pairs = 0;
  const writing = (async () => {
    for (; !done.signal.aborted; pairs += 1) {
      await setImmediate();
      await inTransaction(database, async (transaction) => {
        await addPerson(transaction, `p${pairs}`);
        const board = { person_id: `p${pairs}`, generated_at: pairs, snapshot: '{}' };
        await transaction.insertInto('boards').values(board).execute();
      });
    }
  })();
  expect(await run(backupCommand, server)).toMatchObject({ code: 0 });
  done.abort();
  await writing;
  await database.destroy();
  expect(pairs).toBeGreaterThan(0);
  const target = await makeServer('new', engine);
  await run(restoreCommand, target);
  const [people, boards] = (await readAll(target)) as [unknown[], unknown[]];
  expect(people).toHaveLength(boards.length);
});

test('backup and restore: preserve entries of the audit log that are not chained yet, in any order', async () => {
  const database = await openDatabase(server.place);
  // The numbers are unique on SQLite only, and rows of PostgreSQL have no order.
  for (const [number, action] of engine === 'SQLite'
    ? ([[1, 'a']] as const)
    : ([
        [7, 'c'],
        [2, 'a'],
        [2, 'b'],
      ] as const)) {
    const entry = { number, action, subject_type: 'object', at: 1, ip: '::1', is_rejected: 1 };
    await database.insertInto('audit_pending').values(entry).execute();
  }
  await database.destroy();
  expect(await run(backupCommand, server)).toMatchObject({ code: 0 });
  const target = await makeServer('new', engine);
  expect(await run(restoreCommand, target)).toMatchObject({ code: 0 });
  const restored = await openDatabase(target.place);
  const entries = await restored.selectFrom('audit_pending').select('action').orderBy('number').execute();
  await restored.destroy();
  expect(entries.map(({ action }) => action).sort()).toEqual(engine === 'SQLite' ? ['a'] : ['a', 'b', 'c']);
  expect(entries.at(-1)?.action).toBe(engine === 'SQLite' ? 'a' : 'c');
});

test('restore: says that the database is read-only', async () => {
  const target = await makeServer('new', engine);
  if (!('url' in target.place)) return;
  await run(backupCommand, server);
  await (await openDatabase(target.place)).destroy();
  const url = `${target.place.url}?options=${encodeURIComponent('-c default_transaction_read_only=on')}`;
  expect(await run(restoreCommand, { ...target, place: { url } })).toEqual({
    code: 1,
    out: '',
    err: 'DATABASE_URL: the PostgreSQL server is a standby, or the database is read-only\n',
  });
});

test('backup and restore: refuse the address of an unknown store', async () => {
  for (const make of [backupCommand, restoreCommand]) {
    const said = await runCommand(
      ({ out, err }) => make({ release: '1.2.3', out, terminal: err as unknown as NodeJS.WriteStream }),
      ['gs://bucket/name', '--state', server.state],
    );
    expect(said).toMatchObject({ code: 1, err: like('Expected a path, or an address such as s3://bucket/prefix') });
  }
});

test.each([
  [['s3://ab/x.backup'], 's3://ab: expected an address such as s3://bucket/prefix, with a bucket name of 3 to 63'],
  [['s3://bucket/x.backup?acl=1'], 's3://bucket: unknown parameter "acl"'],
  [['verify', 's3://bucket/x.backup?endpoint=x'], 's3://bucket: expected an endpoint such as'],
  [['list', 's3://Bucket'], 's3://Bucket: expected an address such as s3://bucket/prefix'],
])('backup %j: names an invalid address of a bucket in one line', async (args, message) => {
  const said = await runCommand(
    ({ out, err }) => backupCommand({ release: '1.2.3', out, terminal: err as unknown as NodeJS.WriteStream }),
    [...args, ...(args.length === 1 ? ['--state', server.state] : [])],
  );
  expect(said).toMatchObject({ code: 1, err: like(`^${message.replaceAll('?', '\\?')}`) });
});

test.each([
  [
    'a file in a file',
    'trellis.backup/x.backup',
    "The backup can't be written: FOLDER/trellis.backup/x.backup: (EEXIST|ENOTDIR)",
  ],
  ['a folder', 'old', "The backup can't be written: FOLDER/old: (EEXIST|EISDIR|EPERM)"],
])('backup: names the path in one line if it is %s', async (_what, name, message) => {
  await writeFile(file, '');
  file = path.join(folder, name);
  const said = await run(backupCommand, server, '--force');
  expect(said).toEqual({ code: 1, out: '', err: like(new RegExp(`^${message.replace('FOLDER', folder)}\n$`)) });
});

test('restore: names the fault in one line for a folder', async () => {
  file = folder;
  const target = await makeServer('new', engine);
  expect(await run(restoreCommand, target)).toMatchObject({ code: 1, err: like("The backup can't be read.*EISDIR") });
});

test('backup list: names a missing folder in one line', async () => {
  const said = await runCommand(
    ({ out, err }) => backupCommand({ release: '1.2.3', out, terminal: err as unknown as NodeJS.WriteStream }),
    ['list', path.join(folder, 'none')],
  );
  expect(said).toEqual({ code: 1, out: '', err: `The backups can't be listed: ${folder}/none: ENOENT\n` });
});

test('backup: fails before the first start of the server', async () => {
  const empty = await makeServer('empty', engine);
  expect(await run(backupCommand, empty)).toMatchObject({
    code: 1,
    err: like('has no database|has version 0'),
  });
  await expect(stat(file)).rejects.toThrow('ENOENT');
});

describe('restore: changes nothing for', () => {
  let before: unknown;
  beforeEach(async () => {
    await run(backupCommand, server);
    const database = await openDatabase(server.place);
    await addPerson(database, 'later');
    await database.destroy();
    before = [await readAll(server), await readKey(server)];
  });

  async function expectRefused(reason: string, ...flags: string[]): Promise<void> {
    expect(await run(restoreCommand, server, ...flags)).toEqual({
      code: 1,
      out: '',
      err: like(reason),
    });
    expect([await readAll(server), await readKey(server)]).toEqual(before);
  }

  test('existing data without --force', () => expectRefused('Use --force to replace it'));

  test('a running server', async () => {
    const { close } = await openStateFolder(server.state);
    await expectRefused('in use by another server', '--force');
    close();
  });

  test('a backup with a changed value', async () => {
    const archive = new DatabaseSync(file);
    archive.exec("update people set display_name = 'Mallory'");
    archive.close();
    await expectRefused('The backup is corrupt: table people', '--force');
  });

  test('a backup with a path as the name of a file', async () => {
    const foreign = path.join(folder, 'notes.new');
    await writeFile(foreign, 'notes');
    const archive = new DatabaseSync(file);
    // The SHA-256 of an empty file.
    const digest = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
    archive.prepare("insert into archive_files values ('../notes', x'', ?)").run(digest);
    archive.close();
    await expectRefused('The backup contains an unknown file', '--force');
    expect(await readFile(foreign, 'utf8')).toBe('notes');
  });

  test('a backup of a newer release, also one whose tables this release can work with', async () => {
    const archive = new DatabaseSync(file);
    const version = MIGRATIONS.length;
    archive.prepare('insert into schema_versions (version, compatible_from) values (?, ?)').run(version + 1, version);
    archive.close();
    await expectRefused('The backup was created by the newer release 1.2.3', '--force');
  });

  test('a truncated backup', async () => {
    await writeFile(file, (await readFile(file)).subarray(0, 40_000));
    await expectRefused('The file is corrupt or not a backup', '--force');
  });

  test.each([
    ['a text file', 'hello'],
    ['an empty file', ''],
  ])('%s', async (_what, text) => {
    await writeFile(file, text);
    await expectRefused('not a backup', '--force');
  });

  test('a missing file', async () => {
    await rm(file);
    await expectRefused(`The backup can't be read: ${file}: ENOENT\n`, '--force');
  });

  test('rows that violate a constraint', async () => {
    const archive = new DatabaseSync(file, { enableForeignKeyConstraints: false });
    archive.exec(
      'delete from archive; delete from people; drop table archive; drop table archive_tables; drop table archive_files',
    );
    archive.close();
    await seal(file, ['boards']);
    const { err } = await run(restoreCommand, server, '--force').catch((error: unknown) => ({ err: String(error) }));
    expect(err).toMatch(/foreign key/i);
    expect(await readAll(server)).toEqual((before as unknown[])[0]);
  });
});

test('restore --force: replaces existing data and keeps the previous server key in a second file', async () => {
  await run(backupCommand, server);
  const target = await makeServer('new', engine);
  const database = await openDatabase(target.place);
  await addPerson(database, 'other');
  await database.destroy();
  await openServerKey(target.state);
  const key = await readKey(target);
  expect(await run(restoreCommand, target, '--force')).toMatchObject({ code: 0 });
  expect(await readAll(target)).toEqual(await readAll(server));
  expect(await readFile(path.join(target.state, 'server.key.before-restore'), 'utf8')).toBe(key);
});

test('restore --force: keeps the server key with the data when it is cancelled, however often', async () => {
  await run(backupCommand, server);
  const target = await makeServer('new', engine);
  const database = await openDatabase(target.place);
  await addPerson(database, 'other');
  await database.destroy();
  await openServerKey(target.state);
  const before = [await readKey(target), await readAll(target), await readdir(target.state)];
  const { state } = target;
  const databaseUrl = 'url' in target.place ? target.place.url : undefined;
  for (const attempt of ['first', 'second']) {
    const stop = new AbortController();
    const restored = restoreBackup({
      ...{ state, databaseUrl, force: true, signal: stop.signal, onProgress: () => stop.abort(attempt) },
      ...(await locateBackup(file, { folder: state, env: {} })),
    });
    await expect(restored).rejects.toBe(attempt);
    expect([await readKey(target), await readAll(target), await readdir(state)]).toEqual(before);
  }
});

test('restore: upgrades a backup from an older release', async () => {
  const old = await openDatabase({ file }, { migrations: MIGRATIONS.slice(0, 4) });
  await addPerson(old, 'ada');
  await old.destroy();
  await seal(file, ['people']);
  const target = await makeServer('new', engine);
  expect(await run(restoreCommand, target)).toMatchObject({ code: 0, err: like('Restored 1 rows') });
  expect(await readAll(target)).toEqual([[{ ...person, id: 'ada', username_key: 'ada' }], [], []]);
});

/** Turns a database file into a backup, without changing its rows. */
async function seal(archiveFile: string, names: readonly ('boards' | 'people')[]): Promise<void> {
  const version = new DatabaseSync(archiveFile);
  const row = version.prepare('select max(version) as last from schema_versions').get() as { last: number };
  version.close();
  const archive = await openDatabase({ file: archiveFile }, { migrations: MIGRATIONS.slice(0, row.last) });
  const tables = new Map();
  for (const name of names) {
    const tally = createRowDigest();
    for await (const rows of readRows(archive, name)) tally.add(rows);
    tables.set(name, tally.sum());
  }
  await writeArchiveContents(archive, { createdAt: new Date(0), release: '0.0.1', tables, files: [] });
  await archive.destroy();
}

describe('an encrypted backup', () => {
  let identityFile: string;
  let recipient: string;
  beforeEach(async () => {
    const identity = await generateX25519Identity();
    recipient = await identityToRecipient(identity);
    identityFile = path.join(folder, 'identity.txt');
    await writeFile(identityFile, `# created: today\n${identity}\n`);
  });

  const verify = (...flags: string[]) =>
    runCommand(
      ({ out, err }) => backupCommand({ release: '1.2.3', out, terminal: err as unknown as NodeJS.WriteStream }),
      ['verify', file, '--state', server.state, ...flags],
    );

  test('contains nothing in clear, and is restored with an identity', async () => {
    expect(await run(backupCommand, server, '--recipient', recipient)).toMatchObject({
      code: 0,
      err: like(/, encrypted to 1 recipient\.$/m),
    });
    const bytes = await readFile(file);
    expect(bytes.subarray(0, 21).toString()).toBe('age-encryption.org/v1');
    expect(bytes.includes((await readKey(server)).trim())).toBe(false);
    const target = await makeServer('new', engine);
    expect(await run(restoreCommand, target)).toMatchObject({ code: 1, err: like('The backup is encrypted') });
    expect(await run(restoreCommand, target, '--identity', identityFile)).toMatchObject({ code: 0 });
    expect(await readAll(target)).toEqual(await readAll(server));
    expect(await readKey(target)).toBe(await readKey(server));
    expect((await readdir(server.state)).filter((name) => name.startsWith('backup-'))).toEqual([]);
  });

  test('verify: describes the backup, and finds damage at its end', async () => {
    await run(backupCommand, server, '--recipient', recipient);
    const described =
      /^Encrypted backup of 2\S+Z, created by release 1\.2\.3: 3 rows of \d+ tables and server\.key\.$/m;
    expect(await verify('--identity', identityFile)).toMatchObject({ code: 0, err: like(described) });
    await writeFile(identityFile, await generateX25519Identity());
    expect(await verify('--identity', identityFile)).toMatchObject({ code: 1, err: like("can't decrypt the backup") });
  });

  test.each<[string, (bytes: Buffer) => Buffer]>([
    ['a changed last byte', (bytes) => Buffer.concat([bytes.subarray(0, -1), Buffer.from([bytes.at(-1)! ^ 1])])],
    ['a missing end', (bytes) => bytes.subarray(0, -70_000)],
  ])('verify: rejects %s', async (_what, damage) => {
    await run(backupCommand, server, '--recipient', recipient);
    await writeFile(file, damage(await readFile(file)));
    expect(await verify('--identity', identityFile)).toMatchObject({ code: 1, err: like("can't be read completely") });
  });
});

describe('scheduled backups', () => {
  test('are created by one of two servers, when they are due, and the oldest are deleted', async () => {
    const place = path.join(folder, 'backups');
    const databases = [await openDatabase(server.place), await openDatabase(server.place)];
    const databaseUrl = 'url' in server.place ? server.place.url : undefined;
    const options = databases.map((database) => ({
      ...{ database, databaseUrl, state: server.state, place, env: {}, recipients: [] },
      ...{ hours: 24, keep: 2, release: '1.2.3', report: (error: unknown) => expect(error).toBeUndefined() },
    }));
    for (const day of ['01', '02', '03']) {
      await mkdir(place, { recursive: true });
      await writeFile(path.join(place, `trellis-2020-01-${day}T00-00-00Z.backup`), '');
    }
    await writeFile(path.join(place, 'notes.txt'), '');
    for (const name of ['.trellis-backup-killed', '.trellis-backup-running'])
      await writeFile(path.join(place, name), '');
    await utimes(path.join(place, '.trellis-backup-killed'), 1, 1);
    const names = await Promise.all(options.map(runDueBackup));
    const [name] = names.filter((each) => each !== undefined);
    expect(names.filter((each) => each !== undefined)).toHaveLength(1);
    const kept = ['.trellis-backup-running', 'notes.txt', 'trellis-2020-01-03T00-00-00Z.backup', name];
    expect((await readdir(place)).sort()).toEqual(kept);
    expect(await Promise.all(options.map(runDueBackup))).toEqual([undefined, undefined]);
    // The names contain the second.
    await sleep(1_000);
    expect(await runDueBackup({ ...options[0]!, hours: 12 })).toMatch(/\.backup$/);
    await databases[0]!
      .updateTable('backup_schedule')
      .set({ due_at: 0, lease_until: Date.now() + 60_000 })
      .execute();
    expect(await runDueBackup(options[0]!)).toBeUndefined();
    await Promise.all(databases.map((database) => database.destroy()));
  });

  test('continue after the clock was set back, and keep their number of backups', async () => {
    const place = path.join(folder, 'backups');
    const database = await openDatabase(server.place);
    await mkdir(place);
    const future = ['01', '02'].map((day) => `trellis-2999-01-${day}T00-00-00Z.backup`);
    for (const name of future) await writeFile(path.join(place, name), '');
    await database
      .insertInto('backup_schedule')
      .values({ id: 1, due_at: 2 ** 50, lease_until: 2 ** 50 })
      .execute();
    const name = await runDueBackup({
      ...{ database, databaseUrl: 'url' in server.place ? server.place.url : undefined, state: server.state, place },
      ...{ env: {}, recipients: [], hours: 24, keep: 1, release: '1.2.3', report: (error) => expect(error).toBe('') },
    });
    expect((await readdir(place)).sort()).toEqual([name, ...future]);
    await database.destroy();
  });

  test('are made, and the old ones deleted, although one of these is protected', async () => {
    const place = path.join(folder, 'backups');
    const database = await openDatabase(server.place);
    // A folder is refused, as an object with a lock is.
    const locked = 'trellis-2020-01-02T00-00-00Z.backup';
    await mkdir(path.join(place, locked), { recursive: true });
    await writeFile(path.join(place, 'trellis-2020-01-01T00-00-00Z.backup'), '');
    const said: unknown[] = [];
    const name = await runDueBackup({
      ...{ database, databaseUrl: 'url' in server.place ? server.place.url : undefined, state: server.state, place },
      ...{ env: {}, recipients: [], hours: 24, keep: 1, release: '1.2.3' },
      report: (_error, message) => said.push(message),
    });
    expect(said).toEqual(['failed to delete old backups']);
    expect((await readdir(place)).sort()).toEqual([locked, name]);
    await database.destroy();
  });

  test('leave no file when they are cancelled, and are then due at once', async () => {
    const bucket = await startS3Server();
    const database = await openDatabase(server.place);
    const stop = new AbortController();
    // The bucket never responds to the upload.
    bucket.fault = (line) => {
      if (!line.startsWith('PUT ')) return undefined;
      stop.abort();
      return 'hang';
    };
    const options = {
      ...{ database, databaseUrl: 'url' in server.place ? server.place.url : undefined, state: server.state },
      ...{ place: `s3://${BUCKET}/backups`, env: bucket.env, recipients: [], hours: 24, keep: 2, release: '1.2.3' },
      ...{ signal: stop.signal, report: (error: unknown) => expect(error).toBeUndefined() },
    };
    expect(await runDueBackup(options)).toBeUndefined();
    expect(stop.signal.aborted).toBe(true);
    expect((await readdir(server.state)).filter((name) => name.startsWith('backup-'))).toEqual([]);
    bucket.fault = undefined;
    expect(await runDueBackup({ ...options, signal: new AbortController().signal })).toMatch(/\.backup$/);
    await Promise.all([database.destroy(), bucket.close()]);
  });
});
