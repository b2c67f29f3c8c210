import { execFile } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { LOOPBACK } from '../forges/forge-server.js';
import { listFiles } from '../../src/codegen/files.js';
import { spawnNode } from '../child-process.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const cache = join(root, '.cache');

/** A compiled server. Compiling it once reduces the time of each start by two thirds. */
export interface CompiledServer {
  /** Starts the server and waits until it is ready. */
  start(args: readonly string[], env: Readonly<Record<string, string>>): Promise<ChildProcess>;
  /** Starts a command, as the user `uid` if given. */
  spawn(args: readonly string[], env: Readonly<Record<string, string>>, uid?: number): ChildProcess;
  /** Runs a command to its end. */
  run(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<CommandResult>;
  remove(): Promise<void>;
}

export interface CommandResult {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Compiles the server without type checks, into a folder from which packages can be resolved. */
export async function compileServer(): Promise<CompiledServer> {
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'server-'));
  // Tests may start it as a different user.
  await chmod(folder, 0o755);
  const isCode = (file: string) => file.endsWith('.ts') && !file.endsWith('.d.ts');
  const sources = await listFiles(join(root, 'src'));
  await cp(join(root, 'src'), join(folder, 'src'), { recursive: true, filter: (file) => !file.endsWith('.ts') });
  await cp(join(root, 'package.json'), join(folder, 'package.json'));
  const files = sources.filter(isCode).map((file) => join('src', file));
  const options = ['--format=esm', '--target=node20', '--log-level=error', '--outbase=src'];
  const esbuild = join(root, 'node_modules/esbuild/bin/esbuild');
  await promisify(execFile)(esbuild, [...files, ...options, `--outdir=${join(folder, 'src')}`], { cwd: root });
  return {
    start: (args, env) => start(join(folder, 'src/cli.js'), args, env),
    spawn: (args, env, uid) => spawnCli(join(folder, 'src/cli.js'), args, { env, uid }),
    run: (args, env = {}) => run(join(folder, 'src/cli.js'), args, env),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

interface SpawnOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly uid?: number | undefined;
}

function spawnCli(cli: string, args: readonly string[], { env, uid }: SpawnOptions) {
  const defaults = { PATH: process.env.PATH, LOG_LEVEL: 'silent', TRELLIS_FORGE_ALLOW: LOOPBACK.join(',') };
  return spawnNode([cli, ...args], { env: { ...defaults, ...env }, ...(uid !== undefined && { uid, gid: uid }) });
}

async function start(cli: string, args: readonly string[], env: Readonly<Record<string, string>>) {
  const child = spawnCli(cli, ['serve', ...args], { env });
  let output = '';
  const read = (chunk: Buffer) => (output += chunk.toString());
  child.stderr.on('data', read);
  const ready = new Promise<boolean>((resolve) => {
    child.stdout.on('data', (chunk: Buffer) => {
      if (read(chunk).includes(' ready at ')) resolve(true);
    });
  });
  const isReady = await Promise.race([ready, once(child, 'exit').then(() => false)]);
  if (!isReady) throw new Error(`The server ended before it was ready:\n${output}`);
  return child;
}

async function run(
  cli: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<CommandResult> {
  const child = spawnCli(cli, args, { env });
  const output = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => (output.out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output.err += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...output };
}
