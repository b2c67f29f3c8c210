import { LRUCache } from 'lru-cache';
import type { Sql } from './sql.js';

/** Counts are small; a distinct over every path of a large site is some megabytes, hence the bound on size too. */
const MAX_ENTRIES = 500;
const MAX_VALUES = 500_000;

/** Answers that concern whole tables, kept until a record changes. */
export class AggregateCache {
  readonly #answers = new LRUCache<string, { readonly value: unknown }>({
    max: MAX_ENTRIES,
    maxSize: MAX_VALUES,
    sizeCalculation: ({ value }) => (Array.isArray(value) ? value.length + 1 : 1),
  });
  #generation = -1;

  /** The answer to a statement, computed when it is not known for this generation. */
  get<T>(generation: number, { text, values }: Sql, compute: () => T): T {
    if (generation !== this.#generation) {
      this.#answers.clear();
      this.#generation = generation;
    }
    const key = values.length === 0 ? text : `${text} ${JSON.stringify(values)}`;
    const known = this.#answers.get(key);
    if (known) return known.value as T;
    const value = compute();
    this.#answers.set(key, { value });
    return value;
  }
}
