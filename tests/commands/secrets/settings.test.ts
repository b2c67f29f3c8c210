import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readSettings } from '../../../src/commands/secrets/settings.js';
import { toRecipients } from '../../../src/sealing/secrets.js';
import { openSecretsCli } from './secrets-cli.js';
import type { SecretsCli } from './secrets-cli.js';

let cli: SecretsCli;

beforeAll(async () => {
  cli = await openSecretsCli();
});
afterAll(() => cli.close());

/** Nothing of the settings that the other tests have. */
const NONE = { TRELLIS_SECRETS_SERVER: '', TRELLIS_SECRETS_TOKEN: '', TRELLIS_SECRETS_IDENTITY: '' };

async function writeSettings(content: unknown, mode = 0o600): Promise<string> {
  const folder = join(cli.folder, Math.random().toString(36).slice(2));
  await mkdir(folder);
  const file = join(folder, 'secrets.json');
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  await chmod(file, mode);
  return file;
}

describe('precedence', () => {
  const FILE = { server: 'https://file.example', token: 'trs_file', caller: 'file', identityFile: '/file' };
  const ENV = {
    TRELLIS_SECRETS_SERVER: 'https://env.example/vault/',
    TRELLIS_SECRETS_TOKEN: 'trs_env',
    TRELLIS_SECRETS_CALLER: 'env',
    TRELLIS_SECRETS_IDENTITY: 'AGE-SECRET-KEY-1ENV',
  };
  const FLAGS = { server: 'https://flag.example', tokenCommand: 'echo', caller: 'flag', identityFile: '/flag' };

  test('options come before the environment, that before the file, and that before defaults', async () => {
    const config = await writeSettings(FILE);
    const from = (flags: object, env: Record<string, string>) => readSettings({ config, ...flags }, env);
    expect(await from(FLAGS, ENV)).toEqual({
      ...{ server: 'https://flag.example/secrets', token: { command: 'echo' } },
      ...{ caller: 'flag', identity: { file: '/flag' } },
    });
    expect(await from({}, ENV)).toEqual({
      ...{ server: 'https://env.example/vault', token: { text: 'trs_env' } },
      ...{ caller: 'env', identity: { text: 'AGE-SECRET-KEY-1ENV' } },
    });
    expect(await from({}, { TRELLIS_SECRETS_TOKEN: '' })).toEqual({
      ...{ server: 'https://file.example/secrets', token: { text: 'trs_file' } },
      ...{ caller: 'file', identity: { file: '/file' } },
    });
    expect(await readSettings({}, { HOME: '/nowhere' })).toEqual({
      ...{ server: 'http://localhost:4000/secrets', token: undefined, caller: undefined, identity: undefined },
    });
  });

  test.each([
    [{ TRELLIS_SECRETS_TOKEN_COMMAND: 'pass a' }, { token: { command: 'pass a' } }],
    [{ TRELLIS_SECRETS_IDENTITY_FILE: '/a' }, { identity: { file: '/a' } }],
    [{ TRELLIS_SECRETS_IDENTITY_COMMAND: 'pass b' }, { identity: { command: 'pass b' } }],
  ])('the environment may name where a credential is: %j', async (env, expected) => {
    expect(await readSettings({ config: await writeSettings(FILE) }, env)).toMatchObject(expected);
  });
});

test.each<[string, unknown, number, string]>([
  ['others may read it', { server: 'http://a' }, 0o640, 'chmod 600 makes it so'],
  ['it is no JSON', 'token: trs_hidden', 0o600, 'expected JSON with texts named server, token'],
  ['a name is unknown', { tokn: 'trs_hidden' }, 0o600, 'expected JSON with texts named server, token'],
  ['a value is no text', { token: ['trs_hidden'] }, 0o600, 'expected JSON with texts named server, token'],
])('a file of settings is refused when %s', async (_reason, content, mode, message) => {
  const config = await writeSettings(content, mode);
  const { code, err } = await cli.run(['list', '--config', config], { env: NONE });
  expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  expect(err).not.toContain('trs_hidden');
});

test.each<[string, Record<string, string>, number, string]>([
  ['no token', { ...NONE }, 4, 'expected a token: run "trellis secrets init"'],
  ['a token of spaces', { TRELLIS_SECRETS_TOKEN: ' \n' }, 4, 'expected a token; the one given is empty'],
  ['a token of two words', { TRELLIS_SECRETS_TOKEN: 'trs_hidden x' }, 4, 'visible characters without spaces'],
  ['a command that fails', { ...NONE, TRELLIS_SECRETS_TOKEN_COMMAND: 'echo trs_hidden; exit 3' }, 4, 'it ended with 3'],
  ['a server without http', { TRELLIS_SECRETS_SERVER: 'localhost:4000' }, 2, 'an address such as'],
  ['a server with a password', { TRELLIS_SECRETS_SERVER: 'http://a:hidden@b' }, 2, 'an address such as'],
  ['a caller of two lines', { TRELLIS_SECRETS_CALLER: 'a\nb' }, 2, 'expected a client name of at most 128'],
])('%s is refused', async (_reason, env, code, message) => {
  const said = await cli.run(['list'], { env });
  expect([said.code, said.out]).toEqual([code, '']);
  expect(said.err).toContain(message);
  expect(said.err).not.toContain('hidden');
});

