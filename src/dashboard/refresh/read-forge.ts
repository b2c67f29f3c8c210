import { ForgeError } from '../forges/forge-error.js';
import type {
  Forge,
  ForgePullRequest,
  ForgeRepository,
  IncompleteSearch,
  KnownRepository,
  RepositorySnapshot,
} from '../forges/forge.js';
import { MAX_PULL_REQUESTS } from '../forges/read-repositories.js';
import { nextPollAt } from './forge-status.js';
import { type NewSnapshot, SETTLED, type SnapshotMetadata } from './repository-snapshots.js';

/** Repositories that are read and saved together: two GitHub queries, or a few seconds of work for other forges. */
const BATCH_SIZE = 40;

/** The stored snapshots of one forge of one user. */
interface SnapshotStore {
  /** Lists snapshots, least recently read first. */
  listKnown(): Promise<SnapshotMetadata[]>;
  listRepositories(ids: readonly string[]): Promise<ForgeRepository[]>;
  listPullRequests(ids: readonly string[]): Promise<KnownRepository[]>;
  /** Saves that snapshots are still current. */
  confirm(ids: readonly string[], readAt: number): Promise<void>;
  save(readings: readonly NewSnapshot[], readAt: number): Promise<void>;
  remove(ids: readonly string[], before: number): Promise<void>;
  markStale(repositories: readonly ForgeRepository[], readAt: number): Promise<void>;
}

/** Shows the parts that are saved so far: at once after the first part of a forge, else not too often. */
export type ShowPart = (part: { readonly isFirst: boolean }) => Promise<void>;

export interface ForgeReadContext {
  readonly forge: Forge;
  readonly store: SnapshotStore;
  /** Lists the ids of the repositories that earlier credentials for the same server read. */
  readonly listOthers: (options: { readonly yoursOnly: boolean }) => Promise<ReadonlySet<string>>;
  readonly now: () => number;
  /** Called whenever part of a first reading is saved, the user's pull requests first. Absent for later readings. */
  readonly onPart?: ShowPart;
}

/** The user's pull requests that are read before anything else: one GitHub query after the search. */
const FIRST_ROWS = 20;

/**
 * Reads new and changed repositories of a forge, and compares a share of the others with the forge. Removes those that
 * no longer exist.
 *
 * @returns Why pull requests of the user in other repositories may be missing; `undefined` if none are.
 */
export async function readForge(reading: ForgeReadContext, share: number): Promise<IncompleteSearch | undefined> {
  const { forge, store, now } = reading;
  const startedAt = now();
  if (reading.onPart) {
    await readInvolved(reading, { listed: new Set(), known: [], cut: [], most: FIRST_ROWS });
    await reading.onPart({ isFirst: true });
  }
  const others = await reading.listOthers({ yoursOnly: false });
  const found = (await forge.discover()).filter(({ id }) => !others.has(id));
  const all = await store.listKnown();
  const known = all.filter(isListed);
  const ids = new Set(found.map(({ id }) => id));
  const hidden = forge.hidden === undefined ? [] : findHiddenRepositories(known, found);
  const kept = new Set(hidden.map(({ repository_id }) => repository_id));
  const removed = known.filter(({ repository_id }) => !ids.has(repository_id) && !kept.has(repository_id));
  for (const batch of batches(removed)) {
    await store.remove(
      batch.map(({ repository_id }) => repository_id),
      startedAt,
    );
  }
  for (const batch of batches([...kept])) await store.markStale(await store.listRepositories(batch), startedAt);
  const remaining = known.filter(({ repository_id }) => ids.has(repository_id));
  const { changed, whenRoom, oldest } = planRepositoryReads(found, remaining, share);
  const due = [...changed, ...(await listOutdated(reading, oldest))];
  let total = countOthers(remaining, [...due, ...whenRoom]);
  for (const batch of batches(due)) total += await readBatch(reading, batch);
  const cut: ForgeRepository[] = [];
  for (const batch of batches(whenRoom)) {
    if (total < MAX_PULL_REQUESTS) total += await readBatch(reading, batch);
    else cut.push(...batch);
  }
  return readInvolved(reading, { listed: new Set([...ids, ...kept]), known: all, cut });
}

const isListed = ({ yours_only }: SnapshotMetadata): boolean => yours_only === 0;

interface InvolvedScope {
  /** The ids of the repositories that are read anyway. */
  readonly listed: ReadonlySet<string>;
  readonly known: readonly SnapshotMetadata[];
  /** The listed repositories that are not read whole, as they would exceed the limit of the board. */
  readonly cut: readonly ForgeRepository[];
  /** @see InvolvedOptions.most */
  readonly most?: number;
}

/**
 * Reads the user's pull requests outside of the repositories that are read whole. If the forge fails to search, the
 * known ones stay.
 */
