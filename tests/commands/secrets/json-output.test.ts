import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { complete } from '../../../src/commands/completion.js';
import { secretsCommand } from '../../../src/commands/secrets/secrets-command.js';
import { newName, openSecretsCli, type SecretsCli } from './secrets-cli.js';

let cli: SecretsCli;
beforeAll(async () => (cli = await openSecretsCli()));
afterAll(() => cli.close());

const store = async (name = newName()): Promise<string> => {
  await cli.run(['put', name, '--consumer', cli.consumer], { stdin: 'value' });
  return name;
};

const mint = async (): Promise<string> => {
  const said = await cli.run(['tokens', 'mint', '--consumer', cli.consumer, '--description', 'test', '--json']);
  return (JSON.parse(said.out) as { id: string }).id;
};

const addConsumer = async (): Promise<string> => {
  const name = newName();
  await cli.run(['consumers', 'add', name]);
  return name;
};

interface Call {
  readonly args: readonly string[];
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly sleep?: (said: string) => Promise<void>;
  /** Arguments that are wrong; by default, the service rejects the token. */
  readonly wrong?: readonly string[];
}

/** Creates a signing key and returns its file and its public key. */
async function createKey() {
  const said = await cli.run(['keygen', '--file', join(cli.folder, newName()), '--json']);
  return JSON.parse(said.out) as { readonly file: string; readonly key: string };
}

/** A call of each command that succeeds. */
const CALLS: Readonly<Record<string, () => Call | Promise<Call>>> = {
  init: () => ({
    args: ['--server', cli.server, '--token-stdin', '--config', join(cli.folder, newName())],
    stdin: cli.token,
  }),
  login: () => ({
    args: ['--config', join(cli.folder, newName())],
    sleep: (said) => cli.approveLogin(said),
    wrong: INSECURE,
  }),
  logout: async () => {
    const config = join(cli.folder, newName());
    const { data } = await cli.owner.POST('/tokens', { body: { description: 'test' } });
    await writeFile(config, JSON.stringify({ server: cli.server, token: data!.value }), { mode: 0o600 });
    return { args: ['--config', config], wrong: ['--config', join(cli.folder, 'missing')] };
  },
  whoami: () => ({ args: [] }),
  status: () => ({ args: [] }),
  put: () => ({ args: [newName(), '--consumer', cli.consumer], stdin: 'value' }),
  get: async () => ({ args: [await store()] }),
  rotate: async () => ({ args: [await store()], stdin: 'new' }),
  list: () => ({ args: [] }),
  rename: async () => ({ args: [await store(), newName()] }),
  label: async () => ({ args: [await store(), '--tag', 'prod'] }),
  delete: async () => ({ args: [await store(), '--yes'] }),
  versions: async () => ({ args: [await store()] }),
  destroy: async () => {
    const name = await store();
    await cli.run(['rotate', name], { stdin: 'new' });
    return { args: [name, '--yes'] };
  },
  restore: async () => {
    const name = await store();
    await cli.run(['rotate', name], { stdin: 'new' });
    return { args: [name, '1'] };
  },
  edit: async () => ({
    args: [await store()],
    env: { EDITOR: 'printf new >', PATH: process.env.PATH ?? '' },
  }),
  import: async () => {
    const file = join(cli.folder, `${newName()}.json`);
    await writeFile(file, JSON.stringify({ [newName()]: 'value' }));
    return { args: [file, '--consumer', cli.consumer] };
  },
  'consumers list': () => ({ args: [] }),
  'consumers add': () => ({ args: [newName()] }),
  'consumers rename': async () => ({ args: [await addConsumer(), newName()] }),
  'consumers key': async () => ({ args: [await addConsumer(), cli.recipient] }),
  'consumers delete': async () => ({ args: [await addConsumer(), '--yes'] }),
  'tokens list': () => ({ args: [] }),
  'tokens mint': () => ({ args: ['--consumer', cli.consumer, '--description', 'test'] }),
  'tokens rotate': async () => ({ args: [await mint()] }),
  'tokens revoke': async () => ({ args: [await mint()] }),
  'tokens purge': async () => {
    const id = await mint();
    await cli.run(['tokens', 'revoke', id]);
    return { args: [id] };
  },
  audit: () => ({ args: [] }),
  keygen: async () => ({
    args: ['--file', join(cli.folder, newName())],
    wrong: ['--file', (await createKey()).file],
  }),
  sign: async () => ({
    args: [await store(), '--yes'],
    env: { TRELLIS_SECRETS_SIGNING_KEY_FILE: (await createKey()).file },
  }),
  verify: async () => ({ args: [await store()] }),
  'writers list': () => ({ args: [], wrong: INSECURE }),
  'writers add': async () => ({ args: [(await createKey()).key, '--name', newName()], wrong: ['no-such-file'] }),
  'writers remove': async () => {
    const { key } = await createKey();
    await cli.run(['writers', 'add', key, '--name', newName()]);
    return { args: [key], wrong: ['SHA256:unknown'] };
  },
};

