/** A refresh run of one board, in the process that holds its lease. */
import { type Database, inTransaction } from '../../storage/database.js';
import { EMPTY_BOARD_SNAPSHOT } from '../boards/board.js';
import type { Boards } from '../boards/boards.js';
import { type ForgeConnection, isSameServer, type OpenConnection } from '../forges/forge-clients.js';
import type { Forge, ForgeName, PullRequest } from '../forges/forge.js';
import { readLocalState } from '../pull-requests/local-state.js';
import type { ForgeSettings } from '../settings/settings-rows.js';
import { composeBoard, type ComposedBoard, findStateExpiry } from './compose-board.js';
import { type ForgeRefreshResult, nextReadAt, runForgeRefresh } from './forge-refresh.js';
import { quotaPauseUntil, readForgeStatus } from './forge-status.js';
import { endLease, type Lease, LeaseLostError, renewLease } from './lease.js';
import type { ShowPart } from './read-forge.js';
import { listRepositoryIds, listSnapshots } from './repository-snapshots.js';

/** If a forge takes longer than this, the board is updated with the others first. */
const PATIENCE_MS = 2_000;

/** The shortest time between two parts of a board that is still being read. */
const PART_MS = 2_000;

/** Parts take at most this share of the time of a reading. */
const PART_SHARE = 0.1;

/**
 * Every repository with pull requests is read at least this often, even without a sign of a change. Each refresh reads
 * a share of them, so that all refreshes cost about the same.
 */
const FULL_READ_MS = 6 * 3_600_000;

export interface RefreshContext {
  readonly database: Database;
  readonly boards: Pick<Boards, 'compose'>;
  readonly findSettings: (personId: string) => Promise<ForgeSettings | undefined>;
  readonly getForges: (personId: string) => Promise<ReadonlyMap<ForgeName, Forge>>;
  /** Returns the user's credentials with their clients, in the order of the board. */
  readonly getConnections: (personId: string) => Promise<readonly OpenConnection[]>;
  readonly intervalMs: number;
  readonly now: () => number;
  /** Once aborted, nothing more is saved. */
  readonly signal: AbortSignal;
}

/** The settings and credentials of a user at one moment. */
interface OwnerForges {
  readonly settings: ForgeSettings | undefined;
  readonly connections: readonly OpenConnection[];
}

interface BoardRefreshResult {
  /** The forges that were read. */
  readonly forges: ReadonlyMap<ForgeName, Forge>;
  /** The pull requests of these forges on the rebuilt board. */
  readonly rows: readonly PullRequest[];
}

/** Reads a user's forges, wholly or only their due parts, and rebuilds the board. Ends the lease. */
export async function runBoardRefresh(
  context: RefreshContext,
  lease: Lease,
  isWhole: boolean,
): Promise<BoardRefreshResult> {
  const { personId } = lease;
  const settings = await context.findSettings(personId);
  const connections = await context.getConnections(personId);
  const results = settings === undefined ? [] : await runForges(context, lease, { settings, connections, isWhole });
  const isRead = results.some(({ outcome }) => outcome !== 'none');
  // If no forge was due, the run is due because local state has expired, so the board has to be rebuilt.
  const isNew = isWhole || !isRead || results.some(({ isChanged }) => isChanged);
  const rows = await finishRefresh(context, lease, { settings, isWhole, isNew });
  const read = new Set(results.filter(({ outcome }) => outcome === 'read').map(({ forge }) => forge));
  const forges = [...(await context.getForges(personId))].filter(([name]) => read.has(name));
  return { forges: new Map(forges), rows: rows.filter(({ forge }) => read.has(forge)) };
}

interface Reading extends OwnerForges {
  readonly settings: ForgeSettings;
  readonly isWhole: boolean;
}

type Result = ForgeRefreshResult & { readonly forge: ForgeName };

/** Reads all kinds of forges at once, and the credentials of one kind in turn, as the first that reads a repository counts. */
async function runForges(context: RefreshContext, lease: Lease, reading: Reading): Promise<Result[]> {
  const { database, now, intervalMs } = context;
  const { connections, isWhole } = reading;
  const { personId } = lease;
  const keep = createKeep(context, lease);
  await keep((transaction) => deleteRemovedForges(transaction, personId, reading));
  const states = await readForgeStatus(database, personId);
  const share = Math.min(intervalMs / FULL_READ_MS, 1);
  const startedAt = now();
  const showPart = createPartialBoards(context, personId, reading);
  let remaining = connections.length;

  async function run(connection: OpenConnection): Promise<Result> {
    const { id, forge, url, client } = connection;
    const place = { personId, forge, connection: id, source: url };
    const listOthers = listOtherRepositories(database, personId, { connections, connection });
    const state = states.get(id);
    const result = await runForgeRefresh({
      ...{ place, forge: client, listOthers, state, isWhole, share, database, keep, now, showPart },
    });
    remaining -= 1;
    if (remaining > 0 && result.isChanged && now() - startedAt > PATIENCE_MS) await showPart({ isFirst: false });
    return { ...result, forge };
  }

  const names = [...new Set(connections.map(({ forge }) => forge))];
  const results = await Promise.all(
    names.map(async (name) => {
      const own: Result[] = [];
      for (const one of connections.filter(({ forge }) => forge === name)) own.push(await run(one));
      return own;
    }),
  );
  return results.flat();
}

/**
 * Creates a function that saves the board from all snapshots that are stored so far. It does nothing soon after the
 * last part, as larger boards take longer, unless the part is the first of its forge.
 */
