/** The part of a refresh run that reads one forge of a user. */
import { type Database, inTransaction } from '../../storage/database.js';
import { ForgeError } from '../forges/forge-error.js';
import type { Forge, IncompleteSearch } from '../forges/forge.js';
import {
  beginForgeStatus,
  COMPUTING_DELAY_MS,
  type ForgeStatus,
  nextPollAt,
  quotaPauseUntil,
  saveForgeStatus,
  saveQuotas,
} from './forge-status.js';
import {
  type ForgeReadContext,
  readForge,
  readInvolvedAgain,
  readPendingRepositories,
  type ShowPart,
  toNewSnapshot,
} from './read-forge.js';
import {
  confirmSnapshots,
  deleteSnapshots,
  type ForgeKey,
  invalidateSnapshots,
  listKnownPullRequests,
  listRepositories,
  listSnapshots,
  markStale,
  saveSnapshots,
  SETTLED,
  type SnapshotMetadata,
} from './repository-snapshots.js';
import { scheduleBefore } from './schedule.js';

interface ForgeRefresh {
  readonly place: ForgeKey & { readonly source: string };
  readonly forge: Forge;
  /** Lists the ids of the repositories that earlier credentials for the same server read. */
  readonly listOthers: (options: { readonly yoursOnly: boolean }) => Promise<ReadonlySet<string>>;
  readonly state: ForgeStatus | undefined;
  readonly isWhole: boolean;
  /** The share of unchanged repositories that is read too, from 0 to 1. */
  readonly share: number;
  readonly database: Database;
  /** Runs work in a transaction. Fails if this process no longer has the lease of the board. */
  readonly keep: <T>(work: (transaction: Database) => Promise<T>) => Promise<T>;
  readonly now: () => number;
  /** Shows the saved part of a first reading on the board. */
  readonly showPart: ShowPart;
}

export interface ForgeRefreshResult {
  /** The result of the read; `none` if nothing was due. */
  readonly outcome: 'failed' | 'none' | 'read';
  /** Whether the board changed. */
  readonly isChanged: boolean;
}

const NOTHING: ForgeRefreshResult = { outcome: 'none', isChanged: false };

/** Reads the due repositories of a forge. Saves errors of the forge as its status, and throws all others. */
export async function runForgeRefresh(round: ForgeRefresh): Promise<ForgeRefreshResult> {
  const { state, now } = round;
  if ((state?.pausedUntil ?? 0) > now()) return NOTHING;
  const known = round.isWhole ? [] : await listSnapshots(round.database, round.place);
  const scope = round.isWhole ? 'everything' : scopeOf(state, known, now());
  if (scope === undefined) return NOTHING;
  const changes = { isChanged: false };
  const isFirst = scope === 'everything' && state?.readAt === undefined;
  if (isFirst) await round.keep((transaction) => beginForgeStatus(transaction, round.place));
  const reading = {
    ...toReading(round, () => (changes.isChanged = true)),
    ...(isFirst && { onPart: round.showPart }),
  };
  let incompleteSearch: IncompleteSearch | undefined;
  try {
    if (scope === 'everything') incompleteSearch = await readForge(reading, round.share);
    else await readPendingRepositories(reading, known);
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    await saveState(round, { incompleteSearch: state?.incompleteSearch, error });
    return { outcome: 'failed', isChanged: true };
  }
  if (scope === 'everything') await saveState(round, { incompleteSearch });
  else await round.keep((transaction) => saveQuotas(transaction, round.place, round.forge.quotas));
  return { outcome: 'read', isChanged: changes.isChanged || state?.errorKind !== undefined };
}

/** Returns what to read of a forge between two full refreshes; `undefined` for nothing. */
function scopeOf(
  state: ForgeStatus | undefined,
  known: readonly SnapshotMetadata[],
  at: number,
): 'everything' | 'unsettled' | undefined {
  const dueAt = nextReadAt(state, known, at);
  if (dueAt === undefined || dueAt > at) return undefined;
  const mustDiscover = state?.errorKind !== undefined || known.some(({ revision }) => revision === '');
  return mustDiscover ? 'everything' : 'unsettled';
}

