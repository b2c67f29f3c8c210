import type { DatabaseSyncInstance } from '@photostructure/sqlite';
import { LRUCache } from 'lru-cache';
import { AppError } from '../core/errors.js';
import type { SqlValue } from './sql.js';

type Statement = ReturnType<DatabaseSyncInstance['prepare']>;

/** A prepared statement takes tens of kilobytes. A typical site has far fewer distinct queries than this. */
const MAX_STATEMENTS = 300;

/** SQLite's messages for statements beyond its limits, which filters with many relations can exceed. */
const TOO_LARGE = /Expression tree is too large|parser stack overflow|too many (terms|SQL variables)|tables in a join/i;

/** Runs SQL with cached prepared statements. Rows are arrays in the order of the SELECT. */
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
    // Bypasses the cache, because a caller may stop halfway or run the same statement during the iteration.
    return this.#open(text).iterate(...values) as IterableIterator<SqlValue[]>;
  }

  run(text: string, values: readonly SqlValue[] = []): void {
    this.#prepare(text).run(...values);
  }

  /** Returns a function that runs one statement without looking it up each time. */
  runner(text: string): (values: readonly SqlValue[]) => void {
    const statement = this.#prepare(text);
    return (values) => void statement.run(...values);
  }

  #prepare(text: string): Statement {
    const known = this.#prepared.get(text);
    if (known) return known;
    const statement = this.#open(text);
    this.#prepared.set(text, statement);
    return statement;
  }

  #open(text: string): Statement {
    try {
      const statement = this.#database.prepare(text);
      statement.setReturnArrays(true);
      return statement;
    } catch (cause) {
      if (!(cause instanceof Error) || !TOO_LARGE.test(cause.message)) throw cause;
      throw new AppError('invalid_input', 'The filter has too many conditions.', {
        cause,
      });
    }
  }
}
