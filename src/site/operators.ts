import { AppError } from '../core/errors.js';
import type { PatternCache } from './patterns.js';
import { and, exists, sqlTemplate, NEVER, not, or, sql } from './sql.js';
import type { Sql, SqlValue } from './sql.js';
import { toCodeUnits, hasNonBmp } from './text-order.js';

/** A value that a filter compares. For a list, the expression is the JSON text of its elements. */
export interface Operand {
  readonly expression: Sql;
  readonly list: boolean;
  /** Whether text of this column may hold characters beyond U+FFFF. */
  readonly astral: boolean;
}

/** SQLite accepts 32,766 values in one statement; one list may use a part of them. */
const MAX_LISTED = 5000;

type Input = Readonly<Record<string, unknown>>;

/** Compiles the conditions of one operator input, such as `{gte: 3, ne: 7}`, joined by AND. */
export function compileOperators(operand: Operand, input: Input, patterns: PatternCache): Sql {
  return and(
    Object.entries(input)
      .filter(([, value]) => value !== undefined)
      .map(([operator, value]) => compileOperator(operand, operator, { value, patterns })),
  );
}

interface Argument {
  readonly value: unknown;
  readonly patterns: PatternCache;
}

function compileOperator(operand: Operand, operator: string, { value, patterns }: Argument): Sql {
  switch (operator) {
    case 'eq':
      return compileIn(operand, [toSqlValue(value)]);
    case 'ne':
      return not(compileIn(operand, [toSqlValue(value)]));
    case 'in':
      return compileIn(operand, toSqlList(operator, value));
    case 'nin':
      return not(compileIn(operand, toSqlList(operator, value)));
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return compileComparison(operand, operator, toSqlValue(value));
    case 'regex':
    case 'glob':
      return compilePattern(operand, operator, { value, patterns });
    default:
      throw new AppError('invalid_input', `Expected a filter operator; received "${operator}".`);
  }
}

/** Compiles the condition that a value equals one of several. Null stands for a missing value. */
function compileIn(operand: Operand, values: readonly SqlValue[]): Sql {
  const present = values.filter((value) => value !== null);
  const equal = present.length === 0 ? NEVER : someElement(operand, (element) => equalsAny(element, present));
  return present.length === values.length ? equal : or([equal, isMissing(operand)]);
}

function equalsAny(element: Sql, values: readonly SqlValue[]): Sql {
  const [first = null] = values;
  if (values.length === 1) return sqlTemplate('% = %', element, sql('?', first));
  // Padding to a power of two keeps the number of different statements small.
  const padded = [...values, ...Array<SqlValue>(2 ** Math.ceil(Math.log2(values.length)) - values.length).fill(first)];
  return sqlTemplate('% IN (%)', element, sql(padded.map(() => '?').join(', '), ...padded));
}

function isMissing({ expression, list }: Operand): Sql {
  const missing = sqlTemplate('% IS NULL', expression);
  return list
    ? or([missing, exists(sqlTemplate('SELECT 1 FROM json_each(%) WHERE value IS NULL', expression))])
    : missing;
}

const SIGNS = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;

/** As in Gatsby, `gte: null` and `lte: null` match a missing value. */
function compileComparison(operand: Operand, operator: keyof typeof SIGNS, value: SqlValue): Sql {
  if (value === null) return operator === 'gte' || operator === 'lte' ? isMissing(operand) : NEVER;
  const sign = SIGNS[operator];
  const exact = typeof value === 'string' && (operand.astral || hasNonBmp(value));
  return someElement(operand, (element) =>
    exact
      ? sqlTemplate(
          `code_units(%) ${sign} unhex(%)`,
          element,
          sql('?', Buffer.from(toCodeUnits(value)).toString('hex')),
        )
      : sqlTemplate(`% ${sign} %`, element, sql('?', value)),
  );
}

function compilePattern(operand: Operand, operator: 'regex' | 'glob', { value, patterns }: Argument): Sql {
  if (typeof value !== 'string') throw new AppError('invalid_input', `Expected text for ${operator}; received null.`);
  // Reports an invalid pattern even if no row is tested against it.
  patterns.get(operator, value);
  return someElement(operand, (element) => sqlTemplate(`matches_${operator}(%, %)`, sql('?', value), element));
}

function someElement({ expression, list }: Operand, test: (element: Sql) => Sql): Sql {
  return list
    ? exists(sqlTemplate('SELECT 1 FROM json_each(%) WHERE %', expression, test(sql('value'))))
    : test(expression);
}

function toSqlList(operator: string, value: unknown): SqlValue[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (list.length > MAX_LISTED) {
    throw new AppError(
      'invalid_input',
      `Expected at most ${MAX_LISTED} values for ${operator}; received ${list.length}.`,
    );
  }
  return list.map(toSqlValue);
}

function toSqlValue(value: unknown): SqlValue {
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (value === null || typeof value === 'string' || typeof value === 'number') return value;
  throw new AppError('invalid_input', `Expected a scalar in a filter; received ${typeof value}.`);
}

/**
 * Whether the conditions match a missing value. This decides whether a relation without a record matches.
 */
export function matchesMissingValue(input: Input): boolean {
  return Object.entries(input).every(([operator, value]) => {
    if (value === undefined) return true;
    const listed = Array.isArray(value) ? value.includes(null) : value === null;
    if (operator === 'ne' || operator === 'nin') return !listed;
    return listed && ['eq', 'in', 'gte', 'lte'].includes(operator);
  });
}
