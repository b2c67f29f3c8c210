/** Reproducible random choices. */
export interface Random {
  /** Returns an integer from 0 (inclusive) to the bound (exclusive). */
  below(bound: number): number;
  pick<T>(list: readonly T[]): T;
  /** Returns true with this probability. */
  chance(probability: number): boolean;
}

/** Mulberry32 by Tommy Ettinger, with 32 bits of state, which is enough for documents of some hundred choices. */
export function createRandom(seed: number): Random {
  let state = seed | 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (bound: number): number => Math.floor(next() * bound);
  return {
    below,
    pick: (list) => list[below(list.length)]!,
    chance: (probability) => next() < probability,
  };
}
