import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { newName, openSecretsCli, type SecretsCli } from './secrets-cli.js';

let cli: SecretsCli;

beforeAll(async () => {
  cli = await openSecretsCli();
});
afterAll(() => cli.close());

const put = (name: string, ...args: string[]) =>
  cli.run(['put', name, '--recipient', cli.recipient, ...args], { stdin: 'value' });

const slugs = (out: string) => (JSON.parse(out) as { slug: string }[]).map(({ slug }) => slug);

test('list: filters secrets by tags and consumer, and prints a table or JSON', async () => {
  const tag = `t-${newName().slice(2, 10)}`;
  const [one, other] = ['a-object', 'b-object'];
  await put(one, '--tag', tag, '--tag', 'both');
  await put(other, '--tag', tag, '--consumer', cli.consumer);
  expect(slugs((await cli.run(['list', '--tag', tag, '--json'])).out)).toEqual([one, other]);
  expect(slugs((await cli.run(['list', '--tag', tag, '--tag', 'both', '--json'])).out)).toEqual([one]);
  expect(slugs((await cli.run(['list', '--tag', tag, '--consumer', cli.consumer, '--json'])).out)).toEqual([other]);
  const { out } = await cli.run(['list', '--tag', tag]);
  expect(out).toContain('│ a-object │ both');
  expect(out).toContain(cli.consumer);
  expect((await cli.run(['list', '--tag', 'none-such'])).out).toBe('No secrets.\n');
  expect((await cli.run(['list', '--due', '--json'])).out).toBe('[]\n');
});

test('rename: makes the previous name available, and fails for an existing one', async () => {
  const [from, to] = [newName(), newName()];
  await put(from);
  expect(await cli.run(['rename', from, to])).toMatchObject({ code: 0, out: '' });
  expect((await cli.run(['get', to])).out).toBe('value');
  expect((await cli.run(['get', from])).code).toBe(3);
  await put(from);
  expect((await cli.run(['rename', from, to])).code).toBe(5);
});

test('label: changes labels and keeps the value', async () => {
  const name = newName();
  await cli.run(['put', name, '--consumer', cli.consumer, '--tag', 'old', '--description', 'Old.'], { stdin: 'x' });
  const find = async () => (await cli.client.GET('/objects', { params: { query: { slug: name } } })).data![0]!;
  const before = await find();
  const label = (...args: string[]) => cli.run(['label', name, ...args]);
  expect(await label('--tag', 'b', '--tag', 'a', '--rotate-after-days', '30')).toMatchObject({ code: 0 });
  expect(await find()).toMatchObject({ ...before, tags: ['a', 'b'], rotate_after_days: 30 });
  const { code, err } = await label('--no-tag', '--no-description', '--no-rotate-after-days', '--no-consumer');
  expect([code, err]).toEqual([0, expect.stringContaining(`rotate ${name} --reseal`)]);
  const { description: _description, used_by: _consumers, ...rest } = before;
  const { reseal, ...after } = await find();
  expect(after).toEqual({ ...rest, tags: [] });
  expect(reseal?.stale).toEqual([cli.recipient]);
  expect((await label()).code).toBe(2);
});

test('delete: requires a confirmation', async () => {
  const name = newName();
  await put(name);
  const unasked = await cli.run(['delete', name]);
  expect([unasked.code, unasked.err]).toEqual([2, 'trellis: Not a terminal: confirm with --yes\n']);
  expect((await cli.run(['get', name])).code).toBe(0);
  expect(await cli.run(['delete', name, '--yes'])).toMatchObject({ code: 0, err: `Deleted ${name}.\n` });
  expect((await cli.run(['get', name])).code).toBe(3);
});

