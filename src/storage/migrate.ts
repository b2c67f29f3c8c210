import type { Kysely, CompiledQuery, Driver } from 'kysely';
import { type Database, DatabaseError, isPostgres, connectDatabase, type DatabaseTarget } from './database.js';
import { sql, Kysely as KyselyDatabase } from './kysely.js';
import {
  accounts,
  boards,
  secrets,
  replays,
  passkeys,
  dashboard,
  rateCounts,
  serverKey,
} from './migrations/0001-0008-first-tables.js';
import {
  refresh,
  actions,
  webhookDeliveries,
  views,
  secretValues,
  secretsUpkeep,
  retiredWebhooks,
  throughput,
  auditSequence,
} from './migrations/0009-0017-refreshes-and-values.js';
import {
  lists,
  explicitRecipients,
  backupSchedule,
  hiddenRepositories,
  secretsTrust,
  auditArchives,
  notifications,
  forgeCredentials,
  workloadIdentity,
  valueSignatures,
  reviewHistory,
  deviceLogins,
  sessionDetails,
} from './migrations/0018-0031-trust-and-history.js';
import { postgresDialect } from './postgres.js';
import { sqliteDialect } from './sqlite.js';
import type { Tables } from './tables.js';

/**
 * Creates or changes tables. It must not change after its release, and uses no table types, which describe the end
 * state.
 */
export type Migration = (database: Kysely<unknown>) => Promise<void>;

/** All migrations. The version of a database is the number of migrations that it has had. */
export const MIGRATIONS: readonly Migration[] = [
  accounts,
  boards,
  secrets,
  replays,
  passkeys,
  dashboard,
  rateCounts,
  serverKey,
  refresh,
  actions,
  webhookDeliveries,
  views,
  secretValues,
  secretsUpkeep,
  retiredWebhooks,
  throughput,
  auditSequence,
  lists,
  explicitRecipients,
  backupSchedule,
  hiddenRepositories,
  secretsTrust,
  auditArchives,
  notifications,
  forgeCredentials,
  workloadIdentity,
  valueSignatures,
  reviewHistory,
  deviceLogins,
  sessionDetails,
];

/** The tables whose rows a migration deletes. It runs only if they are empty, or the operator allows it. */
const DELETED_ROWS: ReadonlyMap<Migration, keyof Tables> = new Map([
  [secretValues, 'secret_objects'],
  [secretsUpkeep, 'audit_log'],
]);

/**
 * The migrations after which the previous release still works with the database, so that servers can be upgraded one
 * after the other: they only add tables, columns with defaults, and indexes (CONTRIBUTING.md, "Migrations").
 */
const EXPANSIONS: ReadonlySet<Migration> = new Set([
  ...[backupSchedule, hiddenRepositories, auditArchives, notifications],
  ...[forgeCredentials, workloadIdentity, valueSignatures, reviewHistory],
  ...[deviceLogins, sessionDetails],
]);

interface SchemaVersions {
  /** `compatible_from` is the version of the oldest release that works with the tables; null before that was stored. */
  schema_versions: { version: number; compatible_from?: number | null };
}

/** An arbitrary number that no other program locks in the same database. */
const MIGRATION_LOCK = 7_872_656_915;

/**
 * Runs the pending migrations in one transaction. Other processes wait: on SQLite for the write lock that every
 * transaction acquires first, on PostgreSQL for an advisory lock.
 *
 * Kysely's `Migrator` would replace fifteen lines and need more: on SQLite it neither locks nor rolls back, and it
 * records names in a table of its own, while older releases recognise a newer database by `schema_versions`.
 *
 * @throws DatabaseError if a newer release has changed the tables incompatibly, or a migration would delete rows.
 */
export async function migrate(
  database: Database,
  migrations = MIGRATIONS,
  { deleteRows = false }: { readonly deleteRows?: boolean } = {},
): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    if (isPostgres(database)) await sql`select pg_advisory_xact_lock(${sql.lit(MIGRATION_LOCK)})`.execute(transaction);
    const versions = transaction as unknown as Kysely<SchemaVersions>;
    await createVersions(versions);
    const version = await readVersion(versions);
    if (version > migrations.length) await assertCompatible(transaction, migrations.length);
    for (const [index, run] of migrations.entries()) {
      if (index < version) continue;
      const deleted = await countDeletedRows(transaction, run);
      if (deleted.rows > 0 && !deleteRows) throw toRefusal(index + 1, deleted);
      await run(transaction as unknown as Kysely<unknown>);
      await versions
        .insertInto('schema_versions')
        .values({ version: index + 1, compatible_from: findCompatible(migrations, index) })
        .execute();
    }
  });
}

