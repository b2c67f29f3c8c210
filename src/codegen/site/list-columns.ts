import type { Field, RelationField } from '../../site/fields.js';

/** One column of a table, with the type of what the store keeps in it. */
export interface Column {
  readonly name: string;
  /** As TypeScript: booleans are 0 or 1, lists are JSON text. */
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

/** The columns of a record, in the order of its fields; computed fields and aliases have none. */
export function listColumns(fields: readonly Field[], nullable = false): Column[] {
  return fields.flatMap((field) => {
    const orNull = nullable || field.nullable ? ' | null' : '';
    if (field.kind === 'computed') return [];
    if (field.kind === 'relation') return isKept(field) ? [{ name: field.path, type: `string${orNull}` }] : [];
    if (field.list) return isAlias(field) ? [] : [{ name: field.path, type: `string${orNull}` }];
    if (field.kind === 'object') return listColumns(field.fields, nullable || field.nullable);
    return isAlias(field) ? [] : [{ name: field.path, type: STORED_TYPES[field.type] + orNull }];
  });
}

/** A parent, and a link that is not by another field, have a column that holds the key; of a list, JSON text of keys. */
const isKept = ({ relation, path }: RelationField): boolean =>
  relation.by === 'parent' || (relation.by === 'link' && relation.from === path);

const isAlias = (field: Field): boolean => field.kind === 'scalar' && field.column !== field.path;
