import type { RecordField, RecordTable, RelationField, ScalarField } from '../core/record-types.js';

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
  return [...columns.values()];
}

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

const byName = new WeakMap<readonly RecordField[], ReadonlyMap<string, RecordField>>();

/** Returns the field with a name among the fields of one level. */
export function findField(fields: readonly RecordField[], name: string): RecordField | undefined {
  let names = byName.get(fields);
  if (!names) {
    names = new Map(fields.map((field) => [field.name, field]));
    byName.set(fields, names);
  }
  return names.get(name);
}