test('delete: Ctrl+C at the confirmation ends with exit code 130 and deletes nothing', async () => {
  const name = newName();
  await put(name);
  const command = `${process.execPath} --conditions=trellis-source --import tsx src/cli.ts secrets delete ${name}`;
  const env = { ...cli.env, PATH: process.env.PATH, TERM: 'dumb' };
  const child = spawn('script', ['-qec', command, '/dev/null'], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  let shown = '';
  child.stdout.on('data', (chunk: Buffer) => {
    shown += chunk.toString();
    if (shown.endsWith('[y/N] ')) child.stdin.write('\x03');
  });
  const [code] = (await once(child, 'close')) as [number];
  expect([code, shown]).toEqual([130, expect.stringContaining('trellis: Interrupted; nothing was written')]);
  expect((await cli.run(['get', name, '--sealed'])).code).toBe(0);
});

test('consumers: add, key, rename, list and delete', async () => {
  const name = newName();
  expect((await cli.run(['consumers', 'add', `${name}/shop`])).err).toContain('without a public key');
  expect((await cli.run(['consumers', 'add', `${name}/shop`])).code).toBe(5);
  expect((await cli.run(['consumers', 'key', `${name}/shop`, cli.recipient])).err).toContain('has a key');
  const secret = newName();
  await cli.run(['put', secret, '--consumer', `${name}/shop`], { stdin: 'value' });
  expect((await cli.run(['consumers', 'rename', `${name}/shop`, `${name}/store`])).err).toContain('1 secret names it');
  const { out } = await cli.run(['consumers', 'list', '--query', name, '--json']);
  expect(JSON.parse(out)).toEqual([{ name: `${name}/store`, secret_count: 1, public_key: cli.recipient }]);
  expect((await cli.run(['consumers', 'list', '--query', name])).out).toContain(cli.recipient);
  expect((await cli.run(['consumers', 'delete', `${name}/store`])).code).toBe(2);
  expect((await cli.run(['consumers', 'delete', `${name}/store`, '--yes'])).code).toBe(0);
  expect((await cli.run(['consumers', 'list', '--query', name])).out).toBe('No consumers.\n');
  expect((await cli.run(['consumers', 'key', '../x', cli.recipient])).code).toBe(2);
});

test('consumers list: reads all pages', async () => {
  const name = newName();
  for (let index = 0; index < 101; index += 1) {
    await cli.client.POST('/consumers', { body: { name: `${name}-${index}` } });
  }
  const { out } = await cli.run(['consumers', 'list', '--query', name, '--json']);
  expect(JSON.parse(out)).toHaveLength(101);
});

test('tokens: mint, rotate, revoke and purge a consumer token', async () => {
  const name = newName();
  await put(name, '--consumer', cli.consumer);
  const mint = ['tokens', 'mint', '--consumer', cli.consumer, '--description', 'deploy', '--days', '7'];
  const minted = await cli.run(mint);
  expect([minted.code, minted.out]).toEqual([0, expect.stringMatching(/^trc_[\w-]+\n$/)]);
  const [, id = ''] = /Token (\w+) of/.exec(minted.err) ?? [];
  const withToken = (token: string, ...args: string[]) =>
    cli.run(args, { env: { TRELLIS_SECRETS_TOKEN: token.trim() } });
  expect((await withToken(minted.out, 'get', name)).out).toBe('value');
  expect((await withToken(minted.out, 'list')).out).toContain(name);
  expect((await withToken(minted.out, 'consumers', 'list')).code).toBe(4);
  expect((await withToken(minted.out, 'status')).out).toContain('Token: consumer token');

  const rotated = await cli.run(['tokens', 'rotate', id]);
  expect((await withToken(minted.out, 'get', name)).code).toBe(4);
  expect((await withToken(rotated.out, 'get', name)).code).toBe(0);
  expect((await cli.run(['tokens', 'purge', id])).code).toBe(5);
  expect((await cli.run(['tokens', 'revoke', id])).code).toBe(0);
  expect((await withToken(rotated.out, 'get', name)).code).toBe(4);
  expect((await withToken(rotated.out, 'status')).code).toBe(4);
  const { out } = await cli.run(['tokens', 'list', '--json']);
  expect(JSON.parse(out)).toMatchObject([{ id, consumer: cli.consumer, status: 'revoked' }]);
  expect(out + (await cli.run(['tokens', 'list'])).out).not.toContain(rotated.out.trim());
  expect((await cli.run(['tokens', 'purge', id])).code).toBe(0);
  expect((await cli.run(['tokens', 'list'])).out).toBe('No tokens.\n');
});

test('tokens: revoke rejects the id of a write token, which would stay valid', async () => {
  const { data } = await cli.owner.POST('/tokens', { body: { description: 'other' } });
  const said = await cli.run(['tokens', 'revoke', data?.id ?? '']);
  expect([said.code, said.out]).toEqual([3, '']);
  expect(said.err).toContain('No consumer token with this id; "trellis tokens revoke"');
  await cli.owner.DELETE('/tokens/{id}', { params: { path: { id: data?.id ?? '' } } });
});

test.each([
  [['get', 'a b'], 'the name of a secret'],
  [['audit', '--object', 'a b'], 'the name of a secret'],
  [['consumers', 'add', 'acme/'], 'the name of a consumer'],
  [['tokens', 'mint', '--consumer', 'acme/', '--description', 'x'], 'the name of a consumer'],
  [['label', 'unknown', '--consumer', 'acme/'], 'the name of a consumer'],
  [['list', '--tag', 'a b'], 'a tag'],
])('%j is rejected without the pattern of the contract', async (args, text) => {
  const { code, err } = await cli.run(args);
  expect([code, err]).toEqual([2, expect.stringContaining(`trellis: Expected ${text} to have `)]);
});

test('audit: filters and prints entries, and verifies the log', async () => {
  const name = newName();
  const env = { TRELLIS_SECRETS_CALLER: `caller-${name}` };
  await cli.run(['put', name, '--recipient', cli.recipient], { stdin: 'value', env });
  await cli.run(['get', name], { env });
  await cli.run(['rename', name, `${name}-2`], { env });
  const { out } = await cli.run(['audit', '--by', `caller-${name}`, '--json']);
  const entries = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { action: string; id: number });
  expect(entries.map(({ action }) => action)).toEqual(['create', 'read', 'rename']);
  expect((await cli.run(['audit', '--by', `caller-${name}`, '--limit', '1'])).out).toMatch(
    new RegExp(
      `^\\d+ .* rename  ${name}-2 \\(before: ${name}\\)  token \\w{16}  127\\.0\\.0\\.1 as caller-${name}\\n$`,
    ),
  );
  expect((await cli.run(['audit', '--object', name, '--all'])).out.trim().split('\n')).toHaveLength(2);
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
  expect((await cli.run(['audit', '--from', tomorrow])).out).toBe('');
  for (const time of ['soon', '5', '2026-1-5', '2026-13-01', '01/02/2026'])
    expect([time, (await cli.run(['audit', '--from', time])).code]).toEqual([time, 2]);
  const { out: verified } = await cli.run(['audit', '--verify']);
  const [, known = ''] = /^Intact: \d+ entries, (\d+:[\da-f]{64})\n$/.exec(verified) ?? [];
  expect((await cli.run(['audit', '--verify', '--known', known])).code).toBe(0);
  const other = known.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'));
  expect(await cli.run(['audit', '--verify', '--known', other])).toMatchObject({ code: 1, out: '' });
  expect(await cli.run(['audit', '--verify', '--known', 'x'])).toMatchObject({ code: 2 });
});

