import { AppError } from '@trellis/core/errors';
import type { RecordField, RelationField, ScalarField } from '@trellis/core/record-types';
import { findRequiredText, type PatternCache, type RequiredText } from '../patterns/patterns.js';
import {
  ALWAYS,
  and,
  exists,
  hasNonBmp,
  NEVER,
  not,
  or,
  sql,
  type Sql,
  sqlTemplate,
  type SqlValue,
  toCodeUnits,
} from '../records/sql.js';
import type { RecordFilter } from './record-queries.js';
import {
  type CompileContext,
  type FieldScope,
  findField,
  findRelationTarget,
  getChildFields,
  jsonScope,
  toElement,
  toJsonObject,
} from './scope.js';

/** Returns the SQL condition of a filter on the rows of a scope. Null and `{}` add no condition at any level. */
export function compileFilter(
  filter: RecordFilter | null | undefined,
  scope: FieldScope,
  context: CompileContext,
  hints?: IndexCandidates,
): Sql {
  const conditions = entriesOf(filter).map(([name, input]): readonly [number, Sql] => {
    if (isCombiner(name)) return [COSTS.combined, compileCombined(name, input, { scope, context, hints })];
    const field = getField(scope.fields, name);
    return [COSTS[field.kind], compileField(field, input, { scope, context, hints })];
  });
  return and(conditions.sort(([one], [other]) => one - other).map(([, condition]) => condition));
}

/** SQLite evaluates conditions in the order of the text, so expensive ones come last and see fewer rows. */
const COSTS = { scalar: 0, object: 0, relation: 1, combined: 1, computed: 2 } as const;

const isCombiner = (name: string): name is 'or' | 'not' => name === 'or' || name === 'not';

/** An empty `or` matches no record; a `not` without conditions has no effect. */
function compileCombined(name: 'or' | 'not', input: RecordFilter, { scope, context, hints }: Compiling): Sql {
  if (hints) hints.hasOtherConditions = true;
  if (name === 'or') return or(branchesOf(input).map((branch) => compileFilter(branch, scope, context)));
  return isEmpty(input, scope.fields, context) ? ALWAYS : not(compileFilter(input, scope, context));
}

const branchesOf = (input: RecordFilter): readonly RecordFilter[] => input as unknown as readonly RecordFilter[];

interface Compiling {
  readonly scope: FieldScope;
  readonly context: CompileContext;
  readonly hints: IndexCandidates | undefined;
}

function compileField(field: RecordField, input: RecordFilter, compiling: Compiling): Sql {
  if (compiling.hints && field.kind !== 'scalar' && (field.kind !== 'object' || field.list))
    compiling.hints.hasOtherConditions = true;
  switch (field.kind) {
    case 'scalar':
      compiling.hints?.addFilter(field, input);
      return compileOperand(field, input, compiling);
    case 'object':
      return field.list ? compileElements(field, input, compiling) : compileObject(field, input, compiling);
    case 'computed':
      return field.fields.length === 0
        ? compileOperand(field, input, compiling)
        : compileComputed(field, input, compiling);
    case 'relation':
      return compileRelation(field, input, compiling);
  }
}

function compileOperand(field: RecordField, input: RecordFilter, { scope, context }: Compiling): Sql {
  context.countConditions(Object.keys(input).length);
  const operand = {
    expression: scope.value(field),
    isNull: scope.isNull(field),
    list: field.list,
    astral: scope.isAstral(field),
  };
  return compileOperators(operand, input, context.patterns);
}

type Parent = Extract<RecordField, { fields: readonly RecordField[] }>;

/** The fields of an object have columns of their own in the table of the record. */
function compileObject({ fields }: Parent, input: RecordFilter, { scope, context, hints }: Compiling): Sql {
  return compileFilter(input, { ...scope, fields }, context, hints);
}

function compileComputed(field: Parent, input: RecordFilter, compiling: Compiling): Sql {
  if (field.list) return compileElements(field, input, compiling);
  const scope = jsonScope(field.fields, toJsonObject(field, compiling.scope.value(field)));
  return compileFilter(input, scope, compiling.context);
}

