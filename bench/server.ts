import { readdirSync, readFileSync } from 'node:fs';

import { spawnNode } from '../tests/child-process.js';
import { LOOPBACK } from '../tests/forges/forge-server.js';

export interface RunningServer {
  readonly origin: string;
  /** Milliseconds from the start of the process to its first response to a query. */
  readonly firstAnswerMs: number;
  /** The processor time of all threads until the first response, in milliseconds. */
  readonly firstAnswerCpuMs: number;
  /** Returns the processor time of all running threads so far, in milliseconds. */
  cpuMs(): number;
  /** Returns the resident memory, in MB. */
  megabytes(): number;
  stop(): Promise<void>;
}

/** Starts a server in a separate process, discards its log, and waits for its first response. */
export async function startServer(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  firstAnswer: (origin: string) => Promise<unknown> = (origin) => ask(origin, '{ __typename }'),
): Promise<RunningServer> {
  const startedAt = performance.now();
  const defaults = {
    NODE_ENV: 'production',
    PORT: '0',
    TRELLIS_FORGE_ALLOW: LOOPBACK.join(','),
    TRELLIS_RATE_LIMIT: '0',
  };
  const child = spawnNode(args, { env: { ...process.env, ...defaults, ...environment } });
  const origin = await new Promise<string>((resolve, reject) => {
    let text = '';
    const look = (chunk: Buffer): void => {
      text += chunk.toString();
      const found = /ready at (http:\/\/\S+)/.exec(text)?.[1];
      if (found === undefined) return;
      // Each request logs a line, and collecting them would slow the client down.
      for (const stream of [child.stdout, child.stderr]) stream.off('data', look).resume();
      resolve(found);
    };
    child.stdout.on('data', look);
    child.stderr.on('data', look);
    child.once('exit', () => reject(new Error(`The server ended before it was ready:\n${text}`)));
  });
  await firstAnswer(origin);
  const firstAnswerMs = performance.now() - startedAt;
  const firstAnswerCpuMs = readCpuMs(Number(child.pid));
  return {
    origin,
    firstAnswerMs,
    firstAnswerCpuMs,
    cpuMs: () => readThreadsMs(Number(child.pid)),
    megabytes: () =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${String(child.pid)}/status`, 'utf8'))?.[1]) / 1024,
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        child.kill('SIGKILL');
      }),
  };
}

/** The kernel counts in ticks of 10 ms. */
const TICK_MS = 10;

/** Returns the processor time of a process. */
function readCpuMs(pid: number): number {
  const [user, system] = readTimes(pid);
  return (user + system) * TICK_MS;
}

/** Returns the processor time of the processes that a process has started and that have ended. */
export function readEndedMs(pid: number): number {
  const [, , user, system] = readTimes(pid);
  return (user + system) * TICK_MS;
}

/** Returns user and system time of a process, and those of its children that have ended, in ticks. */
function readTimes(pid: number): readonly [number, number, number, number] {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /u, '')
    .split(' ');
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15).map(Number);
  return [user, system, endedUser, endedSystem];
}

/** The first number of a thread's `schedstat` is its time on a processor, in nanoseconds. Threads that ended are missing. */
export function readThreadsMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const times = threads.map((thread) => Number.parseInt(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8')));
  return times.reduce((sum, nanoseconds) => sum + nanoseconds, 0) / 1e6;
}

/** @throws Error when the response has errors. */
export async function ask(origin: string, query: string, variables: object = {}): Promise<unknown> {
  const response = await fetch(`${origin}/graphql`, {
    method: 'POST',
    // Compression would be part of the processor time.
    headers: { 'content-type': 'application/json', accept: 'application/json', 'accept-encoding': 'identity' },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = (await response.json()) as { data?: unknown; errors?: unknown };
  if (errors !== undefined) throw new Error(JSON.stringify(errors));
  return data;
}
