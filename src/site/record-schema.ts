import { createHash } from 'node:crypto';
import { columnsOf } from './columns.js';
import type { Column } from './columns.js';
import type { Field, RecordTable } from './fields.js';
import { quote } from './sql.js';

export type RecordTables = Readonly<Record<string, RecordTable>>;

/** Changes when the tables made from equal fields would differ, so that older files are rebuilt. */
const LAYOUT = 1;

/** Equal for field tables that make the same columns and indexes. */
export function schemaDigest(tables: RecordTables): string {
  return createHash('sha256')
    .update(JSON.stringify([LAYOUT, createTables(tables), [...createIndexes(tables).values()]]))
    .digest('hex');
}

/** The statements that make every table. */
export function createTables(tables: RecordTables): string[] {
  return Object.values(tables).map((table) => {
    const list = columnsOf(table).map(({ name, type }) => `${quote(name)} ${type}`);
    return `CREATE TABLE ${quote(table.kind)} (position INTEGER PRIMARY KEY, ${list.join(', ')})`;
  });
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
