import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { DatabasePlace } from '../../src/storage/database.js';
import { createPlace, engine } from '../storage/engine.js';
import { compileServer } from './compiled-server.js';
import { findFreePort } from './free-port.js';

/** How often tests kill a server: each time takes a start of it, so `npm test` does it a few times only. */
export const KILLS = Number(process.env.KILLS ?? (engine === 'SQLite' ? 6 : 4));

/** For a start of the server after each, on a machine that has other things to do. */
export const KILLED_TIMEOUT_MS = 120_000 + KILLS * 10_000;

/** The product in a process of its own, which can be killed and started again on the same data. */
export interface KilledServer {
  readonly origin: string;
  readonly place: DatabasePlace;
  start(): Promise<void>;
  /** As nothing can be caught, or finished. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

/** @param services Those that it is to run. */
export async function prepareServer(services: string): Promise<KilledServer> {
  const state = await mkdtemp(path.join(os.tmpdir(), 'trellis-killed-'));
  const port = String(await findFreePort());
  const server = await compileServer();
  const place = engine === 'SQLite' ? { file: path.join(state, 'trellis.db') } : await createPlace();
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
