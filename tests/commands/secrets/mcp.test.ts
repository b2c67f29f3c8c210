import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { base32 } from '@scure/base';
import { eventually } from '../../eventually.js';
import { newName, openSecretsCli, type SecretsCli } from './secrets-cli.js';

const VALUE = 'kV9#mPz2$Lq8!wTr5';

const MAP = `
secrets:
  DB_PASSWORD: db-password
  OTHER: other
  PIN: pin
commands:
  show:
    description: Prints the environment.
    run: [env]
    secrets: [DB_PASSWORD]
  script:
    run: [sh, -c, '{script}']
    arguments: { script: .* }
    secrets: [DB_PASSWORD]
  greet:
    run: [echo, 'hello {name}', '{place}']
    arguments:
      name: '[a-z;$ ]+'
      place: [here, --there]
    secrets: []
  slow:
    run: [sh, -c, 'echo "$DB_PASSWORD $$"; sleep 600 & sleep 600']
    secrets: [DB_PASSWORD]
    timeoutSeconds: 1
  wait:
    run: [sh, -c, 'echo $$ > pid; sleep 600']
    secrets: []
  quiet:
    run: [sh, -c, 'echo "$PIN"; exit 3']
    secrets: [PIN]
    output: none
  short:
    run: [touch, started]
    secrets: [PIN]
  lost:
    run: [./nowhere]
    secrets: []
`;

let cli: SecretsCli;
let folder: string;
let agent: Client;
let transport: StdioClientTransport;
let received: string;

beforeAll(async () => {
  cli = await openSecretsCli();
  folder = join(cli.folder, newName());
  await mkdir(folder);
  await writeFile(join(folder, 'trellis.secrets.yaml'), MAP);
  for (const [name, stdin] of Object.entries({ 'db-password': VALUE, pin: '1234', foreign: 'not in the map' })) {
    await cli.run(['put', name, '--consumer', cli.consumer], { stdin });
  }
  [agent, transport] = await connect(['mcp'], cli.env);
});
afterAll(async () => {
  await agent.close();
  await cli.close();
});

beforeEach(() => {
  received = '';
});

async function reconnect(args: readonly string[] = ['mcp'], env: Record<string, string> = cli.env): Promise<void> {
  await agent.close();
  [agent, transport] = await connect(args, env);
}

/** Connects the official client to the built program, and records every message that it sends. */
async function connect(args: readonly string[], env: Record<string, string>): Promise<[Client, StdioClientTransport]> {
  const client = new Client({ name: 'agent', version: '1' });
  const stdio = new StdioClientTransport({
    command: process.execPath,
    args: [resolve('dist/cli.js'), 'secrets', ...args],
    env,
    cwd: folder,
    stderr: 'pipe',
  });
  stdio.stderr?.on('data', (chunk: Buffer) => (received += chunk.toString()));
  await client.connect(stdio);
  const handle = stdio.onmessage;
  stdio.onmessage = (message) => {
    received += JSON.stringify(message);
    handle?.(message);
  };
  return [client, stdio];
}

interface Called {
  readonly isError: boolean;
  readonly text: string;
  readonly result: Record<string, unknown>;
}

async function call(name: string, args: Readonly<Record<string, string | undefined>> = {}): Promise<Called> {
  const { content, structuredContent, isError } = await agent.callTool({ name, arguments: args });
  const [{ text }] = content as [{ text: string }];
  return { isError: isError === true, text, result: structuredContent as Record<string, unknown> };
}

const reverse = (text: string): string => Array.from(text).reverse().join('');

const run = (script: string) => call('script', { script });

test('tools: have schemas for input and output, which the client validates', async () => {
  const { tools } = await agent.listTools();
  expect(tools.map(({ name }) => name)).toEqual([
    ...['list_secrets', 'show', 'script', 'greet', 'slow', 'wait', 'quiet', 'short', 'lost'],
  ]);
  for (const { outputSchema, title, annotations } of tools) {
    expect([outputSchema?.type, typeof title, annotations?.readOnlyHint]).toEqual([
      ...['object', 'string', title === 'List secrets'],
    ]);
  }
  expect(tools.find(({ name }) => name === 'greet')?.inputSchema).toMatchObject({
    properties: { name: { type: 'string', maxLength: 256 }, place: { enum: ['here', '--there'] } },
    required: ['name', 'place'],
    additionalProperties: false,
  });
});

