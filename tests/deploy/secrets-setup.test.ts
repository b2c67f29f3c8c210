import { execFile, spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { type RunningServer, startServer } from '../running-server.js';

const VALUE = 'correct horse battery';

const run = promisify(execFile);

let folder: string;
let server: RunningServer;
let env: Record<string, string>;
/** The blocks of the guide, by the heading above them. */
let blocks: ReadonlyMap<string, readonly string[]>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trellis-setup-'));
  const state = join(folder, 'state');
  server = await startServer(['--services', 'secrets', '--state', state]);
  const cli = resolve('dist/cli.js');
  await mkdir(join(folder, 'bin'));
  await writeScript('bin/trellis', `exec "${process.execPath}" "${cli}" "$@"`);
  await writeScript('deploy.sh', 'printf "deploy %s" "$DB_PASSWORD" > deployed');
  await writeScript('serve.sh', 'cat "$SHOP_KEY_FILE" > served; echo "${SHOP_KEY-unset}" >> served');
  await writeScript('migrate.sh', 'echo "Migrated $1 with $DB_PASSWORD"');
  env = {
    ...{ PATH: `${join(folder, 'bin')}:${process.env.PATH ?? ''}`, HOME: folder, TRELLIS_STATE: state },
    // The port of the documentation is 4000.
    TRELLIS_SECRETS_SERVER: `${server.origin}/secrets`,
  };
  blocks = toBlocks(await readFile('docs/secrets-setup.md', 'utf8'));
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
});

async function writeScript(name: string, script: string): Promise<void> {
  await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`);
  await chmod(join(folder, name), 0o755);
}

function toBlocks(text: string): ReadonlyMap<string, readonly string[]> {
  const sections = text.split(/^#+ /m).map((section) => {
    const [heading = ''] = section.split('\n');
    return [heading, [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block)] as const;
  });
  return new Map(sections);
}

/** Runs all blocks of a section, and returns the number of commands that a person types. */
async function follow(heading: string, change = (block: string) => block): Promise<number> {
  const found = blocks.get(heading) ?? [];
  expect(found.length).toBeGreaterThan(0);
  for (const block of found) await run('sh', ['-eu', '-c', change(block)], { cwd: folder, env });
  return found.join('').match(/^(?:trellis|age-keygen|printf|mkdir|cat) /gm)?.length ?? 0;
}

/** Replaces the parts of a command line of the guide that differ here. */
function replace(text: string, from: string, to: string): string {
  expect(text).toContain(from);
  return text.replace(from, to);
}

test('the guide leads a person on a laptop from nothing to a deploy with six commands', async () => {
  const typed = await follow('Set up secrets without a browser', (block) =>
    // The server of this test runs already.
    replace(
      replace(block, 'trellis serve --services secrets > trellis.log &\n', ''),
      'http://localhost:4000',
      server.origin,
    ),
  );
  const init = (block: string) =>
    replace(block, 'init --token-stdin', 'init --server "$TRELLIS_SECRETS_SERVER" --token-stdin');
  expect(typed + (await follow('One person on a laptop', init))).toBe(6);
  expect(await readFile(join(folder, 'deployed'), 'utf8')).toBe(`deploy ${VALUE}`);
});

const hasAge = spawnSync('age-keygen', ['--version']).status === 0;

(hasAge ? test : test.skip)('the guide leads to a systemd service with six commands', async () => {
  expect(await follow('A systemd service')).toBe(6);
  const settings = readUnit(await readFile('deploy/shop.service', 'utf8'));
  expect(settings.LoadCredential).toEqual(['token:/etc/shop/token', 'identity:/etc/shop/identity']);
  const [start = ''] = settings.ExecStart ?? [];
  const program = replace(start, '/usr/bin/node /opt/trellis/dist/cli.js', 'trellis');
  const once = replace(replace(program, '/opt/shop/serve.sh', './serve.sh'), ' --watch', '');
  const { TRELLIS_STATE: _state, ...host } = env;
  const { TRELLIS_SECRETS_SERVER, ...own } = toEnvironment(settings.Environment ?? []);
  expect(TRELLIS_SECRETS_SERVER).toBe('https://trellis.example.org/secrets');
  // Neither the settings nor the identity of the laptop are used.
  await run('sh', ['-c', once], {
    cwd: folder,
    env: { ...host, ...own, HOME: '/nowhere', XDG_RUNTIME_DIR: '/dev/shm' },
  });
  expect(await readFile(join(folder, 'served'), 'utf8')).toBe(`${VALUE}unset\n`);
  const { data } = await readAudit();
  expect(data).toMatchObject({ action: 'read', caller: 'shop.service', actor_type: 'consumer_token' });
});

/** Returns the values of each setting of a unit. */
function readUnit(text: string): Record<string, string[]> {
  const settings: Record<string, string[]> = {};
  for (const [, name = '', value = ''] of text.matchAll(/^(\w+)=(.*)$/gm)) (settings[name] ??= []).push(value);
  return settings;
}

/** Returns the variables of a unit, with the folder of its credentials. */
function toEnvironment(lines: readonly string[]): Record<string, string> {
  const variables = lines.flatMap((line) => (line.startsWith('"') ? [line.slice(1, -1)] : line.split(' ')));
  const filled = variables.map((each) => each.replaceAll('%d', join(folder, 'etc/shop')).replaceAll('%S', folder));
  return Object.fromEntries(filled.map((each) => each.split(/=(.*)/s, 2) as [string, string]));
}

async function readAudit() {
  const { stdout } = await run('trellis', ['secrets', 'audit', '--json'], { cwd: folder, env });
  const entries = stdout.trim().startsWith('[')
    ? (JSON.parse(stdout) as object[])
    : stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as object);
  return { data: entries.find((entry) => 'caller' in entry && entry.caller === 'shop.service') };
}

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

(hasSystemd ? test : test.skip)('systemd accepts the units without a warning', async () => {
  for (const unit of ['shop.service', 'trellis.service']) {
    const text = await readFile(join('deploy', unit), 'utf8');
    // The programs are not installed here.
    await writeFile(join(folder, unit), text.replace(/^ExecStart=.*$/m, `ExecStart=${process.execPath} --version`));
    const { stdout, stderr } = await run('systemd-analyze', ['verify', join(folder, unit)]);
    expect([unit, stdout, stderr]).toEqual([unit, '', '']);
  }
});

test('the guide lets an agent run a command with a secret that it does not see, with one more command', async () => {
  expect(await follow('An agent over MCP')).toBe(1);
  const agent = new Client({ name: 'agent', version: '1' });
  const { TRELLIS_STATE: _state, ...own } = env;
  await agent.connect(
    new StdioClientTransport({ command: 'trellis', args: ['secrets', 'mcp'], cwd: folder, env: own }),
  );
  try {
    const { tools } = await agent.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['list_secrets', 'migrate']);
    const result = await agent.callTool({ name: 'migrate', arguments: { target: 'staging' } });
    expect(result.structuredContent).toMatchObject({ exit_code: 0, stdout: 'Migrated staging with ***\n' });
    expect(JSON.stringify(result)).not.toContain(VALUE);
  } finally {
    await agent.close();
  }
});
