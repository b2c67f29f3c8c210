import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { Writable } from 'node:stream';
import { DatabaseSync } from '@photostructure/sqlite';
import type { CheckResult } from '../../src/commands/doctor/check-result.js';
import { checkAddress, checkNode, checkProxy, runDoctor } from '../../src/commands/doctor/doctor.js';
import { loadConfig } from '../../src/config/config.js';
import { appendAuditEntry } from '../../src/secrets/audit/chain.js';
import { sequenceAuditEntries } from '../../src/secrets/audit/sequence.js';
import { createCliWorkloadRules } from '../../src/secrets/workload/rules.js';
import { toBackupName } from '../../src/storage/backups/schedule.js';
import type { DatabaseTarget } from '../../src/storage/database.js';
import { MIGRATIONS } from '../../src/storage/migrate.js';
import { openDatabase } from '../../src/storage/open-database.js';
import { assertServerKey, createServerKey, openServerKey } from '../../src/storage/server-key.js';
import { openStateFolder } from '../../src/storage/state-folder.js';
import { createDatabaseTarget, createReader } from '../storage/engine.js';

let state: string;
let place: DatabaseTarget;

beforeEach(async () => {
  place = await createDatabaseTarget();
  state = 'file' in place ? path.dirname(place.file) : await mkdtemp(path.join(os.tmpdir(), 'trellis-doctor-'));
});
afterEach(() => rm(state, { recursive: true, force: true }));

/** Runs the doctor; returns the status and state of each check as one text. */
async function examine(flags: Record<string, string> = {}) {
  let text = '';
  const out = new Writable({ write: (chunk: Buffer, _encoding, done) => done(void (text += chunk.toString())) });
  const where = 'url' in place ? { databaseUrl: place.url } : {};
  const code = await runDoctor({ flags: { state, port: '0', ...where, ...flags }, json: true, out });
  const findings = JSON.parse(text) as CheckResult[];
  const results = Object.fromEntries(findings.map(({ check, status, found }) => [check, `${status} ${found}`]));
  return { code, ...(results as Record<CheckResult['check'], string>) };
}

const like = (text: RegExp) => expect.stringMatching(text) as string;

test('doctor: passes all checks for a working server', async () => {
  const database = await openDatabase(place);
  await assertServerKey(database, await openServerKey(state));
  await database.destroy();
  expect(await examine()).toEqual({
    code: 0,
    node: like(/^ok Node\.js \d+/),
    settings: 'ok services site, dashboard, secrets',
    state: `ok ${state}`,
    disk: like(/ free for the state folder$/),
    key: `ok ${path.join(state, 'server.key')}`,
    database: like(/^ok (SQLite|PostgreSQL) [\d.]+.*, up to date, 0 users$/),
    'audit log': 'ok 0 entries',
    'workload rules': 'ok 0',
    'derived data': 'ok 0 databases',
    'object storage': 'ok none; derived files are in the state folder',
    backups: 'ok not scheduled',
    site: like(/^ok .*examples\/site$/),
    'site access': 'ok public',
    server: 'ok not running',
    port: 'ok any free port',
    address: 'ok http://localhost, for this machine only',
    proxy: 'ok none trusted',
  });
});

test('doctor: warns of a database that other users can read', async () => {
  await (await openDatabase(place)).destroy();
  await openServerKey(state);
  const file = path.join(state, 'images.db');
  await writeFile(file, '', { mode: 0o600 });
  await chmod(file, 0o644);
  expect(await examine()).toMatchObject({ code: 0, state: `warn images.db in ${state} can be read by other users` });
  await chmod(file, 0o600);
  expect(await examine()).toMatchObject({ state: `ok ${state}` });
});

