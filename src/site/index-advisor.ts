import { LRUCache } from 'lru-cache';
import type { IndexKey } from './index-shape.js';
import { quote } from './sql.js';
import type { Statements } from './statements.js';

/** Each index makes every write to its table dearer, and takes room like a column. */
const MAX_INDEXES = 24;

/** A question that is asked once is not worth the time that making an index takes. */
const USES_BEFORE_INDEX = 2;

const PREFIX = 'shape:';

/** Makes indexes for the shapes of questions that are really asked, and drops those that no longer are. */
export class IndexAdvisor {
  readonly #statements: Statements;
  readonly #uses = new LRUCache<string, number>({ max: 1000 });
  readonly #made: LRUCache<string, string>;

  constructor(statements: Statements) {
    this.#statements = statements;
    this.#made = new LRUCache({
      max: MAX_INDEXES,
      dispose: (name) => statements.run(`DROP INDEX IF EXISTS ${quote(name)}`),
    });
    this.#dropOld();
  }

  /** The name of the index to use for a shape, once it has been asked for often enough. */
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
    this.#statements.run(`CREATE INDEX IF NOT EXISTS ${quote(name)} ON ${key}`);
    this.#made.set(key, name);
    return name;
  }

  /** Indexes of an earlier run say nothing about what this one will be asked. */
  #dropOld(): void {
    const old = this.#statements.all(`SELECT name FROM sqlite_schema WHERE type = 'index' AND name LIKE '${PREFIX}%'`);
    for (const [name] of old) this.#statements.run(`DROP INDEX ${quote(String(name))}`);
  }
}
