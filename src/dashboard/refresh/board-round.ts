/** One board in one go, by whoever holds its lease. */
import { inTransaction } from '../../storage/database.js';
import type { Database } from '../../storage/database.js';
import type { Boards } from '../boards.js';
import type { ForgeSettings } from '../forge-settings.js';
import type { ForgeName, PullRequest } from '../forges/facts.js';
import type { Forge } from '../forges/forge.js';
import { composeBoard, sourceOf } from './compose-board.js';
import { runForgeRound } from './forge-round.js';
import type { ForgeResult } from './forge-round.js';
import { LeaseLost, renewLease } from './lease.js';
import type { Lease } from './lease.js';
import { removeForges } from './remove-forges.js';
import { endRound } from './round-end.js';
import { readStates } from './states.js';

/** Whoever waits for a forge that takes longer sees the others meanwhile. */
const PATIENCE_MS = 2_000;

/**
 * Every repository with pull requests is read so often, even when nothing tells
 * of a change: a part at each refresh, so that none costs much more than another.
 */
const FULL_READ_MS = 6 * 3_600_000;

export interface RoundContext {
  readonly database: Database;
  readonly boards: Pick<Boards, 'compose'>;
  readonly findSettings: (personId: string) => Promise<ForgeSettings | undefined>;
  readonly forgesOf: (personId: string) => Promise<ReadonlyMap<ForgeName, Forge>>;
  readonly intervalMs: number;
  readonly now: () => number;
  /** Nothing more is kept from then on. */
  readonly signal: AbortSignal;
}

/** What a board is made of, at one moment. */
export interface Owner {
  readonly settings: ForgeSettings | undefined;
  readonly forges: ReadonlyMap<ForgeName, Forge>;
}

export interface RoundResult {
  /** The forges that were read. */
  readonly forges: ReadonlyMap<ForgeName, Forge>;
  /** The rows of their part of the board. */
  readonly rows: readonly PullRequest[];
}

/** Reads the forges of a person, all of them or what is due, and makes the board of it. Ends the lease. */
export async function runBoardRound(context: RoundContext, lease: Lease, isWhole: boolean): Promise<RoundResult> {
  const { personId } = lease;
  const settings = await context.findSettings(personId);
  const forges = await context.forgesOf(personId);
  const results = settings === undefined ? [] : await runForges(context, lease, { settings, forges, isWhole });
  const isAsked = results.some(({ answer }) => answer !== 'none');
  // What nobody was asked for is due as marks have had their time.
  const isNew = isWhole || !isAsked || results.some(({ isChanged }) => isChanged);
  const rows = await endRound(context, lease, { settings, isWhole, isNew });
  const read = results.filter(({ answer }) => answer === 'read').map(({ forge }) => forge);
  const names = new Map(read.map((forge) => [forge.name, forge]));
  return { forges: names, rows: rows.filter(({ forge }) => names.has(forge)) };
}

interface Reading extends Owner {
  readonly settings: ForgeSettings;
  readonly isWhole: boolean;
}

type Result = ForgeResult & { readonly forge: Forge };

async function runForges(context: RoundContext, lease: Lease, reading: Reading): Promise<Result[]> {
  const { database, boards, now, intervalMs } = context;
  const { settings, forges, isWhole } = reading;
  const { personId } = lease;
  const keep = keeper(context, lease);
  await keep((transaction) => removeForges(transaction, personId, reading));
  const states = await readStates(database, personId);
  const share = Math.min(intervalMs / FULL_READ_MS, 1);
  const startedAt = now();
  let left = forges.size;
  return Promise.all(
    Array.from(forges.values(), async (forge) => {
      const place = { personId, forge: forge.name, source: sourceOf(settings, forge.name) };
      const state = states.get(forge.name);
      const result = await runForgeRound({ place, forge, state, isWhole, share, database, keep, now });
      left -= 1;
      if (left > 0 && result.isChanged && now() - startedAt > PATIENCE_MS) {
        await boards.compose(
          personId,
          async (on) => (await composeBoard(on, personId, { settings, at: now() }))?.snapshot,
        );
      }
      return { ...result, forge };
    }),
  );
}

function keeper({ database, now, signal }: RoundContext, lease: Lease) {
  return async <T>(work: (transaction: Database) => Promise<T>): Promise<T> => {
    if (signal.aborted) throw new LeaseLost('Expected to go on; the server stops.');
    return inTransaction(database, async (transaction) => {
      await renewLease(transaction, lease, now());
      return work(transaction);
    });
  };
}