/** All conditions of `elemMatch` apply to the same element. A missing list has none. */
function compileElements(field: Parent, input: RecordFilter, { scope, context }: Compiling): Sql {
  const inner = elemMatchOf(input);
  if (isEmpty(inner, field.fields, context)) return ALWAYS;
  const alias = context.nextAlias();
  const element = jsonScope(field.fields, toElement(field, scope, sql(`${alias}.value`)));
  const from = `SELECT 1 FROM json_each(%) AS ${alias} WHERE %`;
  return exists(sqlTemplate(from, scope.value(field), compileFilter(inner, element, context)));
}

function compileRelation(field: RelationField, input: RecordFilter, { scope, context }: Compiling): Sql {
  const inner = field.list ? elemMatchOf(input) : input;
  const fields = getChildFields(field, context);
  if (isEmpty(inner, fields, context)) return ALWAYS;
  const missing = !field.list && matchesMissing(inner, fields, context);
  const target = findRelationTarget(field, scope, context);
  if (!target) return missing ? ALWAYS : NEVER;
  const condition = compileFilter(inner, target.scope, context);
  // A relation without a record matches like a record without values.
  if (missing) return not(exists(sqlTemplate('SELECT 1 % AND %', target.from, not(condition))));
  return condition === NEVER ? NEVER : exists(sqlTemplate('SELECT 1 % AND %', target.from, condition));
}

/** Whether a filter matches a missing record. */
function matchesMissing(filter: RecordFilter, fields: readonly RecordField[], context: CompileContext): boolean {
  return entriesOf(filter).every(([name, input]) => {
    if (name === 'or') return branchesOf(input).some((branch) => matchesMissing(branch, fields, context));
    if (name === 'not') return isEmpty(input, fields, context) || !matchesMissing(input, fields, context);
    const field = getField(fields, name);
    if (isLeaf(field)) return matchesMissingValue(input);
    const below = getChildFields(field, context);
    return field.list ? isEmpty(elemMatchOf(input), below, context) : matchesMissing(input, below, context);
  });
}

/** Whether a filter has no condition at any depth, so that no relation has to be joined. */
function isEmpty(filter: RecordFilter, fields: readonly RecordField[], context: CompileContext): boolean {
  return entriesOf(filter).every(([name, input]) => {
    if (name === 'or') return false;
    if (name === 'not') return isEmpty(input, fields, context);
    const field = getField(fields, name);
    if (isLeaf(field)) return Object.values(input).every((value) => value === undefined);
    return isEmpty(field.list ? elemMatchOf(input) : input, getChildFields(field, context), context);
  });
}

const isLeaf = (field: RecordField): boolean =>
  field.kind === 'scalar' || (field.kind === 'computed' && field.fields.length === 0);

function getField(fields: readonly RecordField[], name: string): RecordField {
  const field = findField(fields, name);
  if (!field) throw new AppError('invalid_input', `Expected a field in a filter; received "${name}".`);
  return field;
}

function entriesOf(filter: RecordFilter | null | undefined): [string, RecordFilter][] {
  return Object.entries(filter ?? {}).filter(
    (entry): entry is [string, RecordFilter] => entry[1] !== null && entry[1] !== undefined,
  );
}

const elemMatchOf = (input: RecordFilter): RecordFilter => (input.elemMatch ?? {}) as RecordFilter;

/** A value that a filter compares. For a list, the expression is the JSON text of its elements. */
interface Operand {
  readonly expression: Sql;
  readonly isNull: Sql | undefined;
  readonly list: boolean;
  /** Whether text of this column may hold characters beyond U+FFFF. */
  readonly astral: boolean;
}

/** SQLite accepts 32,766 values in one statement; one list may use a part of them. */
const MAX_LISTED = 5000;

type Input = Readonly<Record<string, unknown>>;

