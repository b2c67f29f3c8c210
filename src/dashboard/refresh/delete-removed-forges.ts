import type { Database } from '../../storage/database.js';
import type { ForgeName } from '../forges/forge.js';
import type { OwnerForges } from './board-refresh.js';
import { FORGE_ORDER, getForgeUrl } from './compose-board.js';
import { readForgeStatus } from './forge-status.js';

/** Deletes the snapshots and status of forges that the user has removed, or whose URL has changed. */
export async function deleteRemovedForges(
  transaction: Database,
  personId: string,
  { settings, forges }: OwnerForges & { readonly settings: object },
): Promise<void> {
  const states = await readForgeStatus(transaction, personId);
  const isObsolete = (forge: ForgeName): boolean => {
    const state = states.get(forge);
    return !forges.has(forge) || (state !== undefined && state.source !== getForgeUrl(settings, forge));
  };
  const obsolete = FORGE_ORDER.filter(isObsolete);
  if (obsolete.length === 0) return;
  for (const table of ['forge_readings', 'forge_states'] as const) {
    await transaction.deleteFrom(table).where('person_id', '=', personId).where('forge', 'in', obsolete).execute();
  }
}
