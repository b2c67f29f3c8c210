import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Argument, Command, Option } from 'commander';
import { complete } from '../../src/commands/completion/complete.js';
import { findNames } from '../../src/commands/secrets/find-names.js';
import { openSecretsCli } from './secrets/secrets-cli.js';

const program = new Command('trellis');
const secrets = program.command('secrets').description('sealed secrets');
secrets.command('get').argument('<object>').option('--sealed', 'as it is').option('--output <file>', 'where to');
secrets
  .command('put')
  .argument('<name>')
  .option('-c, --consumer <consumer>', 'who')
  .addOption(new Option('--format <format>').choices(['json', 'dotenv']));
secrets.command('run').argument('<command>').argument('[arguments...]');
secrets.command('read').argument('<file>');
secrets.command('pick').addArgument(new Argument('[colours...]').choices(['red', 'blue']));
program.command('hidden', { hidden: true });

const NAMES: Readonly<Record<string, readonly string[]>> = {
  object: ['db-password', 'api-key'],
  consumer: ['acme/shop'],
};

test.each<[readonly string[], readonly string[], string]>([
  [['s'], ['secrets'], 'a command that is begun'],
  [['h'], ['help'], 'a command that is hidden is not told'],
  [['secrets', 'g'], ['get'], 'a command of a command'],
  [['secrets', 'get', ''], ['db-password', 'api-key'], 'names of objects'],
  [['secrets', 'get', 'db'], ['db-password'], 'a name that is begun'],
  [['secrets', 'get', 'db-password', ''], [], 'nothing behind the last argument'],
  [['secrets', 'get', '--s'], ['--sealed'], 'an option that is begun'],
  [['secrets', 'get', '--sealed', 'a'], ['api-key'], 'an option without a value takes none'],
  [['secrets', 'get', '--output', ''], [':files'], 'paths for an option'],
  [['secrets', 'get', '--output', 'x', 'a'], ['api-key'], 'the value of an option is no argument'],
  [['secrets', 'get', '--output=x', 'a'], ['api-key'], 'neither is one behind a sign'],
  [['secrets', 'put', '--consumer', ''], ['acme/shop'], 'names of consumers'],
  [['secrets', 'put', '-c', ''], ['acme/shop'], 'a short option'],
  [['secrets', 'put', '--format', 'd'], ['dotenv'], 'choices of an option'],
  [['secrets', 'put', '--format=d'], ['--format=dotenv'], 'choices behind a sign'],
  [['secrets', 'put', '--format', '=', 'd'], ['dotenv'], 'a sign that bash took apart'],
  [['secrets', 'put', ''], [], 'a name that is yet to be made up'],
  [['secrets', 'run', '--', 'ls', ''], [':files'], "another program's arguments"],
  [['secrets', 'read', ''], [':files'], 'a path as an argument'],
  [['secrets', 'pick', 'red', 'b'], ['blue'], 'choices of arguments without end'],
  [['nothing', ''], ['secrets', 'help'], 'what is no command leads nowhere'],
])('%j may be followed by %j: %s', async (words, expected) => {
  const { found, files } = await complete(program, words, async (placeholder) => NAMES[placeholder] ?? []);
  expect([...found.map(({ value }) => value), ...(files ? [':files'] : [])]).toEqual(expected);
});

describe('names of the service', () => {
  const terminal = (env: Record<string, string>) => ({
    in: process.stdin,
    out: process.stdout,
    err: process.stderr,
    env,
  });

  test('are those that a shell takes as they stand', async () => {
    const cli = await openSecretsCli();
    try {
      await cli.run(['put', 'db-password', '--consumer', cli.consumer], { stdin: 'x' });
      await cli.client.POST('/consumers', { body: { name: '$(reboot)' } });
      const ask = (placeholder: string, env = cli.env) => findNames(placeholder, terminal(env));
      expect(await ask('object')).toEqual(['db-password']);
      expect(await ask('consumer')).toEqual([cli.consumer]);
      expect(await ask('id')).toEqual([]);
      const { TRELLIS_SECRETS_TOKEN: token, ...env } = cli.env;
      // A command may ask for a passphrase, or be slow.
      expect(await ask('object', { ...env, TRELLIS_SECRETS_TOKEN_COMMAND: `echo ${token}` })).toEqual([]);
      expect(await ask('object', { ...cli.env, TRELLIS_SECRETS_TOKEN: 'trs_nonsense' })).toEqual([]);
      expect(await ask('object', { ...cli.env, TRELLIS_SECRETS_SERVER: 'nonsense' })).toEqual([]);
    } finally {
      await cli.close();
    }
  });
});

test('bash completes commands, options and paths', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'trellis-completion-'));
  try {
    const cli = join(folder, 'trellis');
    await writeFile(cli, `#!/bin/sh\nexec node --import tsx ${resolve('src/cli.ts')} "$@"\n`);
    await chmod(cli, 0o755);
    const ask = `ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _trellis; echo "$*: \${COMPREPLY[*]}"; }`;
    const asked = ['ask trellis secrets ver', 'ask trellis secrets put --fi', 'ask trellis secrets import tsconfig.b'];
    const script = ['source <(trellis completion bash)', ask, ...asked].join('\n');
    const env = { ...process.env, PATH: `${folder}:${process.env.PATH ?? ''}` };
    const { stdout } = await promisify(execFile)('bash', ['-c', script], { env });
    expect(stdout.split('\n')).toEqual([
      'trellis secrets ver: versions',
      'trellis secrets put --fi: --file',
      'trellis secrets import tsconfig.b: tsconfig.build.json',
      '',
    ]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
