/** The status of each forge after its last refresh. */
import type { Database } from '../../storage/database.js';
import type { ForgeStatesTable } from '../../storage/tables.js';
import type { ForgeError, ForgeErrorKind } from '../forges/forge-error.js';
import type { ApiQuota, Forge, HiddenRepositories, IncompleteSearch } from '../forges/forge.js';
import { COMPUTING, type ForgeKey, type SnapshotMetadata } from './repository-snapshots.js';

export interface ForgeStatus {
  /** @see ForgeKey.connection */
  readonly connection: string;
  readonly source: string;
  /** The time of the last successful read, in milliseconds. */
  readonly readAt: number | undefined;
  readonly errorKind: ForgeErrorKind | undefined;
  readonly failures: number;
  readonly retryAt: number | undefined;
  readonly pausedUntil: number | undefined;
  readonly budgets: Forge['quotas'];
  readonly hidden: HiddenRepositories | undefined;
  readonly incompleteSearch: IncompleteSearch | undefined;
  /** When the credential expires, in milliseconds. */
  readonly expiresAt: number | undefined;
}

interface ForgeReadOutcome {
  readonly budgets: Forge['quotas'];
  readonly hidden: HiddenRepositories | undefined;
  readonly incompleteSearch: IncompleteSearch | undefined;
  readonly expiresAt: number | undefined;
  readonly at: number;
  /** Omitted after a complete read. */
  readonly error?: ForgeError;
}

/** Reads the status of each credential of a user, by {@link ForgeKey.connection}. */
export async function readForgeStatus(database: Database, personId: string): Promise<Map<string, ForgeStatus>> {
  const rows = await database.selectFrom('forge_states').selectAll().where('person_id', '=', personId).execute();
  const states = rows.map(toState);
  return new Map(states.map((state) => [state.connection, state]));
}

