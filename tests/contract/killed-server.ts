import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { DatabaseTarget } from '../../src/storage/database.js';
import { createDatabaseTarget, engine } from '../storage/engine.js';
import { compileServer } from './compiled-server.js';
import { findFreePort } from './free-port.js';
import { startRoundRobin } from './round-robin.js';

/** How often tests kill a server. Each kill requires a restart, so `npm test` uses a low number. */
export const KILLS = Number(process.env.KILLS ?? (engine === 'SQLite' ? 6 : 4));

/** Includes a restart after each kill, on a busy machine. */
export const KILLED_TIMEOUT_MS = 120_000 + KILLS * 20_000;

/** Trellis servers in separate processes, which can be killed and restarted with the same data. */
export interface KilledServer {
  readonly origin: string;
  readonly place: DatabaseTarget;
  /** Starts the servers that do not run. */
  start(): Promise<void>;
  /** Kills one server after the other with a signal that it can't handle: on PostgreSQL, the other one runs on. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Creates one server on SQLite; on PostgreSQL two, with separate state folders, to which a proxy sends the requests in
 * turns.
 *
 * @param services The services that the servers run.
 */
export async function createKilledServer(services: string): Promise<KilledServer> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'trellis-killed-'));
  const compiled = await compileServer();
  const isShared = engine === 'PostgreSQL';
  const ports = await Promise.all(Array.from({ length: isShared ? 2 : 1 }, findFreePort));
  const proxy = isShared ? await startRoundRobin(ports) : undefined;
  const origin = `http://localhost:${proxy?.port ?? ports[0]}`;
  const states = ports.map((_, index) => path.join(folder, `${index}`));
  const key = randomBytes(32).toString('base64url');
  for (const state of states) {
    await mkdir(state, { mode: 0o700 });
    if (isShared) await writeFile(path.join(state, 'server.key'), key, { mode: 0o600 });
  }
  const place = isShared ? await createDatabaseTarget() : { file: path.join(states[0]!, 'trellis.db') };
  const env = { PUBLIC_URL: origin, ...('url' in place && { DATABASE_URL: place.url }) };
  const children = ports.map((): ChildProcess | undefined => undefined);
  let turn = 0;
  const start = async (index: number): Promise<void> => {
    const args = ['--port', `${ports[index]}`, '--state', states[index]!, '--services', services, '--rate-limit', '0'];
    children[index] ??= await compiled.start(args, env);
  };
  const kill = async (index: number): Promise<void> => {
    const child = children[index];
    if (child === undefined) return;
    children[index] = undefined;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  return {
    origin,
    place,
    async start() {
      for (const index of ports.keys()) await start(index);
    },
    kill: () => kill(turn++ % ports.length),
    async close() {
      await proxy?.close();
      for (const index of ports.keys()) await kill(index);
      await compiled.remove();
      await rm(folder, { recursive: true });
    },
  };
}
