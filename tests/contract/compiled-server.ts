import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { spawnNode } from '../child-process.js';
import { LOOPBACK } from '../forges/forge-server.js';

/** The built server and its commands. */
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

/** Uses the built server, which `npm test` builds first. */
export async function compileServer(): Promise<CompiledServer> {
  return {
    start,
    spawn: (args, env, uid) => spawnCli(args, { env, uid }),
    run: (args, env = {}) => run(args, env),
    remove: async () => undefined,
  };
}

interface SpawnOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly uid?: number;
}

function spawnCli(args: readonly string[], { env, uid }: SpawnOptions) {
  const defaults = { PATH: process.env.PATH, LOG_LEVEL: 'silent', TRELLIS_FORGE_ALLOW: LOOPBACK.join(',') };
  return spawnNode(['dist/cli.js', ...args], {
    env: { ...defaults, ...env },
    ...(uid !== undefined && { uid, gid: uid }),
  });
}

async function start(args: readonly string[], env: Readonly<Record<string, string>>) {
  const child = spawnCli(['serve', ...args], { env });
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

async function run(args: readonly string[], env: Readonly<Record<string, string>>): Promise<CommandResult> {
  const child = spawnCli(args, { env });
  const output = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => (output.out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output.err += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...output };
}
