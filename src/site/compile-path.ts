import { AppError } from '../core/errors.js';
import { findField } from './columns.js';
import type { RecordField, RelationField } from '../core/record-types.js';
import { findMissingListCondition, findRelationTarget } from './relations.js';
import type { CompileContext, FieldScope } from './scope.js';
import { getChildFields, jsonScope } from './scope.js';
import { sqlTemplate, sql } from './sql.js';
import type { Sql } from './sql.js';

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
  /** Whether the values are objects, which can be sorted but not grouped by. */
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
  if (field.kind === 'relation') return { ...relation(field, 'id', scope, context), objects: true };
  const type = 'type' in field ? field.type : '';
  return {
    expression: scope.value(field),
    list: field.list,
    boolean: type === 'Boolean',
    float: type === 'Float',
    text: field.list || !['Boolean', 'Int', 'Float'].includes(type),
    astral: scope.isAstral(field),
    nullable: field.nullable || scope.nullable === true,
    objects: field.kind === 'object' || (field.kind === 'computed' && field.fields.length > 0),
    column: scope.row && field.kind === 'scalar' && !field.list ? field.column : undefined,
  };
}

function below(field: RecordField, rest: string, scope: FieldScope, context: CompileContext): PathValue {
  if (field.kind === 'relation') return relation(field, rest, scope, context);
  if (field.list) return elements(field, rest, scope, context);
  const fields = getChildFields(field, context);
  const inner =
    field.kind === 'computed'
      ? jsonScope(fields, scope.value(field), field.path)
      : { ...scope, fields, nullable: field.nullable || scope.nullable === true };
  return compilePath(rest, inner, context);
}

function elements(field: RecordField, rest: string, scope: FieldScope, context: CompileContext): PathValue {
  const alias = context.nextAlias();
  const inner = compilePath(
    rest,
    jsonScope(getChildFields(field, context), sql(`${alias}.value`), field.path),
    context,
  );
  const list = scope.value(field);
  const values = sqlTemplate(`(SELECT json_group_array(%) FROM json_each(%) AS ${alias})`, asElement(inner), list);
  return asList(inner, sqlTemplate('iif(% IS NULL, NULL, %)', list, values));
}

function relation(field: RelationField, rest: string, scope: FieldScope, context: CompileContext): PathValue {
  const target = findRelationTarget(field, scope, context);
  if (!target) return nowhere(field);
  const value = compilePath(rest, target.scope, context);
  if (!field.list) {
    const expression = sqlTemplate('(SELECT % %)', value.expression, target.from);
    return { ...value, expression, nullable: true, column: undefined };
  }
  const rows = sqlTemplate(`SELECT % AS value, ${target.place} AS place %`, value.expression, target.from);
  const element = asElement({ ...value, expression: sql('value') });
  const values = sqlTemplate('(SELECT json_group_array(% ORDER BY place) FROM (%))', element, rows);
  const missing = findMissingListCondition(field, scope);
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
  objects: false,
  column: undefined,
});

/** By default, SQLite writes floats to JSON with 15 digits, which loses precision. */
const ALL_DIGITS = sql("'%!.17g'");

function asElement({ list, float, expression }: PathValue): Sql {
  if (list) return sqlTemplate('json(%)', expression);
  return float
    ? sqlTemplate('iif(% IS NULL, NULL, json(format(%, %)))', expression, ALL_DIGITS, expression)
    : expression;
}

const asList = (value: PathValue, expression: Sql): PathValue => ({
  ...value,
  expression,
  list: true,
  text: true,
  astral: true,
  nullable: true,
  column: undefined,
});
