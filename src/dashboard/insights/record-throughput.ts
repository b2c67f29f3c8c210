import type { Database } from '../../storage/database.js';
import type { ForgeName, ForgePullRequest, RepositorySnapshot } from '../forges/forge.js';
import { MAX_PULL_REQUESTS } from '../forges/read-repositories.js';
import { addDailyCounts, type SnapshotDiff } from './throughput.js';

interface ForgeKey {
  readonly personId: string;
  readonly forge: ForgeName;
  /** The credential. */
  readonly connection: string;
}

interface NewSnapshot {
  readonly snapshot: RepositorySnapshot;
  readonly isTruncated: boolean;
}

interface NewSnapshots {
  readonly readings: readonly NewSnapshot[];
  readonly readAt: number;
}

/**
 * Counts the pull requests that were opened and closed between the stored snapshots and the new ones. Call it in the
 * transaction that replaces them, before it does. For a repository without a snapshot, pull requests count as opened if
 * they were created after the last successful read of the forge; without such a read, nothing is counted.
 */
export async function recordThroughput(
  transaction: Database,
  place: ForgeKey,
  { readings, readAt }: NewSnapshots,
): Promise<void> {
  const stored = await readStored(transaction, place, readings);
  const placeholder = stored.size < readings.length ? await findPlaceholder(transaction, place) : undefined;
  const moved = readings.flatMap((reading) => {
    const before = stored.get(reading.snapshot.repository.id) ?? placeholder;
    // An older snapshot does not replace a newer one.
    if (before === undefined || before.readAt > readAt) return [];
    const movements = diffSnapshots(before, toCompared(reading, readAt));
    return movements.opened.length + movements.closed === 0 ? [] : [{ fullName: fullNameOf(reading), ...movements }];
  });
  if (moved.length === 0) return;
  const ignored = await readIgnored(transaction, place);
  const counted = moved.filter(({ fullName }) => !ignored.has(fullName));
  await addDailyCounts(transaction, place.personId, { ...sum(counted), at: readAt });
}

/** In lower case, like `repository_marks.repo`. */
const fullNameOf = ({ snapshot }: NewSnapshot): string => snapshot.repository.fullName.toLowerCase();

const toCompared = ({ snapshot, isTruncated }: NewSnapshot, readAt: number): ComparedSnapshot => ({
  readAt,
  isTruncated,
  pullRequests: snapshot.pullRequests,
});

const sum = (all: readonly SnapshotDiff[]): SnapshotDiff => ({
  opened: all.flatMap(({ opened }) => opened),
  closed: all.reduce((total, { closed }) => total + closed, 0),
});

async function readStored(
  transaction: Database,
  { personId, connection }: ForgeKey,
  readings: readonly NewSnapshot[],
): Promise<ReadonlyMap<string, ComparedSnapshot>> {
  const ids = readings.map(({ snapshot }) => snapshot.repository.id);
  const rows = await transaction
    .selectFrom('forge_readings')
    .select(['repository_id', 'read_at', 'is_cut', 'yours_only', 'facts'])
    .where('person_id', '=', personId)
    .where('forge', '=', connection)
    .where('repository_id', 'in', ids)
    .execute();
  return new Map(
    rows.map(({ repository_id, read_at, is_cut, yours_only, facts }) => {
      const { pullRequests } = JSON.parse(facts) as Pick<RepositorySnapshot, 'pullRequests'>;
      return [repository_id, { readAt: read_at, isTruncated: is_cut + yours_only > 0, pullRequests }];
    }),
  );
}

/** Returns an empty, truncated snapshot as of the forge's last successful read, for repositories without one. */
async function findPlaceholder(
  transaction: Database,
  { personId, connection }: ForgeKey,
): Promise<ComparedSnapshot | undefined> {
  const states = transaction.selectFrom('forge_states').select('read_at').where('person_id', '=', personId);
  const { read_at = null } = (await states.where('forge', '=', connection).executeTakeFirst()) ?? {};
  return read_at === null ? undefined : { readAt: read_at, isTruncated: true, pullRequests: [] };
}

async function readIgnored(transaction: Database, { personId, forge }: ForgeKey): Promise<ReadonlySet<string>> {
  const marks = transaction.selectFrom('repository_marks').select('repo').where('person_id', '=', personId);
  const rows = await marks.where('forge', '=', forge).where('ignored_prs', '=', 1).execute();
  return new Set(rows.map(({ repo }) => repo));
}

interface ComparedSnapshot {
  /** In milliseconds. */
  readonly readAt: number;
  /** Whether pull requests may be missing from the snapshot. */
  readonly isTruncated: boolean;
  readonly pullRequests: readonly Pick<ForgePullRequest, 'createdAt' | 'number'>[];
}

/**
 * Compares a snapshot with the previous one.
 *
 * The creation time that the forge reports is clamped to the time between both snapshots, because a reopened pull
 * request was created earlier. After a truncated snapshot, only pull requests that were created later count as opened.
 */
export function diffSnapshots(before: ComparedSnapshot, after: ComparedSnapshot): SnapshotDiff {
  const [known, listed] = [numbersOf(before), numbersOf(after)];
  const opened = after.pullRequests.filter(
    (one) => !known.has(one.number) && (!isTruncated(before) || Date.parse(one.createdAt) > before.readAt),
  );
  const left = isTruncated(after) ? [] : before.pullRequests.filter(({ number }) => !listed.has(number));
  return { opened: opened.map((one) => openedAt(one, before, after)), closed: left.length };
}

const numbersOf = ({ pullRequests }: ComparedSnapshot): ReadonlySet<number> =>
  new Set(pullRequests.map(({ number }) => number));

const isTruncated = (reading: ComparedSnapshot): boolean =>
  reading.isTruncated || reading.pullRequests.length >= MAX_PULL_REQUESTS;

function openedAt(
  { createdAt }: Pick<ForgePullRequest, 'createdAt'>,
  before: ComparedSnapshot,
  after: ComparedSnapshot,
): number {
  const created = Date.parse(createdAt);
  return Number.isNaN(created) ? after.readAt : Math.min(Math.max(created, before.readAt), after.readAt);
}
