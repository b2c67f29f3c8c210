import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { packExecutable } from '../../scripts/pack-executable.js';
import { packSecrets } from '../../scripts/pack-secrets.js';
import { createSecretsClient } from '../../src/generated/secrets/client.js';
import { generateIdentity, putSecret, toRecipients } from '../../src/sealing/secrets.js';
import { installTool } from '../../tools/install.js';
import { build } from '../child.js';
import { alternate, median } from '../rounds.js';
import { startServer } from '../server.js';
import { toTable } from '../table.js';
import { seedSecrets } from './secrets-seed.js';

interface CommandsBenchOptions {
  readonly rounds: number;
}

/** Measures the processor time of commands beside that of `node -e 0`, and of `age -d` if it is installed. */
export async function benchCommands({ rounds }: CommandsBenchOptions): Promise<string> {
  build();
  installTool('tools/postject');
  const work = mkdtempSync(path.join(tmpdir(), 'trellis-bench-commands-'));
  const state = path.join(work, 'state');
  mkdirSync(state, { mode: 0o700 });
  const { writeToken } = await seedSecrets({ file: path.join(state, 'trellis.db') }, { secrets: 2, writers: 1 });
  const settings = { TRELLIS_STATE: state, TRELLIS_SERVICES: 'secrets' };
  const server = await startServer(['dist/cli.js', 'serve'], settings, (origin) => fetch(`${origin}/healthz`));
  try {
    const env = { server: `${server.origin}/secrets`, token: writeToken, identity: await generateIdentity() };
    const sealed = await storeValue(env);
    const [executable, archive] = [await packExecutable(work), await packSecrets(path.join(work, 'package'))];
    const times = await compare(work, sealed, { env, rounds, executable });
    return `${times}\n\n${toTable(['', 'kB'], [toSize('one file', executable), toSize('package', archive)])}`;
  } finally {
    await server.stop();
    rmSync(work, { recursive: true, force: true });
  }
}

interface Access {
  readonly server: string;
  readonly token: string;
  readonly identity: string;
}

async function storeValue({ server, token, identity }: Access): Promise<Uint8Array> {
  const client = createSecretsClient(server, { token });
  const recipients = await toRecipients(identity);
  await putSecret(client, { slug: 'db-password', value: 'hunter2', recipients });
  const { data } = await client.GET('/objects/{slug}', {
    params: { path: { slug: 'db-password' } },
    parseAs: 'arrayBuffer',
  });
  return new Uint8Array(data ?? new ArrayBuffer(0));
}

const toSize = (name: string, file: string): readonly string[] => [name, (statSync(file).size / 1000).toFixed(0)];

interface Comparison {
  readonly env: Access;
  readonly rounds: number;
  /** The command line as one file. */
  readonly executable: string;
}

async function compare(
  work: string,
  sealed: Uint8Array,
  { env: { server, token, identity }, rounds, executable }: Comparison,
): Promise<string> {
  const [file, key] = [path.join(work, 'value.age'), path.join(work, 'identity.txt')];
  writeFileSync(file, sealed);
  writeFileSync(key, identity);
  const env = {
    ...{ PATH: process.env.PATH, HOME: work, TRELLIS_SECRETS_SERVER: server },
    ...{ TRELLIS_SECRETS_TOKEN: token, TRELLIS_SECRETS_IDENTITY: identity },
  };
  const trellis = ['node', 'dist/cli.js'];
  const commands: Record<string, readonly string[]> = {
    'node -e 0': ['node', '-e', '0'],
    // What Node itself needs to read the value.
    'node, one request': ['node', '-e', `require('http').get('${server}/objects/db-password', (it) => it.resume())`],
    'trellis --version': [...trellis, '--version'],
    'trellis secrets get': [...trellis, 'secrets', 'get', 'db-password'],
    'trellis secrets run': [...trellis, 'secrets', 'run', '--secret', 'db-password', '--', 'true'],
    'one file, --version': [executable, '--version'],
    'one file, get': [executable, 'secrets', 'get', 'db-password'],
    'one file, run': [executable, 'secrets', 'run', '--secret', 'db-password', '--', 'true'],
    'trellis complete': [...trellis, 'complete', '--', 'secrets', ''],
    ...(spawnSync('age', ['--version']).status === 0 && { 'age -d': ['age', '-d', '-i', key, file] }),
  };
  const contenders = Object.entries(commands).map(
    ([name, command]) => [name, async () => Promise.resolve(cpuOf(command, env))] as const,
  );
  const times = await alternate(rounds, Object.fromEntries(contenders));
  const bound = median(times['node -e 0'] ?? []);
  const rows = Object.entries(times).map(([name, all]) => [
    name,
    median(all).toFixed(1),
    (median(all) / bound).toFixed(2),
  ]);
  return toTable(['command', 'CPU ms', 'of node -e 0'], rows);
}

/** Returns the milliseconds of processor time that a command takes, with its children, as bash measures them. */
function cpuOf(command: readonly string[], env: NodeJS.ProcessEnv): number {
  const script = 'TIMEFORMAT="%3U %3S"; { time "$@" >/dev/null 2>&4; } 4>&2';
  const said = execFileSync('bash', ['-c', `exec 2>&1; ${script}`, 'bash', ...command], { env, encoding: 'utf8' });
  const [user = NaN, system = NaN] = said.trim().split(' ').map(Number);
  if (Number.isNaN(user + system)) throw new Error(`${command.join(' ')}: ${said}`);
  return (user + system) * 1000;
}
