import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { spawnNode } from './child-process.js';
import { LOOPBACK } from './forges/forge-server.js';

export interface RunningServer {
  readonly process: ChildProcess;
  readonly origin: string;
  /** Returns everything that the server has printed. */
  output(): string;
  /** Returns the lines of its log. */
  lines(): readonly LogLine[];
  /** Waits until the server has printed a text. */
  printed(text: string): Promise<void>;
  /** Sends SIGTERM, waits for the end, and returns the exit code. */
  stop(): Promise<number | null>;
}

export type LogLine = Readonly<Record<string, unknown>>;

/** Parses the lines of JSON in the output of a server. */
export const parseLog = (text: string): LogLine[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as LogLine);

/** Runs the built command line in a child process, with only these environment variables. */
export function runCli(args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess {
  return spawnNode(['dist/cli.js', ...args], { env: toCliEnvironment(env) });
}

const toCliEnvironment = (env: Readonly<Record<string, string>>) => ({
  ...{ PATH: process.env.PATH, HOME: process.env.HOME, LOG_LEVEL: 'warn' },
  ...env,
});

/** Returns all environment variables of a server, whose forges may be on loopback. */
export const toServerEnvironment = (env: Readonly<Record<string, string>>) =>
  toCliEnvironment({ TRELLIS_FORGE_ALLOW: LOOPBACK.join(','), ...env });

/** Starts a server on a free port. Its state folder is deleted when it stops. Forges may be on loopback. */
export async function startServer(
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<RunningServer> {
  const state = await mkdtemp(join(tmpdir(), 'trellis-state-'));
  const child = spawnNode(['dist/cli.js', 'serve', '--port', '0', '--state', state, ...args], {
    env: toServerEnvironment(env),
  });
  const read = collect(child);
  const ended = once(child, 'exit');
  const origin = await Promise.race([untilReady(child, read), ended.then(() => undefined)]);
  if (origin === undefined) throw new Error(`The server ended before it was ready:\n${read()}`);
  return {
    process: child,
    origin,
    output: read,
    lines: () => parseLog(read()),
    printed: (text) => untilPrinted(read, text),
    async stop() {
      child.kill('SIGTERM');
      const [code] = (await ended) as [number | null];
      await rm(state, { recursive: true, force: true });
      return code;
    },
  };
}

/** Collects both output streams of a process; the returned function returns their text so far. */
export function collect(child: ChildProcess): () => string {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return () => text;
}

/** Waits until a server has printed its origin, and returns it. */
export function untilReady(child: ChildProcess, read: () => string): Promise<string> {
  return new Promise((resolve) => {
    child.stdout?.on('data', function check() {
      const [, origin] = / ready at (\S+) - /.exec(read()) ?? [];
      if (!origin) return;
      child.stdout?.off('data', check);
      resolve(origin);
    });
  });
}

/** @throws Error with the whole output, if the text does not come in time. */
export async function untilPrinted(read: () => string, text: string): Promise<void> {
  const lateAt = performance.now() + 60_000;
  while (!read().includes(text)) {
    if (performance.now() > lateAt) throw new Error(`The server did not print "${text}", but:\n${read()}`);
    await sleep(10);
  }
}
