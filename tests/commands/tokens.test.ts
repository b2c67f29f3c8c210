import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAccounts } from '../../src/accounts/accounts.js';
import { issueToken } from '../../src/accounts/bearer-tokens.js';
import { tokensCommand } from '../../src/commands/tokens.js';
import type { DatabaseTarget } from '../../src/storage/database.js';
import { openDatabase } from '../../src/storage/open-database.js';
import { type RunningServer, startServer } from '../running-server.js';
import { createDatabaseTarget, createReader, engine } from '../storage/engine.js';
import { runCommand } from './run-command.js';

let folder: string;
let place: DatabaseTarget;
let server: RunningServer;
/** The options that locate the server's data. */
let where: string[];

/** Starts one server for all tests. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trellis-tokens-'));
  place = engine === 'PostgreSQL' ? await createDatabaseTarget() : { file: join(folder, 'trellis.db') };
  where = ['--state', folder, ...('url' in place ? ['--database-url', place.url] : [])];
  server = await startServer(['--services', 'dashboard,secrets', ...where]);
  const database = await openDatabase(place);
  await createAccounts(database, { origin: () => server.origin }).users.add({ username: 'Ada', displayName: 'Ada' });
  await database.destroy();
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
});

const trellis = (...args: string[]) => runCommand(tokensCommand, args);

const statusWith = async (token: string) =>
  (await fetch(`${server.origin}/api/auth/session`, { headers: { authorization: `Bearer ${token}` } })).status;

test.each([
  ['default_transaction_read_only=on', 'the PostgreSQL server is a standby, or the database is read-only'],
  ['role=trellis_reader', 'the user is not allowed to create or to use the tables'],
])('tokens: report in one line that a database with %s rejects them', async (setting, reason) => {
  if (!('url' in place)) return;
  const database = await openDatabase(place);
  await createReader(database);
  await database.destroy();
  const url = `${place.url}?options=${encodeURIComponent(`-c ${setting}`)}`;
  const said = await trellis(...['create', '--user', 'ada', '--label', 'CI', '--days', '30'], '--database-url', url);
  expect(said).toEqual({ code: 1, out: '', err: `DATABASE_URL: ${reason}\n` });
});

test('tokens: create, list and revoke an API token of the running server', async () => {
  const made = await trellis('create', '--user', 'ada', '--label', 'CI', '--days', '30', '--scope', 'write', ...where);
  expect([made.code, made.out]).toEqual([0, expect.stringMatching(/^trl_[\w-]{43}[0-9A-Za-z]{6}\n$/)]);
  expect(made.err).toContain('of ada, valid until');
  expect(await statusWith(made.out.trim())).toBe(200);

  const listed = await trellis('list', '--user', 'ADA', '--json', ...where);
  const [{ id }] = JSON.parse(listed.out) as [{ id: string }];
  expect(JSON.parse(listed.out)).toMatchObject([{ label: 'CI', scopes: ['read', 'write'] }]);
  const table = await trellis('list', '--user', 'ada', ...where);
  expect(table.out).toContain(id);
  expect(table.out + listed.out).not.toContain(made.out.trim());

  expect(await trellis('revoke', id, ...where)).toMatchObject({ code: 0, out: '' });
  expect(await statusWith(made.out.trim())).toBe(401);

  const database = await openDatabase(place);
  const events = await database.selectFrom('account_events').selectAll().orderBy('at').execute();
  await database.destroy();
  expect(events.map(({ action, actor_type, subject, address }) => [action, actor_type, subject, address])).toEqual([
    ['token_created', 'machine', id, 'this machine'],
    ['token_revoked', 'machine', id, 'this machine'],
  ]);
});

test('token ids never start with a hyphen, so that they are not parsed as options', async () => {
  const database = await openDatabase(place);
  const { id: personId } = await database.selectFrom('people').select('id').executeTakeFirstOrThrow();
  const [createdAt, expiresAt] = [Date.now(), new Date(Date.now() + 1_000)];
  const token = { kind: 'personal', personId, label: 'one of many', scopes: ['read'], createdAt, expiresAt } as const;
  const ids: string[] = [];
  for (let index = 0; index < 300; index += 1) ids.push((await issueToken(database, token)).row.id);
  await database.destroy();
  expect(ids.filter((id) => id.startsWith('-'))).toEqual([]);
});

test('tokens: create and revoke write and consumer tokens, recorded in the audit log', async () => {
  const secrets = (path: string, token: string) =>
    fetch(`${server.origin}/secrets${path}`, { headers: { authorization: `Bearer ${token}` } });
  const made = await trellis('create', '--kind', 'write', '--label', 'first', '--days', '1', ...where);
  expect([made.code, made.out]).toEqual([0, expect.stringMatching(/^trs_[\w-]{43}[0-9A-Za-z]{6}\n$/)]);
  const token = made.out.trim();
  const reader = ['--kind', 'consumer', '--consumer', 'acme/shop', '--label', 'shop', '--days', '1'];
  expect((await trellis('create', ...reader, ...where)).out).toMatch(/^trc_/);
  const listed = await trellis('list', '--kind', 'write', '--json', ...where);
  const [{ id }] = JSON.parse(listed.out) as [{ id: string }];
  expect((await trellis('list', '--kind', 'consumer', ...where)).out).toContain('read secrets of acme/shop');

  const entries = (await (await secrets('/audit-log', token)).json()) as Record<string, string>[];
  expect(
    entries.map(({ action, subject_type, actor_type, ip }) => [action, subject_type, actor_type, ip].join()),
  ).toEqual(['create,token,machine,this machine', 'create,consumer_token,machine,this machine']);
  const issued = (await (await secrets('/consumer-tokens', token)).json()) as object[];
  expect(issued).toMatchObject([{ consumer: 'acme/shop', status: 'active' }]);
  expect(await trellis('revoke', id, ...where)).toMatchObject({ code: 0, out: '' });
  expect((await secrets('/audit-log', token)).status).toBe(401);
});

test.each([
  [
    'a consumer token without a consumer',
    ['create', '--kind', 'consumer', '--label', 'x', '--days', '1'],
    'require one --consumer',
  ],
  ['API tokens without a user', ['list'], 'require --user'],
  [
    'a write token with more than 365 days',
    ['create', '--kind', 'write', '--label', 'x', '--days', '366'],
    'at most 365',
  ],
  ['an unknown username', ['create', '--user', 'eve', '--label', 'x', '--days', '1'], 'No user named "eve"'],
  ['a blank label', ['create', '--user', 'ada', '--label', ' ', '--days', '1'], 'Expected label'],
  ['more than 366 days', ['create', '--user', 'ada', '--label', 'x', '--days', '367'], 'from 1 to 366'],
  ['a missing lifetime', ['create', '--user', 'ada', '--label', 'x'], '--days'],
  ['an unknown scope', ['create', '--user', 'ada', '--label', 'x', '--days', '1', '--scope', 'all'], 'read, write'],
  ['an unknown id', ['revoke', 'nothing'], 'No API token with this id'],
])('tokens: reports %s in one line', async (_reason, args, message) => {
  const { code, out, err } = await trellis(...args, ...where);
  expect([code, out]).toEqual([1, '']);
  expect(err).toContain(message);
  expect(err.trim().split('\n')).toHaveLength(1);
});

test('tokens: fails for a state folder without a database', async () => {
  const { code, err } = await trellis('list', '--user', 'ada', '--state', join(folder, 'none'));
  expect([code, err]).toEqual([1, expect.stringContaining('No database in this state folder')]);
});

test('tokens: create a write token with limits, and reject limits of a different kind', async () => {
  const create = (...args: string[]) => trellis('create', '--label', 'limited', '--days', '30', ...args, ...where);
  const limits = ['--permission', 'list', '--permission', 'write', '--name-prefix', 'shop-', '--tag', 'prod'];
  const made = await create('--kind', 'write', ...limits, '--consumer', 'acme/shop', '--address', '127.0.0.0/8');
  expect([made.code, made.out]).toEqual([0, expect.stringMatching(/^trs_/)]);
  const send = (path: string, method = 'GET') =>
    fetch(`${server.origin}/secrets${path}`, { method, headers: { authorization: `Bearer ${made.out.trim()}` } });
  expect((await send('/objects')).status).toBe(200);
  expect((await send('/objects/shop-db', 'DELETE')).status).toBe(403);
  const { out } = await trellis('list', '--kind', 'write', '--json', ...where);
  const [stored] = (JSON.parse(out) as { description: string; access?: object }[]).filter(
    ({ description }) => description === 'limited',
  );
  expect(stored?.access).toEqual({
    permissions: ['list', 'write'],
    namePrefix: 'shop-',
    tags: ['prod'],
    consumers: ['acme/shop'],
    addresses: ['127.0.0.0/8'],
  });
  const table = (await trellis('list', '--kind', 'write', ...where)).out;
  expect(table).toContain('list, write secrets; names shop-…; tags prod');

  for (const [kind, args, message] of [
    ['consumer', ['--consumer', 'a', '--tag', 'prod'], 'Only write tokens have --tag'],
    ['consumer', ['--consumer', 'a', '--consumer', 'b'], 'Consumer tokens require one --consumer'],
    ['personal', ['--user', 'ada', '--address', '10.0.0.0/8'], 'API tokens have no --address'],
    ['write', ['--permission', 'all'], 'Expected list, read, write, manage'],
    ['write', ['--address', '10.0.0.0/64'], 'Expected an IP address or range'],
  ] as const) {
    const wrong = await create('--kind', kind, ...args);
    expect([wrong.code === 0, wrong.out, wrong.err]).toEqual([false, '', expect.stringContaining(message)]);
  }
});
