import type { Database } from '../../storage/database.js';
import type { NewReading, Place, StoredFacts } from '../refresh/readings.js';
import { noteMovements } from './keep-days.js';
import { findMovements } from './movements.js';
import type { ComparedReading, Movements } from './movements.js';

interface NewSnapshots {
  readonly readings: readonly NewReading[];
  readonly readAt: number;
}

/**
 * Counts the pull requests that were opened and closed between the stored snapshots and the new ones. Call it in the
 * transaction that replaces them, before it does. For a repository without a snapshot, pull requests count as opened if
 * they were created after the last successful read of the forge; without such a read, nothing is counted.
 */
export async function noteReadings(
  transaction: Database,
  place: Place,
  { readings, readAt }: NewSnapshots,
): Promise<void> {
  const stored = await readStored(transaction, place, readings);
  const placeholder = stored.size < readings.length ? await findPlaceholder(transaction, place) : undefined;
  const moved = readings.flatMap((reading) => {
    const before = stored.get(reading.reading.repository.id) ?? placeholder;
    // An older snapshot does not replace a newer one.
    if (before === undefined || before.readAt > readAt) return [];
    const movements = findMovements(before, toCompared(reading, readAt));
    return movements.opened.length + movements.left === 0 ? [] : [{ fullName: fullNameOf(reading), ...movements }];
  });
  if (moved.length === 0) return;
  const ignored = await readIgnored(transaction, place);
  const counted = moved.filter(({ fullName }) => !ignored.has(fullName));
  await noteMovements(transaction, place.personId, { ...sum(counted), at: readAt });
}

/** In lower case, like `repository_marks.repo`. */
const fullNameOf = ({ reading }: NewReading): string => reading.repository.fullName.toLowerCase();

const toCompared = ({ reading, isCut }: NewReading, readAt: number): ComparedReading => ({
  readAt,
  isCut,
  pullRequests: reading.pullRequests,
});

const sum = (all: readonly Movements[]): Movements => ({
  opened: all.flatMap(({ opened }) => opened),
  left: all.reduce((total, { left }) => total + left, 0),
});

async function readStored(
  transaction: Database,
  { personId, forge }: Place,
  readings: readonly NewReading[],
): Promise<ReadonlyMap<string, ComparedReading>> {
  const ids = readings.map(({ reading }) => reading.repository.id);
  const rows = await transaction
    .selectFrom('forge_readings')
    .select(['repository_id', 'read_at', 'is_cut', 'facts'])
    .where('person_id', '=', personId)
    .where('forge', '=', forge)
    .where('repository_id', 'in', ids)
    .execute();
  return new Map(
    rows.map(({ repository_id, read_at, is_cut, facts }) => {
      const { pullRequests } = JSON.parse(facts) as StoredFacts;
      return [repository_id, { readAt: read_at, isCut: is_cut === 1, pullRequests }];
    }),
  );
}

/** Returns an empty, truncated snapshot as of the forge's last successful read, for repositories without one. */
async function findPlaceholder(
  transaction: Database,
  { personId, forge }: Place,
): Promise<ComparedReading | undefined> {
  const states = transaction.selectFrom('forge_states').select('read_at').where('person_id', '=', personId);
  const { read_at = null } = (await states.where('forge', '=', forge).executeTakeFirst()) ?? {};
  return read_at === null ? undefined : { readAt: read_at, isCut: true, pullRequests: [] };
}

async function readIgnored(transaction: Database, { personId, forge }: Place): Promise<ReadonlySet<string>> {
  const marks = transaction.selectFrom('repository_marks').select('repo').where('person_id', '=', personId);
  const rows = await marks.where('forge', '=', forge).where('ignored_prs', '=', 1).execute();
  return new Set(rows.map(({ repo }) => repo));
}
