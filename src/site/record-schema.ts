import { createHash } from 'node:crypto';
import { columnsOf } from './columns.js';
import type { Column } from './columns.js';
import type { Field, RecordTable } from './fields.js';
import { quote } from './sql.js';

export type RecordTables = Readonly<Record<string, RecordTable>>;

/** By kind and column: the SQL expression of the other columns that gives its value, which is then not stored. */
export type DerivedColumns = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** What the tables of records are made from. */
export interface RecordSchema {
  readonly tables: RecordTables;
  readonly derived?: DerivedColumns | undefined;
}

/** Changes when the tables made from equal fields would differ, so that older files are rebuilt. */
const LAYOUT = 2;

/** Equal for schemas that make the same columns and indexes. */
export function schemaDigest(schema: RecordSchema): string {
  const statements = [createTables(schema), addDerivedColumns(schema), [...createIndexes(schema.tables).values()]];
  return createHash('sha256')
    .update(JSON.stringify([LAYOUT, ...statements]))
    .digest('hex');
}

/** The statements that make every table, with the columns that are stored. */
export function createTables(schema: RecordSchema): string[] {
  return Object.values(schema.tables).map((table) => {
    const list = storedColumns(schema, table).map(({ name, type }) => `${quote(name)} ${type}`);
    return `CREATE TABLE ${quote(table.kind)} (position INTEGER PRIMARY KEY, ${list.join(', ')})`;
  });
}

/**
 * The statements that add the other columns to tables that may have rows: these
 * are not touched. Writing a row makes every such value, to no purpose, so a
 * first filling is done before.
 */
export function addDerivedColumns(schema: RecordSchema): string[] {
  return Object.values(schema.tables).flatMap((table) =>
    columnsOf(table).flatMap(({ name, type }) => {
      const value = schema.derived?.[table.kind]?.[name];
      return value === undefined
        ? []
        : [`ALTER TABLE ${quote(table.kind)} ADD COLUMN ${quote(name)} ${type} AS (${value}) VIRTUAL`];
    }),
  );
}

/** The columns that rows are written with, beside `position`. */
export function storedColumns({ derived }: RecordSchema, table: RecordTable): Column[] {
  return columnsOf(table).filter(({ name }) => derived?.[table.kind]?.[name] === undefined);
}

/** The statements that make the lasting indexes, by name. */
export function createIndexes(tables: RecordTables): ReadonlyMap<string, string> {
  const targets = linkTargets(tables);
  const statements = new Map<string, string>();
  for (const table of Object.values(tables)) {
    const isLooked = ({ name, indexed }: Column): boolean => indexed || targets.has(`${table.kind} ${name}`);
    for (const { name } of columnsOf(table).filter(isLooked)) {
      const unique = name === 'id' ? 'UNIQUE ' : '';
      const index = `${table.kind}.${name}`;
      // Most records have no parent, and no query looks for these by it.
      const which = name === 'parent' ? ' WHERE "parent" IS NOT NULL' : '';
      statements.set(index, `CREATE ${unique}INDEX ${quote(index)} ON ${quote(table.kind)} (${quote(name)})${which}`);
    }
  }
  return statements;
}

/** Columns that `@link` looks records up by, as `Kind column`. */
function linkTargets(tables: RecordTables): ReadonlySet<string> {
  const targets = new Set<string>();
  const visit = (field: Field): void => {
    if (field.kind === 'object') field.fields.forEach(visit);
    if (field.kind === 'relation' && field.relation.by === 'link') targets.add(`${field.type} ${field.relation.to}`);
  };
  for (const table of Object.values(tables)) table.fields.forEach(visit);
  return targets;
}
