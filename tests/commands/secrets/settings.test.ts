import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ConnectionOptions, readSettings } from '../../../src/commands/secrets/settings.js';
import { toRecipients } from '../../../src/sealing/secrets.js';
import { openSecretsCli, type SecretsCli } from './secrets-cli.js';

let cli: SecretsCli;

beforeAll(async () => {
  cli = await openSecretsCli();
});
afterAll(() => cli.close());

/** Unsets the settings of the other tests. */
const NONE = { TRELLIS_SECRETS_SERVER: '', TRELLIS_SECRETS_TOKEN: '', TRELLIS_SECRETS_IDENTITY: '' };

async function writeSettings(content: unknown, mode = 0o600): Promise<string> {
  const folder = join(cli.folder, Math.random().toString(36).slice(2));
  await mkdir(folder);
  const file = join(folder, 'secrets.json');
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  await chmod(file, mode);
  return file;
}

describe('readSettings', () => {
  const FILE = { server: 'https://file.example', token: 'trs_file', caller: 'file', identityFile: '/file' };
  const ENV = {
    TRELLIS_SECRETS_SERVER: 'https://env.example/vault/',
    TRELLIS_SECRETS_TOKEN: 'trs_env',
    TRELLIS_SECRETS_CALLER: 'env',
    TRELLIS_SECRETS_IDENTITY: 'AGE-SECRET-KEY-1ENV',
  };
  const UNSIGNED = { signingKey: undefined, requiresSignatures: false };
  const FLAGS = { server: 'https://flag.example', tokenCommand: 'echo', caller: 'flag', identityFile: '/flag' };

  test('prefers options to the environment, the environment to the file, and the file to defaults', async () => {
    const config = await writeSettings(FILE);
    const from = (flags: object, env: Record<string, string>) => readSettings({ config, ...flags }, env);
    expect(await from(FLAGS, ENV)).toEqual({
      ...{ server: 'https://flag.example/secrets', token: { command: 'echo' } },
      ...{ caller: 'flag', identity: { file: '/flag' }, ...UNSIGNED },
    });
    expect(await from({}, ENV)).toEqual({
      ...{ server: 'https://env.example/vault', token: { text: 'trs_env' } },
      ...{ caller: 'env', identity: { text: 'AGE-SECRET-KEY-1ENV' }, ...UNSIGNED },
    });
    expect(await from({}, { TRELLIS_SECRETS_TOKEN: '' })).toEqual({
      ...{ server: 'https://file.example/secrets', token: { text: 'trs_file' } },
      ...{ caller: 'file', identity: { file: '/file' }, ...UNSIGNED },
    });
    expect(await readSettings({}, { HOME: '/nowhere' })).toEqual({
      ...{ server: 'http://localhost:4000/secrets', token: undefined, caller: undefined, identity: undefined },
      ...UNSIGNED,
    });
  });

  test.each([
    [{ TRELLIS_SECRETS_TOKEN_COMMAND: 'pass a' }, { token: { command: 'pass a' } }],
    [{ TRELLIS_SECRETS_IDENTITY_FILE: '/a' }, { identity: { file: '/a' } }],
    [{ TRELLIS_SECRETS_IDENTITY_COMMAND: 'pass b' }, { identity: { command: 'pass b' } }],
    [{ TRELLIS_SECRETS_SIGNING_KEY: 'key' }, { signingKey: { text: 'key' } }],
    [{ TRELLIS_SECRETS_SIGNING_KEY_FILE: '/b' }, { signingKey: { file: '/b' } }],
    [{ TRELLIS_SECRETS_SIGNING_KEY_COMMAND: 'pass c' }, { signingKey: { command: 'pass c' } }],
    [{ TRELLIS_SECRETS_REQUIRE_SIGNATURES: '1' }, { requiresSignatures: true }],
  ])('reads the source of a credential from the environment: %j', async (env, expected) => {
    expect(await readSettings({ config: await writeSettings(FILE) }, env)).toMatchObject(expected);
  });
});

test.each<[string, unknown, number, string]>([
  ['that other users can read', { server: 'http://a' }, 0o640, 'Run chmod 600 on it'],
  ['without JSON', 'token: trs_hidden', 0o600, 'a JSON object with string members server, token'],
  ['with an unknown name', { tokn: 'trs_hidden' }, 0o600, 'a JSON object with string members server, token'],
  [
    'with a value that is not a string',
    { token: ['trs_hidden'] },
    0o600,
    'a JSON object with string members server, token',
  ],
])('a settings file %s is rejected', async (_reason, content, mode, message) => {
  const config = await writeSettings(content, mode);
  const { code, err } = await cli.run(['list', '--config', config], { env: NONE });
  expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  expect(err).not.toContain('trs_hidden');
});

