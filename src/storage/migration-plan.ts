import type { CompiledQuery, Driver, Kysely } from 'kysely';
import { connectDatabase, type Database, type DatabaseTarget } from './database.js';
import { Kysely as KyselyDatabase } from './kysely.js';
import { countDeletedRows, type DeletedRows, type Migration, MIGRATIONS, readSchema } from './migrate.js';
import { postgresDialect } from './postgres.js';
import { sqliteDialect } from './sqlite.js';

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
