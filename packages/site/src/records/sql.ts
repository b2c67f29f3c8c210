import type { DatabaseSyncInstance } from '@photostructure/sqlite';
import { AppError } from '@trellis/core/errors';
import { isDamage } from '@trellis/core/storage';
import { LRUCache } from 'lru-cache';

/** A value in SQLite. Booleans are 0 and 1; lists are JSON text. */
export type SqlValue = string | number | null;

/** A fragment of SQL with the values of its `?` in order. Values never become part of the text. */
export interface Sql {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

const NO_VALUES: readonly SqlValue[] = [];

export const sql = (text: string, ...values: SqlValue[]): Sql => ({ text, values });

/** The conditions whose result is known at compile time. */
export const ALWAYS: Sql = { text: '1', values: NO_VALUES };
export const NEVER: Sql = { text: '0', values: NO_VALUES };

/** Replaces each `%` of a template with the next fragment. */
export function sqlTemplate(text: string, ...pieces: readonly Sql[]): Sql {
  const [start = '', ...rest] = text.split('%');
  return {
    text: rest.reduce((filled, part, place) => filled + (pieces[place]?.text ?? '') + part, start),
    values: pieces.length === 1 ? (pieces[0]?.values ?? NO_VALUES) : pieces.flatMap(({ values }) => values),
  };
}

export function and(conditions: readonly Sql[]): Sql {
  const parts = conditions.filter((condition) => condition !== ALWAYS);
  if (parts.includes(NEVER)) return NEVER;
  return join(parts, ' AND ') ?? ALWAYS;
}

export function or(conditions: readonly Sql[]): Sql {
  const parts = conditions.filter((condition) => condition !== NEVER);
  if (parts.includes(ALWAYS)) return ALWAYS;
  return join(parts, ' OR ') ?? NEVER;
}

/** Negates a condition; the negation of NULL is true. */
export function not(condition: Sql): Sql {
  if (condition === ALWAYS) return NEVER;
  if (condition === NEVER) return ALWAYS;
  return { text: `(${condition.text}) IS NOT TRUE`, values: condition.values };
}

function join(parts: readonly Sql[], separator: string): Sql | undefined {
  if (parts.length < 2) return parts[0];
  return {
    text: `(${parts.map(({ text }) => text).join(separator)})`,
    values: parts.flatMap(({ values }) => values),
  };
}

/**
 * Returns the condition that a query has a row. SQLite may run a bare EXISTS as a join, in which OFFSET would count a
 * row once for each of its matches.
 */
export const exists = (query: Sql): Sql => sqlTemplate('(EXISTS (%) IS TRUE)', query);

/**
 * Quotes a table or column name. Names come from the generated tables, never from callers; quoting is a second defence.
 */
export const quoteIdentifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

type Statement = ReturnType<DatabaseSyncInstance['prepare']>;

/** A prepared statement takes tens of kilobytes. A typical site has far fewer distinct queries than this. */
const MAX_STATEMENTS = 300;

/** SQLite's messages for statements beyond its limits, which filters with many relations can exceed. */
const TOO_LARGE = /Expression tree is too large|parser stack overflow|too many (terms|SQL variables)|tables in a join/i;

/** Runs SQL with cached prepared statements. Rows are arrays in the order of the SELECT. */
export class Statements {
  readonly #database: DatabaseSyncInstance;
  readonly #onDamage: ((error: unknown) => void) | undefined;
  readonly #prepared = new LRUCache<string, Statement>({ max: MAX_STATEMENTS });

  /** @param onDamage Called with the error of a statement that finds the database damaged. */
  constructor(database: DatabaseSyncInstance, onDamage?: (error: unknown) => void) {
    this.#database = database;
    this.#onDamage = onDamage;
  }

  all(text: string, values: readonly SqlValue[] = []): SqlValue[][] {
    try {
      return this.#prepare(text).all(...values) as SqlValue[][];
    } catch (error) {
      return this.#fail(error);
    }
  }

  get(text: string, values: readonly SqlValue[] = []): SqlValue[] | undefined {
    try {
      return this.#prepare(text).get(...values) as SqlValue[] | undefined;
    } catch (error) {
      return this.#fail(error);
    }
  }

  iterate(text: string, values: readonly SqlValue[] = []): IterableIterator<SqlValue[]> {
    // Bypasses the cache, because a caller may stop halfway or run the same statement during the iteration.
    const statement = this.#open(text);
    // The iterator itself does not keep the statement from garbage collection, after which its next step would crash.
    return Object.assign(statement.iterate(...values) as IterableIterator<SqlValue[]>, { statement });
  }

  run(text: string, values: readonly SqlValue[] = []): void {
    this.#prepare(text).run(...values);
  }

  /** Returns a function that runs one statement without looking it up each time. */
  runner(text: string): (values: readonly SqlValue[]) => void {
    const statement = this.#prepare(text);
    return (values) => void statement.run(...values);
  }

  #fail(error: unknown): never {
    if (isDamage(error)) this.#onDamage?.(error);
    throw error;
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

/**
 * SQLite compares text by code point, but the documented order is by UTF-16 code unit. The two differ only between a
 * character beyond U+FFFF (two surrogates, from U+D800) and one from U+E000 to U+FFFF, so the exact but slower
 * comparison is needed only for text with surrogates.
 */
const SURROGATE = /[\uD800-\uDFFF]/;

export const hasNonBmp = (text: string): boolean => SURROGATE.test(text);

/**
 * Returns bytes that sort like the text's UTF-16 code units. The leading unit avoids an empty blob, which would be
 * NULL.
 */
export const toCodeUnits = (text: string): Uint8Array => Buffer.from(`\0${text}`, 'utf16le').swap16();