test.each<[string, Record<string, string>, number, string]>([
  ['a missing token', { ...NONE }, 4, 'No token configured: run "trellis secrets init"'],
  ['a blank token', { TRELLIS_SECRETS_TOKEN: ' \n' }, 4, "Can't read a token: the given value is empty"],
  ['a token with a space', { TRELLIS_SECRETS_TOKEN: 'trs_hidden x' }, 4, 'visible characters without spaces'],
  [
    'a failing token command',
    { ...NONE, TRELLIS_SECRETS_TOKEN_COMMAND: 'echo trs_hidden; exit 3' },
    4,
    'it ended with exit code 3',
  ],
  ['a server URL without http', { TRELLIS_SECRETS_SERVER: 'localhost:4000' }, 2, 'Expected the URL of the server'],
  [
    'a server URL with a password',
    { TRELLIS_SECRETS_SERVER: 'http://a:hidden@b' },
    2,
    'Expected the URL of the server',
  ],
  ['a client name with a line break', { TRELLIS_SECRETS_CALLER: 'a\nb' }, 2, 'Expected a client name of at most 128'],
])('commands reject %s', async (_reason, env, code, message) => {
  const result = await cli.run(['list'], { env });
  expect([result.code, result.out]).toEqual([code, '']);
  expect(result.err).toContain(message);
  expect(result.err).not.toContain('hidden');
});

describe('plain http', () => {
  test.each(['http://trellis.example', 'http://10.0.0.1:4000/secrets', 'http://localhost.example', 'http://[::2]'])(
    'is rejected for %s before the token is read',
    async (server) => {
      const marker = join(cli.folder, 'token-was-read');
      const env = { ...NONE, TRELLIS_SECRETS_SERVER: server, TRELLIS_SECRETS_TOKEN_COMMAND: `touch '${marker}'` };
      const { code, err } = await cli.run(['list'], { env });
      expect([code, err]).toEqual([4, expect.stringContaining('is not https')]);
      const config = join(cli.folder, 'insecure.json');
      const init = await cli.run(['init', '--server', server, '--config', config, '--token-stdin'], {
        stdin: 'trs_x',
        env,
      });
      expect([init.code, init.err]).toEqual([4, expect.stringContaining('is not https')]);
      for (const file of [marker, config]) await expect(stat(file)).rejects.toThrow('ENOENT');
    },
  );

  test.each<[string, ConnectionOptions, Record<string, string>]>([
    ['http://localhost:4000', {}, {}],
    ['http://trellis.localhost', {}, {}],
    ['http://127.8.0.1', {}, {}],
    ['http://[::1]:4000', {}, {}],
    ['http://trellis.example', { insecure: true }, {}],
    ['http://trellis.example', {}, { TRELLIS_SECRETS_INSECURE: '1' }],
  ])('is accepted for %s with %j and %j', async (server, flags, env) => {
    const settings = await readSettings({ server, ...flags }, { HOME: cli.folder, ...env });
    expect(settings.server).toBe(`${server}/secrets`);
  });
});

test('token and identity commands are run without the standard input that contains the value', async () => {
  const file = join(cli.folder, 'identity');
  await writeFile(file, `# a comment\n${cli.identity}\n`, { mode: 0o600 });
  const env = {
    ...NONE,
    TRELLIS_SECRETS_SERVER: cli.server,
    // If `cat` could read standard input, the value would be a part of the token.
    TRELLIS_SECRETS_TOKEN_COMMAND: `cat; echo ${cli.token}`,
    TRELLIS_SECRETS_IDENTITY_COMMAND: `cat ${file}`,
  };
  const put = ['put', 'by-command', '--recipient', cli.recipient];
  expect((await cli.run(put, { stdin: 'value', env })).code).toBe(0);
  expect((await cli.run(['get', 'by-command'], { env })).out).toBe('value');
  expect((await cli.run(['get', 'by-command', '--identity-file', file], { env })).out).toBe('value');
  expect((await cli.run(['get', 'by-command', '--identity-file', '/nowhere'], { env })).code).toBe(4);
  await chmod(file, 0o644);
  const { code, err } = await cli.run(['get', 'by-command', '--identity-file', file], { env });
  expect([code, err]).toEqual([2, expect.stringContaining('Run chmod 600 on it')]);
  if (process.getuid?.() !== 0) return;
  // As a secret of a container, or a credential of systemd, whose owner is a different user.
  await chown(file, 65_534, 65_534);
  expect((await cli.run(['get', 'by-command', '--identity-file', file], { env })).out).toBe('value');
});

