/** The status of each forge after its last refresh. */
import type { Database } from '../../storage/database.js';
import type { ForgeStatesTable } from '../../storage/tables.js';
import type { ForgeName } from '../forges/forge.js';
import type { Forge } from '../forges/forge.js';
import type { ForgeError, ForgeErrorKind } from '../forges/forge-error.js';
import type { ForgeKey } from './repository-snapshots.js';
import { MAX_WAIT_MS, nextRetryAt } from './timing.js';

export interface ForgeStatus {
  readonly forge: ForgeName;
  readonly source: string;
  /** The time of the last successful read, in milliseconds. */
  readonly readAt: number | undefined;
  readonly errorKind: ForgeErrorKind | undefined;
  readonly failures: number;
  readonly retryAt: number | undefined;
  readonly pausedUntil: number | undefined;
  readonly budgets: Forge['quotas'];
}

export interface ForgeReadOutcome {
  readonly budgets: Forge['quotas'];
  readonly at: number;
  /** Omitted after a complete read. */
  readonly error?: ForgeError;
}

export async function readForgeStatus(database: Database, personId: string): Promise<Map<ForgeName, ForgeStatus>> {
  const rows = await database.selectFrom('forge_states').selectAll().where('person_id', '=', personId).execute();
  const states = rows.map(toState);
  return new Map(states.map((state) => [state.forge, state]));
}

/** Saves the status after a read. `before` is the previous status. */
export async function saveForgeStatus(
  database: Database,
  place: ForgeKey & { readonly source: string },
  { before, outcome }: { readonly before: ForgeStatus | undefined; readonly outcome: ForgeReadOutcome },
): Promise<void> {
  const { at, error, budgets } = outcome;
  const change = {
    source: place.source,
    budgets: JSON.stringify(budgets),
    ...(error === undefined ? toSuccess(at) : toFailure(error, (before?.failures ?? 0) + 1, at)),
  };
  await database
    .insertInto('forge_states')
    .values({ person_id: place.personId, forge: place.forge, read_at: null, ...change })
    .onConflict((conflict) => conflict.columns(['person_id', 'forge']).doUpdateSet(change))
    .execute();
}

export async function saveQuotas(database: Database, place: ForgeKey, budgets: Forge['quotas']): Promise<void> {
  const all = database.updateTable('forge_states').set({ budgets: JSON.stringify(budgets) });
  await all.where('person_id', '=', place.personId).where('forge', '=', place.forge).execute();
}

/** Lets forges be retried at once after errors and rate limits, because the credential may have changed. */
export async function clearForgeErrors(database: Database, personId: string): Promise<void> {
  const all = database.updateTable('forge_states').set({ retry_at: null, paused_until: null });
  await all.where('person_id', '=', personId).execute();
}

function toSuccess(at: number) {
  return { read_at: at, error_kind: null, failures: 0, retry_at: null, paused_until: null };
}

function toFailure({ kind, resetsAt }: ForgeError, failures: number, at: number) {
  const retry = nextRetryAt({ kind, failures, resetsAt }, at) ?? null;
  const pausedUntil = resetsAt === undefined ? null : Math.min(resetsAt, at + MAX_WAIT_MS);
  return { error_kind: kind, failures, retry_at: retry, paused_until: pausedUntil };
}

function toState(row: ForgeStatesTable): ForgeStatus {
  return {
    // The casts are safe: only values of the contract are stored.
    forge: row.forge as ForgeName,
    source: row.source,
    readAt: row.read_at ?? undefined,
    errorKind: (row.error_kind as ForgeErrorKind | null) ?? undefined,
    failures: row.failures,
    retryAt: row.retry_at ?? undefined,
    pausedUntil: row.paused_until ?? undefined,
    budgets: JSON.parse(row.budgets) as Forge['quotas'],
  };
}
