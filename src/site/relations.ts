import type { RelationField } from './fields.js';
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
}

/** The tables that a relation of this row may lead into. */
export function targetsOf(field: RelationField, scope: Scope, context: CompileContext): Target[] {
  if (!scope.row) throw new AppError('invalid_input', `Expected "${field.path}" to be looked up from a record.`);
  const { alias: owner } = scope.row;
  // One record leads to one other; to many at each step, the work multiplies.
  const end = field.list ? ' AND in_time()' : '';
  return targetKinds(field, context).map((kind) => {
    const alias = context.nextAlias();
    const table = quote(kind);
    const text = `FROM ${table} AS ${alias} WHERE ${condition(field, { owner, alias, table })}${end}`;
    return { alias, kind, scope: rowScope(tableOf(kind, context), alias, context), from: sql(text) };
  });
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

function condition({ list, relation }: RelationField, { owner, alias, table }: Names): string {
  switch (relation.by) {
    case 'parent':
      return `${alias}."id" = ${owner}."parent"`;
    case 'children':
      return `${alias}."parent" = ${owner}."id"`;
    case 'child': {
      const children = `${alias}."parent" = ${owner}."id"`;
      return list ? children : first(alias, `SELECT min(position) FROM ${table} WHERE "parent" = ${owner}."id"`);
    }
    case 'link': {
      const [to, from] = [quote(relation.to), `${owner}.${quote(relation.from)}`];
      return list
        ? `${alias}.${to} = ${from}`
        : first(alias, `SELECT min(position) FROM ${table} WHERE ${to} = ${from}`);
    }
  }
}

const first = (alias: string, select: string): string => `${alias}.position = (${select})`;