test('doctor: warns of scheduled backups that are missing or late', async () => {
  const backup = path.join(state, 'backups');
  expect(await examine({ backup })).toMatchObject({ code: 0, backups: `warn none in ${backup}` });
  await mkdir(backup);
  await writeFile(path.join(backup, 'note.txt'), '');
  expect(await examine({ backup })).toMatchObject({ code: 0, backups: `warn none in ${backup}` });
  const now = Math.floor(Date.now() / 1_000);
  const [old, recent] = [50, 40].map((hours) => new Date((now - hours * 3_600) * 1_000));
  // The times of the files are later, as those of copies are.
  const write = (at: Date) => writeFile(path.join(backup, toBackupName(at, false)), '');
  await writeFile(path.join(backup, 'trellis-2026-99-99T99-99-99Z.backup'), '');
  await write(old!);
  const found = `1 in ${backup}, the newest of ${old!.toISOString()}`;
  expect(await examine({ backup })).toMatchObject({ code: 0, backups: `warn ${found}, 50 hours ago` });
  await write(recent!);
  expect(await examine({ backup })).toMatchObject({
    code: 0,
    backups: `ok 2 in ${backup}, the newest of ${recent!.toISOString()}`,
  });
  const file = path.join(backup, 'note.txt');
  expect(await examine({ backup: file })).toMatchObject({
    code: 1,
    backups: `fail The backups can't be listed: ${file}: ENOTDIR`,
  });
});

test('doctor: warns of a site that is public on the network', async () => {
  const found = 'warn public: anyone who can reach 0.0.0.0 can read the site';
  expect(await examine({ host: '0.0.0.0' })).toMatchObject({ code: 0, 'site access': found });
  expect(await examine({ host: '0.0.0.0', siteAccess: 'people' })).toMatchObject({ 'site access': 'ok people' });
});

test('doctor: mentions nothing of secrets in a project without them', async () => {
  const config = path.join(state, 'trellis.config.mjs');
  await writeFile(config, 'export default { services: {}, accounts: true };\n');
  const { code, ...results } = await examine({ config });
  const mentioned = Object.keys(results).filter((check) => ['audit log', 'workload rules'].includes(check));
  expect([code, mentioned]).toEqual([0, []]);
});

test('doctor: verifies the audit log', async () => {
  const database = await openDatabase(place);
  const origin = { caller: 'machine', ip: 'x', at: 1 } as const;
  for (const slug of ['a', 'b']) await appendAuditEntry(database, { action: 'create', slug, variantId: 'v' }, origin);
  await sequenceAuditEntries(database);
  expect(await examine()).toMatchObject({ 'audit log': like(/^ok 2 entries, whose head is [0-9a-f]{64}$/) });
  await database.updateTable('audit_log').set({ slug: 'x' }).where('id', '=', 1).execute();
  await database.destroy();
  expect(await examine()).toMatchObject({ code: 1, 'audit log': 'fail entry 1 is changed' });
});

test('doctor: warns of stored workload rules that match workloads of other owners', async () => {
  const database = await openDatabase(place);
  const rules = createCliWorkloadRules(database);
  const origin = { caller: 'machine', ip: 'x', at: 1 } as const;
  const rule = { issuer: 'https://token.actions.githubusercontent.com', audience: 'x', consumer: 'acme/shop' };
  const claims = [{ name: 'repository', patterns: ['acme/shop'] }];
  for (const name of ['deploy', 'nightly']) await rules.put(origin, { ...rule, name, claims });
  expect(await examine()).toMatchObject({ code: 0, 'workload rules': 'ok 2' });
  // Earlier releases accepted it.
  const shared = JSON.stringify([{ name: 'ref', patterns: ['refs/heads/main'] }]);
  await database.updateTable('workload_rules').set({ claims: shared }).where('name', '=', 'nightly').execute();
  await database.destroy();
  expect(await examine()).toMatchObject({
    code: 0,
    'workload rules': 'warn workloads of other owners may match nightly',
  });
});

test('doctor: does not create the state folder', async () => {
  const folder = path.join(state, 'new');
  expect(await examine({ state: folder })).toMatchObject({
    code: 0,
    key: 'ok server.key is created on the first start',
    'audit log': 'ok not created by this release yet',
    database: like(/^ok (SQLite, created on the first start|PostgreSQL [\d.]+.*, empty)$/),
  });
  await expect(chmod(folder, 0o700)).rejects.toThrow('ENOENT');
});

