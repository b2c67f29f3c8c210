import { inTurn } from '../../in-turn.js';
import type { InTurn } from '../../in-turn.js';

/**
 * Bodies of one person at the same time; with five MiB each they take 160. The
 * token of a webhook is in a path, so others may see it, and without the secret
 * they should not fill the memory either.
 */
const ROOM = 32;

interface Turns {
  readonly run: InTurn;
  users: number;
}

/** Reads bodies as long as there is room for those of their person, the others in the order they came. */
export function createReading(): (personId: string, read: () => Promise<Buffer>) => Promise<Buffer> {
  const byPerson = new Map<string, Turns>();
  return async (personId, read) => {
    const turns = byPerson.get(personId) ?? { run: inTurn(ROOM), users: 0 };
    byPerson.set(personId, turns);
    turns.users += 1;
    try {
      return await turns.run(read);
    } finally {
      turns.users -= 1;
      if (turns.users === 0) byPerson.delete(personId);
    }
  };
}