async function readInvolved(
  { forge, store, listOthers, now }: ForgeReadContext,
  { listed, known, cut, most }: InvolvedScope,
): Promise<IncompleteSearch | undefined> {
  const readAt = now();
  const others = known.filter((one) => !isListed(one) && !listed.has(one.repository_id));
  const ids = others.map(({ repository_id }) => repository_id);
  const cutById = new Map(cut.map((one) => [one.id, one]));
  const whole = [...listed].filter((id) => !cutById.has(id));
  const save = async (snapshots: readonly NewSnapshot[]): Promise<void> => {
    for (const batch of batches(snapshots)) await store.save(batch, readAt);
  };
  try {
    const omitted = new Set([...whole, ...(await listOthers({ yoursOnly: true }))]);
    const rows = await listRows(store, [...ids, ...cutById.keys()]);
    const { repositories, truncated } = (await forge.readInvolved?.(omitted, { known: rows, most })) ?? NOT_INVOLVED;
    const found = new Set(repositories.map(({ repository }) => repository.id));
    await store.remove(
      ids.filter((id) => !found.has(id)),
      readAt,
    );
    await save(repositories.map((one) => toInvolvedSnapshot(forge, one, cutById.get(one.repository.id))));
    await save(cut.filter(({ id }) => !found.has(id)).map((one) => toCutSnapshot(forge, one)));
    return truncated ? { reason: 'limit' } : undefined;
  } catch (error) {
    if (!(error instanceof ForgeError) || error.kind === 'rate_limited') throw error;
    for (const batch of batches(ids)) await store.markStale(await store.listRepositories(batch), readAt);
    const stored = new Set(known.map(({ repository_id }) => repository_id));
    await save(cut.filter(({ id }) => !stored.has(id)).map((one) => toCutSnapshot(forge, one)));
    return { reason: 'failed', errorKind: error.kind };
  }
}

async function listRows(store: SnapshotStore, ids: readonly string[]): Promise<KnownRepository[]> {
  const rows: KnownRepository[] = [];
  for (const batch of batches(ids)) rows.push(...(await store.listPullRequests(batch)));
  return rows;
}

const NOT_INVOLVED = { repositories: [], truncated: false };

/** Searches for the pull requests of the user again that are outside of the listed repositories. */
export async function readInvolvedAgain(
  reading: ForgeReadContext,
  snapshots: readonly SnapshotMetadata[],
): Promise<void> {
  const listed = new Set(snapshots.filter(isListed).map(({ repository_id }) => repository_id));
  await readInvolved(reading, { listed, known: snapshots, cut: [] });
}

/** A forge hides all repositories of an organization or none. */
function findHiddenRepositories(
  known: readonly SnapshotMetadata[],
  found: readonly ForgeRepository[],
): readonly SnapshotMetadata[] {
  const ownerOf = (fullName: string): string => fullName.slice(0, fullName.indexOf('/')).toLowerCase();
  const owners = new Set(found.map(({ fullName }) => ownerOf(fullName)));
  return known.filter(({ full_name }) => !owners.has(ownerOf(full_name)));
}

/** Reads the repositories with pending changes that are due. */
export async function readPendingRepositories(
  reading: ForgeReadContext,
  known: readonly SnapshotMetadata[],
): Promise<void> {
  const { store, now } = reading;
  const due = known.filter((one) => one.is_unsettled !== SETTLED && nextPollAt(one) <= now());
  if (due.some((one) => !isListed(one))) await readInvolvedAgain(reading, known);
  for (const batch of batches(due.filter(isListed))) {
    await readBatch(reading, await store.listRepositories(batch.map(({ repository_id }) => repository_id)));
  }
}

/** Returns the number of pull requests. */
async function readBatch(reading: ForgeReadContext, batch: readonly ForgeRepository[]): Promise<number> {
  const { forge, store, now } = reading;
  const readAt = now();
  const { repositories, truncated, unread } = await forge.read(batch);
  const read = new Set([...repositories.map(({ repository }) => repository.id), ...unread]);
  const removed = batch.filter(({ id }) => !read.has(id)).map(({ id }) => id);
  await store.remove(removed, readAt);
  await store.markStale(
    batch.filter(({ id }) => unread.includes(id)),
    readAt,
  );
  await store.save(
    truncated ? markTruncated(forge, repositories) : repositories.map((one) => toNewSnapshot(forge, one)),
    readAt,
  );
  await reading.onPart?.({ isFirst: false });
  return sum(repositories.map(({ pullRequests }) => pullRequests.length));
}

/**
 * Converts a snapshot. Without a credential (a forge without actions), no changes are pending: the few requests that
 * anonymous clients have are needed for refreshes.
 */
export function toNewSnapshot({ actions }: Forge, reading: RepositorySnapshot): NewSnapshot {
  const isIncomplete = (reading.incomplete ?? 0) > 0;
  const isChanging = isIncomplete || reading.pullRequests.some(isUnsettled);
  return { snapshot: reading, isTruncated: false, isPending: actions.length > 0 && isChanging };
}

