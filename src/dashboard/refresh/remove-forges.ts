import type { Database } from '../../storage/database.js';
import type { ForgeName } from '../forges/facts.js';
import type { Owner } from './board-round.js';
import { FORGES, sourceOf } from './compose-board.js';
import { readStates } from './states.js';

/** Deletes the snapshots and status of forges that the user has removed, or whose URL has changed. */
export async function removeForges(
  transaction: Database,
  personId: string,
  { settings, forges }: Owner & { readonly settings: object },
): Promise<void> {
  const states = await readStates(transaction, personId);
  const isObsolete = (forge: ForgeName): boolean => {
    const state = states.get(forge);
    return !forges.has(forge) || (state !== undefined && state.source !== sourceOf(settings, forge));
  };
  const obsolete = FORGES.filter(isObsolete);
  if (obsolete.length === 0) return;
  for (const table of ['forge_readings', 'forge_states'] as const) {
    await transaction.deleteFrom(table).where('person_id', '=', personId).where('forge', 'in', obsolete).execute();
  }
}
