import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type RawBuilder, sql } from 'kysely';
import pg from 'pg';
import type { Database, DatabaseTarget } from '../../src/storage/database.js';
import { openDatabase } from '../../src/storage/open-database.js';

/**
 * The engine of this run. Tests that need a database run once for each engine, as projects of `jest.config.js`, and
 * obtain a database here.
 */
export const engine = (globalThis as { ENGINE?: 'PostgreSQL' | 'SQLite' }).ENGINE ?? 'SQLite';

/** Workers keep modules of tests for one file only. */
const STATEMENTS = Symbol.for('trellis.schema-statements');
const TEMPLATE = Symbol.for('trellis.template-database');
const worker = globalThis as { [STATEMENTS]?: Promise<readonly RawBuilder<unknown>[]>; [TEMPLATE]?: Promise<string> };

const folders: string[] = [];
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

/** Creates the place of a new database, which can be opened repeatedly and is deleted after the tests. */
export async function createDatabaseTarget(): Promise<DatabaseTarget> {
  if (engine === 'PostgreSQL') return createPostgresPlace();
  return { file: path.join(await createTestFolder(), 'trellis.db') };
}

/** Creates the place of a new database with all tables. The migrations take ten times as long as this copy. */
export async function createMigratedTarget(file?: string): Promise<DatabaseTarget> {
  if (engine === 'PostgreSQL') return createPostgresPlace(await findTemplate());
  const place = { file: file ?? path.join(await createTestFolder(), 'trellis.db') };
  migrated ??= await readMigratedFile();
  await writeFile(place.file, migrated, { mode: 0o600 });
  return place;
}

/** The content of a migrated database on SQLite. */
let migrated: Buffer | undefined;

async function readMigratedFile(): Promise<Buffer> {
  const file = path.join(await createTestFolder(), 'trellis.db');
  await (await openDatabase({ file })).destroy();
  return readFile(file);
}

/** Creates a folder that is deleted after the tests. */
export async function createTestFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'trellis-storage-'));
  folders.push(folder);
  return folder;
}

/** Creates the role `trellis_reader`, which may read the tables of a PostgreSQL database, but not write to them. */
export async function createReader(database: Database): Promise<void> {
  // All databases of the server share it, so that tests of other files may create it at the same time.
  await sql`do $$ begin create role trellis_reader;
    exception when duplicate_object or unique_violation then null; end $$`.execute(database);
  await sql`grant select on all tables in schema public to trellis_reader`.execute(database);
}

/** Opens a new database, empty and migrated. The caller closes it with `destroy()`. */
export async function openTestDatabase(): Promise<Database> {
  if (engine === 'PostgreSQL') return openPostgres();
  const statements = (worker[STATEMENTS] ??= listSchemaStatements());
  return openDatabase({ file: ':memory:' }, { beforeMigration: async (database) => run(database, await statements) });
}

/** Lists the statements that create the tables, indexes and rows of a new SQLite database. Migrations take longer. */
async function listSchemaStatements(): Promise<readonly RawBuilder<unknown>[]> {
  const database = await openDatabase({ file: ':memory:' });
  const { rows: parts } = await sql<{ type: string; name: string; sql: string }>`
    select type, name, sql from sqlite_master where sql is not null and name not like 'sqlite_%' order by rowid`.execute(
    database,
  );
  const statements = parts.map((part) => sql.raw(part.sql));
  for (const { name } of parts.filter(({ type }) => type === 'table')) {
    const { rows } = await sql<object>`select * from ${sql.table(name)}`.execute(database);
    const values = rows.map((row) => sql`(${sql.join(Object.values(row))})`);
    if (rows.length > 0) statements.push(sql`insert into ${sql.table(name)} values ${sql.join(values)}`);
  }
  await database.destroy();
  return statements;
}

async function run(database: Database, statements: readonly RawBuilder<unknown>[]): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    for (const statement of statements) await statement.execute(transaction);
  });
}

/** Returns the URL of a test database on PostgreSQL, for other processes. */
export async function toDatabaseUrl(database: Database): Promise<string> {
  const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(database);
  return toUrl(rows[0]!.name);
}

const toUrl = (name: string): string =>
  Object.assign(new URL(process.env.TEST_POSTGRES ?? ''), { pathname: name }).href;

type PostgresPlace = Extract<DatabaseTarget, { readonly url: string }>;

/** Closed databases of this test file, for reuse. Creating one takes longer than most tests. */
const closed: PostgresPlace[] = [];
const tables: string[] = [];

async function openPostgres(): Promise<Database> {
  const again = closed.pop();
  const place = again !== undefined && (await empty(again)) ? again : await createPostgresPlace(await findTemplate());
  const database = await openDatabase(place);
  if (tables.length === 0) tables.push(...(await listTables(place)));
  const destroy = database.destroy.bind(database);
  return Object.assign(database, { destroy: () => destroy().then(() => void closed.push(place)) });
}

/** Returns the name of a migrated database of this worker. A copy of it takes less time than the migrations. */
const findTemplate = (): Promise<string> => (worker[TEMPLATE] ??= createTemplate());

async function createTemplate(): Promise<string> {
  const place = await createPostgresPlace();
  const database = await openDatabase(place);
  await database.destroy();
  return new URL(place.url).pathname.slice(1);
}

/** Empties a database; returns false if that fails because a test has dropped a table. */
async function empty({ url }: PostgresPlace): Promise<boolean> {
  return withClient(url, async (client) => {
    // Without the triggers of foreign keys, tables can be emptied in any order.
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

async function createPostgresPlace(template = 'template1'): Promise<PostgresPlace> {
  const server = process.env.TEST_POSTGRES ?? '';
  const name = `trellis_${randomUUID().replaceAll('-', '')}`;
  // Copying files is twice as fast as the default strategy, which suits servers under load.
  await withClient(server, (client) => client.query(`create database ${name} template ${template} strategy file_copy`));
  return { url: toUrl(name) };
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