test('commands give the token and the identity, and get nothing of the value', async () => {
  const file = join(cli.folder, 'identity');
  await writeFile(file, `# a comment\n${cli.identity}\n`);
  const env = {
    ...NONE,
    TRELLIS_SECRETS_SERVER: cli.server,
    // Whatever it can read of standard input, it would print in front of the token.
    TRELLIS_SECRETS_TOKEN_COMMAND: `cat; echo ${cli.token}`,
    TRELLIS_SECRETS_IDENTITY_COMMAND: `cat ${file}`,
  };
  const put = ['put', 'by-command', '--recipient', cli.recipient];
  expect((await cli.run(put, { stdin: 'value', env })).code).toBe(0);
  expect((await cli.run(['get', 'by-command'], { env })).out).toBe('value');
  expect((await cli.run(['get', 'by-command', '--identity-file', file], { env })).out).toBe('value');
  expect((await cli.run(['get', 'by-command', '--identity-file', '/nowhere'], { env })).code).toBe(4);
});

describe('init', () => {
  test('writes a file for its owner alone, with a new identity, and tries it', async () => {
    const home = join(cli.folder, 'home');
    const args = ['init', '--server', cli.server.replace('/secrets', ''), '--token-stdin', '--caller', 'me'];
    const env = { ...NONE, HOME: home };
    const said = await cli.run([...args, '--new-identity'], { stdin: `${cli.token}\n`, env });
    expect([said.code, said.out]).toEqual([0, expect.stringContaining('Token: may write')]);
    const [config, identity] = ['secrets.json', 'identity.txt'].map((name) => join(home, '.config/trellis', name));
    expect([(await stat(config!)).mode & 0o777, (await stat(identity!)).mode & 0o777]).toEqual([0o600, 0o600]);
    expect(JSON.parse(await readFile(config!, 'utf8'))).toEqual({
      ...{ server: cli.server, token: cli.token, caller: 'me', identityFile: identity },
    });
    const [recipient = ''] = await toRecipients(await readFile(identity!, 'utf8'));
    expect(said.err).toContain(`Public key of the identity: ${recipient}\n`);
    expect(said.err + said.out).not.toContain(cli.token);

    await cli.run(['put', 'after-init', '--recipient', recipient], { stdin: 'value', env });
    expect((await cli.run(['get', 'after-init'], { env })).out).toBe('value');
    expect(await cli.run(args, { stdin: cli.token, env })).toMatchObject({ code: 5 });
    expect(await cli.run([...args, '--force', '--new-identity'], { stdin: cli.token, env })).toMatchObject({ code: 5 });
    expect(await cli.run([...args, '--force'], { stdin: cli.token, env })).toMatchObject({ code: 0 });
  });

  test('keeps a command instead of a token', async () => {
    const config = join(cli.folder, 'with-command.json');
    const args = ['init', '--server', cli.server, '--config', config, '--token-command', `echo ${cli.token}`];
    expect((await cli.run(args, { env: NONE })).code).toBe(0);
    expect(JSON.parse(await readFile(config, 'utf8'))).toMatchObject({ tokenCommand: `echo ${cli.token}` });
    expect((await cli.run(['init', '--server', cli.server], { env: NONE })).code).toBe(2);
  });

  test('asks on a terminal, and does not show the token', async () => {
    const home = join(cli.folder, 'guided');
    const command = `${process.execPath} --import tsx src/cli.ts secrets init`;
    const env = { PATH: process.env.PATH, HOME: home, TERM: 'dumb' };
    const child = spawn('script', ['-qec', command, '/dev/null'], { env, stdio: ['pipe', 'pipe', 'inherit'] });
    let shown = '';
    // Each answer is given when it is asked for.
    const answers = new Map([
      ['Where the service is', cli.server],
      ['Token (', cli.token],
      ['File of the identity', ''],
      ['Make a new identity', 'yes'],
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
    expect([code, shown]).toEqual([0, expect.stringContaining('Token: may write')]);
    expect(shown).not.toContain(cli.token);
    const settings = await readFile(join(home, '.config/trellis/secrets.json'), 'utf8');
    expect(JSON.parse(settings)).toMatchObject({ server: cli.server, token: cli.token });
  });
});
