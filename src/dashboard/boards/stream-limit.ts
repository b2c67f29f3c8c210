import { randomInt } from 'node:crypto';
import { rateLimitError } from '@trellis/core/errors';
import { type Database, inTransaction } from '../../storage/database.js';

/** More than one user needs for their tabs and devices. Each stream occupies a connection. */
const MAX_STREAMS = 16;

/** The stream of a page that the user has closed ends before that. */
const RETRY_AFTER_SECONDS = 15;

/** How often a server extends the slots of its open streams. */
const EXTEND_MS = 15_000;

/** The slots of a server that was killed become free after this time. */
const LEASE_MS = 45_000;

/** Counts and limits the open streams of each user. */
export interface StreamLimit {
  /**
   * Counts a stream as open until the returned function is called.
   *
   * @throws AppError `rate_limited` if the user has 16 open streams.
   */
  enter(personId: string): Promise<() => void>;
}

interface StreamLimitOptions {
  /** Whether several processes share the limit; otherwise this one counts in memory. */
  readonly isShared: boolean;
  readonly now: () => number;
}

export const createStreamLimit = (database: Database, { isShared, now }: StreamLimitOptions): StreamLimit =>
  isShared ? createSharedLimit(database, now) : createLocalLimit();

function limitError(): Error {
  const message = `You have reached the limit of ${MAX_STREAMS} open streams. Close one first.`;
  const [windowSeconds, resetSeconds] = [RETRY_AFTER_SECONDS, RETRY_AFTER_SECONDS];
  return rateLimitError(message, { limit: MAX_STREAMS, windowSeconds, resetSeconds });
}

function createLocalLimit(): StreamLimit {
  const counts = new Map<string, Set<symbol>>();
  return {
    async enter(personId) {
      const own = counts.get(personId) ?? new Set();
      if (own.size >= MAX_STREAMS) throw limitError();
      const entry = Symbol(personId);
      counts.set(personId, own.add(entry));
      return () => {
        own.delete(entry);
        if (own.size === 0 && counts.get(personId) === own) counts.delete(personId);
      };
    },
  };
}

/** Each open stream holds one of the 16 slots of its user: a row with the number of its server, and an end. */
function createSharedLimit(database: Database, now: () => number): StreamLimit {
  const server = randomInt(2 ** 47);
  const held = new Set<string>();
  let timer: NodeJS.Timeout | undefined;

  const extend = async (): Promise<void> => {
    const ends_at = now() + LEASE_MS;
    await database
      .updateTable('rate_counts')
      .set({ ends_at })
      .where('key', 'in', [...held])
      .where('taken', '=', server)
      .execute();
  };
  /** A failure is made good by the next extension, or frees the slots. */
  const start = (): NodeJS.Timeout => setInterval(() => void extend().catch(() => undefined), EXTEND_MS).unref();

  const release = (key: string): void => {
    if (!held.delete(key)) return;
    if (held.size === 0) clearInterval(timer);
    const rows = database.deleteFrom('rate_counts').where('key', '=', key).where('taken', '=', server);
    // The slot becomes free later if the database is unavailable.
    void rows.execute().catch(() => undefined);
  };

  return {
    async enter(personId) {
      const key = await takeSlot(database, personId, { server, at: now() });
      if (held.size === 0) timer = start();
      held.add(key);
      return () => release(key);
    },
  };
}

async function takeSlot(
  database: Database,
  personId: string,
  { server, at }: { readonly server: number; readonly at: number },
): Promise<string> {
  const slots = Array.from({ length: MAX_STREAMS }, (_, slot) => `stream ${personId} ${slot}`);
  return inTransaction(database, async (transaction) => {
    const taken = transaction.selectFrom('rate_counts').select('key').where('key', 'in', slots);
    const open = new Set((await taken.where('ends_at', '>', at).execute()).map(({ key }) => key));
    const free = slots.filter((slot) => !open.has(slot));
    const key = free[randomInt(Math.max(free.length, 1))];
    if (key === undefined) throw limitError();
    const row = { taken: server, ends_at: at + LEASE_MS };
    await transaction
      .insertInto('rate_counts')
      .values({ key, ...row })
      .onConflict((conflict) => conflict.column('key').doUpdateSet(row))
      .execute();
    return key;
  });
}
