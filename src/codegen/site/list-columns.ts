import type { RecordField, RelationField } from '../../core/record-types.js';

/** One column of a table, with the type of its stored values. */
export interface StoredColumn {
  readonly name: string;
  /** In TypeScript syntax. Booleans are 0 or 1, lists are JSON text. */
  readonly type: string;
}

const STORED_TYPES = {
  Boolean: '0 | 1',
  Date: 'string',
  Float: 'number',
  ID: 'string',
  Int: 'number',
  String: 'string',
};

/** Lists the columns of a record type in the order of its fields. Computed fields and aliases have no column. */
export function listColumns(fields: readonly RecordField[], nullable = false): StoredColumn[] {
  return fields.flatMap((field) => {
    const orNull = nullable || field.nullable ? ' | null' : '';
    if (field.kind === 'computed') return [];
    if (field.kind === 'relation') return hasKeyColumn(field) ? [{ name: field.path, type: `string${orNull}` }] : [];
    if (field.list) return isAlias(field) ? [] : [{ name: field.path, type: `string${orNull}` }];
    if (field.kind === 'object') return listColumns(field.fields, nullable || field.nullable);
    return isAlias(field) ? [] : [{ name: field.path, type: STORED_TYPES[field.type] + orNull }];
  });
}

/** A parent, and a link without `from`, have a column with the key; for a list, JSON text with the keys. */
const hasKeyColumn = ({ relation, path }: RelationField): boolean =>
  relation.by === 'parent' || (relation.by === 'link' && relation.from === path);

const isAlias = (field: RecordField): boolean => field.kind === 'scalar' && field.column !== field.path;
