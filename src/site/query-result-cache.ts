import { LRUCache } from 'lru-cache';
import type { Sql } from './sql.js';

export interface QueryResultCacheLimits<T> {
  readonly maxEntries: number;
  /** In the unit of `sizeOf`. */
  readonly maxSize: number;
  readonly sizeOf: (result: T) => number;
}

/** Caches the results of statements until a record changes. Results are shared between callers; don't modify them. */
export class QueryResultCache<T> {
  readonly #results: LRUCache<string, { readonly result: T }>;
  #generation = -1;

  constructor({ maxEntries, maxSize, sizeOf }: QueryResultCacheLimits<T>) {
    this.#results = new LRUCache({ max: maxEntries, maxSize, sizeCalculation: ({ result }) => sizeOf(result) });
  }

  /** Returns the cached result of a statement, or computes it if this generation of records has none. */
  get<Result extends T>(generation: number, { text, values }: Sql, compute: () => Result): Result {
    if (generation !== this.#generation) {
      this.#results.clear();
      this.#generation = generation;
    }
    const key = values.length === 0 ? text : `${text} ${JSON.stringify(values)}`;
    const known = this.#results.get(key);
    // Each statement has one type of result.
    if (known) return known.result as Result;
    const result = compute();
    this.#results.set(key, { result });
    return result;
  }
}
