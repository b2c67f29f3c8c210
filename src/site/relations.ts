import type { Relation, RelationField } from './fields.js';
import type { CompileContext, Scope } from './scope.js';
import { rowScope, tableOf } from './scope.js';
import { quote, sql } from './sql.js';
import type { Sql } from './sql.js';
import { AppError } from '../errors.js';

/** One table where records of a relation may be, and how its rows are told from others. */
export interface Target {
  readonly alias: string;
  readonly kind: string;
  readonly scope: Scope;
  /** `FROM ... WHERE ...`, open for further conditions. */
  readonly from: Sql;
  /** What tells the order of a list. */
  readonly place: string;
}

/** The tables that a relation of this row may lead into. */
export function targetsOf(field: RelationField, scope: Scope, context: CompileContext): Target[] {
  if (!scope.row) throw new AppError('invalid_input', `Expected "${field.path}" to be looked up from a record.`);
  const { alias: owner } = scope.row;
  // One record leads to one other; to many at each step, the work multiplies.
  const end = field.list ? ' AND in_time()' : '';
  return targetKinds(field, context).map((kind) => {
    const alias = context.nextAlias();
    const { from, place } = source(field, { owner, alias, table: quote(kind) });
    return { alias, kind, scope: rowScope(tableOf(kind, context), alias, context), from: sql(from + end), place };
  });
}

/** Whether the list itself is missing, for a list that may be; `undefined` for one that never is. */
export function isMissingList({ list, nullable, relation }: RelationField, { row }: Scope): Sql | undefined {
  return list && nullable && relation.by === 'link' && row
    ? sql(`${row.alias}.${quote(relation.from)} IS NULL`)
    : undefined;
}

/** `Node` leads anywhere: a parent to any kind that has records, children to kinds whose records have parents. */
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
      const [to, from] = [quote(relation.to), `${owner}.${quote(relation.from)}`];
      return `${alias}.position = (${first(table, `${to} = ${from}`)})`;
    }
  }
}

/** The record of each key, once, where its key stands first. */
function listed({ from, to }: Extract<Relation, { by: 'link' }>, { owner, alias, table }: Names) {
  const keys = `${alias}k`;
  const record = first(table, `${quote(to)} = ${keys}.value`);
  const places = `SELECT min(${keys}.key) AS place, (${record}) AS position FROM json_each(${owner}.${quote(from)}) AS ${keys} GROUP BY ${keys}.value`;
  return {
    from: `FROM (${places}) AS ${keys} JOIN ${table} AS ${alias} ON ${alias}.position = ${keys}.position WHERE 1`,
    place: `${keys}.place`,
  };
}

const first = (table: string, condition: string): string => `SELECT min(position) FROM ${table} WHERE ${condition}`;
