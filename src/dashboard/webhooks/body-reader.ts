import { limitConcurrency } from '../../core/concurrency.js';
import type { ConcurrencyLimit } from '../../core/concurrency.js';

/**
 * The number of bodies that are read concurrently per user. With 5 MiB each, they take at most 160 MiB. The limit also
 * protects against senders who know the token, which is in the URL, but not the secret.
 */
const MAX_BODIES = 32;

interface UserLimit {
  readonly run: ConcurrencyLimit;
  pending: number;
}

/** Creates a function that reads bodies with a limit per user. Further bodies wait in the order of their arrival. */
export function createBodyReader(): (personId: string, read: () => Promise<Buffer>) => Promise<Buffer> {
  const limits = new Map<string, UserLimit>();
  return async (personId, read) => {
    const limit = limits.get(personId) ?? { run: limitConcurrency(MAX_BODIES), pending: 0 };
    limits.set(personId, limit);
    limit.pending += 1;
    try {
      return await limit.run(read);
    } finally {
      limit.pending -= 1;
      if (limit.pending === 0) limits.delete(personId);
    }
  };
}
