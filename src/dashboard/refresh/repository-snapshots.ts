/** The latest snapshot of each repository. */
import type { Database } from '../../storage/database.js';
import { sql } from '../../storage/kysely.js';
import type { ForgeReadingsTable } from '../../storage/tables.js';
import type {
  ForgeIssue,
  ForgeName,
  ForgePullRequest,
  ForgeRepository,
  KnownRepository,
  RepositorySnapshot,
} from '../forges/forge.js';
import { recordThroughput } from '../insights/throughput.js';

/** A credential of a user. */
export interface ForgeKey {
  readonly personId: string;
  readonly forge: ForgeName;
  /** The name of the forge for the credential in the settings, else the id of the credential. */
  readonly connection: string;
}

/** The metadata of a stored snapshot, without its large `facts`. */
export type SnapshotMetadata = Omit<ForgeReadingsTable, 'facts' | 'forge' | 'person_id'>;

export interface NewSnapshot {
  readonly snapshot: RepositorySnapshot;
  /** Whether pull requests may be missing. */
  readonly isTruncated: boolean;
  /** Whether changes are pending that may not change the revision. */
  readonly isPending: boolean;
  /** @see SnapshotData.unknownSince */
  readonly unknownSince?: number;
}

export interface SnapshotData {
  readonly url: string;
  readonly canManageWebhooks: boolean;
  readonly pullRequests: readonly ForgePullRequest[];
  readonly issues: readonly ForgeIssue[];
  /** Whether some data could not be read the last time, and is from an earlier snapshot or missing. */
  readonly stale?: true;
  /** Since when the forge is computing merge statuses, in milliseconds. */
  readonly unknownSince?: number;
}

/** The values of `is_unsettled`. */
export const SETTLED = 0;
const PENDING = 1;
/** The forge computes merge statuses, which takes it seconds. */
export const COMPUTING = 2;

/** How long the last known merge status of the same commits stands in for one that the forge is computing. */
const BRIDGED_MS = 300_000;

/** How long a repository counts as {@link COMPUTING}. A forge that needs longer may never finish. */
const COMPUTING_MS = 30_000;

const KNOWN = [
  'repository_id',
  'full_name',
  'revision',
  'is_unsettled',
  'is_cut',
  'yours_only',
  'pull_requests',
  'read_at',
  'changed_at',
] as const;

export async function listSnapshots(
  database: Database,
  place: Pick<ForgeKey, 'connection' | 'personId'>,
): Promise<SnapshotMetadata[]> {
  const { personId, connection } = place;
  const all = database.selectFrom('forge_readings').select(KNOWN).where('person_id', '=', personId);
  return all.where('forge', '=', connection).orderBy('read_at').execute();
}

/** Lists repositories as of their latest snapshots. */
export async function listRepositories(
  database: Database,
  { personId, connection }: ForgeKey,
  ids: readonly string[],
): Promise<ForgeRepository[]> {
  const all = database.selectFrom('forge_readings').selectAll().where('person_id', '=', personId);
  const rows = await all.where('forge', '=', connection).where('repository_id', 'in', ids).execute();
  return rows.map(({ repository_id: id, full_name: fullName, revision, facts }) => {
    const { url, canManageWebhooks } = parseSnapshotData(facts);
    return { id, fullName, url, canManageWebhooks, revision };
  });
}

/** Lists the rows of the snapshots of repositories. */
export async function listKnownPullRequests(
  database: Database,
  place: ForgeKey,
  ids: readonly string[],
): Promise<KnownRepository[]> {
  if (ids.length === 0) return [];
  const known = await findFacts(database, place, ids);
  return Array.from(known, ([id, { pullRequests }]) => ({ id, pullRequests }));
}

/** Saves that snapshots are as current as if they had been read at that time, in milliseconds. */
export async function confirmSnapshots(
  database: Database,
  { personId, connection }: ForgeKey,
  { ids, readAt }: { readonly ids: readonly string[]; readonly readAt: number },
): Promise<void> {
  if (ids.length === 0) return;
  const all = database.updateTable('forge_readings').set({ read_at: readAt }).where('person_id', '=', personId);
  const own = all.where('forge', '=', connection).where('repository_id', 'in', ids);
  await own.where('read_at', '<=', readAt).execute();
}

