import { shareTransaction } from '../storage/database.js';
import type { Database } from '../storage/database.js';
import type { Replays } from '../storage/replays.js';
import { takeChain } from './audit-chain.js';

/**
 * Replays of writes that are audited: the end of the chain is taken before a kept
 * answer is looked for, so that several servers wait for each other instead of
 * being in each other's way.
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
