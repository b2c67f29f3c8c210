/** The check that an empty database is really that of a new installation. */
import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Database, isPostgres } from './database.js';
import { readSchema } from './migrate.js';
import { SERVER_KEY_FILE } from './server-key.js';
import { StateFolderError } from './state-folder.js';

/** Exists in a state folder from the first start that found or created a database. */
const MARKER = 'database-created';

const MARKER_TEXT =
  'A server has used this state folder with a database. If the database is empty at a later start, that start fails.\n';

/** Returns whether the database has no tables. */
const isEmptyDatabase = async (database: Database): Promise<boolean> => (await readSchema(database)).version === 0;

/**
 * Returns what shows that a state folder was used with a database before; `undefined` for a new folder.
 *
 * Beside SQLite, a key is enough, because a start creates it after the database. Beside PostgreSQL it may have been
 * copied for a new server.
 */
export async function findTraceOfDatabase(
  state: string,
  { isSqlite }: { readonly isSqlite: boolean },
): Promise<string | undefined> {
  const names = [MARKER, 'images.db', ...(isSqlite ? [SERVER_KEY_FILE] : ['trellis.db'])];
  for (const name of names) if (await hasContent(join(state, name))) return name;
  const records = await readdir(join(state, 'site')).catch(() => []);
  return records.some((name) => name.endsWith('.db')) ? 'site' : undefined;
}

/**
 * Ensures that an empty database is used only in a new state folder, or if the operator asks for it. Otherwise a failed
 * mount or a wrong DATABASE_URL would look like a new installation, whose first visitor becomes the admin.
 *
 * @throws StateFolderError
 */
export async function assertDatabaseKept(database: Database, state: string): Promise<void> {
  if (!(await isEmptyDatabase(database))) return;
  const trace = await findTraceOfDatabase(state, { isSqlite: !isPostgres(database) });
  if (trace !== undefined) throw new StateFolderError(toEmptyMessage(trace));
}

const toEmptyMessage = (trace: string): string =>
  `the database is empty or missing, but ${trace} shows that there was one; restore it or a backup, or start with --new-database`;

/** Records that the state folder has a database. A failure, such as a full disk, leaves it to the next start. */
export async function markDatabaseCreated(state: string): Promise<void> {
  const file = join(state, MARKER);
  if (await hasContent(file)) return;
  await writeFile(file, MARKER_TEXT, { mode: 0o600 }).catch(() => undefined);
}

const hasContent = (file: string): Promise<boolean> =>
  stat(file).then(
    ({ size }) => size > 0,
    () => false,
  );