/**
 * Saves snapshots in place of older ones, and deletes those of other repositories that had the same name before. Rows
 * that could not be read now are copied from the older snapshots.
 *
 * @param readAt The time before the requests to the forge, in milliseconds.
 * @returns whether any snapshot differs from the previous one.
 */
export async function saveSnapshots(
  database: Database,
  place: ForgeKey,
  { readings: read, readAt }: { readonly readings: readonly NewSnapshot[]; readonly readAt: number },
): Promise<boolean> {
  if (read.length === 0) return false;
  const readings = await withKnownRows(database, place, { readings: read, readAt });
  const rows = readings.map((one) => toRow(place, one, readAt));
  await moveRenamedState(database, place, rows);
  // Runs before the older snapshots are replaced, because it compares with them.
  const listed = readings.filter(({ snapshot }) => snapshot.yoursOnly !== true);
  if (listed.length > 0) await recordThroughput(database, place, { readings: listed, readAt });
  const removed = await removeByName(database, place, rows);
  const isSame = sql`forge_readings.facts = excluded.facts and forge_readings.full_name = excluded.full_name`;
  const saved = await database
    .insertInto('forge_readings')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns(['person_id', 'forge', 'repository_id'])
        .doUpdateSet((of) => ({
          full_name: of.ref('excluded.full_name'),
          revision: of.ref('excluded.revision'),
          is_unsettled: of.ref('excluded.is_unsettled'),
          is_cut: of.ref('excluded.is_cut'),
          yours_only: of.ref('excluded.yours_only'),
          pull_requests: of.ref('excluded.pull_requests'),
          facts: of.ref('excluded.facts'),
          read_at: of.ref('excluded.read_at'),
          changed_at: sql<number>`case when ${isSame} then forge_readings.changed_at else excluded.read_at end`,
        }))
        .whereRef('forge_readings.read_at', '<=', 'excluded.read_at'),
    )
    .returning('changed_at')
    .execute();
  return removed > 0 || saved.some(({ changed_at }) => changed_at === readAt);
}

const isComputing = ({ mergeStatus }: ForgePullRequest): boolean => mergeStatus === 'unknown';

/**
 * Adds the last known rows of pull requests that could not be read to incomplete snapshots, and the last known merge
 * statuses of the same commits in place of those that the forge is computing. Forges compute them again after each push
 * to the base branch.
 */
async function withKnownRows(
  database: Database,
  place: ForgeKey,
  { readings, readAt }: { readonly readings: readonly NewSnapshot[]; readonly readAt: number },
): Promise<readonly NewSnapshot[]> {
  const lacking = readings.filter(
    ({ snapshot, isPending }) =>
      (snapshot.incomplete ?? 0) > 0 || (isPending && snapshot.pullRequests.some(isComputing)),
  );
  if (lacking.length === 0) return readings;
  const ids = lacking.map(({ snapshot }) => snapshot.repository.id);
  const known = await findFacts(database, place, ids);
  return readings.map((one) => {
    const { repository, pullRequests, incomplete = 0 } = one.snapshot;
    const read = new Set(pullRequests.map(({ number }) => number));
    const facts = known.get(repository.id);
    const last = facts?.pullRequests.filter(({ number }) => !read.has(number)) ?? [];
    const rows = last.slice(0, incomplete).map((row) => ({ ...row, repo: repository.fullName }));
    const unknownSince = pullRequests.some(isComputing) ? (facts?.unknownSince ?? readAt) : undefined;
    const isBridged = unknownSince !== undefined && readAt - unknownSince < BRIDGED_MS;
    const own = isBridged ? pullRequests.map((row) => withKnownMergeStatus(row, facts)) : pullRequests;
    return { ...one, unknownSince, snapshot: { ...one.snapshot, pullRequests: [...own, ...rows] } };
  });
}

function withKnownMergeStatus(row: ForgePullRequest, known: SnapshotData | undefined): ForgePullRequest {
  const before = isComputing(row) ? known?.pullRequests.find(({ number }) => number === row.number) : undefined;
  const isSame = before !== undefined && before.headSha === row.headSha && before.baseBranch === row.baseBranch;
  if (!isSame || before.draft !== row.draft) return row;
  const { mergeStatus, behind, empty } = before;
  return { ...row, mergeStatus, behind, empty };
}