test('list_secrets: lists the secrets of the map only, without values', async () => {
  const { result } = await call('list_secrets');
  expect(result.secrets).toMatchObject([
    { variable: 'DB_PASSWORD', secret: 'db-password', commands: ['show', 'script', 'slow'], exists: true },
    { variable: 'OTHER', secret: 'other', commands: [], exists: false },
    { variable: 'PIN', secret: 'pin', exists: true },
  ]);
  expect(received).not.toMatch(/foreign|1234/);
});

test('a command gets its secrets only, and its result says how it ended', async () => {
  const { result } = await call('show');
  expect(result).toMatchObject({ exit_code: 0, timed_out: false, stderr: '', stderr_bytes: 0 });
  expect(result.stdout).toContain('DB_PASSWORD=***\n');
  expect(result.stdout).not.toMatch(/^(PIN|OTHER|TRELLIS_SECRETS_TOKEN|TRELLIS_SECRETS_IDENTITY)=/m);
  expect(await run('test "$DB_PASSWORD" = "$(printf %s "$DB_PASSWORD")" && exit 7')).toMatchObject({
    isError: true,
    result: { exit_code: 7 },
  });
  expect(received).not.toContain(VALUE);
});

test('reads of an agent are recorded with the caller mcp', async () => {
  await call('show');
  const { data = [] } = await cli.client.GET('/audit-log', { params: { query: { object_id: 'db-password' } } });
  expect(data.at(-1)).toMatchObject({ action: 'read', caller: 'mcp' });
});

describe('the value', () => {
  test.each<[reason: string, script: string]>([
    ['printed', 'echo "$DB_PASSWORD"'],
    ['in an environment', 'env; cat /proc/self/environ; export -p'],
    ['on standard error', 'echo "$DB_PASSWORD" >&2; printf %s "$DB_PASSWORD" 1>&2'],
    ['in the error of a program', 'ls "/nowhere/$DB_PASSWORD"; cd "$DB_PASSWORD"; "$DB_PASSWORD"'],
    ['in a shell trace', 'set -x; true "$DB_PASSWORD"'],
    ['as base64', 'printf %s "$DB_PASSWORD" | base64; printf %s "x$DB_PASSWORD" | base64 -w 5'],
    ['as base32', 'printf %s "$DB_PASSWORD" | base32; printf %s "xyz$DB_PASSWORD" | base32'],
    ['as hexadecimal', 'printf %s "$DB_PASSWORD" | od -An -tx1; printf %s "$DB_PASSWORD" | od -An -v -tx1 -w1'],
    ['reversed', 'printf %s "$DB_PASSWORD" | rev; printf %s "$DB_PASSWORD" | tac -rs .'],
    ['one character at a time', 'printf %s "$DB_PASSWORD" | fold -w1'],
    ['in halves', 'printf %s "$DB_PASSWORD" | cut -c1-9; printf %s "$DB_PASSWORD" | cut -c9-'],
    ['in upper case', 'printf %s "$DB_PASSWORD" | tr a-z A-Z'],
    ['as JSON', `node -p 'JSON.stringify(process.env)'`],
    ['in a URL', `node -p 'encodeURIComponent(process.env.DB_PASSWORD)'`],
    ['before much output', 'echo "$DB_PASSWORD"; yes | head -c 100000'],
    ['at every offset of much output', 'for i in $(seq 3000); do printf "%s%s" "$i" "$DB_PASSWORD"; done'],
    ['slowly, between other output', 'for c in 1 2 3; do printf %s "$DB_PASSWORD"; sleep 0.01; echo; done'],
    ['by a child that outlives the command', '(sleep 0.05; echo "$DB_PASSWORD") & echo started'],
  ])('is in no message if a command writes it %s', async (_reason, script) => {
    const { result } = await run(script);
    expect(result.timed_out).toBe(false);
    for (const form of toForms(VALUE)) expect(received.replace(/\\n|\s/g, '').toLowerCase()).not.toContain(form);
  });

  test('of the token or the identity is in no message either', async () => {
    const file = join(folder, 'credentials');
    await writeFile(file, `${cli.token} ${cli.identity}`);
    expect((await run(`cat ${file}`)).result).toMatchObject({ exit_code: 0, stdout: '*** ***' });
  });

  test.each([
    ['the default file', (): string[] => []],
    ['a named file', (): string[] => ['--signing-key-file', join(folder, 'signing')]],
  ])('of the signing key in %s is in no message either', async (_place, toArgs) => {
    const home = join(folder, newName());
    const file = toArgs()[1] ?? join(home, '.config/trellis/signing-key');
    expect((await cli.run(['keygen', '--file', file])).code).toBe(0);
    const lines = (await readFile(file, 'utf8')).trim().split('\n').slice(1, -1);
    const joined = lines.join('');
    try {
      await reconnect(['mcp', ...toArgs()], { ...cli.env, HOME: home });
      const { result } = await run(`f=${file}; cat $f; tr -d '\\n' < $f; rev $f`);
      expect(result).toMatchObject({ exit_code: 0, stdout: expect.stringContaining('BEGIN OPENSSH') as string });
      // Most bytes are different in each key; the first ones are the same in every file.
      for (let at = 0; at + 12 <= joined.length; at += 1) {
        expect(received).not.toContain(joined.slice(at, at + 12));
        expect(received).not.toContain(reverse(joined.slice(at, at + 12)));
      }
    } finally {
      await reconnect();
    }
  });

  /** Returns the forms that reveal the value: each encoding, and each half. */
  function toForms(value: string): string[] {
    const bytes = Buffer.from(value);
    const forms = [value, value.slice(0, 9), value.slice(8), reverse(value), bytes.toString('hex')];
    const encoded = [bytes.toString('base64'), base32.encode(bytes)].map((text) => text.replace(/.=*$/, ''));
    return [...forms, ...encoded, encodeURIComponent(value)].map((form) => form.toLowerCase());
  }
});

