import { createHash } from 'node:crypto';
import { AppError } from '../errors.js';
import type { Database } from './database.js';
import { seal, unseal } from './seal.js';

const LIFETIME_MS = 86_400_000;

/** A request that its sender may repeat without meaning it twice. */
export interface RepeatableRequest {
  /** Who asks, and for what: keys of different callers or operations have nothing to do with each other. */
  readonly scope: string;
  readonly key: string;
  /** What the sender must repeat: path, query and body. */
  readonly request: unknown;
}

export interface Replays {
  /**
   * Gives the first answer to a request within 24 hours, and makes it only then.
   * A repeat that comes while the first is under way waits for it. What throws
   * is not kept, so a repeat tries again.
   *
   * The answer is kept encrypted with a key that only the idempotency key gives,
   * for it may hold a token. It is written after the change that it tells of: a
   * crash in between, and a repeat makes the change twice.
   *
   * @throws AppError `invalid_input` when the key came with another request before.
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
    async answerOnce<T>({ scope, key, request }: RepeatableRequest, answer: () => Promise<T>): Promise<T> {
      const [id, fingerprint] = [hash([scope, key]), hash(request)];
      const current = running.get(id);
      if (current !== undefined) {
        requireSame(current.fingerprint, fingerprint);
        return current.answer as Promise<T>;
      }
      const first = findOrAnswer(database, { id, fingerprint, key, at: now() }, answer);
      running.set(id, { fingerprint, answer: first });
      try {
        return await first;
      } finally {
        running.delete(id);
      }
    },
  };
}

interface Place {
  readonly id: string;
  readonly fingerprint: string;
  readonly key: string;
  readonly at: number;
}

async function findOrAnswer<T>(database: Database, place: Place, answer: () => Promise<T>): Promise<T> {
  const { id, fingerprint, key, at } = place;
  await database.deleteFrom('replays').where('expires_at', '<=', at).execute();
  const kept = await database.selectFrom('replays').selectAll().where('id', '=', id).executeTakeFirst();
  if (kept !== undefined) {
    requireSame(kept.fingerprint, fingerprint);
    return JSON.parse(unseal(kept.sealed, key)) as T;
  }
  const first = await answer();
  const row = { id, fingerprint, sealed: seal(JSON.stringify(first), key), expires_at: at + LIFETIME_MS };
  await database.insertInto('replays').values(row).execute();
  return first;
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
