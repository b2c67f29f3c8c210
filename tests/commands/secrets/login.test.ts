import { once } from 'node:events';
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import { delimiter, join } from 'node:path';
import { newName, openSecretsCli, openUnstableAddress, type SecretsCli } from './secrets-cli.js';

let cli: SecretsCli;
beforeAll(async () => (cli = await openSecretsCli()));
afterAll(() => cli.close());

/** The settings of the other tests are not set. */
const env = () => ({ TRELLIS_SECRETS_TOKEN: '', TRELLIS_SECRETS_IDENTITY: '' });
const newFile = () => join(cli.folder, newName());
const readJson = async (file: string): Promise<unknown> => JSON.parse(await readFile(file, 'utf8'));
const login = (file: string, args: readonly string[] = [], sleep = (said: string) => cli.approveLogin(said)) =>
  cli.run(['login', '--config', file, ...args], { env: env(), sleep });

test('login stores the approved token with mode 0600 and keeps the other settings; logout revokes it', async () => {
  const file = newFile();
  await writeFile(file, JSON.stringify({ caller: 'me', token: 'old' }), { mode: 0o600 });
  const said = await login(file, ['--name', 'ada@laptop']);
  expect(said).toMatchObject({ code: 0, out: '' });
  expect(said.err).toMatch(/^Open http:.*\/vault\/device and enter the code \w{4}-\w{4}\n.*"ada@laptop"/);
  expect(said.err).toMatch(/Token \w{16} "laptop", valid until \S+: may list, read\n/);
  const { token } = (await readJson(file)) as { readonly token: string };
  expect((await cli.run(['audit'])).out).toMatch(
    / {2}rotate {2}token \w{16} \(device ada@laptop at 127\.0\.0\.1\) {2}/,
  );
  expect(await readJson(file)).toEqual({ caller: 'me', server: cli.server, token });
  expect((await stat(file)).mode & 0o777).toBe(0o600);

  const shown = await cli.run(['whoami', '--config', file], { env: env() });
  expect(shown.out).toContain(`${cli.server}\nToken `);
  expect((await cli.run(['list', '--config', file], { env: env() })).code).toBe(0);
  expect((await cli.run(['consumers', 'add', newName(), '--config', file], { env: env() })).code).toBe(4);

  expect(await cli.run(['logout', '--config', file], { env: env() })).toMatchObject({ code: 0 });
  expect(await readJson(file)).toEqual({ caller: 'me', server: cli.server });
  const revoked = await cli.run(['whoami', '--config', file], { env: { ...env(), TRELLIS_SECRETS_TOKEN: token } });
  expect(revoked).toMatchObject({ code: 4, err: expect.stringContaining('revoked') as string });
  expect(await cli.run(['logout', '--config', file], { env: env() })).toMatchObject({ code: 2 });
});

test('login does not replace the token for another server', async () => {
  const file = newFile();
  const settings = { server: 'https://other.example/secrets', token: 'old' };
  await writeFile(file, JSON.stringify(settings), { mode: 0o600 });
  const said = await login(file, ['--server', cli.server]);
  expect(said).toMatchObject({
    code: 2,
    err: expect.stringContaining('has a token for https://other.example') as string,
  });
  expect(await readJson(file)).toEqual(settings);
});

test('login polls at the interval that the service asks for', async () => {
  const waits: number[] = [];
  const rows = cli.database.updateTable('device_logins');
  const due = [
    // Too early, so the service asks for a longer interval.
    async () => undefined,
    async () => void (await rows.set({ next_poll_at: 0 }).execute()),
    (said: string) => cli.approveLogin(said),
  ];
  const said = await login(newFile(), [], async (text) => due[waits.push(0) - 1]?.(text));
  expect([said.code, waits.length]).toEqual([0, 3]);
});

test('login survives a restart of the server', async () => {
  const address = await openUnstableAddress(cli.server);
  const sleeps: ((said: string) => Promise<void>)[] = [
    () => address.close(),
    async (said) => {
      await address.open();
      await cli.approveLogin(said);
    },
  ];
  const said = await login(newFile(), ['--server', address.server], async (text) => sleeps.shift()?.(text));
  await address.close();
  expect([said.code, sleeps]).toEqual([0, []]);
});

test.each([
  [
    'denied',
    'The request was denied on the page',
    async (said: string) => {
      const [, code = ''] = /code (\S+)/.exec(said) ?? [];
      await cli.owner.DELETE('/auth/device/requests/{user_code}', { params: { path: { user_code: code } } });
      await cli.database.updateTable('device_logins').set({ next_poll_at: 0 }).execute();
    },
  ],
  [
    'expired',
    'The code has expired',
    async () => void (await cli.database.updateTable('device_logins').set({ expires_at: 0 }).execute()),
  ],
])('login writes nothing when the request is %s', async (_state, message, sleep) => {
  const file = newFile();
  const said = await login(file, [], sleep);
  expect(said).toMatchObject({ code: 4, err: expect.stringContaining(message) as string });
  await expect(stat(file)).rejects.toThrow('ENOENT');
});