test('status: checks the service and the token', async () => {
  const { code, out } = await cli.run(['status']);
  expect([code, out]).toEqual([
    0,
    `Service: ${cli.server}, release 1.2.3\nToken: write token. Owner's key: none yet\n`,
  ]);
  expect(await cli.run(['status'], { env: { TRELLIS_SECRETS_TOKEN: 'trs_nonsense' } })).toMatchObject({ code: 4 });
});

test('a page of a proxy in place of the service is reported in one line', async () => {
  const proxy = createServer((_request, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Sign in'),
  ).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const server = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/secrets`;
  const said = await cli.run(['list'], { env: { TRELLIS_SECRETS_SERVER: server } });
  proxy.close().closeAllConnections();
  const reason = 'expected a response in JSON; received different content, perhaps that of a proxy';
  expect(said).toMatchObject({ code: 1, out: '', err: `trellis: GET /objects: ${reason}\n` });
});

describe('a server whose texts would manipulate the terminal', () => {
  const HOSTILE = 'a\u001b]0;title\u0007\u009b2Jb\u202e';
  const names = ['error', 'id', 'slug', 'description', 'expires_at', 'version', 'environment', 'public_key'];
  const body = JSON.stringify({ ...Object.fromEntries(names.map((name) => [name, HOSTILE])), kind: 'write' });
  const server = createServer((request, response) => {
    response.writeHead(request.url?.includes('/objects?') ? 409 : 200, { 'content-type': 'application/json' });
    response.end(body);
  });
  beforeAll(async () => once(server.listen(0, '127.0.0.1'), 'listening'));
  afterAll(() => server.close());

  test.each([
    ['a message', ['rename', 'a', 'b']],
    ['an error', ['list']],
    ['the description of a token', ['whoami']],
    ['the release of the service', ['status']],
  ])('is shown %s without control characters', async (_what, args) => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/secrets`;
    const { out, err } = await cli.run(args, { env: { TRELLIS_SECRETS_SERVER: url } });
    expect(out + err).toMatch(/a.*title.*b/);
    expect(out + err).not.toMatch(/[^\P{C}\n]/u);
  });
});
