import { createHash } from 'node:crypto';
import type { RecordField, RecordTable, RelationField, ScalarField } from '@trellis/core/record-types';
import { quoteIdentifier } from './sql.js';

export type RecordTables = Readonly<Record<string, RecordTable>>;

/** The SQL expressions that compute virtual columns from stored ones, by record type and column. */
export type DerivedColumns = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The definition of the tables of records. */
export interface RecordSchema {
  readonly tables: RecordTables;
  readonly derived?: DerivedColumns;
}

/** Increment it when the same fields produce different tables, so that existing files are rebuilt. */
const LAYOUT = 2;

/** Returns a digest that is equal for schemas with the same columns and indexes. */
export function schemaDigest(schema: RecordSchema): string {
  const { tables } = schema;
  const statements = [
    ...[createTables(schema), addDerivedColumns(schema), [...createIndexes(tables).values()]],
    createSearchIndexes(Object.values(tables)),
  ];
  return createHash('sha256')
    .update(JSON.stringify([LAYOUT, ...statements]))
    .digest('hex');
}

/** Returns the statements that create the tables with their stored columns. */
export function createTables(schema: RecordSchema): string[] {
  return Object.values(schema.tables).map((table) => {
    const list = storedColumns(schema, table).map(({ name, type }) => `${quoteIdentifier(name)} ${type}`);
    return `CREATE TABLE ${quoteIdentifier(table.kind)} (position INTEGER PRIMARY KEY, ${list.join(', ')})`;
  });
}

/**
 * Returns the statements that add the virtual columns to tables, without changing existing rows. A bulk load runs
 * before them, because SQLite needlessly computes every virtual value when a row is written.
 */
export function addDerivedColumns(schema: RecordSchema): string[] {
  return Object.values(schema.tables).flatMap((table) =>
    listTableColumns(table).flatMap(({ name, type }) => {
      const value = schema.derived?.[table.kind]?.[name];
      return value === undefined
        ? []
        : [
            `ALTER TABLE ${quoteIdentifier(table.kind)} ADD COLUMN ${quoteIdentifier(name)} ${type} AS (${value}) VIRTUAL`,
          ];
    }),
  );
}

/** Returns the columns that rows are written with, except `position`. */
export function storedColumns({ derived }: RecordSchema, table: RecordTable): TableColumn[] {
  return listTableColumns(table).filter(({ name }) => derived?.[table.kind]?.[name] === undefined);
}

/** Returns the statements that create the permanent indexes, by name. */
export function createIndexes(tables: RecordTables): ReadonlyMap<string, string> {
  return new Map(
    listPermanentIndexes(tables).map(({ name, unique, key, which }) => [
      name,
      `CREATE ${unique}INDEX ${quoteIdentifier(name)} ON ${key}${which}`,
    ]),
  );
}

interface PermanentIndex {
  readonly name: string;
  /** `UNIQUE ` or empty. */
  readonly unique: string;
  /** The table and the column, in the syntax of `CREATE INDEX`. */
  readonly key: string;
  /** The condition of the rows that it contains; empty for all. */
  readonly which: string;
}

export function listPermanentIndexes(tables: RecordTables): PermanentIndex[] {
  const targets = linkTargets(tables);
  return Object.values(tables).flatMap((table) => {
    const isIndexed = ({ name, indexed }: TableColumn): boolean => indexed || targets.has(`${table.kind} ${name}`);
    return listTableColumns(table)
      .filter(isIndexed)
      .map(({ name }) => ({
        name: `${table.kind}.${name}`,
        unique: name === 'id' ? 'UNIQUE ' : '',
        key: `${quoteIdentifier(table.kind)} (${quoteIdentifier(name)})`,
        // Most records have no parent, and no query finds records by its absence.
        which: name === 'parent' ? ' WHERE "parent" IS NOT NULL' : '',
      }));
  });
}

/** Returns the columns by which `@link` finds records, in either direction, as `Type column`. */
function linkTargets(tables: RecordTables): ReadonlySet<string> {
  const targets = new Set<string>();
  const visit = (field: RecordField): void => {
    if (field.kind === 'object') field.fields.forEach(visit);
    if (field.kind !== 'relation') return;
    const { relation } = field;
    // An index does not find the elements of a list.
    const isFound = relation.by === 'link' || (relation.by === 'back' && !relation.inList);
    if (isFound) targets.add(`${field.type} ${relation.to}`);
  };
  for (const table of Object.values(tables)) table.fields.forEach(visit);
  return targets;
}

/** The columns of a link that names records by a value. */
export interface ValueLink {
  /** The path of the field with its type, such as `Post.author`. */
  readonly name: string;
  readonly kind: string;
  readonly from: string;
  readonly isList: boolean;
  readonly target: string;
  readonly to: string;
}

/** The SQLite type of a column. Floats are REAL: a whole number beyond 2^53 could not be read back as an INTEGER. */
export type ColumnType = 'TEXT' | 'INTEGER' | 'REAL';

export interface TableColumn {
  readonly name: string;
  readonly type: ColumnType;
  readonly indexed: boolean;
}

