import { inTransaction } from '../../storage/database.js';
import type { Forge } from '../forges/forge.js';
import type { RefreshContext } from './board-refresh.js';
import { toNewSnapshot } from './read-forge.js';
import { listSnapshots, invalidateSnapshots, deleteSnapshots, saveSnapshots } from './repository-snapshots.js';
import type { ForgeKey } from './repository-snapshots.js';
import { scheduleBefore } from './schedule.js';
import { saveQuotas } from './forge-status.js';

/** The delay before a board is checked for repositories that have to be read again. */
const RECHECK_MS = 60_000;

/**
 * Reads one repository, without a lease: if another process reads it too, the newer snapshot stays.
 *
 * @returns whether the board changed.
 * @throws ForgeError if the repository can't be read; it is then scheduled to be read again.
 */
export async function runRepositoryRefresh(
  { database, now }: RefreshContext,
  place: ForgeKey,
  { forge, fullName }: { readonly forge: Forge; readonly fullName: string },
): Promise<boolean> {
  const readAt = now();
  const reading = await forge.readRepository(fullName).catch(async (error: unknown) => {
    await invalidateSnapshots(database, place.personId, { forge: place.forge, fullName });
    await scheduleBefore(database, place.personId, readAt + RECHECK_MS);
    throw error;
  });
  return inTransaction(database, async (transaction) => {
    const known = await listSnapshots(transaction, place);
    const isObsolete = ({ full_name, repository_id }: (typeof known)[number]): boolean =>
      full_name === fullName && repository_id !== reading?.repository.id;
    const ids = known.filter(isObsolete).map(({ repository_id }) => repository_id);
    const isRemoved = await deleteSnapshots(transaction, place, { ids, before: readAt });
    const readings = reading === undefined ? [] : [toNewSnapshot(forge, reading)];
    const isChanged = await saveSnapshots(transaction, place, { readings, readAt });
    await saveQuotas(transaction, place, forge.quotas);
    await scheduleBefore(transaction, place.personId, readAt + RECHECK_MS);
    return isRemoved || isChanged;
  });
}
