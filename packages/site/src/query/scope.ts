import { AppError } from '@trellis/core/errors';
import type { ComputedField, RecordField, RecordTable, Relation, RelationField } from '@trellis/core/record-types';
import type { PatternCache } from '../patterns/patterns.js';
import { hasNulls, listTableColumns, NULLS, type RecordTables, toNullsEntry } from '../records/record-schema.js';
import { quoteIdentifier, sql, type Sql, sqlTemplate } from '../records/sql.js';

/** The information about the store that the compilation of a query needs, and its limits. */
export interface CompileContext {
  readonly tables: RecordTables;
  readonly patterns: PatternCache;
  /** Whether text of a column may contain characters beyond U+FFFF. */
  readonly isAstral: (kind: string, column: string) => boolean;
  /** The record types that have records, and those among them whose records have parents. */
  readonly kinds: { readonly any: readonly string[]; readonly children: readonly string[] };
  /** Returns a unique alias for a lookup in another table, and counts the lookup. */
  nextAlias(): string;
  /** Counts conditions. */
  countConditions(count: number): void;
  /** Whether a row takes so much work that the work limit is checked before each. */
  readonly isExpensive: boolean;
  /** Notes a record type that the query reads; without a name, any. */
  addRead(kind?: string): void;
  /** The record types that the query reads so far; `undefined` for any. */
  readonly reads: readonly string[] | undefined;
}

/** The SQL access to the fields of one level: of a row, of a list element, or of a computed object. */
export interface FieldScope {
  readonly fields: readonly RecordField[];
  /** Whether the level itself may be missing. */
  readonly nullable?: boolean;
  /** The SQL alias of the row, for a level whose relations can be followed. */
  readonly row?: { readonly alias: string; readonly kind: string };
  value(field: RecordField): Sql;
  /** Returns the condition that distinguishes a null value from a missing one; `undefined` if all are null. */
  isNull(field: RecordField): Sql | undefined;
  isAstral(field: RecordField): boolean;
}

/** With more relations than this, the work per row becomes too large for any practical query. */
const MAX_LOOKUPS = 200;

/** SQLite accepts expressions of 1,000 terms; hand-written filters have about ten. */
const MAX_CONDITIONS = 300;

/** Up to these numbers, 100,000 rows take a few tenths of a second. */
const FEW_LOOKUPS = 3;
const FEW_CONDITIONS = 20;

type Shared = Pick<CompileContext, 'tables' | 'patterns' | 'isAstral'> & {
  readonly kinds: () => CompileContext['kinds'];
};

/** The context of one compilation, with its own counters. */
export class Compilation implements CompileContext {
  readonly tables: RecordTables;
  readonly patterns: PatternCache;
  readonly isAstral: CompileContext['isAstral'];
  readonly #kinds: () => CompileContext['kinds'];
  reads: readonly string[] | undefined = [];
  #lookups = 0;
  #conditions = 0;

  constructor({ tables, patterns, isAstral, kinds }: Shared) {
    this.tables = tables;
    this.patterns = patterns;
    this.isAstral = isAstral;
    this.#kinds = kinds;
  }

  get kinds(): CompileContext['kinds'] {
    this.addRead();
    return this.#kinds();
  }

  addRead(kind?: string): void {
    if (kind === undefined) this.reads = undefined;
    else if (this.reads?.includes(kind) === false) this.reads = [...this.reads, kind];
  }

  get isExpensive(): boolean {
    return this.#lookups > FEW_LOOKUPS || this.#conditions > FEW_CONDITIONS;
  }

