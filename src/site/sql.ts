/** What SQLite keeps: booleans are 0 and 1, lists are JSON text. */
export type SqlValue = string | number | null;

/** A piece of SQL with the values of its `?` in order. Values are never written into the text. */
export interface Sql {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

const NO_VALUES: readonly SqlValue[] = [];

export const sql = (text: string, ...values: SqlValue[]): Sql => ({ text, values });

/** For conditions that are known while compiling. */
export const ALWAYS: Sql = { text: '1', values: NO_VALUES };
export const NEVER: Sql = { text: '0', values: NO_VALUES };

/** Fills each `%` of the frame with the next piece. */
export function frame(text: string, ...pieces: readonly Sql[]): Sql {
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

/** The opposite, also where the condition is neither true nor false. */
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
 * Whether a query has a row. A bare EXISTS may be run as a join, which lets
 * OFFSET count a row once for each of its matches.
 */
export const exists = (query: Sql): Sql => frame('(EXISTS (%) IS TRUE)', query);

/** Quotes a table or column name. Names come from the field tables, never from a caller; this is the second lock. */
export const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;
