import type { RecordField, RecordTable, ScalarField } from '@trellis/core/record-types';
import { quoteIdentifier } from './sql.js';

/** A field in the full-text index of its record type. */
export interface SearchedField {
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

/** Accents do not matter, nor does case. The indexes of prefixes make searches for the beginning of a word fast. */
const OPTIONS = `tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3'`;

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
  return list ? `(SELECT group_concat(value, char(10)) FROM json_each(${value}))` : value;
}