describe('init', () => {
  test('writes settings and a new identity with mode 0600, and checks them', async () => {
    const home = join(cli.folder, 'home');
    const args = ['init', '--server', cli.server.replace('/secrets', ''), '--token-stdin', '--caller', 'me'];
    const env = { ...NONE, HOME: home };
    const result = await cli.run([...args, '--new-identity'], { stdin: `${cli.token}\n`, env });
    expect([result.code, result.out]).toEqual([0, expect.stringContaining('Token: write token')]);
    const [config, identity] = ['secrets.json', 'identity.txt'].map((name) => join(home, '.config/trellis', name));
    expect([(await stat(config!)).mode & 0o777, (await stat(identity!)).mode & 0o777]).toEqual([0o600, 0o600]);
    expect(JSON.parse(await readFile(config!, 'utf8'))).toEqual({
      ...{ server: cli.server, token: cli.token, caller: 'me', identityFile: identity },
    });
    const [recipient = ''] = await toRecipients(await readFile(identity!, 'utf8'));
    expect(result.err).toContain(`Public key of the identity: ${recipient}\n`);
    expect(result.err + result.out).not.toContain(cli.token);

    await cli.run(['put', 'after-init', '--recipient', recipient], { stdin: 'value', env });
    expect((await cli.run(['get', 'after-init'], { env })).out).toBe('value');
    expect(await cli.run(args, { stdin: cli.token, env })).toMatchObject({ code: 5 });
    const second = await cli.run([...args, '--force', '--new-identity'], { stdin: cli.token, env });
    expect([second.code, second.err]).toEqual([5, expect.stringContaining('is not overwritten; use it with')]);
    expect(await cli.run([...args, '--force'], { stdin: cli.token, env })).toMatchObject({ code: 0 });
  });

  test('stores a token command instead of a token', async () => {
    const config = join(cli.folder, 'with-command.json');
    const args = ['init', '--server', cli.server, '--config', config, '--token-command', `echo ${cli.token}`];
    expect((await cli.run(args, { env: NONE })).code).toBe(0);
    expect(JSON.parse(await readFile(config, 'utf8'))).toMatchObject({ tokenCommand: `echo ${cli.token}` });
    expect((await cli.run(['init', '--server', cli.server], { env: NONE })).code).toBe(2);
  });

  test('prompts on a terminal, without showing the token', async () => {
    const home = join(cli.folder, 'guided');
    const command = `${process.execPath} dist/cli.js secrets init`;
    const env = { PATH: process.env.PATH, HOME: home, TERM: 'dumb' };
    const child = spawn('script', ['-qec', command, '/dev/null'], { env, stdio: ['pipe', 'pipe', 'inherit'] });
    let shown = '';
    // Each input is sent after its prompt.
    const answers = new Map([
      ['URL of the service', cli.server],
      ['Token (', cli.token],
      ['File with the identity', ''],
      ['Create a new identity', 'yes'],
      ['Create a key that signs', 'yes'],
    ]);
    child.stdout.on('data', (chunk: Buffer) => {
      shown += chunk.toString();
      for (const [question, answer] of answers) {
        if (!shown.includes(question) || !shown.endsWith(': ')) continue;
        answers.delete(question);
        child.stdin.write(`${answer}\r`);
      }
    });
    const [code] = (await once(child, 'close')) as [number];
    expect([code, shown]).toEqual([0, expect.stringContaining('Token: write token')]);
    expect(shown).not.toContain(cli.token);
    const settings = await readFile(join(home, '.config/trellis/secrets.json'), 'utf8');
    expect(JSON.parse(settings)).toMatchObject({ server: cli.server, token: cli.token });
    expect((await stat(join(home, '.config/trellis/signing-key'))).mode & 0o777).toBe(0o600);
  });

  test('writes nothing if the command before the pipe has printed no token', async () => {
    const home = join(cli.folder, 'empty-home');
    const args = ['init', '--server', cli.server, '--token-stdin', '--new-identity'];
    const result = await cli.run(args, { stdin: '\n', env: { ...NONE, HOME: home } });
    expect([result.code, result.err]).toEqual([
      2,
      'trellis: No token on standard input, so no settings were written\n',
    ]);
    await expect(stat(home)).rejects.toThrow('ENOENT');
  });

  test('creates a signing key on request only, which signs the values that are stored afterwards', async () => {
    const home = join(cli.folder, 'signing-home');
    const args = ['init', '--server', cli.server, '--token-stdin', '--force'];
    const env = { ...NONE, HOME: home };
    const key = join(home, '.config/trellis/signing-key');
    expect(await cli.run(args, { stdin: cli.token, env })).toMatchObject({ code: 0 });
    await expect(stat(key)).rejects.toThrow('ENOENT');
    const created = await cli.run([...args, '--new-signing-key'], { stdin: cli.token, env });
    const [, line = ''] = /^Public key of the signing key: (ssh-ed25519 \S+)$/m.exec(created.err) ?? [];
    expect([created.code, (await stat(key)).mode & 0o777]).toEqual([0, 0o600]);
    await cli.run(['put', 'signed-by-init', '--recipient', cli.recipient], { stdin: 'value', env });
    expect(JSON.parse((await cli.run(['writers', 'list', '--json'], { env })).out)).toMatchObject([
      { key: line, names: ['signed-by-init'] },
    ]);
    const again = await cli.run([...args, '--new-signing-key'], { stdin: cli.token, env });
    expect([again.code, again.err]).toEqual([5, expect.stringContaining('is not overwritten')]);
  });
});
