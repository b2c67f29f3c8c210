import { createHash } from 'node:crypto';
import { AppError } from '@trellis/core/errors';
import { type Database, findOrRunInSharedTransaction } from './database.js';
import { prepare, prepareInsert } from './prepared.js';
import { encryptAtRest, decryptAtRest } from './server-key.js';
import type { ReplaysTable } from './tables.js';

const LIFETIME_MS = 86_400_000;

/**
 * Longer than any call to another server takes. A claim that is older belongs to a process that ended without a
 * response.
 */
const CLAIM_MS = 600_000;

/** A request that may be sent repeatedly and is performed once. */
export interface RepeatableRequest {
  /** The caller and the operation. Keys of different scopes are independent. */
  readonly scope: string;
  readonly key: string;
  /** The path, query and body, which every repetition must contain unchanged. */
  readonly request: unknown;
  /**
   * Whether the operation calls or changes other servers, which no transaction can undo or should wait for. Such a
   * request is claimed before it is performed, and its response is stored afterwards.
   */
  readonly reachesOut?: boolean;
}

export interface IdempotencyStore {
  /**
   * Performs a request at most once in 24 hours, and returns the first response to repetitions. The response is stored
   * in one transaction with the changes that `answer` makes in the database, so that both are stored or neither is,
   * even if the process ends. A repetition during the first request waits for it, in this process or another. Errors
   * are not stored, so a repetition tries again.
   *
   * On PostgreSQL, `answer` may run more than once; see `inTransaction`. The response may contain a token, so it is
   * encrypted with a key that is derived from the idempotency key.
   *
   * A request that calls other servers is never performed again while its outcome is unknown: a repetition in another
   * process, or after a crash, is rejected.
   *
   * @throws AppError `invalid_input` if the key was used for a different request, `conflict` (`in_progress` or
   * `unknown`) if the first request has no response yet.
   */
  answerOnce<T>(request: RepeatableRequest, answer: () => Promise<T>): Promise<T>;
}

interface Running {
  readonly fingerprint: string;
  readonly response: Promise<unknown>;
}

export function createIdempotencyStore(database: Database, now: () => number = Date.now): IdempotencyStore {
  const running = new Map<string, Running>();
  return {
    // Stored responses are parsed JSON. The first response equals them once it has been serialized.
    async answerOnce<T>(repeatable: RepeatableRequest, answer: () => Promise<T>): Promise<T> {
      const { scope, key, request, reachesOut = false } = repeatable;
      const [id, fingerprint] = [hash([scope, key]), hash(request)];
      const current = running.get(id);
      if (current !== undefined) {
        requireSame(current.fingerprint, fingerprint);
        return current.response as Promise<T>;
      }
      const entry = { id, fingerprint, key, at: now() };
      const first = reachesOut ? claimAndPerform(database, entry, answer) : findOrPerform(database, entry, answer);
      running.set(id, { fingerprint, response: first });
      try {
        return await first;
      } finally {
        running.delete(id);
      }
    },
  };
}

/** Deletes responses after their 24 hours. They are never returned then, so deletion need not be prompt. */
export async function deleteExpiredResponses(database: Database, at: number): Promise<void> {
  await database.deleteFrom('replays').where('expires_at', '<=', at).execute();
}

const findReplay = prepare((database, { id }: { readonly id: string }) =>
  database.selectFrom('replays').selectAll().where('id', '=', id),
);

const insertReplay = prepareInsert('replays');

interface Entry {
  readonly id: string;
  readonly fingerprint: string;
  readonly key: string;
  readonly at: number;
}

async function findOrPerform<T>(database: Database, entry: Entry, answer: () => Promise<T>): Promise<T> {
  const { id, fingerprint, key, at } = entry;
  let isExpired = false;
  const find = async () => {
    const [stored] = await findReplay(database, { id });
    isExpired = stored !== undefined && stored.expires_at <= at;
    return stored === undefined || isExpired ? undefined : { found: readResponse(stored, entry) as T };
  };
  return findOrRunInSharedTransaction(database, find, async () => {
    if (isExpired) await removeReplay(database, id);
    const first = await answer();
    const row = { id, fingerprint, sealed: encryptAtRest(JSON.stringify(first), key), expires_at: at + LIFETIME_MS };
    await insertReplay(database, { ...row, claimed_at: null });
    return first;
  });
}

/**
 * Commits a claim before the request is performed. The claim remains if the process ends, because the outcome is
 * unknown.
 */
async function claimAndPerform<T>(database: Database, entry: Entry, answer: () => Promise<T>): Promise<T> {
  const { id, key } = entry;
  if (!(await claim(database, entry))) {
    const [stored] = await findReplay(database, { id });
    // The claim was released between the two statements, so the client may repeat the request.
    if (stored === undefined) throw repeatError('in_progress');
    return readResponse(stored, entry) as T;
  }
  let first: T;
  try {
    first = await answer();
  } catch (error) {
    await removeReplay(database, id).catch(() => undefined);
    throw error;
  }
  const response = { sealed: encryptAtRest(JSON.stringify(first), key), claimed_at: null };
  await database.updateTable('replays').set(response).where('id', '=', id).execute();
  return first;
}

/** Returns false if the request has been claimed or performed before. */
async function claim(database: Database, { id, fingerprint, at }: Entry): Promise<boolean> {
  await database.deleteFrom('replays').where('id', '=', id).where('expires_at', '<=', at).execute();
  const { numInsertedOrUpdatedRows } = await database
    .insertInto('replays')
    .values({ id, fingerprint, sealed: Buffer.alloc(0), expires_at: at + LIFETIME_MS, claimed_at: at })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}

function readResponse({ fingerprint, sealed, claimed_at }: ReplaysTable, entry: Entry): unknown {
  requireSame(fingerprint, entry.fingerprint);
  if (claimed_at !== null) throw repeatError(claimed_at + CLAIM_MS > entry.at ? 'in_progress' : 'unknown');
  return JSON.parse(decryptAtRest(sealed, entry.key));
}

async function removeReplay(database: Database, id: string): Promise<void> {
  await database.deleteFrom('replays').where('id', '=', id).execute();
}

function repeatError(code: 'in_progress' | 'unknown'): AppError {
  const messages = {
    in_progress: 'The same request is still in progress. Repeat it with the same Idempotency-Key to get the response.',
    unknown: 'The first request with this Idempotency-Key got no response. The next refresh shows its outcome.',
  };
  return new AppError('conflict', messages[code], { details: { message: messages[code], code } });
}

function requireSame(known: string, fingerprint: string): void {
  if (known === fingerprint) return;
  const message = 'This Idempotency-Key was used for a different request. Use a new key.';
  throw new AppError('invalid_input', message, { field: 'Idempotency-Key' });
}

function hash(value: unknown): string {
  // The list gives an absent value, for which JSON has no text, a text as well.
  return createHash('sha256')
    .update(JSON.stringify([value]))
    .digest('hex');
}
