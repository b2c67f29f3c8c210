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
