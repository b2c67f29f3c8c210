import type { Kysely } from 'kysely';

/** Repository snapshots, and the schedule of board refreshes. */
export async function refresh(database: Kysely<unknown>): Promise<void> {
  await createForgeReadings(database);
  await createForgeStates(database);
  await createRefreshSchedule(database);
  // Boards of earlier releases lack fields that the contract now requires; the next refresh recreates them.
  await (database as Kysely<{ boards: object }>).deleteFrom('boards').execute();
}

async function createForgeReadings({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('forge_readings')
    .addColumn('person_id', 'text', (column) => column.notNull().references('people.id').onDelete('cascade'))
    .addColumn('forge', 'text', (column) => column.notNull())
    .addColumn('repository_id', 'text', (column) => column.notNull())
    .addColumn('full_name', 'text', (column) => column.notNull())
    .addColumn('revision', 'text', (column) => column.notNull())
    .addColumn('is_unsettled', 'integer', (column) => column.notNull())
    .addColumn('is_cut', 'integer', (column) => column.notNull())
    .addColumn('pull_requests', 'integer', (column) => column.notNull())
    .addColumn('facts', 'text', (column) => column.notNull())
    .addColumn('read_at', 'bigint', (column) => column.notNull())
    .addColumn('changed_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('forge_readings_key', ['person_id', 'forge', 'repository_id'])
    .execute();
}

async function createForgeStates({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('forge_states')
    .addColumn('person_id', 'text', (column) => column.notNull().references('people.id').onDelete('cascade'))
    .addColumn('forge', 'text', (column) => column.notNull())
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('read_at', 'bigint')
    .addColumn('error_kind', 'text')
    .addColumn('failures', 'integer', (column) => column.notNull())
    .addColumn('retry_at', 'bigint')
    .addColumn('paused_until', 'bigint')
    .addColumn('budgets', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('forge_states_key', ['person_id', 'forge'])
    .execute();
}

async function createRefreshSchedule({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('refresh_schedule')
    .addColumn('person_id', 'text', (column) => column.primaryKey().references('people.id').onDelete('cascade'))
    .addColumn('due_at', 'bigint', (column) => column.notNull())
    .addColumn('look_at', 'bigint', (column) => column.notNull())
    .addColumn('lease_holder', 'text')
    .addColumn('lease_until', 'bigint', (column) => column.notNull().defaultTo(0))
    .addColumn('runs_begun', 'bigint', (column) => column.notNull().defaultTo(0))
    .addColumn('run_done', 'bigint', (column) => column.notNull().defaultTo(0))
    .execute();
  await schema.createIndex('refresh_schedule_by_look').on('refresh_schedule').column('look_at').execute();
}