/**
 * Marks repositories that could not be read as stale: their rows stay, and they are read again soon. Repositories
 * without a snapshot are listed without rows.
 *
 * @returns whether any of them was not stale before.
 */
export async function markStale(
  database: Database,
  place: ForgeKey,
  { repositories, readAt }: { readonly repositories: readonly ForgeRepository[]; readonly readAt: number },
): Promise<boolean> {
  if (repositories.length === 0) return false;
  const { personId, connection } = place;
  const ids = repositories.map(({ id }) => id);
  const known = await findFacts(database, place, ids);
  for (const repository of repositories) {
    const facts = known.get(repository.id);
    if (facts === undefined) {
      const reading = { repository, pullRequests: [], issues: [], incomplete: 1 };
      const row = toRow(place, { snapshot: reading, isTruncated: true, isPending: true }, readAt);
      const insert = database.insertInto('forge_readings').values(row);
      await insert.onConflict((conflict) => conflict.doNothing()).execute();
      continue;
    }
    const change = { facts: JSON.stringify({ ...facts, stale: true }), is_unsettled: PENDING, read_at: readAt };
    const update = database.updateTable('forge_readings').set(change).where('person_id', '=', personId);
    const one = update.where('forge', '=', connection).where('repository_id', '=', repository.id);
    await one.where('read_at', '<=', readAt).execute();
  }
  return ids.some((id) => known.get(id)?.stale !== true);
}

async function findFacts(
  database: Database,
  { personId, connection }: ForgeKey,
  ids: readonly string[],
): Promise<ReadonlyMap<string, SnapshotData>> {
  const all = database.selectFrom('forge_readings').select(['repository_id', 'facts']);
  const own = all.where('person_id', '=', personId).where('forge', '=', connection);
  const rows = await own.where('repository_id', 'in', ids).execute();
  return new Map(rows.map(({ repository_id, facts }) => [repository_id, parseSnapshotData(facts)]));
}

/** Deletes snapshots of other repositories that have one of these names. */
async function removeByName(
  database: Database,
  { personId, connection }: ForgeKey,
  rows: readonly ForgeReadingsTable[],
): Promise<number> {
  const names = rows.map(({ full_name }) => full_name);
  const ids = rows.map(({ repository_id }) => repository_id);
  const { numDeletedRows } = await database
    .deleteFrom('forge_readings')
    .where('person_id', '=', personId)
    .where('forge', '=', connection)
    .where('full_name', 'in', names)
    .where('repository_id', 'not in', ids)
    .executeTakeFirst();
  return Number(numDeletedRows);
}