/** Forges compute the merge status asynchronously after it was first requested. */
function isUnsettled({ ci, mergeStatus }: ForgePullRequest): boolean {
  return ci === 'pending' || mergeStatus === 'unknown';
}

/** Lists a repository without its pull requests, which would exceed the limit of the board. */
const toCutSnapshot = (forge: Forge, repository: ForgeRepository): NewSnapshot =>
  toCut(forge, { repository, pullRequests: [], issues: [] });

const toCut = (forge: Forge, reading: RepositorySnapshot): NewSnapshot => ({
  ...toNewSnapshot(forge, reading),
  isTruncated: true,
});

/** @param listed The repository if the board lists it, but only with the user's pull requests, as it has too many. */
function toInvolvedSnapshot(forge: Forge, reading: RepositorySnapshot, listed?: ForgeRepository): NewSnapshot {
  if (listed === undefined) return toNewSnapshot(forge, reading);
  const { pullRequests, issues, incomplete } = reading;
  return toCut(forge, { repository: listed, pullRequests, issues, incomplete });
}

/** Marks the repository that reaches the limit of pull requests and all later ones, because rows may be missing. */
function markTruncated(forge: Forge, readings: readonly RepositorySnapshot[]): NewSnapshot[] {
  let total = 0;
  return readings.map((reading) => {
    total += reading.pullRequests.length;
    return { ...toNewSnapshot(forge, reading), isTruncated: total >= MAX_PULL_REQUESTS };
  });
}

function batches<T>(items: readonly T[]): T[][] {
  const count = Math.ceil(items.length / BATCH_SIZE);
  return Array.from({ length: count }, (_none, index) => items.slice(index * BATCH_SIZE, (index + 1) * BATCH_SIZE));
}

/** Compares unchanged repositories with the forge. @returns those that have to be read. */
async function listOutdated(
  { forge, store, now }: ForgeReadContext,
  unchanged: readonly ForgeRepository[],
): Promise<readonly ForgeRepository[]> {
  if (forge.findOutdated === undefined) return unchanged;
  const outdated: ForgeRepository[] = [];
  for (const batch of batches(unchanged)) {
    const readAt = now();
    const ids = await forge.findOutdated(await store.listPullRequests(batch.map(({ id }) => id)));
    outdated.push(...batch.filter(({ id }) => ids.has(id)));
    await store.confirm(
      batch.map(({ id }) => id).filter((id) => !ids.has(id)),
      readAt,
    );
  }
  return outdated;
}

/** Counts the known pull requests in all repositories except those that are read. */
function countOthers(known: readonly SnapshotMetadata[], read: readonly ForgeRepository[]): number {
  const ids = new Set(read.map(({ id }) => id));
  return sum(known.filter(({ repository_id }) => !ids.has(repository_id)).map(({ pull_requests }) => pull_requests));
}

interface ReadPlan {
  /** The repositories on the board that have to be read. */
  readonly changed: readonly ForgeRepository[];
  /** The repositories to read until the limit of pull requests on the board is reached. */
  readonly whenRoom: readonly ForgeRepository[];
  /** The share of the other repositories to compare. */
  readonly oldest: readonly ForgeRepository[];
}

/**
 * Selects the repositories of a forge to read.
 *
 * @param share The share of unchanged repositories to compare too, least recently read first, because some changes do
 * not change the revision, such as checks that run again.
 */
function planRepositoryReads(
  found: readonly ForgeRepository[],
  known: readonly SnapshotMetadata[],
  share: number,
): ReadPlan {
  const knownById = new Map(known.map((one) => [one.repository_id, one]));
  const stale = new Set(listOldest(known, share).map(({ repository_id }) => repository_id));
  const plan = { changed: [] as ForgeRepository[], whenRoom: [] as ForgeRepository[], oldest: [] as ForgeRepository[] };
  for (const repository of uniqueById(found)) {
    const before = knownById.get(repository.id);
    const isChanged = before?.revision !== repository.revision || before.is_unsettled !== SETTLED;
    const isDue = isChanged || stale.has(repository.id);
    if (before === undefined || (before.is_cut === 1 && !(isDue && before.pull_requests > 0))) {
      plan.whenRoom.push(repository);
    } else if (isDue) {
      plan[isChanged ? 'changed' : 'oldest'].push(repository);
    }
  }
  return plan;
}

/** @param known Sorted, least recently read first. */
function listOldest(known: readonly SnapshotMetadata[], share: number): readonly SnapshotMetadata[] {
  const withChecks = known.filter(({ pull_requests }) => pull_requests > 0);
  return withChecks.slice(0, Math.ceil(withChecks.length * share));
}

/** Removes duplicates: a repository can move to the next page while pages are read. */
function uniqueById(repositories: readonly ForgeRepository[]): ForgeRepository[] {
  return [...new Map(repositories.map((one) => [one.id, one])).values()];
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
