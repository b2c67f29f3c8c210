import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { openDatabase } from '../../src/storage/database.js';
import type { Database, DatabasePlace } from '../../src/storage/database.js';

/**
 * The engine of this run. The tests that need a database run once for each, as
 * projects of `jest.config.js`; they ask for a database here and need not know.
 */
export const engine = (globalThis as { ENGINE?: 'PostgreSQL' | 'SQLite' }).ENGINE ?? 'SQLite';

const folders: string[] = [];
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

/** Where a database of its own is to be; it can be opened more than once and goes with the tests. */
export async function createPlace(): Promise<DatabasePlace> {
  if (engine === 'PostgreSQL') return createPostgresPlace();
  return { file: path.join(await createTestFolder(), 'trellis.db') };
}

/** A folder that goes with the tests. */
export async function createTestFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'trellis-storage-'));
  folders.push(folder);
  return folder;
}

/** A database of its own, empty and up to date. The caller ends it with `destroy()`. */
export async function openTestDatabase(): Promise<Database> {
  return engine === 'SQLite' ? openDatabase({ file: ':memory:' }) : openPostgres();
}

type PostgresPlace = Extract<DatabasePlace, { readonly url: string }>;

/** Databases of this file that nobody uses any more. To make one takes longer than most tests. */
const used: PostgresPlace[] = [];
const tables: string[] = [];

async function openPostgres(): Promise<Database> {
  const again = used.pop();
  const place = again !== undefined && (await empty(again)) ? again : await createPostgresPlace();
  const database = await openDatabase(place);
  if (tables.length === 0) tables.push(...(await listTables(place)));
  const destroy = database.destroy.bind(database);
  return Object.assign(database, { destroy: () => destroy().then(() => void used.push(place)) });
}

/** @returns false when it can't be emptied, as a test took a table out. */
async function empty({ url }: PostgresPlace): Promise<boolean> {
  return withClient(url, async (client) => {
    // Without the triggers that hold references, any order will do.
    const statements = ['set session_replication_role = replica', ...tables.map((table) => `delete from ${table}`)];
    return client.query(statements.join(';')).then(
      () => true,
      () => false,
    );
  });
}

async function listTables({ url }: PostgresPlace): Promise<string[]> {
  const sql = `select tablename from pg_tables where schemaname = 'public' and tablename <> 'schema_versions'`;
  const { rows } = await withClient(url, (client) => client.query<{ tablename: string }>(sql));
  return rows.map(({ tablename }) => tablename);
}

async function createPostgresPlace(): Promise<PostgresPlace> {
  const server = process.env.TEST_POSTGRES ?? '';
  const name = `trellis_${randomUUID().replaceAll('-', '')}`;
  // Copying files is twice as quick as the way for a server that others are writing to.
  await withClient(server, (client) => client.query(`create database ${name} strategy file_copy`));
  return { url: Object.assign(new URL(server), { pathname: name }).href };
}

async function withClient<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}