function createPartialBoards({ boards, now }: RefreshContext, personId: string, { settings }: Reading): ShowPart {
  let nextAt = 0;
  let last = Promise.resolve();
  async function save(): Promise<void> {
    const startedAt = performance.now();
    await boards.compose(personId, async (on) => (await composeBoard(on, personId, { settings, at: now() }))?.snapshot);
    const endedAt = performance.now();
    nextAt = endedAt + Math.max(PART_MS, (endedAt - startedAt) / PART_SHARE);
  }
  return async ({ isFirst }) => {
    if (!isFirst && performance.now() < nextAt) return;
    nextAt = Infinity;
    // One at a time, so that no board replaces one with more parts.
    last = last.then(save);
    await last;
  };
}

/** Creates a function that lists the repositories that earlier, working credentials for the same server read. */
export function listOtherRepositories(
  database: Database,
  personId: string,
  {
    connections,
    connection,
  }: { readonly connections: readonly ForgeConnection[]; readonly connection: ForgeConnection },
) {
  const index = connections.findIndex(({ id }) => id === connection.id);
  const earlier = connections.slice(0, index).filter((one) => isSameServer(one, connection));
  return async ({ yoursOnly }: { readonly yoursOnly: boolean }): Promise<ReadonlySet<string>> => {
    if (earlier.length === 0) return new Set();
    const states = await readForgeStatus(database, personId);
    const working = earlier.filter(({ id }) => states.get(id)?.errorKind === undefined).map(({ id }) => id);
    return listRepositoryIds(database, personId, { connections: working, yoursOnly });
  };
}

/** Creates a function that runs work in a transaction, which fails if the lease is lost. */
function createKeep({ database, now, signal }: RefreshContext, lease: Lease) {
  return async <T>(work: (transaction: Database) => Promise<T>): Promise<T> => {
    if (signal.aborted) throw new LeaseLostError('The server is shutting down.');
    return inTransaction(database, async (transaction) => {
      await renewLease(transaction, lease, now());
      return work(transaction);
    });
  };
}

/** Deletes the snapshots and status of credentials that the user has removed, or whose URL has changed. */
async function deleteRemovedForges(
  transaction: Database,
  personId: string,
  { connections }: Pick<OwnerForges, 'connections'>,
): Promise<void> {
  const states = await readForgeStatus(transaction, personId);
  const read = await transaction
    .selectFrom('forge_readings')
    .select('forge')
    .distinct()
    .where('person_id', '=', personId)
    .execute();
  const known = new Set([...states.keys(), ...read.map(({ forge }) => forge)]);
  const obsolete = [...known].filter((id) => {
    const connection = connections.find((one) => one.id === id);
    const state = states.get(id);
    return connection === undefined || (state !== undefined && state.source !== connection.url);
  });
  if (obsolete.length === 0) return;
  for (const table of ['forge_readings', 'forge_states', 'pull_request_histories', 'history_readings'] as const) {
    await transaction.deleteFrom(table).where('person_id', '=', personId).where('forge', 'in', obsolete).execute();
  }
}

/** Limits the load of a single board, however much of it is due. */
const MIN_PAUSE_MS = 5_000;

interface RefreshResult {
  readonly settings: ForgeSettings | undefined;
  readonly isWhole: boolean;
  /** Whether the board has to be rebuilt. */
  readonly isNew: boolean;
}

/**
 * Saves the rebuilt board and ends the lease with the next due times, in one transaction, so that callers who wait for
 * the run find its board.
 *
 * @returns the pull requests of the board, if it was rebuilt.
 */
async function finishRefresh(
  context: RefreshContext,
  lease: Lease,
  round: RefreshResult,
): Promise<readonly PullRequest[]> {
  const { boards, now } = context;
  const { personId } = lease;
  const { settings, isWhole, isNew } = round;
  let rows: readonly PullRequest[] = [];
  await boards.compose(personId, async (transaction) => {
    const at = now();
    await renewLease(transaction, lease, at);
    const composed = isNew && settings ? await composeBoard(transaction, personId, { settings, at }) : undefined;
    await endLease(transaction, lease, {
      ...(await findNextTimes(transaction, context, { lease, isWhole, composed })),
      isDone: isWhole,
    });
    const snapshot = composed?.snapshot ?? (isWhole ? EMPTY_BOARD_SNAPSHOT : undefined);
    rows = snapshot?.pullRequests ?? [];
    return snapshot;
  });
  return rows;
}

interface Round {
  readonly lease: Lease;
  readonly isWhole: boolean;
  readonly composed: ComposedBoard | undefined;
}

async function findNextTimes(transaction: Database, { intervalMs, now }: RefreshContext, round: Round) {
  const { lease, isWhole, composed } = round;
  const { personId } = lease;
  const at = now();
  const states = await readForgeStatus(transaction, personId);
  const dues: number[] = [];
  for (const [connection, state] of states) {
    const due = nextReadAt(state, await listSnapshots(transaction, { personId, connection }), at);
    if (due !== undefined) dues.push(due);
  }
  const pauses = Array.from(states.values(), ({ budgets }) => quotaPauseUntil(budgets, at));
  const dueAt = isWhole ? Math.max(at + intervalMs, ...pauses) : lease.dueAt;
  const marksEnd = findStateExpiry(composed?.marks ?? (await readLocalState(transaction, personId, at)), at);
  return { dueAt, lookAt: Math.max(Math.min(dueAt, ...dues, marksEnd ?? dueAt), at + MIN_PAUSE_MS) };
}
