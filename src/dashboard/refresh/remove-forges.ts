import type { Database } from '../../storage/database.js';
import type { ForgeName } from '../forges/facts.js';
import type { Owner } from './board-round.js';
import { FORGES, sourceOf } from './compose-board.js';
import { readStates } from './states.js';

/** Removes what was read of forges that a person has no more, or has at another address. */
export async function removeForges(
  transaction: Database,
  personId: string,
  { settings, forges }: Owner & { readonly settings: object },
): Promise<void> {
  const states = await readStates(transaction, personId);
  const isOther = (forge: ForgeName): boolean => {
    const state = states.get(forge);
    return !forges.has(forge) || (state !== undefined && state.source !== sourceOf(settings, forge));
  };
  const others = FORGES.filter(isOther);
  if (others.length === 0) return;
  for (const table of ['forge_readings', 'forge_states'] as const) {
    await transaction.deleteFrom(table).where('person_id', '=', personId).where('forge', 'in', others).execute();
  }
}
