import { listTableColumns } from './columns.js';
import type { Relation, RelationField } from '../core/record-types.js';
import type { CompileContext, FieldScope } from './scope.js';
import { nodeScope, nodeTable, rowScope, getTable } from './scope.js';
import { quoteIdentifier, sql } from './sql.js';
import type { Sql } from './sql.js';
import { AppError } from '../core/errors.js';

/** The records of a relation, in SQL. */
export interface RelationTarget {
  readonly scope: FieldScope;
  /** `FROM … WHERE …`, to which further conditions can be appended. */
  readonly from: Sql;
  /** The SQL expression that orders a list. */
  readonly place: string;
}

/** Returns the target of a relation of a row, or `undefined` if there are no such records at all. */
export function findRelationTarget(
  field: RelationField,
  scope: FieldScope,
  context: CompileContext,
): RelationTarget | undefined {
  if (!scope.row)
    throw new AppError('invalid_input', `Can't follow the relation "${field.path}" from a value inside a record.`);
  const kinds = targetKinds(field, context);
  const [kind] = kinds;
  if (kind === undefined) return undefined;
  const names = { owner: scope.row.alias, alias: context.nextAlias() };
  const isOne = kinds.length === 1;
  const { from, place } = isOne
    ? source(field, { ...names, table: quoteIdentifier(kind) })
    : anyOf(field, names, kinds, context);
  // A relation to one record adds constant work; lists multiply the work at each step.
  const end = field.list ? ' AND in_time()' : '';
  return {
    scope: isOne ? rowScope(getTable(kind, context), names.alias, context) : nodeScope(kinds, names.alias, context),
    from: sql(from + end),
    place,
  };
}

/** Returns the condition that a nullable list is missing, or `undefined` for a list that is never missing. */
export function findMissingListCondition(
  { list, nullable, relation }: RelationField,
  { row }: FieldScope,
): Sql | undefined {
  return list && nullable && relation.by === 'link' && row
    ? sql(`${row.alias}.${quoteIdentifier(relation.from)} IS NULL`)
    : undefined;
}

/**
 * Returns the record types that a relation can lead to. For `Node`, a parent can have any type with records, and
 * children any type whose records have parents.
 */
export function targetKinds(
  { type, relation }: RelationField,
  { kinds }: Pick<CompileContext, 'kinds'>,
): readonly string[] {
  if (type !== 'Node') return [type];
  return relation.by === 'parent' ? kinds.any : kinds.children;
}

interface Names {
  readonly owner: string;
  readonly alias: string;
  readonly table: string;
}

function source(field: RelationField, names: Names): { from: string; place: string } {
  const { alias, table } = names;
  const { list, relation } = field;
  if (list && relation.by === 'link') return listed(relation, names);
  return { from: `FROM ${table} AS ${alias} WHERE ${condition(field, names)}`, place: `${alias}.position` };
}

function condition({ list, relation }: RelationField, { owner, alias, table }: Names): string {
  switch (relation.by) {
    case 'parent':
      return `${alias}."id" = ${owner}."parent"`;
    case 'children':
      return `${alias}."parent" = ${owner}."id"`;
    case 'child': {
      const children = `"parent" = ${owner}."id"`;
      return list ? `${alias}.${children}` : `${alias}.position = (${first(table, children)})`;
    }
    case 'link': {
      const [to, from] = [quoteIdentifier(relation.to), `${owner}.${quoteIdentifier(relation.from)}`];
      return `${alias}.position = (${first(table, `${to} = ${from}`)})`;
    }
  }
}

/**
 * Returns the records of several types with the columns that all types have. The limit stops SQLite from repeating
 * outer conditions for each type.
 */
function anyOf(
  field: RelationField,
  { owner, alias }: Omit<Names, 'table'>,
  kinds: readonly string[],
  context: CompileContext,
): { from: string; place: string } {
  const columns = ['position', ...listTableColumns(nodeTable(context)).map(({ name }) => name)]
    .map(quoteIdentifier)
    .join(', ');
  const one = `${alias}n`;
  const selects = kinds.map((kind) => {
    const names = { owner, alias: one, table: quoteIdentifier(kind) };
    return `SELECT ${columns} FROM ${names.table} AS ${one} WHERE ${condition(field, names)}`;
  });
  return { from: `FROM (${selects.join(' UNION ALL ')} LIMIT -1) AS ${alias} WHERE 1`, place: `${alias}.position` };
}

/** Returns the record of each distinct key, in the order of first occurrence. */
function listed({ from, to }: Extract<Relation, { by: 'link' }>, { owner, alias, table }: Names) {
  const keys = `${alias}k`;
  const record = first(table, `${quoteIdentifier(to)} = ${keys}.value`);
  const places = `SELECT min(${keys}.key) AS place, (${record}) AS position FROM json_each(${owner}.${quoteIdentifier(from)}) AS ${keys} GROUP BY ${keys}.value`;
  return {
    from: `FROM (${places}) AS ${keys} JOIN ${table} AS ${alias} ON ${alias}.position = ${keys}.position WHERE 1`,
    place: `${keys}.place`,
  };
}

const first = (table: string, condition: string): string => `SELECT min(position) FROM ${table} WHERE ${condition}`;
