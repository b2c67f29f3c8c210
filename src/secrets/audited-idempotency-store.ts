import { runInSharedTransaction } from '../storage/database.js';
import type { Database } from '../storage/database.js';
import type { IdempotencyStore } from '../storage/idempotency-store.js';
import { lockAuditChain } from './audit-chain.js';

/**
 * Wraps the replays of audited writes: the chain is locked before a stored response is read, so that the transactions
 * of several servers wait for each other instead of failing to serialize.
 */
export function createAuditedIdempotencyStore(database: Database, replays: IdempotencyStore): IdempotencyStore {
  return {
    answerOnce: (request, answer) =>
      runInSharedTransaction(database, async () => {
        await lockAuditChain(database);
        return replays.answerOnce(request, answer);
      }),
  };
}
