import { inTransaction } from '../../storage/database.js';
import type { Forge } from '../forges/forge.js';
import type { RoundContext } from './board-round.js';
import { toNewReading } from './read-forge.js';
import { listKnown, markUnread, removeReadings, saveReadings } from './readings.js';
import type { Place } from './readings.js';
import { lookBy } from './schedule.js';
import { saveBudgets } from './states.js';

/** The delay before a board is checked for repositories that have to be read again. */
const RECHECK_MS = 60_000;

/**
 * Reads one repository, without a lease: if another process reads it too, the newer snapshot stays.
 *
 * @returns whether the board changed.
 * @throws ForgeError if the repository can't be read; it is then scheduled to be read again.
 */
export async function runRepositoryRound(
  { database, now }: RoundContext,
  place: Place,
  { forge, fullName }: { readonly forge: Forge; readonly fullName: string },
): Promise<boolean> {
  const readAt = now();
  const reading = await forge.readRepository(fullName).catch(async (error: unknown) => {
    await markUnread(database, place.personId, { forge: place.forge, fullName });
    await lookBy(database, place.personId, readAt + RECHECK_MS);
    throw error;
  });
  return inTransaction(database, async (transaction) => {
    const known = await listKnown(transaction, place);
    const isObsolete = ({ full_name, repository_id }: (typeof known)[number]): boolean =>
      full_name === fullName && repository_id !== reading?.repository.id;
    const ids = known.filter(isObsolete).map(({ repository_id }) => repository_id);
    const isRemoved = await removeReadings(transaction, place, { ids, before: readAt });
    const readings = reading === undefined ? [] : [toNewReading(forge, reading)];
    const isChanged = await saveReadings(transaction, place, { readings, readAt });
    await saveBudgets(transaction, place, forge.budgets);
    await lookBy(transaction, place.personId, readAt + RECHECK_MS);
    return isRemoved || isChanged;
  });
}
