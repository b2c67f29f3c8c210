import { LRUCache } from 'lru-cache';
import { quote } from './sql.js';
import type { Statements } from './statements.js';

/** The columns of an index that would answer one shape of question without sorting or reading other rows. */
export interface IndexShape {
  readonly kind: string;
  readonly equal: readonly string[];
  readonly sort: readonly { readonly column: string; readonly descending: boolean; readonly nullable: boolean }[];
  readonly read: readonly string[];
}

/** Each index makes every write to its table dearer, and takes room like a column. */
const MAX_INDEXES = 24;

/** A question that is asked once is not worth the time that making an index takes. */
const USES_BEFORE_INDEX = 2;

/** Wider indexes cost more to keep than the rows they save. */
const MAX_COLUMNS = 8;

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
  advise(shape: IndexShape): string | undefined {
    const columns = indexColumns(shape);
    if (columns.length === 0 || columns.length > MAX_COLUMNS) return undefined;
    const key = `${quote(shape.kind)} (${columns.join(', ')})`;
    const made = this.#made.get(key);
    if (made !== undefined) return made;
    const uses = (this.#uses.get(key) ?? 0) + 1;
    this.#uses.set(key, uses);
    return uses < USES_BEFORE_INDEX ? undefined : this.#make(key);
  }

  #make(key: string): string {
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

/** What is compared for equality narrows first, then comes the order with its ties, then copies to test without reading the row. */
function indexColumns({ equal, sort, read }: IndexShape): string[] {
  const sorted = sort.filter(({ column }) => !equal.includes(column));
  const rest = read.filter((column) => !equal.includes(column) && !sorted.some((key) => key.column === column));
  return [
    ...[...equal].sort().map(quote),
    ...sorted.flatMap(sortTerms),
    ...(rest.length > 0 ? ['position', ...[...rest].sort().map(quote)] : []),
  ];
}

/** The same terms that a question is sorted by. */
function sortTerms({ column, descending, nullable }: IndexShape['sort'][number]): string[] {
  const direction = descending ? ' DESC' : '';
  const value = `${quote(column)}${direction}`;
  return nullable ? [`${quote(column)} IS NULL${direction}`, value] : [value];
}
