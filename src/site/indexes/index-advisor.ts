import { LRUCache } from 'lru-cache';
import type { IndexKey } from './index-definition.js';
import { quoteIdentifier } from '../sql.js';
import type { Statements } from '../statements.js';

/** Each index slows down writes to its table and takes as much space as its columns. */
const MAX_INDEXES = 24;

/** Creating an index for a query that runs once costs more than it saves. */
const USES_BEFORE_INDEX = 2;

const PREFIX = 'shape:';

/** Creates indexes for the query shapes that are in use, and drops the least recently used ones. */
export class IndexAdvisor {
  readonly #statements: Statements;
  readonly #uses = new LRUCache<string, number>({ max: 1000 });
  readonly #made: LRUCache<string, string>;

  constructor(statements: Statements) {
    this.#statements = statements;
    this.#made = new LRUCache({
      max: MAX_INDEXES,
      dispose: (name) => statements.run(`DROP INDEX IF EXISTS ${quoteIdentifier(name)}`),
    });
    this.#dropOld();
  }

  /** Returns the name of the index for a shape, which is created at the second request for it. */
  advise(key: IndexKey | undefined): string | undefined {
    if (key === undefined) return undefined;
    const made = this.#made.get(key);
    if (made !== undefined) return made;
    const uses = (this.#uses.get(key) ?? 0) + 1;
    this.#uses.set(key, uses);
    return uses < USES_BEFORE_INDEX ? undefined : this.#make(key);
  }

  #make(key: IndexKey): string {
    const name = PREFIX + key;
    this.#statements.run(`CREATE INDEX IF NOT EXISTS ${quoteIdentifier(name)} ON ${key}`);
    this.#made.set(key, name);
    return name;
  }

  /** Drops the indexes of previous runs, as this run may serve other queries. */
  #dropOld(): void {
    const old = this.#statements.all(`SELECT name FROM sqlite_schema WHERE type = 'index' AND name LIKE '${PREFIX}%'`);
    for (const [name] of old) this.#statements.run(`DROP INDEX ${quoteIdentifier(String(name))}`);
  }
}