/** Compiles the conditions of one operator input, such as `{gte: 3, ne: 7}`, joined by AND. */
function compileOperators(operand: Operand, input: Input, patterns: PatternCache): Sql {
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
  // One JSON text takes less time to pass than many values. Numbers could differ after SQLite has read them.
  if (values.length > FEW_LISTED && values.every(isExactInJson))
    return sqlTemplate('% IN (SELECT value FROM json_each(%))', element, sql('?', JSON.stringify(values)));
  // Padding to a power of two keeps the number of different statements small.
  const padded = [...values, ...Array<SqlValue>(2 ** Math.ceil(Math.log2(values.length)) - values.length).fill(first)];
  return sqlTemplate('% IN (%)', element, sql(padded.map(() => '?').join(', '), ...padded));
}

/** Lists of up to this number of values are passed one by one. */
const FEW_LISTED = 16;

/** Whether SQLite reads the same text from JSON as from a parameter. */
const isExactInJson = (value: SqlValue): boolean => typeof value === 'string' && !/[\0\p{Surrogate}]/u.test(value);

/** Returns the condition that a value is null or missing, or an element of the list null. */
const isMissing = (operand: Operand): Sql => isAbsent(operand, sqlTemplate('% IS NULL', operand.expression));

/** Returns the condition that a value is null but not missing. */
const isNull = (operand: Operand): Sql => (operand.isNull ? isAbsent(operand, operand.isNull) : isMissing(operand));

function isAbsent({ expression, list }: Operand, missing: Sql): Sql {
  return list
    ? or([missing, exists(sqlTemplate('SELECT 1 FROM json_each(%) WHERE value IS NULL', expression))])
    : missing;
}

const SIGNS = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;

/** As in Gatsby, `gte: null` and `lte: null` match null, but not a missing value. */
function compileComparison(operand: Operand, operator: keyof typeof SIGNS, value: SqlValue): Sql {
  if (value === null) return operator === 'gte' || operator === 'lte' ? isNull(operand) : NEVER;
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
  const required = findRequiredText(operator, value);
  return someElement(operand, (element) => {
    const matches = sqlTemplate(`matches_${operator}(%, %)`, sql('?', value), element);
    return required ? and([containsAny(element, required), matches]) : matches;
  });
}

/** SQLite finds text in a hundredth of the time of a call of a function in JavaScript. LIKE ends at a NUL. */
function containsAny(element: Sql, { anyOf, ignoresCase }: RequiredText): Sql {
  if (!ignoresCase) return or(anyOf.map((text) => sqlTemplate('instr(%, %) > 0', element, sql('?', text))));
  const alike = anyOf.map((text) => sqlTemplate(`% LIKE % ESCAPE '\\'`, element, sql('?', toLikePattern(text))));
  return or([...alike, sqlTemplate('instr(%, char(0)) > 0', element)]);
}

const toLikePattern = (text: string): string => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;

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
function matchesMissingValue(input: Input): boolean {
  return Object.entries(input).every(([operator, value]) => {
    if (value === undefined) return true;
    const listed = Array.isArray(value) ? value.includes(null) : value === null;
    if (operator === 'ne' || operator === 'nin') return !listed;
    return listed && (operator === 'eq' || operator === 'in');
  });
}

/** Collects the columns that an index for a query would cover, while the query is compiled. */
export class IndexCandidates {
  /** The columns that are compared with one value. */
  readonly equal = new Set<string>();
  /** The columns that are compared with several values, by `in`. They are in `read` too. */
  readonly listed = new Set<string>();
  /** The other columns of the filter. A copy in the index saves reading the row. */
  readonly read = new Set<string>();

  /** Whether the filter also has conditions on relations, list elements or computed values. */
  hasOtherConditions = false;

  addFilter(field: ScalarField, input: Readonly<Record<string, unknown>>): void {
    const asked = Object.entries(input).filter(([, value]) => value !== undefined);
    if (asked.length === 0) return;
    if (field.list) {
      this.hasOtherConditions = true;
      return;
    }
    const equal = asked.some(
      ([operator, value]) => operator === 'eq' || (operator === 'in' && Array.isArray(value) && value.length === 1),
    );
    (equal ? this.equal : this.read).add(field.column);
    if (asked.some(([operator]) => operator === 'in')) this.listed.add(field.column);
  }
}
