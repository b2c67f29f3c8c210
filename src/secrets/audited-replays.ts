import { shareTransaction } from '../storage/database.js';
import type { Database } from '../storage/database.js';
import type { Replays } from '../storage/replays.js';
import { takeChain } from './audit-chain.js';

/**
 * Wraps the replays of audited writes: the chain is locked before a stored response is read, so that the transactions
 * of several servers wait for each other instead of failing to serialize.
 */
export function auditedReplays(database: Database, replays: Replays): Replays {
  return {
    answerOnce: (request, answer) =>
      shareTransaction(database, async () => {
        await takeChain(database);
        return replays.answerOnce(request, answer);
      }),
  };
}