/** Returns the columns of a record type except `position`. Aliases have no column of their own. */
export function listTableColumns(table: RecordTable): TableColumn[] {
  const columns = new Map<string, TableColumn>([
    ['id', { name: 'id', type: 'TEXT', indexed: true }],
    ['parent', { name: 'parent', type: 'TEXT', indexed: true }],
  ]);
  for (const column of table.fields.flatMap(columnsOfField)) {
    const known = columns.get(column.name);
    columns.set(column.name, { ...column, indexed: column.indexed || known?.indexed === true });
  }
  if (hasNulls(table)) columns.set(NULLS, { name: NULLS, type: 'TEXT', indexed: false });
  return [...columns.values()];
}

/**
 * The column of content records that distinguishes null from missing: the paths of the fields that are null, and of the objects
 * without values, between bars, or null without any.
 */
export const NULLS = '~nulls';

/** Whether a record type distinguishes null from missing. In other types, every absent value is null. */
export const hasNulls = ({ source }: RecordTable): boolean => source !== undefined;

/** Returns the part of {@link NULLS} that contains a path. */
export const toNullsEntry = (path: string): string => `|${path}|`;

/** Returns the content of {@link NULLS}. */
export const formatNulls = (paths: readonly string[]): string | null =>
  paths.length === 0 ? null : toNullsEntry(paths.join('|'));

function columnsOfField(field: RecordField): TableColumn[] {
  if (field.kind === 'scalar')
    return [{ name: field.column, type: columnType(field), indexed: field.indexed && !field.list }];
  if (field.kind === 'relation') return linkColumns(field);
  if (field.kind !== 'object') return [];
  if (field.list) return [{ name: field.path, type: 'TEXT', indexed: false }];
  return field.fields.flatMap(columnsOfField);
}

/** A link without `from` has a text column of its own. */
function linkColumns({ path, list, relation }: RelationField): TableColumn[] {
  const isOwn = relation.by === 'link' && relation.from === path;
  return isOwn ? [{ name: path, type: 'TEXT', indexed: !list }] : [];
}

function columnType({ type, list }: Pick<ScalarField, 'type' | 'list'>): ColumnType {
  if (list) return 'TEXT';
  if (type === 'Float') return 'REAL';
  return type === 'Int' || type === 'Boolean' ? 'INTEGER' : 'TEXT';
}

/** A field in the full-text index of its record type. */
interface SearchedField {
  readonly column: string;
  readonly list: boolean;
  readonly weight: number;
}

/** Returns the fields of the full-text index in the order of its columns; none if the type has no such index. */
export const listSearchedFields = ({ fields }: RecordTable): readonly SearchedField[] =>
  fields.filter(isSearched).map(({ column, list, searchWeight }) => ({ column, list, weight: searchWeight }));

const isSearched = (field: RecordField): field is ScalarField & { readonly searchWeight: number } =>
  field.kind === 'scalar' && field.searchWeight !== undefined;

/** Returns the name of the full-text index, which no record type can have. */
export const searchIndexOf = (kind: string): string => quoteIdentifier(`${kind}~search`);

/**
 * Accents do not matter, nor does case. Marks (M) are parts of words, such as the vowels of Hindi and Thai. The indexes of
 * prefixes make searches for the beginning of a word fast.
 */
const OPTIONS = `tokenize = "unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'", prefix = '2 3'`;

type Tables = readonly RecordTable[];

/**
 * Returns the statements that create the full-text indexes with all records, and the triggers that update them. A record
 * that replaces one with the same id or position deletes it only if `recursive_triggers` is on.
 */
export const createSearchIndexes = (tables: Tables): string[] =>
  tables.flatMap((table) => {
    const fields = listSearchedFields(table);
    if (fields.length === 0) return [];
    const [index, kind] = [searchIndexOf(table.kind), quoteIdentifier(table.kind)];
    const columns = ['rowid', ...fields.map((_, place) => `c${place}`)].join(', ');
    const values = (row: string): string =>
      [`${row}.position`, ...fields.map((field) => textOf(field, row))].join(', ');
    const trigger = (event: string): string => quoteIdentifier(`${table.kind}~${event}`);
    return [
      `DROP TABLE IF EXISTS ${index}`,
      `CREATE VIRTUAL TABLE ${index} USING fts5(${fields.map((_, place) => `c${place}`).join(', ')}, ${OPTIONS})`,
      `INSERT INTO ${index} (${columns}) SELECT ${values('t')} FROM ${kind} AS t`,
      `CREATE TRIGGER ${trigger('insert')} AFTER INSERT ON ${kind} BEGIN
        INSERT INTO ${index} (${columns}) VALUES (${values('new')}); END`,
      `CREATE TRIGGER ${trigger('delete')} AFTER DELETE ON ${kind} BEGIN
        DELETE FROM ${index} WHERE rowid = old.position; END`,
    ];
  });

/** The texts of a list are stored as JSON. */
function textOf({ column, list }: SearchedField, row: string): string {
  const value = `${row}.${quoteIdentifier(column)}`;
  return `search_text(${list ? `(SELECT group_concat(value, char(10)) FROM json_each(${value}))` : value})`;
}