/** Rows that a migration deletes. */
export interface DeletedRows {
  readonly table: string;
  readonly rows: number;
}

/** Counts the rows that a pending migration would delete. A table that a pending migration creates has none. */
async function countDeletedRows(database: Database, migration: Migration): Promise<DeletedRows> {
  const table = DELETED_ROWS.get(migration);
  if (table === undefined || !(await hasTable(database, table))) return { table: table ?? '', rows: 0 };
  const count = database.selectFrom(table).select(({ fn }) => fn.countAll<number>().as('rows'));
  return { table, rows: (await count.executeTakeFirstOrThrow()).rows };
}

const toRefusal = (number: number, { table, rows }: DeletedRows): DatabaseError =>
  new DatabaseError(
    `migration ${number} would delete ${rows} rows of ${table}. Back up, and run "trellis migrate --delete-rows" to allow it`,
  );

/** Returns the version of the oldest release that works with the tables after a migration. */
function findCompatible(migrations: readonly Migration[], index: number): number {
  const last = migrations.slice(0, index + 1).findLastIndex((migration) => !EXPANSIONS.has(migration));
  return last + 1;
}

/** @throws DatabaseError if a newer release has changed the tables in a way that this release can't work with. */
async function assertCompatible(database: Database, version: number): Promise<void> {
  const found = await readSchema(database);
  if (found.compatibleFrom <= version) return;
  const supported = `this release supports versions up to ${version}`;
  throw new DatabaseError(`the database has version ${found.version} of a newer release; ${supported}`);
}

/** The version of the tables. */
export interface SchemaState {
  /** The number of the last migration; 0 for none. */
  readonly version: number;
  /** The version of the oldest release that works with the tables. */
  readonly compatibleFrom: number;
}

export async function readSchema(database: Database): Promise<SchemaState> {
  const version = await readSchemaVersion(database);
  if (version === 0 || !(await hasTable(database, 'schema_versions', 'compatible_from'))) {
    return { version, compatibleFrom: version };
  }
  const versions = database as unknown as Kysely<SchemaVersions>;
  const row = versions.selectFrom('schema_versions').select('compatible_from').where('version', '=', version);
  return { version, compatibleFrom: (await row.executeTakeFirstOrThrow()).compatible_from ?? version };
}

async function hasTable(database: Database, name: string, column?: string): Promise<boolean> {
  const schema = await findSchemaOf(database, name);
  const found = (await database.introspection.getTables()).find(
    (table) => table.name === name && table.schema === schema,
  );
  return found !== undefined && (column === undefined || found.columns.some((each) => each.name === column));
}

/** Finds the PostgreSQL schema of the table that a name refers to. Others may contain tables with the same name. */
async function findSchemaOf(database: Database, name: string): Promise<string | undefined> {
  if (!isPostgres(database)) return undefined;
  const { rows } = await sql<{ schema: string }>`
    select nspname as schema from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where pg_class.oid = to_regclass(${name})`.execute(database);
  return rows[0]?.schema;
}

interface ServiceVersions {
  service_versions: { service: string; version: number };
}

/**
 * Runs the pending migrations of a service of a project in one transaction. Their numbers are those of the service.
 *
 * @throws DatabaseError if a newer release of the project has migrated the database.
 */
