import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { DatabaseTarget } from '../../src/storage/database.js';
import { createDatabaseTarget, engine } from '../storage/engine.js';
import { compileServer } from './compiled-server.js';
import { findFreePort } from './free-port.js';

/** How often tests kill a server. Each kill requires a restart, so `npm test` uses a low number. */
export const KILLS = Number(process.env.KILLS ?? (engine === 'SQLite' ? 6 : 4));

/** Includes a restart after each kill, on a busy machine. */
export const KILLED_TIMEOUT_MS = 120_000 + KILLS * 10_000;

/** A Trellis server in a separate process, which can be killed and restarted with the same data. */
export interface KilledServer {
  readonly origin: string;
  readonly place: DatabaseTarget;
  start(): Promise<void>;
  /** Kills the server with a signal that it can't handle. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

/** @param services The services that the server runs. */
export async function createKilledServer(services: string): Promise<KilledServer> {
  const state = await mkdtemp(path.join(os.tmpdir(), 'trellis-killed-'));
  const port = String(await findFreePort());
  const server = await compileServer();
  const place = engine === 'SQLite' ? { file: path.join(state, 'trellis.db') } : await createDatabaseTarget();
  const env: Record<string, string> = 'url' in place ? { DATABASE_URL: place.url } : {};
  const args = ['--port', port, '--state', state, '--services', services, '--rate-limit', '0'];
  let child: ChildProcess | undefined;
  const kill = async (): Promise<void> => {
    if (child === undefined) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    child = undefined;
    await ended;
  };
  return {
    origin: `http://localhost:${port}`,
    place,
    start: async () => void (child = await server.start(args, env)),
    kill,
    async close() {
      await kill();
      await server.remove();
      await rm(state, { recursive: true });
    },
  };
}