  countConditions(count: number): void {
    this.#conditions += count;
    if (this.#conditions <= MAX_CONDITIONS) return;
    throw new AppError('invalid_input', `The filter has too many conditions. The limit is ${MAX_CONDITIONS}.`);
  }

  nextAlias(): string {
    this.#lookups += 1;
    if (this.#lookups <= MAX_LOOKUPS) return `r${this.#lookups}`;
    throw new AppError('invalid_input', `The filter or sort follows too many relations. The limit is ${MAX_LOOKUPS}.`);
  }
}

export function rowScope(table: RecordTable, alias: string, context: CompileContext): FieldScope {
  context.addRead(table.kind);
  const column = (name: string): Sql => sql(`${alias}.${quoteIdentifier(name)}`);
  return {
    fields: table.fields,
    row: { alias, kind: table.kind },
    value(field) {
      if (field.kind !== 'computed') return column(storedColumn(field));
      // A resolver may read any record.
      context.addRead();
      return computedValue(table, field, column);
    },
    isNull: (field) =>
      hasNulls(table) && field.kind !== 'computed' && !isNodeField(field)
        ? isNoted(storedColumn(field), `${alias}.`)
        : undefined,
    isAstral: (field) => field.kind === 'computed' || context.isAstral(table.kind, storedColumn(field)),
  };
}

/** Returns the scope of a row that can have any of several record types. */
function nodeScope(kinds: readonly string[], alias: string, context: CompileContext): FieldScope {
  const row = rowScope(nodeTable(context), alias, context);
  return { ...row, isAstral: (field) => kinds.some((kind) => context.isAstral(kind, storedColumn(field))) };
}

/** Returns the fields that all record types have, as a table. */
function nodeTable({ tables }: Pick<CompileContext, 'tables'>): RecordTable {
  const known = nodeTables.get(tables);
  if (known) return known;
  const [any] = Object.values(tables);
  const fields = (any?.fields ?? []).filter(({ name }) => NODE_FIELDS.includes(name));
  const table = { kind: 'Node', single: 'node', all: 'allNode', fields };
  nodeTables.set(tables, table);
  return table;
}

const nodeTables = new WeakMap<RecordTables, RecordTable>();

const NODE_FIELDS = ['id', 'parent', 'children', 'internal'];

const isNodeField = ({ path }: RecordField): boolean => NODE_FIELDS.includes(path.split('.', 1)[0] ?? '');

/** Returns the condition that the path of a column is noted as null. `row` is an alias with a dot, or empty. */
export const isNoted = (column: string, row: string): Sql =>
  sql(`instr(${row}${quoteIdentifier(NULLS)}, '${toNullsEntry(column)}')`);

/** An object stored as JSON. */
interface JsonObject {
  readonly object: Sql;
  /** The path of the object itself. */
  readonly path: string;
  /** Whether a null in the JSON differs from a missing key. */
  readonly hasNulls: boolean;
}

/** Returns the scope of the fields of an object stored as JSON. */
export function jsonScope(fields: readonly RecordField[], { object, path, hasNulls: tells }: JsonObject): FieldScope {
  const keys = (field: RecordField): string =>
    field.path
      .slice(path.length + 1)
      .split('.')
      .map((key) => `."${key}"`)
      .join('');
  return {
    fields,
    nullable: true,
    value: (field) => sqlTemplate(`% ${isList(field) ? '->' : '->>'} %`, object, sql(`'$${keys(field)}'`)),
    isNull: (field) => (tells ? sqlTemplate("json_type(%, %) = 'null'", object, sql(`'$${keys(field)}'`)) : undefined),
    isAstral: () => true,
  };
}

/** Describes the result of a computed field. */
export const toJsonObject = ({ path }: RecordField, object: Sql): JsonObject => ({ object, path, hasNulls: false });

/** Describes an element of a list of objects. */
export const toElement = (field: RecordField, scope: FieldScope, object: Sql): JsonObject => ({
  object,
  path: field.path,
  hasNulls: scope.isNull(field) !== undefined,
});

const isList = (field: RecordField): boolean => field.list;

const storedColumn = (field: RecordField): string => (field.kind === 'scalar' ? field.column : field.path);

/** Returns a call of the field's resolver with default arguments, on the columns that it declares to need. */
function computedValue(table: RecordTable, field: ComputedField, column: (name: string) => Sql): Sql {
  const needs = ['id', ...field.needs.filter((name) => name !== 'id')];
  const floats = new Set(listTableColumns(table).flatMap(({ name, type }) => (type === 'REAL' ? [name] : [])));
  const pairs = needs.map((name) => {
    const value = floats.has(name) ? exactFloat(column(name)) : column(name);
    return sqlTemplate(`'${name.replaceAll("'", "''")}', %`, value);
  });
  return sqlTemplate(`computed('${table.kind}', '${field.path}', json_object(%))`, {
    text: pairs.map(({ text }) => text).join(', '),
    values: [],
  });
}

/** By default, SQLite writes floats to JSON with 15 digits, which loses precision. */
const ALL_DIGITS = sql("'%!.17g'");

/** Returns the JSON of a float with all of its digits. */
export const exactFloat = (value: Sql): Sql =>
  sqlTemplate('iif(% IS NULL, NULL, json(format(%, %)))', value, ALL_DIGITS, value);

export function getTable(kind: string, { tables }: Pick<CompileContext, 'tables'>): RecordTable {
  const table = tables[kind];
  if (!table) throw new Error(`Unknown record type ${kind}.`);
  return table;
}

/** Returns the field with a name among the fields of one level. */
export function findField(fields: readonly RecordField[], name: string): RecordField | undefined {
  let names = byName.get(fields);
  if (!names) {
    names = new Map(fields.map((field) => [field.name, field]));
    byName.set(fields, names);
  }
  return names.get(name);
}

const byName = new WeakMap<readonly RecordField[], ReadonlyMap<string, RecordField>>();

/** Returns the fields that a filter or a path may name below a field. */
export function getChildFields(field: RecordField, context: Pick<CompileContext, 'tables'>): readonly RecordField[] {
  if (field.kind === 'scalar') return [];
  if (field.kind !== 'relation') return field.fields;
  return field.type === 'Node' ? nodeTable(context).fields : getTable(field.type, context).fields;
}

/** The records of a relation, in SQL. */
interface RelationTarget {
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
  const kinds = targetKinds(field, () => context.kinds);
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
  kinds: () => CompileContext['kinds'],
): readonly string[] {
  if (type !== 'Node') return [type];
  return relation.by === 'parent' ? kinds().any : kinds().children;
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
    case 'back': {
      const from = `${owner}.${quoteIdentifier(relation.from)}`;
      if (list) return refersBack(relation, `${alias}.`, from);
      return `${alias}.position = (${first(table, refersBack(relation, '', from))})`;
    }
    case 'link': {
      const [to, from] = [quoteIdentifier(relation.to), `${owner}.${quoteIdentifier(relation.from)}`];
      return `${alias}.position = (${first(table, `${to} = ${from}`)})`;
    }
  }
}

/** Returns the condition that a row refers to a value. `row` is its alias with a dot, or empty. */
function refersBack({ to, inList }: Extract<Relation, { by: 'back' }>, row: string, from: string): string {
  const column = row + quoteIdentifier(to);
  return inList ? `EXISTS (SELECT 1 FROM json_each(${column}) AS k WHERE k.value = ${from})` : `${column} = ${from}`;
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