describe('output', () => {
  test('is the end of each stream, with its whole length', async () => {
    const { result } = await run('yes a | head -c 1000000; echo end');
    const { stdout } = result as { stdout: string };
    expect([stdout.length, stdout.slice(-6), result.stdout_bytes]).toEqual([32_768, 'a\nend\n', 1_000_004]);
  });

  test('none: returns the exit code only, also for a value that is too short to hide', async () => {
    expect(await call('quiet')).toMatchObject({ isError: true, result: { exit_code: 3, timed_out: false } });
    expect(received).not.toContain('1234');
  });

  test('of a command with a value that is too short to hide: the command is not started', async () => {
    const { isError, text } = await call('short');
    expect([isError, text]).toEqual([true, expect.stringContaining('PIN is shorter than 8 bytes')]);
    await expect(readFile(join(folder, 'started'))).rejects.toThrow('ENOENT');
  });
});

describe('arguments', () => {
  test('replace placeholders, and no shell reads them', async () => {
    const { result } = await call('greet', { name: 'ada; env $x', place: '--there' });
    expect(result.stdout).toBe('hello ada; env $x --there\n');
  });

  test.each([
    [{ name: 'ada' }],
    [{ name: 'ADA', place: 'here' }],
    [{ name: 'ada', place: 'elsewhere' }],
    [{ name: 'ada\n', place: 'here' }],
    [{ name: 'a'.repeat(257), place: 'here' }],
    [{ name: 'ada', place: 'here', extra: '1' }],
  ])('%j are rejected', async (args) => {
    const { isError, text } = await call('greet', args);
    expect([isError, text]).toEqual([true, expect.stringContaining('Invalid arguments')]);
  });

  test('that match a pattern must not look like options', async () => {
    expect(await call('script', { script: '-c' })).toMatchObject({ isError: true });
  });

  test('name a command of the map, or the call is rejected', async () => {
    await expect(agent.callTool({ name: 'sh', arguments: {} })).rejects.toThrow('Expected the tool to be one of');
  });
});

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('the end of a command', () => {
  test('comes with all its processes at the timeout', async () => {
    const { result } = await call('slow');
    expect(result).toMatchObject({ signal: 'SIGTERM', timed_out: true });
    const [, pid = ''] = /\*\*\* (\d+)/.exec(result.stdout as string) ?? [];
    expect(isRunning(Number(pid))).toBe(false);
  });

  test.each<[string, (stop: AbortController) => Promise<void> | void]>([
    ['the client cancels the call', (stop) => stop.abort()],
    ['the client goes away', () => agent.close()],
    ['the server is ended', () => void process.kill(transport.pid ?? 0, 'SIGTERM')],
  ])('comes when %s', async (_reason, end) => {
    const stop = new AbortController();
    const file = join(folder, 'pid');
    await writeFile(file, '');
    const called = agent.callTool({ name: 'wait', arguments: {} }, undefined, { signal: stop.signal });
    called.catch(() => undefined);
    let pid = 0;
    await eventually(async () => {
      pid = Number(await readFile(file, 'utf8'));
      expect(pid).toBeGreaterThan(0);
    });
    await end(stop);
    await eventually(async () => expect(isRunning(pid)).toBe(false));
    await reconnect();
  });

  test('is an error without a value if the program cannot be started', async () => {
    expect(await call('lost')).toMatchObject({ isError: true, text: "lost: ./nowhere can't be run: ENOENT" });
  });
});

