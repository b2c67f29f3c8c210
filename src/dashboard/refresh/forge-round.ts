/** The part of a refresh run that reads one forge of a user. */
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
  /** The share of unchanged repositories that is read too, from 0 to 1. */
  readonly share: number;
  readonly database: Database;
  /** Runs work in a transaction. Fails if this process no longer has the lease of the board. */
  readonly keep: <T>(work: (transaction: Database) => Promise<T>) => Promise<T>;
  readonly now: () => number;
}

export interface ForgeResult {
  /** The result of the read; `none` if nothing was due. */
  readonly answer: 'failed' | 'none' | 'read';
  /** Whether the board changed. */
  readonly isChanged: boolean;
}

const NOTHING: ForgeResult = { answer: 'none', isChanged: false };

/** Reads the due repositories of a forge. Saves errors of the forge as its status, and throws all others. */
export async function runForgeRound(round: ForgeRound): Promise<ForgeResult> {
  const { state, now } = round;
  if ((state?.pausedUntil ?? 0) > now()) return NOTHING;
  const known = round.isWhole ? [] : await listKnown(round.database, round.place);
  const scope = round.isWhole ? 'everything' : scopeOf(state, known, now());
  if (scope === undefined) return NOTHING;
  const changes = { isChanged: false };
  const reading = toReading(round, () => (changes.isChanged = true));
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
  return { answer: 'read', isChanged: changes.isChanged || state?.errorKind !== undefined };
}

/** Returns what to read of a forge between two full refreshes; `undefined` for nothing. */
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

/** Returns when to read from a forge before the next full refresh; `undefined` if nothing is due. */
export function findDue(state: ForgeState | undefined, known: readonly Known[], at: number): number | undefined {
  if (state === undefined) return undefined;
  if (state.errorKind !== undefined) return state.retryAt;
  const times = known.flatMap((one) => (one.is_unsettled === 1 || one.revision === '' ? [settlesAt(one)] : []));
  return times.length === 0 ? undefined : Math.max(Math.min(...times), sparedUntil(state.budgets, at));
}

function toReading({ forge, place, database, keep, now }: ForgeRound, onChange: () => void): ForgeReading {
  const report = (isChanged: boolean): void => {
    if (isChanged) onChange();
  };
  return {
    forge,
    now,
    store: {
      listKnown: () => listKnown(database, place),
      listRepositories: (ids) => listRepositories(database, place, ids),
      save: async (readings, readAt) =>
        report(await keep((transaction) => saveReadings(transaction, place, { readings, readAt }))),
      markStale: async (repositories, readAt) =>
        report(await keep((transaction) => markStale(transaction, place, { repositories, readAt }))),
      remove: async (ids, before) => {
        if (ids.length > 0) report(await keep((transaction) => removeReadings(transaction, place, { ids, before })));
      },
    },
  };
}

async function saveState({ keep, place, state, forge, now }: ForgeRound, error?: ForgeError): Promise<void> {
  const outcome = { budgets: forge.budgets, at: now(), ...(error && { error }) };
  await keep((transaction) => saveOutcome(transaction, place, { before: state, outcome }));
}