/** The test server is not at this address, and no token is sent over plain HTTP to another machine. */
const INSECURE = ['--server', 'http://192.0.2.1'];

/** They print the output of a program, a template, or a file in a format of the user. */
const WITHOUT_JSON = ['run', 'mcp', 'webhook', 'inject', 'export'];

function listCommands(command: Command, prefix: readonly string[] = []): (readonly [string, Command])[] {
  return command.commands.flatMap((each) => {
    const path = [...prefix, each.name()];
    return each.commands.length > 0 ? listCommands(each, path) : [[path.join(' '), each] as const];
  });
}

const terminal = { in: process.stdin, out: process.stdout, err: process.stderr, env: {} };
const all = listCommands(secretsCommand(terminal));

test('every command has --json, except those that print output of others', () => {
  const names = all.map(([name]) => name);
  expect(names.toSorted()).toEqual([...Object.keys(CALLS), ...WITHOUT_JSON].toSorted());
  const having = all.filter(([, { options }]) => options.some(({ long }) => long === '--json')).map(([name]) => name);
  expect(having.toSorted()).toEqual(Object.keys(CALLS).toSorted());
});

test('completion offers every option of every command', async () => {
  const program = secretsCommand(terminal);
  for (const [name, { options }] of all) {
    const { candidates } = await complete(program, [...name.split(' '), '--'], async () => []);
    const offered = candidates.map(({ value }) => value);
    expect([name, options.map(({ long }) => long).filter((long) => !offered.includes(String(long)))]).toEqual([
      name,
      [],
    ]);
  }
});

const parseLines = (text: string): unknown[] =>
  text
    .trim()
    .split('\n')
    .map((line): unknown => JSON.parse(line));

describe.each(Object.keys(CALLS))('%s --json', (name) => {
  test('prints one JSON document, or one per line', async () => {
    const { args, wrong: _wrong, ...given } = await CALLS[name]!();
    const said = await cli.run([...name.split(' '), ...args, '--json'], given);
    expect({ code: said.code, err: said.code === 0 ? '' : said.err }).toEqual({ code: 0, err: '' });
    if (name === 'audit') expect(parseLines(said.out)).not.toHaveLength(0);
    else expect(JSON.parse(said.out)).toBeInstanceOf(Object);
  });

  test('prints an error as JSON: of the service, and of the arguments', async () => {
    const { args, wrong: rejected = args, ...given } = await CALLS[name]!();
    const denied = { stdin: given.stdin && 'wrong', env: { ...given.env, TRELLIS_SECRETS_TOKEN: 'wrong' } };
    for (const wrong of [rejected, [...args, '--no-such-option']]) {
      const said = await cli.run([...name.split(' '), ...wrong, '--json'], denied);
      const error: unknown = JSON.parse(said.err.trim().split('\n').at(-1) ?? '');
      expect([said.out, error]).toEqual(['', { error: expect.any(String) as unknown, exit_code: said.code }]);
      expect(said.code).not.toBe(0);
    }
  });
});

test('get --json encodes bytes that are not text', async () => {
  const name = newName();
  await cli.run(['put', name, '--consumer', cli.consumer], { stdin: Buffer.from([0, 255]) });
  const { out } = await cli.run(['get', name, '--json']);
  expect(JSON.parse(out)).toEqual({ slug: name, value: 'AP8=', encoding: 'base64' });
});