/** Deletes snapshots that were not read after `before`. @returns whether any was deleted. */
export async function deleteSnapshots(
  database: Database,
  { personId, connection }: ForgeKey,
  { ids, before }: { readonly ids: readonly string[]; readonly before: number },
): Promise<boolean> {
  if (ids.length === 0) return false;
  const { numDeletedRows } = await database
    .deleteFrom('forge_readings')
    .where('person_id', '=', personId)
    .where('forge', '=', connection)
    .where('repository_id', 'in', ids)
    .where('read_at', '<=', before)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Makes all of a user's repositories, or one, be read again whatever their revision. */
export async function invalidateSnapshots(
  database: Database,
  personId: string,
  one?: { readonly connection: string; readonly fullName: string },
): Promise<void> {
  const all = database.updateTable('forge_readings').set({ revision: '' }).where('person_id', '=', personId);
  const chosen =
    one === undefined ? all : all.where('forge', '=', one.connection).where('full_name', '=', one.fullName);
  await chosen.execute();
}

export function parseSnapshotData(facts: string): SnapshotData {
  return JSON.parse(facts) as SnapshotData;
}

function toRow(
  place: ForgeKey,
  { snapshot, isTruncated, isPending, unknownSince }: NewSnapshot,
  readAt: number,
): ForgeReadingsTable {
  const { repository, pullRequests, issues, incomplete = 0, yoursOnly } = snapshot;
  const { id, fullName, revision, url, canManageWebhooks } = repository;
  const facts: SnapshotData = {
    url,
    canManageWebhooks,
    pullRequests,
    issues,
    ...(incomplete > 0 && { stale: true }),
    ...(unknownSince !== undefined && { unknownSince }),
  };
  return {
    person_id: place.personId,
    forge: place.connection,
    repository_id: id,
    full_name: fullName,
    revision,
    is_unsettled: isPending ? toPending(unknownSince, readAt) : SETTLED,
    is_cut: isTruncated ? 1 : 0,
    yours_only: yoursOnly ? 1 : 0,
    pull_requests: pullRequests.length,
    facts: JSON.stringify(facts),
    read_at: readAt,
    changed_at: readAt,
  };
}

const toPending = (unknownSince: number | undefined, readAt: number): number =>
  unknownSince !== undefined && readAt - unknownSince < COMPUTING_MS ? COMPUTING : PENDING;

/** The tables with local state that is keyed by repository name. */
const TABLES = ['repository_marks', 'pull_request_marks', 'snoozes'] as const;

/** Moves the local state of renamed repositories to their new names. Call it before the new snapshots are saved. */
async function moveRenamedState(
  database: Database,
  { personId, forge, connection }: ForgeKey,
  rows: readonly Pick<ForgeReadingsTable, 'full_name' | 'repository_id'>[],
): Promise<void> {
  const names = new Map(rows.map(({ repository_id, full_name }) => [repository_id, full_name]));
  const known = await database
    .selectFrom('forge_readings')
    .select(['repository_id', 'full_name'])
    .where('person_id', '=', personId)
    .where('forge', '=', connection)
    .where('repository_id', 'in', [...names.keys()])
    .execute();
  const moves = known.flatMap(({ repository_id, full_name }) => {
    const [from, to] = [full_name, names.get(repository_id)].map((name) => name?.toLowerCase());
    // No name of a repository has a space.
    return from === undefined || to === undefined || from === to
      ? []
      : [{ from, between: `moved ${repository_id}`, to }];
  });
  for (const table of TABLES) {
    const move = async (from: string, to: string): Promise<void> => {
      const own = database.updateTable(table).set({ repo: to }).where('person_id', '=', personId);
      await own.where('forge', '=', forge).where('repo', '=', from).execute();
    };
    // All leave their names first, as one may take the name that a different one has left.
    for (const { from, between } of moves) await move(from, between);
    for (const { between, to } of moves) {
      // The state under the new name belongs to the repository that had this name before.
      const others = database.deleteFrom(table).where('person_id', '=', personId).where('forge', '=', forge);
      await others.where('repo', '=', to).execute();
      await move(between, to);
    }
  }
}

/**
 * Finds the credential that reads a repository of this name: of those that read all of it the first, else the first of
 * those that read the user's pull requests only.
 *
 * @param connections The credentials in the order of the board.
 */
export async function findReadingConnection(
  database: Database,
  personId: string,
  { connections, fullName }: { readonly connections: readonly string[]; readonly fullName: string },
): Promise<string | undefined> {
  if (connections.length === 0) return undefined;
  const rows = await database
    .selectFrom('forge_readings')
    .select(['forge', 'yours_only'])
    .where('person_id', '=', personId)
    .where('forge', 'in', connections)
    .where(sql<boolean>`lower(full_name) = ${fullName.toLowerCase()}`)
    .execute();
  const readsWhole = (id: string, yoursOnly: number): boolean =>
    rows.some(({ forge, yours_only }) => forge === id && yours_only === yoursOnly);
  return connections.find((id) => readsWhole(id, 0)) ?? connections.find((id) => readsWhole(id, 1));
}

/** Lists the ids of the repositories that credentials read. @param yoursOnly Whether to list partial snapshots too. */
export async function listRepositoryIds(
  database: Database,
  personId: string,
  { connections, yoursOnly }: { readonly connections: readonly string[]; readonly yoursOnly: boolean },
): Promise<Set<string>> {
  if (connections.length === 0) return new Set();
  const rows = await database
    .selectFrom('forge_readings')
    .select(['repository_id', 'yours_only'])
    .where('person_id', '=', personId)
    .where('forge', 'in', connections)
    .execute();
  return new Set(rows.filter((row) => yoursOnly || row.yours_only === 0).map(({ repository_id }) => repository_id));
}
