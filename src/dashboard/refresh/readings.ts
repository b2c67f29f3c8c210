/** What was last read of each repository. */
import { sql } from 'kysely';
import type { Database } from '../../storage/database.js';
import type { ForgeReadingsTable } from '../../storage/tables.js';
import type { ForgeName, ForgeRepository, IssueFacts, PullRequestFacts, RepositoryReading } from '../forges/facts.js';
import { noteReadings } from '../throughput/note-readings.js';
import { followRenames } from './renames.js';

export interface Place {
  readonly personId: string;
  readonly forge: ForgeName;
}

/** All of a reading but its facts, which are long. */
export type Known = Omit<ForgeReadingsTable, 'facts' | 'forge' | 'person_id'>;

export interface NewReading {
  readonly reading: RepositoryReading;
  /** There may be more pull requests than were read. */
  readonly isCut: boolean;
  /** Some of it is about to change without the revision telling. */
  readonly isUnsettled: boolean;
}

export interface StoredFacts {
  readonly url: string;
  readonly canManageWebhooks: boolean;
  readonly pullRequests: readonly PullRequestFacts[];
  readonly issues: readonly IssueFacts[];
}

const KNOWN = [
  'repository_id',
  'full_name',
  'revision',
  'is_unsettled',
  'is_cut',
  'pull_requests',
  'read_at',
  'changed_at',
] as const;

export async function listKnown(database: Database, place: Place): Promise<Known[]> {
  const { personId, forge } = place;
  const all = database.selectFrom('forge_readings').select(KNOWN).where('person_id', '=', personId);
  return all.where('forge', '=', forge).orderBy('read_at').execute();
}

/** Gives repositories as they were when they were last read. */
export async function listRepositories(
  database: Database,
  { personId, forge }: Place,
  ids: readonly string[],
): Promise<ForgeRepository[]> {
  const all = database.selectFrom('forge_readings').selectAll().where('person_id', '=', personId);
  const rows = await all.where('forge', '=', forge).where('repository_id', 'in', ids).execute();
  return rows.map(({ repository_id: id, full_name: fullName, revision, facts }) => {
    const { url, canManageWebhooks } = parseFacts(facts);
    return { id, fullName, url, canManageWebhooks, revision };
  });
}

/**
 * Keeps readings in place of older ones, and of others under the same name: a name that was freed may be another's.
 *
 * @param readAt When the forge was asked for all of them.
 * @returns Whether any of them says something else than before.
 */
export async function saveReadings(
  database: Database,
  place: Place,
  { readings, readAt }: { readonly readings: readonly NewReading[]; readonly readAt: number },
): Promise<boolean> {
  if (readings.length === 0) return false;
  const rows = readings.map((one) => toRow(place, one, readAt));
  await followRenames(database, place, rows);
  // While the older ones are there to compare with.
  await noteReadings(database, place, { readings, readAt });
  const renamed = await removeNamesakes(database, place, rows);
  const isSame = sql`forge_readings.facts = excluded.facts and forge_readings.full_name = excluded.full_name`;
  const saved = await database
    .insertInto('forge_readings')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns(['person_id', 'forge', 'repository_id'])
        .doUpdateSet((of) => ({
          full_name: of.ref('excluded.full_name'),
          revision: of.ref('excluded.revision'),
          is_unsettled: of.ref('excluded.is_unsettled'),
          is_cut: of.ref('excluded.is_cut'),
          pull_requests: of.ref('excluded.pull_requests'),
          facts: of.ref('excluded.facts'),
          read_at: of.ref('excluded.read_at'),
          changed_at: sql<number>`case when ${isSame} then forge_readings.changed_at else excluded.read_at end`,
        }))
        .whereRef('forge_readings.read_at', '<=', 'excluded.read_at'),
    )
    .returning('changed_at')
    .execute();
  return renamed > 0 || saved.some(({ changed_at }) => changed_at === readAt);
}

async function removeNamesakes(
  database: Database,
  { personId, forge }: Place,
  rows: readonly ForgeReadingsTable[],
): Promise<number> {
  const names = rows.map(({ full_name }) => full_name);
  const ids = rows.map(({ repository_id }) => repository_id);
  const { numDeletedRows } = await database
    .deleteFrom('forge_readings')
    .where('person_id', '=', personId)
    .where('forge', '=', forge)
    .where('full_name', 'in', names)
    .where('repository_id', 'not in', ids)
    .executeTakeFirst();
  return Number(numDeletedRows);
}

/** Removes what is gone, unless it was read since. @returns whether there was any of it. */
export async function removeReadings(
  database: Database,
  { personId, forge }: Place,
  { ids, before }: { readonly ids: readonly string[]; readonly before: number },
): Promise<boolean> {
  if (ids.length === 0) return false;
  const { numDeletedRows } = await database
    .deleteFrom('forge_readings')
    .where('person_id', '=', personId)
    .where('forge', '=', forge)
    .where('repository_id', 'in', ids)
    .where('read_at', '<=', before)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Has repositories read again, whatever their revision: all of a person's, or one. */
export async function markUnread(
  database: Database,
  personId: string,
  one?: { readonly forge: ForgeName; readonly fullName: string },
): Promise<void> {
  const all = database.updateTable('forge_readings').set({ revision: '' }).where('person_id', '=', personId);
  const chosen = one === undefined ? all : all.where('forge', '=', one.forge).where('full_name', '=', one.fullName);
  await chosen.execute();
}

export function parseFacts(facts: string): StoredFacts {
  return JSON.parse(facts) as StoredFacts;
}

function toRow(place: Place, { reading, isCut, isUnsettled }: NewReading, readAt: number): ForgeReadingsTable {
  const { repository, pullRequests, issues } = reading;
  const { id, fullName, revision, url, canManageWebhooks } = repository;
  const facts: StoredFacts = { url, canManageWebhooks, pullRequests, issues };
  return {
    person_id: place.personId,
    forge: place.forge,
    repository_id: id,
    full_name: fullName,
    revision,
    is_unsettled: isUnsettled ? 1 : 0,
    is_cut: isCut ? 1 : 0,
    pull_requests: pullRequests.length,
    facts: JSON.stringify(facts),
    read_at: readAt,
    changed_at: readAt,
  };
}
