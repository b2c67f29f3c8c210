import { AppError } from '@trellis/core/errors';
import type { RecordField, RelationField } from '@trellis/core/record-types';
import { NEVER, sql, type Sql, sqlTemplate } from '../records/sql.js';
import type { RecordSort } from './record-queries.js';
import {
  type CompileContext,
  exactFloat,
  type FieldScope,
  findField,
  findMissingListCondition,
  findRelationTarget,
  getChildFields,
  isNoted,
  jsonScope,
  toElement,
  toJsonObject,
} from './scope.js';

/** The value that a dotted path such as `internal.mediaType` leads to. */
export interface PathValue {
  /** For a list, the JSON text of its elements, in which nested lists are not yet flattened. */
  readonly expression: Sql;
  readonly list: boolean;
  readonly boolean: boolean;
  readonly float: boolean;
  readonly text: boolean;
  readonly astral: boolean;
  /** Whether the value may be missing, for example because a relation on the path has no record. */
  readonly nullable: boolean;
  /** The condition that distinguishes an absent value that is null from a missing one; `undefined` if they are the same. */
  readonly isNull: Sql | undefined;
  /** The same condition for an index on {@link column}. */
  readonly isNullInRow: Sql | undefined;
  /** Whether the values are single objects, which cannot be grouped by. */
  readonly objects: boolean;
  /** The column of the row itself that stores the value, which an index can cover; otherwise `undefined`. */
  readonly column: string | undefined;
}

/**
 * Compiles a dotted path to an SQL expression for its value.
 *
 * @throws AppError `invalid_input` when a part of the path is not a field.
 */
export function compilePath(path: string, scope: FieldScope, context: CompileContext): PathValue {
  const [name = '', ...rest] = path.split('.');
  const field = findField(scope.fields, name);
  if (!field) throw new AppError('invalid_input', `Expected the path of a field; received "${path}".`);
  if (rest.length === 0) return leaf(field, scope, context);
  return below(field, rest.join('.'), scope, context);
}

function leaf(field: RecordField, scope: FieldScope, context: CompileContext): PathValue {
  if (field.kind === 'relation') return relation(field, 'id', scope, context);
  const type = 'type' in field ? field.type : '';
  const column = scope.row && field.kind === 'scalar' && !field.list ? field.column : undefined;
  const nullable = field.nullable || scope.nullable === true;
  const isNull = nullable ? scope.isNull(field) : undefined;
  return {
    expression: scope.value(field),
    list: field.list,
    boolean: type === 'Boolean',
    float: type === 'Float',
    text: field.list || !['Boolean', 'Int', 'Float'].includes(type),
    astral: scope.isAstral(field),
    nullable,
    objects: !field.list && (field.kind === 'object' || (field.kind === 'computed' && field.fields.length > 0)),
    isNull,
    isNullInRow: isNull && column !== undefined ? isNoted(column, '') : undefined,
    column,
  };
}

function below(field: RecordField, rest: string, scope: FieldScope, context: CompileContext): PathValue {
  if (field.kind === 'relation') return relation(field, rest, scope, context);
  if (field.list) return elements(field, rest, scope, context);
  const fields = getChildFields(field, context);
  const inner =
    field.kind === 'computed'
      ? jsonScope(fields, toJsonObject(field, scope.value(field)))
      : { ...scope, fields, nullable: field.nullable || scope.nullable === true };
  return compilePath(rest, inner, context);
}

function elements(field: RecordField, rest: string, scope: FieldScope, context: CompileContext): PathValue {
  const alias = context.nextAlias();
  const inner = compilePath(
    rest,
    jsonScope(getChildFields(field, context), toElement(field, scope, sql(`${alias}.value`))),
    context,
  );
  const list = scope.value(field);
  // A missing value leaves no gap in the list, but null does.
  const kept = inner.isNull ? sqlTemplate(' WHERE % IS NOT NULL OR %', inner.expression, inner.isNull) : sql('');
  const from = sqlTemplate(`FROM json_each(%) AS ${alias}%`, list, kept);
  const values = sqlTemplate('(SELECT json_group_array(%) %)', asElement(inner), from);
  return asList(inner, sqlTemplate('iif(% IS NULL, NULL, %)', list, values));
}

