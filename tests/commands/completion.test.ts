import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Argument, Command, Option } from 'commander';
import { complete } from '../../src/commands/completion.js';
import { findNames } from '../../src/commands/secrets/secrets-command.js';
import { openSecretsCli } from './secrets/secrets-cli.js';

const program = new Command('trellis');
const secrets = program.command('secrets').description('sealed secrets');
secrets.command('get').argument('<secret>').option('--sealed', 'sealed').option('--output <file>', 'output file');
secrets
  .command('put')
  .argument('<name>')
  .option('-c, --consumer <consumer>', 'consumer')
  .addOption(new Option('--format <format>').choices(['json', 'dotenv']));
secrets.command('run').argument('<command>').argument('[arguments...]');
secrets.command('read').argument('<file>');
secrets.command('pick').addArgument(new Argument('[colours...]').choices(['red', 'blue']));
program.command('hidden', { hidden: true });

const NAMES: Readonly<Record<string, readonly string[]>> = {
  secret: ['db-password', 'api-key'],
  consumer: ['acme/shop'],
};

test.each<[readonly string[], readonly string[], string]>([
  [['s'], ['secrets'], 'completes a command'],
  [['h'], ['help'], 'does not offer hidden commands'],
  [['secrets', 'g'], ['get'], 'completes a subcommand'],
  [['secrets', 'get', ''], ['db-password', 'api-key'], 'offers the names of secrets'],
  [['secrets', 'get', 'db'], ['db-password'], 'completes the name of a secret'],
  [['secrets', 'get', 'db-password', ''], [], 'offers nothing after the last argument'],
  [['secrets', 'get', '--s'], ['--sealed'], 'completes an option'],
  [['secrets', 'get', '--sealed', 'a'], ['api-key'], 'offers arguments after an option without a value'],
  [['secrets', 'get', '--output', ''], [':files'], 'offers paths for a file option'],
  [['secrets', 'get', '--output', 'x', 'a'], ['api-key'], 'does not count the value of an option as an argument'],
  [['secrets', 'get', '--output=x', 'a'], ['api-key'], 'does not count a value after = as an argument'],
  [['secrets', 'put', '--consumer', ''], ['acme/shop'], 'offers the names of consumers'],
  [['secrets', 'put', '-c', ''], ['acme/shop'], 'supports short options'],
  [['secrets', 'put', '--format', 'd'], ['dotenv'], 'offers the choices of an option'],
  [['secrets', 'put', '--format=d'], ['--format=dotenv'], 'offers choices after ='],
  [['secrets', 'put', '--format', '=', 'd'], ['dotenv'], 'supports = as a separate word, as in bash'],
  [['secrets', 'put', ''], [], 'offers nothing for a new name'],
  [['secrets', 'run', '--', 'ls', ''], [':files'], 'offers paths for the arguments of a different program'],
  [['secrets', 'read', ''], [':files'], 'offers paths for a file argument'],
  [['secrets', 'pick', 'red', 'b'], ['blue'], 'offers the choices of a variadic argument'],
  [['nothing', ''], ['secrets', 'help'], 'ignores unknown commands'],
])('completion of %j is %j: %s', async (words, expected) => {
  const { candidates, files } = await complete(program, words, async (placeholder) => NAMES[placeholder] ?? []);
  expect([...candidates.map(({ value }) => value), ...(files ? [':files'] : [])]).toEqual(expected);
});

test.each([
  [['--profile', 'work', '--sealed']],
  [['--profile=work', '--sealed']],
  [['--profile', '=', 'work', '--sealed']],
])('names are those of the service that the options %j determine', async (options) => {
  const line = new Command('trellis');
  line.command('get').argument('<secret>').option('--profile <name>').option('--sealed');
  const find = async (_placeholder: string, given: object) => [JSON.stringify(given)];
  const { candidates } = await complete(line, ['get', ...options, ''], find);
  expect(candidates.map(({ value }) => value)).toEqual(['{"profile":"work","sealed":true}']);
});

describe('findNames', () => {
  const terminal = (env: Record<string, string>) => ({
    in: process.stdin,
    out: process.stdout,
    err: process.stderr,
    env,
  });

  test('returns the names that need no quoting in a shell, and none without a usable token', async () => {
    const cli = await openSecretsCli();
    try {
      await cli.run(['put', 'db-password', '--consumer', cli.consumer], { stdin: 'x' });
      await cli.client.POST('/consumers', { body: { name: '$(reboot)' } });
      const find = (placeholder: string, env = cli.env, options = {}) => findNames(placeholder, options, terminal(env));
      expect(await find('secret')).toEqual(['db-password']);
      expect(await find('consumer')).toEqual([cli.consumer]);
      expect(await find('id')).toEqual([]);
      const { TRELLIS_SECRETS_TOKEN: token, ...env } = cli.env;
      // Token commands are not run, as they may prompt for a passphrase or be slow.
      expect(await find('secret', { ...env, TRELLIS_SECRETS_TOKEN_COMMAND: `echo ${token}` })).toEqual([]);
      expect(await find('secret', { ...cli.env, TRELLIS_SECRETS_TOKEN: 'trs_nonsense' })).toEqual([]);
      const elsewhere = { ...cli.env, TRELLIS_SECRETS_SERVER: 'nonsense' };
      expect(await find('secret', elsewhere)).toEqual([]);
      expect(await find('secret', elsewhere, { server: cli.server })).toEqual(['db-password']);
      expect(await find('secret', cli.env, { profile: 'unknown' })).toEqual([]);
    } finally {
      await cli.close();
    }
  });
});

test('the bash script completes commands, options and paths', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'trellis-completion-'));
  try {
    const cli = join(folder, 'trellis');
    await writeFile(cli, `#!/bin/sh\nexec node "${resolve('dist/cli.js')}" "$@"\n`);
    await chmod(cli, 0o755);
    const ask = `ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _trellis; echo "$*: \${COMPREPLY[*]}"; }`;
    const asked = ['ask trellis secrets ver', 'ask trellis secrets put --fi', 'ask trellis secrets import tsconfig.b'];
    const script = ['source <(trellis completion bash)', ask, ...asked].join('\n');
    const env = { ...process.env, PATH: `${folder}:${process.env.PATH ?? ''}` };
    const { stdout } = await promisify(execFile)('bash', ['-c', script], { env });
    expect(stdout.split('\n')).toEqual([
      'trellis secrets ver: versions verify',
      'trellis secrets put --fi: --file',
      'trellis secrets import tsconfig.b: tsconfig.build.json',
      '',
    ]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