test('doctor: lists the entries of the site that the server skips', async () => {
  const site = path.join(state, 'content');
  await mkdir(site);
  await writeFile(Buffer.concat([Buffer.from(`${site}/caf`), Buffer.from([0xe9])]), '');
  const said = await examine({ site });
  expect(said.code).toBe(0);
  expect(said).toHaveProperty(
    'site',
    `warn ${site} has 1 problem:\n      caf\\xe9 its name is not valid UTF-8; rename it.`,
  );
});

test('doctor: reports an unreachable database without its URL', async () => {
  const gone = { databaseUrl: 'postgres://me:geheim@127.0.0.1:1/x' };
  const said = await examine({ ...gone, site: '/nowhere' });
  expect(said).toMatchObject({
    code: 1,
    database: "fail the PostgreSQL server can't be reached: ECONNREFUSED",
    site: "fail /nowhere: The site's folder can't be read: ENOENT, it does not exist.",
  });
  expect(JSON.stringify(said)).not.toContain('geheim');
});

test.each([
  [
    'a database that is read-only, such as a standby',
    '',
    /^fail the PostgreSQL server is a standby, or the database is/,
  ],
  ['a user who may only read', 'revoke', /^fail the user is not allowed to create or to use the tables$/],
])('doctor: fails for %s', async (_what, change, found) => {
  if (!('url' in place)) return;
  const database = await openDatabase(place);
  await assertServerKey(database, await openServerKey(state));
  if (change !== '') await createReader(database);
  await database.destroy();
  const setting = change === '' ? 'default_transaction_read_only=on' : 'role=trellis_reader';
  const databaseUrl = `${place.url}?options=${encodeURIComponent(`-c ${setting}`)}`;
  expect(await examine({ databaseUrl })).toMatchObject({ code: 1, database: like(found) });
});