function relation(field: RelationField, rest: string, scope: FieldScope, context: CompileContext): PathValue {
  const target = findRelationTarget(field, scope, context);
  if (!target) return nowhere(field);
  const missing = field.list ? findMissingListCondition(field, scope) : undefined;
  // Without a record or a list, the values behind it are missing, also those that every record has.
  const nullable = !field.list || missing !== undefined || scope.nullable === true;
  const value = compilePath(rest, nullable ? { ...target.scope, nullable } : target.scope, context);
  if (!field.list) {
    const expression = sqlTemplate('(SELECT % %)', value.expression, target.from);
    const isNull = value.isNull && sqlTemplate('(SELECT % %)', value.isNull, target.from);
    return { ...value, expression, isNull, nullable: true, isNullInRow: undefined, column: undefined };
  }
  const kept = value.isNull ? sqlTemplate(' AND (% IS NOT NULL OR %)', value.expression, value.isNull) : sql('');
  const from = sqlTemplate('%%', target.from, kept);
  const rows = sqlTemplate(`SELECT % AS value, ${target.place} AS place %`, value.expression, from);
  const element = asElement({ ...value, expression: sql('value') });
  const values = sqlTemplate('(SELECT json_group_array(% ORDER BY place) FROM (%))', element, rows);
  return asList(value, missing ? sqlTemplate('iif(%, NULL, %)', missing, values) : values);
}

/** The value behind a relation that has no record anywhere. */
const nowhere = ({ list }: RelationField): PathValue => ({
  expression: sql(list ? "'[]'" : 'NULL'),
  list,
  boolean: false,
  float: false,
  text: true,
  astral: false,
  nullable: true,
  isNull: undefined,
  isNullInRow: undefined,
  objects: false,
  column: undefined,
});

function asElement({ list, float, expression }: PathValue): Sql {
  if (list) return sqlTemplate('json(%)', expression);
  return float ? exactFloat(expression) : expression;
}

const asList = (value: PathValue, expression: Sql): PathValue => ({
  ...value,
  expression,
  list: true,
  text: true,
  astral: true,
  nullable: true,
  // Behind a list, an absent value is always missing.
  isNull: value.isNull && NEVER,
  isNullInRow: undefined,
  column: undefined,
});

export interface SortKey {
  readonly value: PathValue;
  readonly descending: boolean;
}

/** Each key costs work in every comparison, and more keys than this have no practical use. */
const MAX_KEYS = 20;

/** Compiles the sort keys. A key without an order is ascending; an order without a key is ignored. */
export function compileSort(
  sort: RecordSort | null | undefined,
  scope: FieldScope,
  context: CompileContext,
): SortKey[] {
  const fields = sort?.fields ?? [];
  if (fields.length > MAX_KEYS) {
    throw new AppError('invalid_input', `Expected at most ${MAX_KEYS} fields to sort by; received ${fields.length}.`, {
      field: 'sort',
    });
  }
  return fields.flatMap((path, index) =>
    path === null ? [] : [{ value: compilePath(path, scope, context), descending: sort?.order?.[index] === 'DESC' }],
  );
}

/**
 * Returns the `ORDER BY` clause. Null and then missing values come last when ascending, and in reverse first when
 * descending; ties stay in creation order either way. Absent values have a term of their own, which an index can cover
 * as an expression: with `NULLS LAST`, an index that covers only some of the keys gives a wrong order.
 */
export function orderBy(keys: readonly SortKey[], alias: string): Sql {
  const terms = keys.flatMap((key) => {
    const expression = sortExpression(key.value);
    const direction = key.descending ? ' DESC' : '';
    const value = sqlTemplate(`%${direction}`, expression);
    if (!key.value.nullable) return [value];
    return [sqlTemplate(`%${direction}`, absenceTerm(expression, key.value.isNull)), value];
  });
  return sqlTemplate(`ORDER BY ${terms.map(() => '%, ').join('')}%`, ...terms, sql(`${alias}.position`));
}

/** Returns the sort term of absent values: null is 1, and missing is 2 if it differs. */
export const absenceTerm = (value: Sql, isNull: Sql | undefined): Sql =>
  isNull ? sqlTemplate('iif(% IS NOT NULL, 0, iif(%, 1, 2))', value, isNull) : sqlTemplate('% IS NULL', value);

function sortExpression({ expression, list, text, astral }: PathValue): Sql {
  const plain = list ? sqlTemplate('joined(%)', expression) : expression;
  return text && astral ? sqlTemplate('code_units(%)', plain) : plain;
}

/** Whether an index can store the key in the form in which it is compared. */
export const isIndexable = ({ value }: SortKey): boolean => value.column !== undefined && !(value.text && value.astral);
