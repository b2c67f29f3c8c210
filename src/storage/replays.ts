import { createHash } from 'node:crypto';
import { AppError } from '../errors.js';
import { shareTransaction } from './database.js';
import type { Database } from './database.js';
import { prepare, prepareInsert } from './prepared.js';
import { seal, unseal } from './seal.js';
import type { ReplaysTable } from './tables.js';

const LIFETIME_MS = 86_400_000;

/** Longer than anybody waits for other machines: whoever claimed a request before that has gone without an answer. */
const CLAIM_MS = 600_000;

/** A request that its sender may repeat without meaning it twice. */
export interface RepeatableRequest {
  /** Who asks, and for what: keys of different callers or operations have nothing to do with each other. */
  readonly scope: string;
  readonly key: string;
  /** What the sender must repeat: path, query and body. */
  readonly request: unknown;
  /**
   * Whether the answer waits for other machines, or changes what is there: no
   * transaction can take that back, nor should one wait for it. The request is
   * then claimed before, and its answer kept after the change.
   */
  readonly reachesOut?: boolean | undefined;
}

export interface Replays {
  /**
   * Gives the first answer to a request within 24 hours, and makes it only then.
   * The answer is kept in one transaction with the changes that `answer` makes in
   * the database: both are there or neither is, however the process ends. A
   * repeat that comes while the first is under way waits for it, in this process
   * or another. What throws is not kept, so a repeat tries again.
   *
   * On PostgreSQL `answer` may run more than once, see `inTransaction`. The
   * answer is kept encrypted with a key that only the idempotency key gives, for
   * it may hold a token.
   *
   * What reaches out is never made again while it may have been: a repeat in
   * another process, or after a crash, is refused.
   *
   * @throws AppError `invalid_input` when the key came with another request
   * before, `conflict` (`in_progress` or `unknown`) when the first has no answer yet.
   */
  answerOnce<T>(request: RepeatableRequest, answer: () => Promise<T>): Promise<T>;
}

interface Running {
  readonly fingerprint: string;
  readonly answer: Promise<unknown>;
}

export function createReplays(database: Database, now: () => number = Date.now): Replays {
  const running = new Map<string, Running>();
  return {
    // Kept answers are JSON, which the first answer becomes too on its way out.
    async answerOnce<T>(repeatable: RepeatableRequest, answer: () => Promise<T>): Promise<T> {
      const { scope, key, request, reachesOut = false } = repeatable;
      const [id, fingerprint] = [hash([scope, key]), hash(request)];
      const current = running.get(id);
      if (current !== undefined) {
        requireSame(current.fingerprint, fingerprint);
        return current.answer as Promise<T>;
      }
      const place = { id, fingerprint, key, at: now() };
      const first = reachesOut
        ? claimAndAnswer(database, place, answer)
        : shareTransaction(database, () => findOrAnswer(database, place, answer));
      running.set(id, { fingerprint, answer: first });
      try {
        return await first;
      } finally {
        running.delete(id);
      }
    },
  };
}

/** Deletes answers that have had their 24 hours: nobody is given them any more, so it does not matter when this runs. */
export async function sweepReplays(database: Database, at: number): Promise<void> {
  await database.deleteFrom('replays').where('expires_at', '<=', at).execute();
}

const findReplay = prepare((database, { id }: { readonly id: string }) =>
  database.selectFrom('replays').selectAll().where('id', '=', id),
);

const insertReplay = prepareInsert('replays');

interface Place {
  readonly id: string;
  readonly fingerprint: string;
  readonly key: string;
  readonly at: number;
}

async function findOrAnswer<T>(database: Database, place: Place, answer: () => Promise<T>): Promise<T> {
  const { id, fingerprint, key, at } = place;
  const [kept] = await findReplay(database, { id });
  if (kept !== undefined && kept.expires_at > at) return readAnswer(kept, place) as T;
  if (kept !== undefined) await removeReplay(database, id);
  const first = await answer();
  const row = { id, fingerprint, sealed: seal(JSON.stringify(first), key), expires_at: at + LIFETIME_MS };
  await insertReplay(database, { ...row, claimed_at: null });
  return first;
}

/** The claim is there for all to see before the answer is begun; it stays when nobody could say what became of it. */
async function claimAndAnswer<T>(database: Database, place: Place, answer: () => Promise<T>): Promise<T> {
  const { id, key } = place;
  if (!(await claim(database, place))) {
    const [kept] = await findReplay(database, { id });
    // What was given up in this very moment may be asked for again.
    if (kept === undefined) throw refuseRepeat('in_progress');
    return readAnswer(kept, place) as T;
  }
  let first: T;
  try {
    first = await answer();
  } catch (error) {
    await removeReplay(database, id).catch(() => undefined);
    throw error;
  }
  const answered = { sealed: seal(JSON.stringify(first), key), claimed_at: null };
  await database.updateTable('replays').set(answered).where('id', '=', id).execute();
  return first;
}

/** @returns false when somebody else has it, or had it. */
async function claim(database: Database, { id, fingerprint, at }: Place): Promise<boolean> {
  await database.deleteFrom('replays').where('id', '=', id).where('expires_at', '<=', at).execute();
  const { numInsertedOrUpdatedRows } = await database
    .insertInto('replays')
    .values({ id, fingerprint, sealed: Buffer.alloc(0), expires_at: at + LIFETIME_MS, claimed_at: at })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}

function readAnswer({ fingerprint, sealed, claimed_at }: ReplaysTable, place: Place): unknown {
  requireSame(fingerprint, place.fingerprint);
  if (claimed_at !== null) throw refuseRepeat(claimed_at + CLAIM_MS > place.at ? 'in_progress' : 'unknown');
  return JSON.parse(unseal(sealed, place.key));
}

async function removeReplay(database: Database, id: string): Promise<void> {
  await database.deleteFrom('replays').where('id', '=', id).execute();
}

function refuseRepeat(code: 'in_progress' | 'unknown'): AppError {
  const messages = {
    in_progress: 'The same request is under way; its answer comes under the same key.',
    unknown: 'The first request under this key ended without an answer; what became of it shows at the next refresh.',
  };
  return new AppError('conflict', messages[code], { action: { code } });
}

function requireSame(known: string, fingerprint: string): void {
  if (known === fingerprint) return;
  const message = 'Expected a new Idempotency-Key for another request; this one was used before.';
  throw new AppError('invalid_input', message, { field: 'Idempotency-Key' });
}

function hash(value: unknown): string {
  // A body that is absent has no JSON of its own.
  return createHash('sha256')
    .update(JSON.stringify([value]))
    .digest('hex');
}