test('doctor: fails within seconds if the database stops responding to statements', async () => {
  if (!('url' in place)) return;
  const target = new URL(place.url);
  const sockets: Socket[] = [];
  const proxy = createServer((socket) => {
    const upstream = connect(Number(target.port), target.hostname);
    sockets.push(socket, upstream);
    socket.on('data', (bytes) => bytes.includes('show server_version') || upstream.write(bytes));
    upstream.pipe(socket);
    for (const one of [socket, upstream]) one.on('error', () => undefined);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as AddressInfo;
  const databaseUrl = Object.assign(new URL(target), { port: String(port) }).href;
  expect(await examine({ databaseUrl })).toMatchObject({
    code: 1,
    database: "fail the PostgreSQL server can't be reached: Query read timeout",
  });
  for (const socket of sockets) socket.destroy();
  proxy.close();
}, 30_000);

test('doctor: passes while a different process writes to a SQLite file', async () => {
  if (!('file' in place)) return;
  const database = await openDatabase(place);
  await assertServerKey(database, await openServerKey(state));
  await database.destroy();
  const writer = new DatabaseSync(place.file);
  writer.exec('begin immediate');
  expect(await examine()).toMatchObject({ code: 0, database: like(/, up to date, 0 users$/) });
  writer.close();
}, 30_000);

test('doctor: warns of a state folder, and fails for a server key, that other users can read', async () => {
  await openServerKey(state);
  await chmod(state, 0o755);
  await chmod(path.join(state, 'server.key'), 0o644);
  expect(await examine()).toMatchObject({
    state: like(/^warn .* is accessible to other users$/),
    key: like(/^fail .* is accessible to other users$/),
  });
});

test('doctor: compares the key that a command prints with that of the database', async () => {
  const key = 'k'.repeat(43);
  const database = await openDatabase(place);
  await assertServerKey(database, createServerKey(key));
  await database.destroy();
  expect(await examine({ serverKeyCommand: `echo ${key}` })).toMatchObject({
    code: 0,
    key: 'ok set by the command of TRELLIS_SERVER_KEY_COMMAND',
    database: like(/, up to date, 0 users$/),
  });
  expect(await examine({ serverKeyCommand: `echo ${'x'.repeat(43)}` })).toMatchObject({
    code: 1,
    database: like(/^fail .*, used with a different server\.key$/),
  });
  expect(await examine({ serverKeyCommand: 'exit 2' })).toMatchObject({
    code: 1,
    key: 'fail TRELLIS_SERVER_KEY_COMMAND: the command ended with exit code 2',
    database: like(/, up to date, 0 users$/),
  });
});

test('doctor: warns of a key file that is unused, because it is part of backups', async () => {
  await openServerKey(state);
  expect(await examine({ serverKey: 'k'.repeat(43) })).toMatchObject({
    key: like(/^warn set by TRELLIS_SERVER_KEY, but .*server\.key exists and is part of backups$/),
  });
});

test('doctor: fails for a database that was used with a different server key', async () => {
  const database = await openDatabase(place);
  await assertServerKey(database, createServerKey('a'.repeat(43)));
  await database.destroy();
  await openServerKey(state);
  expect(await examine()).toMatchObject({ code: 1, database: like(/^fail .*, used with a different server\.key$/) });
});

test('doctor: warns of a database from an older release', async () => {
  await (await openDatabase(place, { migrations: MIGRATIONS.slice(0, 3) })).destroy();
  expect(await examine()).toMatchObject({ code: 0, database: like(/^warn .* of an older release$/) });
});

test('doctor: fails for a database file with other content', async () => {
  const folder = path.join(state, 'broken');
  await mkdir(folder, { mode: 0o700 });
  await writeFile(path.join(folder, 'trellis.db'), 'hello');
  place = { file: path.join(folder, 'trellis.db') };
  expect(await examine({ state: folder })).toMatchObject({
    code: 1,
    database: like(/^fail trellis\.db: the database is damaged/),
  });
});

test('doctor: detects a running server, and a port that is in use', async () => {
  const listener = createServer();
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const port = String((listener.address() as AddressInfo).port);
  expect(await examine({ port })).toMatchObject({ code: 1, port: like(/^fail .* is already in use$/) });
  const folder = await openStateFolder(state);
  expect(await examine({ port })).toMatchObject({
    server: 'ok running on this state folder',
    port: like(/^ok .* is in use; a server is running$/),
  });
  folder.close();
  listener.close();
});

test('doctor: reports an invalid option', async () => {
  expect(await examine({ port: 'http' })).toMatchObject({ code: 1, settings: like(/^fail --port: expected /) });
});

test.each([
  ['20.18.3', 'fail'],
  ['20.19.0', 'ok'],
  ['22.0.0', 'ok'],
  ['18.20.8', 'fail'],
])('checkNode: Node.js %s is %s', (version, status) => {
  expect(checkNode(version).status).toBe(status);
});

test.each([
  [{ publicUrl: 'https://trellis.example' }, 'ok'],
  [{ publicUrl: 'http://localhost:4000' }, 'ok'],
  [{ publicUrl: 'http://trellis.example' }, 'warn'],
  [{ publicUrl: 'https://192.0.2.1' }, 'warn'],
  [{ publicUrl: 'https://[2001:db8::1]' }, 'warn'],
  [{ host: '0.0.0.0' }, 'warn'],
])('checkAddress: %j is %s', async (flags, status) => {
  expect(checkAddress(await loadConfig({ flags, env: {}, folder: state })).status).toBe(status);
});

test('checkProxy: warns of https without a trusted proxy', async () => {
  const publicUrl = 'https://trellis.example';
  const check = async (flags: Record<string, string>) =>
    checkProxy(await loadConfig({ flags, env: {}, folder: state })).status;
  expect([await check({ publicUrl }), await check({ publicUrl, trustProxy: '1' })]).toEqual(['warn', 'ok']);
});
