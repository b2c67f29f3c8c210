import { columnsOf } from './columns.js';
import type { Relation, RelationField } from './fields.js';
import type { CompileContext, Scope } from './scope.js';
import { nodeScope, nodeTable, rowScope, tableOf } from './scope.js';
import { quote, sql } from './sql.js';
import type { Sql } from './sql.js';
import { AppError } from '../errors.js';

/** Where the records of a relation are, and how they are told from others. */
export interface Target {
  readonly scope: Scope;
  /** `FROM ... WHERE ...`, open for further conditions. */
  readonly from: Sql;
  /** What tells the order of a list. */
  readonly place: string;
}

/** What a relation of this row leads to; `undefined` when there are no such records at all. */
export function targetOf(field: RelationField, scope: Scope, context: CompileContext): Target | undefined {
  if (!scope.row) throw new AppError('invalid_input', `Expected "${field.path}" to be looked up from a record.`);
  const kinds = targetKinds(field, context);
  const [kind] = kinds;
  if (kind === undefined) return undefined;
  const names = { owner: scope.row.alias, alias: context.nextAlias() };
  const isOne = kinds.length === 1;
  const { from, place } = isOne ? source(field, { ...names, table: quote(kind) }) : anyOf(field, names, kinds, context);
  // One record leads to one other; to many at each step, the work multiplies.
  const end = field.list ? ' AND in_time()' : '';
  return {
    scope: isOne ? rowScope(tableOf(kind, context), names.alias, context) : nodeScope(kinds, names.alias, context),
    from: sql(from + end),
    place,
  };
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

/** Records of any of some kinds, with the columns that all kinds have. A limit keeps what is asked of them from being repeated for each kind. */
function anyOf(
  field: RelationField,
  { owner, alias }: Omit<Names, 'table'>,
  kinds: readonly string[],
  context: CompileContext,
): { from: string; place: string } {
  const columns = ['position', ...columnsOf(nodeTable(context)).map(({ name }) => name)].map(quote).join(', ');
  const one = `${alias}n`;
  const selects = kinds.map((kind) => {
    const names = { owner, alias: one, table: quote(kind) };
    return `SELECT ${columns} FROM ${names.table} AS ${one} WHERE ${condition(field, names)}`;
  });
  return { from: `FROM (${selects.join(' UNION ALL ')} LIMIT -1) AS ${alias} WHERE 1`, place: `${alias}.position` };
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