test('login revokes a token that it can not store', async () => {
  const file = newFile();
  const said = await login(file, [], async (text) => {
    await cli.approveLogin(text);
    await mkdir(file);
  });
  expect(said).toMatchObject({ code: 1, err: expect.stringContaining('EISDIR') as string });
  const tokens = cli.database.selectFrom('tokens').select('revoked_at').where('kind', '=', 'write');
  const [newest] = await tokens.orderBy('created_at', 'desc').execute();
  expect(newest?.revoked_at).toBeGreaterThan(0);
});

test('login names the host alone if the user has no name, as in a container', async () => {
  const { userInfo } = os;
  os.userInfo = () => {
    throw new Error('uv_os_get_passwd returned ENOENT');
  };
  syncBuiltinESMExports();
  try {
    const said = await login(newFile());
    expect(said).toMatchObject({ code: 0, err: expect.stringContaining(` "${os.hostname()}".`) as string });
  } finally {
    os.userInfo = userInfo;
    syncBuiltinESMExports();
  }
});

test('login rejects an unknown permission, and plain http to another machine', async () => {
  const refused = await login(newFile(), ['--permission', 'root']);
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('other than list, read, write') as string });
  expect(await login(newFile(), ['--server', 'http://192.0.2.1'])).toMatchObject({ code: 4 });
});

test('login rejects a token with other characters than those of tokens', async () => {
  const codes = { device_code: 'x', user_code: 'x', verification_uri: 'x', expires_in: 600, interval: 1 };
  const token = {
    access_token: "trs_'\ndelete-keychain login\n'",
    token_type: 'Bearer',
    expires_in: 60,
    scope: 'list',
  };
  const service = createServer((request, response) => {
    const answer = request.url?.endsWith('/token') ? token : codes;
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
  });
  await once(service.listen(0, '127.0.0.1'), 'listening');
  const folder = join(cli.folder, newName());
  await mkdir(folder);
  // As on macOS, where the command that stores the token is read from standard input.
  await writeFile(join(folder, 'security'), `#!/bin/sh\ncat > "$0.commands"`, { mode: 0o700 });
  const server = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const { PATH = '' } = process.env;
  process.env.PATH = `${folder}${delimiter}${PATH}`;
  try {
    const args = ['login', '--server', server, '--config', newFile(), '--store', 'keyring'];
    const said = await cli.run(args, { env: { ...env(), PATH: folder }, sleep: async () => undefined });
    await expect(stat(join(folder, 'security.commands'))).rejects.toThrow('ENOENT');
    expect(said).toMatchObject({ code: 1, err: expect.stringContaining('not a valid token') as string });
  } finally {
    process.env.PATH = PATH;
    service.close();
  }
});

describe('--store keyring', () => {
  /** Has the commands of secret-tool that are used, and rejects all others. */
  const TOOL = `#!/bin/sh
    [ "$1" = store ] && [ "$2" = --label ] && shift 3 && [ "$1 $2 $3 $#" = "service trellis account 4" ] && cat > "$0.token" && exit
    [ "$1" = lookup ] && [ "$2 $3 $4 $#" = "service trellis account 5" ] && exec cat "$0.token"
    [ "$1" = clear ] && [ "$2 $3 $4 $#" = "service trellis account 5" ] && exec rm "$0.token"
    exit 2`;
  const { PATH = '' } = process.env;
  let folder: string;
  beforeAll(async () => {
    folder = join(cli.folder, newName());
    await mkdir(folder);
    await writeFile(join(folder, 'secret-tool'), TOOL);
    await chmod(join(folder, 'secret-tool'), 0o700);
    process.env.PATH = `${folder}${delimiter}${PATH}`;
  });
  afterAll(() => {
    process.env.PATH = PATH;
  });

  test('the file has only the command that prints the token, and logout removes it from the keyring', async () => {
    const file = join(cli.folder, `it's ${newName()}`);
    const given = { env: { ...env(), PATH: process.env.PATH! } };
    const run = (args: readonly string[]) => cli.run([...args, '--config', file], given);
    const sleep = (text: string) => cli.approveLogin(text);
    const said = await cli.run(['login', '--config', file, '--store', 'keyring'], { ...given, sleep });
    expect(said.code).toBe(0);
    const token = await readFile(join(folder, 'secret-tool.token'), 'utf8');
    expect(token).toMatch(/^trs_/);
    expect(await readFile(file, 'utf8')).not.toContain(token);
    expect((await run(['whoami'])).code).toBe(0);
    expect((await run(['logout'])).code).toBe(0);
    await expect(stat(join(folder, 'secret-tool.token'))).rejects.toThrow('ENOENT');
    expect(await readJson(file)).toEqual({ server: cli.server });
  });

  test('without a keyring, nothing is requested', async () => {
    const said = await cli.run(['login', '--config', newFile(), '--store', 'keyring'], {
      env: { ...env(), PATH: '/none' },
    });
    expect(said).toMatchObject({ code: 2, err: expect.stringContaining('No keyring found') as string });
  });

  test('logout leaves a command of the user alone', async () => {
    const file = newFile();
    await writeFile(file, JSON.stringify({ tokenCommand: 'pass show trellis' }), { mode: 0o600 });
    expect(await cli.run(['logout', '--config', file], { env: env() })).toMatchObject({ code: 2 });
  });
});
