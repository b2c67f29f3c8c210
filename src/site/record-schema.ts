import { createHash } from 'node:crypto';
import { columnsOf } from './columns.js';
import type { Field, RecordTable } from './fields.js';
import { quote } from './sql.js';

export type RecordTables = Readonly<Record<string, RecordTable>>;

/** Changes when the tables made from equal fields would differ, so that older files are rebuilt. */
const LAYOUT = 1;

/** Equal for field tables that make the same columns and indexes. */
export function schemaDigest(tables: RecordTables): string {
  return createHash('sha256')
    .update(JSON.stringify([LAYOUT, createSchema(tables)]))
    .digest('hex');
}

/** The statements that make every table and its lasting indexes. */
export function createSchema(tables: RecordTables): string[] {
  const targets = linkTargets(tables);
  return Object.values(tables).flatMap((table) => {
    const columns = columnsOf(table);
    const list = columns.map(({ name, type }) => `${quote(name)} ${type}`).join(', ');
    const indexed = columns.filter(
      ({ name, indexed }) => name !== 'id' && (indexed || targets.has(`${table.kind} ${name}`)),
    );
    return [
      `CREATE TABLE ${quote(table.kind)} (position INTEGER PRIMARY KEY, ${list})`,
      `CREATE UNIQUE INDEX ${quote(`${table.kind}.id`)} ON ${quote(table.kind)} ("id")`,
      ...indexed.map(
        ({ name }) => `CREATE INDEX ${quote(`${table.kind}.${name}`)} ON ${quote(table.kind)} (${quote(name)})`,
      ),
    ];
  });
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