export async function migrateService(
  database: Database,
  service: string,
  migrations: readonly Migration[],
): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    if (isPostgres(database)) await sql`select pg_advisory_xact_lock(${sql.lit(MIGRATION_LOCK)})`.execute(transaction);
    const versions = transaction as unknown as Kysely<ServiceVersions>;
    await versions.schema
      .createTable('service_versions')
      .ifNotExists()
      .addColumn('service', 'text', (column) => column.notNull())
      .addColumn('version', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('service_versions_key', ['service', 'version'])
      .execute();
    const known = await versions
      .selectFrom('service_versions')
      .select('version')
      .where('service', '=', service)
      .execute();
    if (known.length > migrations.length) {
      throw new DatabaseError(
        `the tables of the service "${service}" have version ${known.length}; this project has ${migrations.length}`,
      );
    }
    for (const [index, run] of migrations.entries()) {
      if (index < known.length) continue;
      await run(transaction as unknown as Kysely<unknown>);
      await versions
        .insertInto('service_versions')
        .values({ service, version: index + 1 })
        .execute();
    }
  });
}

/** @throws DatabaseError if the database has not exactly the version of this release. */
export async function assertMigrated(database: Database): Promise<void> {
  const version = await readSchemaVersion(database);
  if (version === MIGRATIONS.length) return;
  const hint = version < MIGRATIONS.length ? 'start the server of this release once' : 'use the release that wrote it';
  throw new DatabaseError(
    `the database has version ${version}, but this release uses version ${MIGRATIONS.length}: ${hint}`,
  );
}

async function createVersions(versions: Kysely<SchemaVersions>): Promise<void> {
  await versions.schema
    .createTable('schema_versions')
    .ifNotExists()
    .addColumn('version', 'integer', (column) => column.primaryKey())
    .execute();
  if (await hasTable(versions as unknown as Database, 'schema_versions', 'compatible_from')) return;
  await versions.schema.alterTable('schema_versions').addColumn('compatible_from', 'integer').execute();
}

/** Returns the number of the last migration of the database; 0 for none. */
export async function readSchemaVersion(database: Database): Promise<number> {
  if (!(await hasTable(database, 'schema_versions'))) return 0;
  return readVersion(database as unknown as Kysely<SchemaVersions>);
}

async function readVersion(versions: Kysely<SchemaVersions>): Promise<number> {
  const { last } = await versions
    .selectFrom('schema_versions')
    .select(({ fn }) => fn.max<number | null>('version').as('last'))
    .executeTakeFirstOrThrow();
  return last ?? 0;
}

/** A migration that the next start runs. */
export interface PendingMigration {
  readonly number: number;
  readonly name: string;
  readonly deleted: DeletedRows;
  /** The statements, without values. */
  readonly statements: readonly string[];
}

/** Lists the pending migrations with their statements, without changing or locking anything. */
export async function planMigrations(
  place: DatabaseTarget,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<PendingMigration[]> {
  const database = connectDatabase(place);
  try {
    return await plan(database, place, migrations);
  } finally {
    await database.destroy();
  }
}

async function plan(
  database: Database,
  place: DatabaseTarget,
  migrations: readonly Migration[],
): Promise<PendingMigration[]> {
  const { version } = await readSchema(database);
  const pending: PendingMigration[] = [];
  for (const [index, migration] of migrations.entries()) {
    if (index < version) continue;
    const deleted = await countDeletedRows(database, migration);
    pending.push({ number: index + 1, name: migration.name, deleted, statements: await record(migration, place) });
  }
  return pending;
}

/** Runs a migration without a database, and returns its statements. Queries return no rows. */
async function record(migration: Migration, place: DatabaseTarget): Promise<string[]> {
  const statements: string[] = [];
  const connection = {
    executeQuery: async ({ sql }: CompiledQuery) => {
      statements.push(sql);
      return { rows: [] };
    },
    streamQuery: () => {
      throw new Error('A migration does not stream.');
    },
  };
  const nothing = async (): Promise<void> => undefined;
  const driver: Driver = {
    ...{ init: nothing, destroy: nothing, releaseConnection: nothing },
    ...{ beginTransaction: nothing, commitTransaction: nothing, rollbackTransaction: nothing },
    acquireConnection: async () => connection,
  };
  const dialect = 'url' in place ? postgresDialect({ ...place, hasDeadlines: false }) : sqliteDialect(place.file);
  const recorder: Kysely<unknown> = new KyselyDatabase({
    dialect: {
      createAdapter: () => dialect.createAdapter(),
      createDriver: () => driver,
      createIntrospector: (database) => dialect.createIntrospector(database),
      createQueryCompiler: () => dialect.createQueryCompiler(),
    },
  });
  await migration(recorder);
  return statements;
}
