import type { DatabaseSyncInstance } from '@photostructure/sqlite';
import { LRUCache } from 'lru-cache';
import type { SqlValue } from './sql.js';

type Statement = ReturnType<DatabaseSyncInstance['prepare']>;

/** Prepared statements cost tens of kilobytes each; a site asks far fewer different questions than this. */
const MAX_STATEMENTS = 300;

/** Prepares each SQL text once and answers rows as arrays, in the order of the SELECT. */
export class Statements {
  readonly #database: DatabaseSyncInstance;
  readonly #prepared = new LRUCache<string, Statement>({ max: MAX_STATEMENTS });

  constructor(database: DatabaseSyncInstance) {
    this.#database = database;
  }

  all(text: string, values: readonly SqlValue[] = []): SqlValue[][] {
    return this.#prepare(text).all(...values) as SqlValue[][];
  }

  get(text: string, values: readonly SqlValue[] = []): SqlValue[] | undefined {
    return this.#prepare(text).get(...values) as SqlValue[] | undefined;
  }

  iterate(text: string, values: readonly SqlValue[] = []): IterableIterator<SqlValue[]> {
    // Not from the cache: a caller may stop halfway, or run the same statement inside.
    return this.#open(text).iterate(...values) as IterableIterator<SqlValue[]>;
  }

  run(text: string, values: readonly SqlValue[] = []): void {
    this.#prepare(text).run(...values);
  }

  #prepare(text: string): Statement {
    const known = this.#prepared.get(text);
    if (known) return known;
    const statement = this.#open(text);
    this.#prepared.set(text, statement);
    return statement;
  }

  #open(text: string): Statement {
    const statement = this.#database.prepare(text);
    statement.setReturnArrays(true);
    return statement;
  }
}
