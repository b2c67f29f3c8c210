/** One forge of one person in a round. */
import type { Database } from '../../storage/database.js';
import type { Forge } from '../forges/forge.js';
import { ForgeError } from '../forges/forge-error.js';
import { readForge, readUnsettled } from './read-forge.js';
import type { ForgeReading } from './read-forge.js';
import { listKnown, listRepositories, markStale, removeReadings, saveReadings } from './readings.js';
import type { Known, Place } from './readings.js';
import { saveBudgets, saveOutcome } from './states.js';
import type { ForgeState } from './states.js';
import { settlesAt, sparedUntil } from './timing.js';

export interface ForgeRound {
  readonly place: Place & { readonly source: string };
  readonly forge: Forge;
  readonly state: ForgeState | undefined;
  readonly isWhole: boolean;
  /** Which part of what has not changed is read too. */
  readonly share: number;
  readonly database: Database;
  /** Keeps something in a transaction, as long as the board is ours. */
  readonly keep: <T>(work: (transaction: Database) => Promise<T>) => Promise<T>;
  readonly now: () => number;
}

export interface ForgeResult {
  /** Whether the forge was asked, and how that went. */
  readonly answer: 'failed' | 'none' | 'read';
  /** The board is another now. */
  readonly isChanged: boolean;
}

const NOTHING: ForgeResult = { answer: 'none', isChanged: false };

/** Reads what is due of a forge. What goes wrong there is kept as its state; anything else is thrown. */
export async function runForgeRound(round: ForgeRound): Promise<ForgeResult> {
  const { state, now } = round;
  if ((state?.pausedUntil ?? 0) > now()) return NOTHING;
  const known = round.isWhole ? [] : await listKnown(round.database, round.place);
  const scope = round.isWhole ? 'everything' : scopeOf(state, known, now());
  if (scope === undefined) return NOTHING;
  const noted = { isChanged: false };
  const reading = toReading(round, () => (noted.isChanged = true));
  try {
    if (scope === 'everything') await readForge(reading, round.share);
    else await readUnsettled(reading, known);
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    await saveState(round, error);
    return { answer: 'failed', isChanged: true };
  }
  if (scope === 'everything') await saveState(round);
  else await round.keep((transaction) => saveBudgets(transaction, round.place, round.forge.budgets));
  return { answer: 'read', isChanged: noted.isChanged || state?.errorKind !== undefined };
}

/** What is due of a forge before the next refresh. */
function scopeOf(
  state: ForgeState | undefined,
  known: readonly Known[],
  at: number,
): 'everything' | 'unsettled' | undefined {
  const dueAt = findDue(state, known, at);
  if (dueAt === undefined || dueAt > at) return undefined;
  const mustDiscover = state?.errorKind !== undefined || known.some(({ revision }) => revision === '');
  return mustDiscover ? 'everything' : 'unsettled';
}

/** When something of a forge is due before the next refresh; `undefined` when nothing is. */
export function findDue(state: ForgeState | undefined, known: readonly Known[], at: number): number | undefined {
  if (state === undefined) return undefined;
  if (state.errorKind !== undefined) return state.retryAt;
  const coming = known.flatMap((one) => (one.is_unsettled === 1 || one.revision === '' ? [settlesAt(one)] : []));
  return coming.length === 0 ? undefined : Math.max(Math.min(...coming), sparedUntil(state.budgets, at));
}

function toReading({ forge, place, database, keep, now }: ForgeRound, noteChange: () => void): ForgeReading {
  const note = (isChanged: boolean): void => {
    if (isChanged) noteChange();
  };
  return {
    forge,
    now,
    store: {
      listKnown: () => listKnown(database, place),
      listRepositories: (ids) => listRepositories(database, place, ids),
      save: async (readings, readAt) =>
        note(await keep((transaction) => saveReadings(transaction, place, { readings, readAt }))),
      markStale: async (repositories, readAt) =>
        note(await keep((transaction) => markStale(transaction, place, { repositories, readAt }))),
      remove: async (ids, before) => {
        if (ids.length > 0) note(await keep((transaction) => removeReadings(transaction, place, { ids, before })));
      },
    },
  };
}

async function saveState({ keep, place, state, forge, now }: ForgeRound, error?: ForgeError): Promise<void> {
  const outcome = { budgets: forge.budgets, at: now(), ...(error && { error }) };
  await keep((transaction) => saveOutcome(transaction, place, { before: state, outcome }));
}
