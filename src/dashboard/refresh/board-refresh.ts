/** A refresh run of one board, in the process that holds its lease. */
import { inTransaction } from '../../storage/database.js';
import type { Database } from '../../storage/database.js';
import type { Boards } from '../boards/boards.js';
import type { ForgeSettings } from '../settings/forge-settings.js';
import type { ForgeName, PullRequest } from '../forges/forge.js';
import type { Forge } from '../forges/forge.js';
import { composeBoard, getForgeUrl } from './compose-board.js';
import { runForgeRefresh } from './forge-refresh.js';
import type { ForgeRefreshResult } from './forge-refresh.js';
import { LeaseLostError, renewLease } from './lease.js';
import type { Lease } from './lease.js';
import { deleteRemovedForges } from './delete-removed-forges.js';
import { finishRefresh } from './finish-refresh.js';
import { readForgeStatus } from './forge-status.js';

/** If a forge takes longer than this, the board is updated with the others first. */
const PATIENCE_MS = 2_000;

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
  readonly intervalMs: number;
  readonly now: () => number;
  /** Once aborted, nothing more is saved. */
  readonly signal: AbortSignal;
}

/** The settings and forges of a user at one moment. */
export interface OwnerForges {
  readonly settings: ForgeSettings | undefined;
  readonly forges: ReadonlyMap<ForgeName, Forge>;
}

export interface BoardRefreshResult {
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
  const forges = await context.getForges(personId);
  const results = settings === undefined ? [] : await runForges(context, lease, { settings, forges, isWhole });
  const isRead = results.some(({ outcome }) => outcome !== 'none');
  // If no forge was due, the run is due because local state has expired, so the board has to be rebuilt.
  const isNew = isWhole || !isRead || results.some(({ isChanged }) => isChanged);
  const rows = await finishRefresh(context, lease, { settings, isWhole, isNew });
  const read = results.filter(({ outcome }) => outcome === 'read').map(({ forge }) => forge);
  const names = new Map(read.map((forge) => [forge.name, forge]));
  return { forges: names, rows: rows.filter(({ forge }) => names.has(forge)) };
}

interface Reading extends OwnerForges {
  readonly settings: ForgeSettings;
  readonly isWhole: boolean;
}

type Result = ForgeRefreshResult & { readonly forge: Forge };

async function runForges(context: RefreshContext, lease: Lease, reading: Reading): Promise<Result[]> {
  const { database, boards, now, intervalMs } = context;
  const { settings, forges, isWhole } = reading;
  const { personId } = lease;
  const keep = createKeep(context, lease);
  await keep((transaction) => deleteRemovedForges(transaction, personId, reading));
  const states = await readForgeStatus(database, personId);
  const share = Math.min(intervalMs / FULL_READ_MS, 1);
  const startedAt = now();
  let remaining = forges.size;
  return Promise.all(
    Array.from(forges.values(), async (forge) => {
      const place = { personId, forge: forge.name, source: getForgeUrl(settings, forge.name) };
      const state = states.get(forge.name);
      const result = await runForgeRefresh({ place, forge, state, isWhole, share, database, keep, now });
      remaining -= 1;
      if (remaining > 0 && result.isChanged && now() - startedAt > PATIENCE_MS) {
        await boards.compose(
          personId,
          async (on) => (await composeBoard(on, personId, { settings, at: now() }))?.snapshot,
        );
      }
      return { ...result, forge };
    }),
  );
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