/** Returns when to read from a forge before the next full refresh; `undefined` if nothing is due. */
export function nextReadAt(
  state: ForgeStatus | undefined,
  known: readonly SnapshotMetadata[],
  at: number,
): number | undefined {
  if (state === undefined) return undefined;
  if (state.errorKind !== undefined) return state.retryAt;
  const times = known.flatMap((one) => (one.is_unsettled !== SETTLED || one.revision === '' ? [nextPollAt(one)] : []));
  return times.length === 0 ? undefined : Math.max(Math.min(...times), quotaPauseUntil(state.budgets, at));
}

interface Placed {
  readonly place: ForgeKey;
}

function toReading(
  {
    forge,
    place,
    listOthers,
    database,
    keep,
    now,
  }: Omit<ForgeRefresh, 'isWhole' | 'place' | 'share' | 'showPart' | 'state'> & Placed,
  onChange: () => void,
): ForgeReadContext {
  const report = (isChanged: boolean): void => {
    if (isChanged) onChange();
  };
  return {
    forge,
    now,
    listOthers,
    store: {
      listKnown: () => listSnapshots(database, place),
      listRepositories: (ids) => listRepositories(database, place, ids),
      listPullRequests: (ids) => listKnownPullRequests(database, place, ids),
      save: async (readings, readAt) =>
        report(await keep((transaction) => saveSnapshots(transaction, place, { readings, readAt }))),
      confirm: (ids, readAt) => keep((transaction) => confirmSnapshots(transaction, place, { ids, readAt })),
      markStale: async (repositories, readAt) =>
        report(await keep((transaction) => markStale(transaction, place, { repositories, readAt }))),
      remove: async (ids, before) => {
        if (ids.length > 0) report(await keep((transaction) => deleteSnapshots(transaction, place, { ids, before })));
      },
    },
  };
}

async function saveState(
  { keep, place, state, forge, now }: ForgeRefresh,
  result: { readonly incompleteSearch: IncompleteSearch | undefined; readonly error?: ForgeError },
): Promise<void> {
  const { quotas: budgets, hidden, expiresAt } = forge;
  const outcome = { ...result, budgets, hidden, expiresAt, at: now() };
  await keep((transaction) => saveForgeStatus(transaction, place, { before: state, outcome }));
}

/** Reads the user's pull requests outside of the listed repositories, of which a search finds all or none. */
async function runInvolvedRefresh(
  { database, now }: { readonly database: Database; readonly now: () => number },
  place: ForgeKey,
  {
    forge,
    known,
    listOthers,
  }: Pick<ForgeRefresh, 'forge' | 'listOthers'> & { readonly known: readonly SnapshotMetadata[] },
): Promise<boolean> {
  const changes = { isChanged: false };
  const keep = <T>(work: (transaction: Database) => Promise<T>): Promise<T> => inTransaction(database, work);
  const reading = toReading({ database, forge, place, listOthers, keep, now }, () => (changes.isChanged = true));
  await readInvolvedAgain(reading, known);
  await keep((transaction) => saveQuotas(transaction, place, forge.quotas));
  await scheduleBefore(database, place.personId, now() + RECHECK_MS);
  return changes.isChanged;
}

/** The delay before a board is checked for repositories that have to be read again. */
const RECHECK_MS = 60_000;

/**
 * Reads one repository, without a lease: if another process reads it too, the newer snapshot stays.
 *
 * @returns whether the board changed.
 * @throws ForgeError if the repository can't be read; it is then scheduled to be read again.
 */
export async function runRepositoryRefresh(
  { database, now }: { readonly database: Database; readonly now: () => number },
  place: ForgeKey,
  { forge, fullName, listOthers }: Pick<ForgeRefresh, 'forge' | 'listOthers'> & { readonly fullName: string },
): Promise<boolean> {
  const readAt = now();
  const known = await listSnapshots(database, place);
  if (known.some((one) => one.full_name === fullName && one.yours_only === 1)) {
    return runInvolvedRefresh({ database, now }, place, { forge, known, listOthers });
  }
  const reading = await forge.readRepository(fullName).catch(async (error: unknown) => {
    await invalidateSnapshots(database, place.personId, { connection: place.connection, fullName });
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
    const isComputing = reading?.pullRequests.some(({ mergeStatus }) => mergeStatus === 'unknown') === true;
    await scheduleBefore(transaction, place.personId, readAt + (isComputing ? COMPUTING_DELAY_MS : RECHECK_MS));
    return isRemoved || isChanged;
  });
}
