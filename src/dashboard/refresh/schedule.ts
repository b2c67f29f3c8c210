import type { Database } from '../../storage/database.js';

export interface RefreshProgress {
  /** How many times the lease of the board was acquired. */
  readonly begun: number;
  /** The number of the last run that read the whole board. */
  readonly done: number;
}

/** Schedules the boards of all users who have saved forge settings but are not on the schedule, as after a restore. */
export async function scheduleAllBoards(database: Database, at: number): Promise<void> {
  const saved = database
    .selectFrom('settings')
    .select((of) => ['person_id', of.val(at).as('due_at'), of.val(at).as('look_at')])
    .where('saved_at', 'is not', null);
  await database
    .insertInto('refresh_schedule')
    .columns(['person_id', 'due_at', 'look_at'])
    .expression(saved)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Makes the user's whole board due. */
export async function scheduleNow(database: Database, personId: string, at: number): Promise<void> {
  const due = { due_at: at, look_at: at };
  await database
    .insertInto('refresh_schedule')
    .values({ person_id: personId, lease_holder: null, lease_until: 0, runs_begun: 0, run_done: 0, ...due })
    .onConflict((conflict) => conflict.column('person_id').doUpdateSet(due))
    .execute();
}

/** Schedules a check of a board at that time, in milliseconds, unless an earlier one is scheduled. */
export async function scheduleBefore(database: Database, personId: string, at: number): Promise<void> {
  await database
    .updateTable('refresh_schedule')
    .set({ look_at: at })
    .where('person_id', '=', personId)
    .where('look_at', '>', at)
    .execute();
}

/** Lists the users whose boards are due and have no lease, longest waiting first. */
export async function listDueUsers(database: Database, at: number, most: number): Promise<string[]> {
  const rows = await database
    .selectFrom('refresh_schedule')
    .select('person_id')
    .where('look_at', '<=', at)
    .where('lease_until', '<=', at)
    .orderBy('look_at')
    .limit(most)
    .execute();
  return rows.map(({ person_id }) => person_id);
}

/** Returns `undefined` if the user does not exist or has never saved forge settings. */
export async function findProgress(database: Database, personId: string): Promise<RefreshProgress | undefined> {
  const row = await database
    .selectFrom('refresh_schedule')
    .select(['runs_begun', 'run_done'])
    .where('person_id', '=', personId)
    .executeTakeFirst();
  return row && { begun: row.runs_begun, done: row.run_done };
}