/** Saves that a first reading has begun, so that the board can show its parts. */
export async function beginForgeStatus(
  database: Database,
  place: ForgeKey & { readonly source: string },
): Promise<void> {
  const row = { person_id: place.personId, forge: place.connection, source: place.source };
  await database
    .insertInto('forge_states')
    .values({ ...row, ...toSuccess(null), budgets: '{}', hidden: null, incomplete_search: null, expires_at: null })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Saves the status after a read. `before` is the previous status. */
export async function saveForgeStatus(
  database: Database,
  place: ForgeKey & { readonly source: string },
  { before, outcome }: { readonly before: ForgeStatus | undefined; readonly outcome: ForgeReadOutcome },
): Promise<void> {
  const { at, error, budgets, hidden, incompleteSearch, expiresAt } = outcome;
  const change = {
    source: place.source,
    budgets: JSON.stringify(budgets),
    hidden: hidden === undefined ? null : JSON.stringify(hidden),
    incomplete_search: incompleteSearch === undefined ? null : JSON.stringify(incompleteSearch),
    expires_at: expiresAt ?? null,
    ...(error === undefined ? toSuccess(at) : toFailure(error, (before?.failures ?? 0) + 1, at)),
  };
  await database
    .insertInto('forge_states')
    .values({ person_id: place.personId, forge: place.connection, read_at: null, ...change })
    .onConflict((conflict) => conflict.columns(['person_id', 'forge']).doUpdateSet(change))
    .execute();
}

export async function saveQuotas(database: Database, place: ForgeKey, budgets: Forge['quotas']): Promise<void> {
  const all = database.updateTable('forge_states').set({ budgets: JSON.stringify(budgets) });
  await all.where('person_id', '=', place.personId).where('forge', '=', place.connection).execute();
}

/** Lets forges be retried at once after errors and rate limits, because the credential may have changed. */
export async function clearForgeErrors(database: Database, personId: string): Promise<void> {
  const all = database.updateTable('forge_states').set({ retry_at: null, paused_until: null });
  await all.where('person_id', '=', personId).execute();
}

function toSuccess(at: number | null) {
  return { read_at: at, error_kind: null, failures: 0, retry_at: null, paused_until: null };
}

function toFailure({ kind, resetsAt }: ForgeError, failures: number, at: number) {
  const retry = nextRetryAt({ kind, failures, resetsAt }, at) ?? null;
  const pausedUntil = resetsAt === undefined ? null : Math.min(resetsAt, at + MAX_WAIT_MS);
  return { error_kind: kind, failures, retry_at: retry, paused_until: pausedUntil };
}

function toState(row: ForgeStatesTable): ForgeStatus {
  return {
    connection: row.forge,
    source: row.source,
    readAt: row.read_at ?? undefined,
    // The casts are safe: only values of the contract are stored.
    errorKind: (row.error_kind as ForgeErrorKind | null) ?? undefined,
    failures: row.failures,
    retryAt: row.retry_at ?? undefined,
    pausedUntil: row.paused_until ?? undefined,
    budgets: JSON.parse(row.budgets) as Forge['quotas'],
    hidden: row.hidden === null ? undefined : (JSON.parse(row.hidden) as HiddenRepositories),
    incompleteSearch:
      row.incomplete_search === null ? undefined : (JSON.parse(row.incomplete_search) as IncompleteSearch),
    expiresAt: row.expires_at ?? undefined,
  };
}

// The times of the next requests to forges.

const MINUTE_MS = 60_000;
/** API quotas are reset every hour. Longer waits that a forge requests are ignored. */
const MAX_WAIT_MS = 3_600_000;

/** The reserve of an API quota that is left for the user's other programs. */
const LOW_SHARE = 0.05;

/** Allows for clock differences, and avoids the moment at which all clients resume. */
const AFTER_RESET_MS = 30_000;

/** The shortest delay between reads of a pending repository, because CI takes minutes. */
const MIN_DELAY_MS = MINUTE_MS;

/** GitHub computes the merge statuses of a repository within seconds of the first request for them. */
export const COMPUTING_DELAY_MS = 4_000;

/** A repository that has not changed for an hour is read every six minutes. */
const DELAY_SHARE = 0.1;

/** Equals the default refresh interval, so that pending repositories are not read less often than others. */
const MAX_DELAY_MS = 20 * MINUTE_MS;

/** Returns until when to pause requests, in milliseconds, because an API quota is low; 0 if none is. */
export function quotaPauseUntil(budgets: Forge['quotas'], at: number): number {
  const low = [budgets.graphql, budgets.rest].filter((quota) => quota !== undefined && isLow(quota, at));
  const resets = low.map((quota) => Date.parse(quota?.resetsAt ?? '') + AFTER_RESET_MS);
  return resets.length === 0 ? 0 : Math.min(Math.max(...resets), at + MAX_WAIT_MS);
}

function isLow({ limit, remaining, resetsAt }: ApiQuota, at: number): boolean {
  return remaining < limit * LOW_SHARE && Date.parse(resetsAt) > at;
}

/** Returns when to read a repository with pending changes again, in milliseconds: later the longer it is unchanged. */
export function nextPollAt({
  read_at,
  changed_at,
  is_unsettled,
}: Pick<SnapshotMetadata, 'changed_at' | 'is_unsettled' | 'read_at'>): number {
  if (is_unsettled === COMPUTING) return read_at + COMPUTING_DELAY_MS;
  const delay = Math.round((read_at - changed_at) * DELAY_SHARE);
  return read_at + Math.min(Math.max(delay, MIN_DELAY_MS), MAX_DELAY_MS);
}

interface ForgeFailure {
  readonly kind: ForgeErrorKind;
  /** The number of consecutive failures. */
  readonly failures: number;
  readonly resetsAt: number | undefined;
}

/** Errors that persist until the user changes the settings. */
const LASTING: ReadonlySet<ForgeErrorKind> = new Set(['address_refused', 'not_found', 'unauthorized']);

/** Returns when to retry a forge before the next refresh, in milliseconds; `undefined` if only the user can fix it. */
export function nextRetryAt({ kind, failures, resetsAt }: ForgeFailure, at: number): number | undefined {
  if (LASTING.has(kind)) return undefined;
  // 1, 2, 4 and 8 minutes; after that, the next refresh is usually due.
  const wait = Math.min(2 ** (failures - 1), 60) * MINUTE_MS;
  return Math.max(at + wait, resetsAt === undefined ? 0 : Math.min(resetsAt + AFTER_RESET_MS, at + MAX_WAIT_MS));
}
