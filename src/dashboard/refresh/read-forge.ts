import { MAX_PULL_REQUESTS } from '../forges/bounded.js';
import type { ForgeRepository, PullRequestFacts, RepositoryReading } from '../forges/facts.js';
import type { Forge } from '../forges/forge.js';
import { planReading, sum } from './plan.js';
import type { Known, NewReading } from './readings.js';
import { settlesAt } from './timing.js';

/** So much is kept at once: two queries of GitHub's, and seconds of others'. */
const BATCH = 40;

/** Where readings of one forge of one person are kept. */
export interface ReadingStore {
  /** Those first that were not read for the longest time. */
  listKnown(): Promise<Known[]>;
  listRepositories(ids: readonly string[]): Promise<ForgeRepository[]>;
  save(readings: readonly NewReading[], readAt: number): Promise<void>;
  remove(ids: readonly string[], before: number): Promise<void>;
  markStale(repositories: readonly ForgeRepository[], readAt: number): Promise<void>;
}

export interface ForgeReading {
  readonly forge: Forge;
  readonly store: ReadingStore;
  readonly now: () => number;
}

/** Reads what is new at a forge, and a share of the rest. What is gone there is removed. */
export async function readForge(reading: ForgeReading, share: number): Promise<void> {
  const { forge, store, now } = reading;
  const askedAt = now();
  const found = await forge.discover();
  const known = await store.listKnown();
  const ids = new Set(found.map(({ id }) => id));
  const gone = known.filter(({ repository_id }) => !ids.has(repository_id));
  for (const batch of batches(gone)) {
    await store.remove(
      batch.map(({ repository_id }) => repository_id),
      askedAt,
    );
  }
  const left = known.filter(({ repository_id }) => ids.has(repository_id));
  const { repositories, whenRoom, rest } = planReading(found, left, share);
  let total = rest;
  for (const batch of batches(repositories)) total += await readBatch(reading, batch);
  for (const batch of batches(whenRoom)) {
    if (total < MAX_PULL_REQUESTS) total += await readBatch(reading, batch);
    else
      await store.save(
        batch.map((repository) => toCut(forge, repository)),
        askedAt,
      );
  }
}

/** Reads again what is about to change. */
export async function readUnsettled(reading: ForgeReading, known: readonly Known[]): Promise<void> {
  const { store, now } = reading;
  const due = known.filter((one) => one.is_unsettled === 1 && settlesAt(one) <= now());
  for (const batch of batches(due)) {
    await readBatch(reading, await store.listRepositories(batch.map(({ repository_id }) => repository_id)));
  }
}

/** @returns how many pull requests there are. */
async function readBatch({ forge, store, now }: ForgeReading, batch: readonly ForgeRepository[]): Promise<number> {
  const readAt = now();
  const { repositories, truncated, unread } = await forge.read(batch);
  const read = new Set([...repositories.map(({ repository }) => repository.id), ...unread]);
  const gone = batch.filter(({ id }) => !read.has(id)).map(({ id }) => id);
  await store.remove(gone, readAt);
  await store.markStale(
    batch.filter(({ id }) => unread.includes(id)),
    readAt,
  );
  await store.save(
    truncated ? markCut(forge, repositories) : repositories.map((one) => toNewReading(forge, one)),
    readAt,
  );
  return sum(repositories.map(({ pullRequests }) => pullRequests.length));
}

/** Whoever has no credential has few requests, all for what changed since the last refresh: nothing is read in between. */
export function toNewReading({ actions }: Forge, reading: RepositoryReading): NewReading {
  const isIncomplete = (reading.incomplete ?? 0) > 0;
  const isChanging = isIncomplete || reading.pullRequests.some(isUnsettled);
  return { reading, isCut: false, isUnsettled: actions.length > 0 && isChanging };
}

/** Forges find out whether something merges only when they are asked, and later. */
function isUnsettled({ ci, mergeStatus }: PullRequestFacts): boolean {
  return ci === 'pending' || mergeStatus === 'unknown';
}

/** It is on the board, but its pull requests would be too many. */
function toCut(forge: Forge, repository: ForgeRepository): NewReading {
  return { ...toNewReading(forge, { repository, pullRequests: [], issues: [] }), isCut: true };
}

/** Once there are as many as a board takes, some of the last one and all of the others may be missing. */
function markCut(forge: Forge, readings: readonly RepositoryReading[]): NewReading[] {
  let total = 0;
  return readings.map((reading) => {
    total += reading.pullRequests.length;
    return { ...toNewReading(forge, reading), isCut: total >= MAX_PULL_REQUESTS };
  });
}

function batches<T>(items: readonly T[]): T[][] {
  const count = Math.ceil(items.length / BATCH);
  return Array.from({ length: count }, (_none, index) => items.slice(index * BATCH, (index + 1) * BATCH));
}