describe('a failure of the service', () => {
  afterAll(() => reconnect());

  test('is an error of the tool, without a value', async () => {
    await reconnect(['mcp'], { ...cli.env, TRELLIS_SECRETS_TOKEN: `trs_${'a'.repeat(49)}` });
    expect(await call('show')).toMatchObject({
      isError: true,
      text: 'The token is invalid, expired or revoked, or its kind is not allowed to do this',
    });
  });

  test('is an error of the tool if the identity is not a recipient', async () => {
    await cli.run([
      'init',
      '--server',
      cli.server,
      '--token-command',
      'false',
      '--new-identity',
      '--config',
      join(cli.folder, 'other'),
    ]);
    const file = join(cli.folder, '.config/trellis/identity.txt');
    await chmod(file, 0o600);
    const { TRELLIS_SECRETS_IDENTITY: _own, ...env } = cli.env;
    await reconnect(['mcp', '--identity-file', file], env);
    expect(await call('show')).toMatchObject({
      isError: true,
      text: "db-password: This identity can't decrypt the value",
    });
  });
});

test('an edit of the map has no effect on a running server', async () => {
  const file = join(folder, 'trellis.secrets.yaml');
  try {
    await writeFile(file, MAP.replace('run: [env]', 'run: [echo, edited]'));
    expect((await call('show')).result.stdout).toContain('DB_PASSWORD=***');
  } finally {
    await writeFile(file, MAP);
  }
});

test.each([
  ['secrets: [a]\n', 'expected "commands" for agents'],
  ['secrets: [a]\ncommands: { x: { run: [] } }\n', 'commands.x.run: expected a list'],
  ['secrets: [a]\ncommands: { X: { run: [a] } }\n', 'commands.X: expected a name'],
  ['secrets: [a]\ncommands: { x: { run: [a], shell: true } }\n', 'commands.x.shell: expected only the fields'],
  ['secrets: [a]\ncommands: { x: { run: [a], secrets: [B] } }\n', 'commands.x.secrets: expected a list of variables'],
  ["secrets: [a]\ncommands: { x: { run: ['{p}'], arguments: { p: .* } } }\n", 'a program without placeholders'],
  ["secrets: [a]\ncommands: { x: { run: [a, '{p}'] } }\n", 'commands.x.arguments: expected one entry'],
  ["secrets: [a]\ncommands: { x: { run: [a, '{p}'], arguments: { p: '(' } } }\n", 'commands.x.arguments.p: expected'],
  ['secrets: [a]\ncommands: { x: { run: [a], timeoutSeconds: 0 } }\n', 'commands.x.timeoutSeconds: expected'],
  ['secrets: [a]\ncommands: { x: { run: [a], output: all } }\n', 'commands.x.output: expected'],
])('the server does not start with the map %j', async (content, message) => {
  const file = join(folder, `${newName()}.yaml`);
  await writeFile(file, content);
  const said = await cli.run(['mcp', '--map', file]);
  expect([said.code, said.err]).toEqual([2, expect.stringContaining(message)]);
});
