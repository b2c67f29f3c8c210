/** The servers to which `faults.ts` provokes faults. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAccounts } from '../../src/accounts/accounts.js';
import type { DatabaseTarget } from '../../src/storage/database.js';
import { openDatabase } from '../../src/storage/open-database.js';
import { spawnNode } from '../../tests/child-process.js';
import { findFreePort } from '../../tests/contract/free-port.js';

export interface FaultServer {
  readonly child: ChildProcess;
  readonly origin: string;
  /** Whether the server ended instead of becoming ready. */
  readonly hasEnded: boolean;
  /** Returns the last warning or error of the log, without its stack; before the log begins, the last line. */
  readonly lastProblem: () => string;
}

/** Starts a server, and waits until it is ready or ends. */
export async function start(state: string, env: Readonly<Record<string, string>> = {}): Promise<FaultServer> {
  const port = await findFreePort();
  const child = spawnNode(['dist/cli.js', 'serve', '--port', String(port), '--state', state], {
    env: { ...process.env, NODE_ENV: 'production', LOG_LEVEL: 'warn', ...env },
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const ended = once(child, 'exit').then(() => true);
  const untilReady = async (): Promise<boolean> => {
    while (!text.includes(' ready at ') && child.exitCode === null) await sleep(50);
    return child.exitCode !== null;
  };
  return {
    child,
    origin: `http://127.0.0.1:${port}`,
    hasEnded: await Promise.race([ended, untilReady()]),
    lastProblem: () => toLastProblem(text),
  };
}

function toLastProblem(text: string): string {
  const lines = text.trim().split('\n');
  const problems = lines
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as { level: number; msg?: string })
    .filter(({ level }) => level >= 40);
  const isLog = lines.some((line) => line.startsWith('{'));
  return problems.at(-1)?.msg ?? (isLog ? '' : (lines.at(-1) ?? ''));
}

export async function stop({ child }: FaultServer): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** Adds a user. @returns the cookie of a session. */
export async function signIn(place: DatabaseTarget): Promise<string> {
  const database = await openDatabase(place);
  const accounts = createAccounts(database, { origin: () => 'http://localhost' });
  const { id } = await accounts.users.add({ username: 'ada', displayName: 'Ada' });
  const session = await accounts.sessions.start(id);
  await database.destroy();
  return `trellis_session=${session}`;
}

/** Lists a process and its children. */
export async function listFamily(pid: number): Promise<number[]> {
  const found = [pid];
  for (const name of (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry))) {
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
    if (Number(/\) \S (\d+)/.exec(stat)?.[1]) === pid) found.push(Number(name));
  }
  return found;
}
