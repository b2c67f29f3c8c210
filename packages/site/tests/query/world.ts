import type { RecordField, RecordTable, RelationField, ScalarField } from '@trellis/core/record-types';
import fc from 'fast-check';
import { openRecordStore, type RecordStore } from '../../src/record-store.js';
import type { RecordTables } from '../../src/records/record-schema.js';
import type { SqlValue } from '../../src/records/sql.js';
import { validateRecord } from '../../src/sources/content/validate-record.js';
import type { Plain, World } from './evaluator.js';
import { tables as small } from './tables.js';

/**
 * Texts whose order differs between code points and code units, and texts with special characters of patterns and SQL.
 */
const TEXTS = [
  '',
  'a',
  'B',
  'ab',
  'a.b',
  'a/b.md',
  '.a',
  '10',
  '2',
  'ä',
  '\u{1F600}',
  '\uFF5E',
  'null',
  "o'x",
  '"; --',
  '%',
  '_',
  'a\nb',
];
const VALID_DAYS = ['2019', '2020-02-29', '2020-02-29T12:00:00.000Z'];
const DAYS = [...VALID_DAYS, 'junk'];

/** The values of each type that fields contain and are compared with. */
export const VALUES: Readonly<Record<string, readonly (string | number | boolean)[]>> = {
  Boolean: [true, false],
  Date: DAYS,
  Float: [-0.5, 0, 0.1, 1 / 3, 1e21, 1e-9, 7],
  ID: ['nowhere', ...TEXTS.slice(0, 3)],
  Int: [-1, 0, 1, 2, 10],
  String: TEXTS,
};

/** Returns ids such as `Item3`, some of which belong to no record. */
const idsOf = (kind: string): string[] => Array.from({ length: 8 }, (_, index) => `${kind}${index}`);

/** Returns the values for a column: the ids of linked records, or the values of its type. */
export function poolOf(field: ScalarField, table: RecordTable): readonly (string | number | boolean)[] {
  const link = table.fields.find(
    (one): one is RelationField =>
      one.kind === 'relation' && one.relation.by === 'link' && one.relation.from === field.column,
  );
  if (link?.relation.by === 'link' && link.relation.to === 'id') return idsOf(link.type);
  if (field.path === 'id') return idsOf(table.kind);
  return field.values ?? VALUES[field.type] ?? [];
}

const orNull = <T>(values: readonly T[]): fc.Arbitrary<T | null> => fc.constantFrom<T | null>(null, ...values);

const listOf = <T>(element: fc.Arbitrary<T>): fc.Arbitrary<T[]> => fc.array(element, { maxLength: 3 });

/** Returns random records of every type, with links to each other or to missing records. */
export function worldsOf(tables: RecordTables, most = 8): fc.Arbitrary<World> {
  const kinds = Object.values(tables);
  const parents = orNull(kinds.flatMap(({ kind }) => idsOf(kind)));
  const records = kinds.map((table) =>
    fc
      .array(fc.record({ ...recordOf(table.fields, table), parent: parents }, keysOfObject(table.fields, table)), {
        maxLength: most,
      })
      .map((found) => found.map((record, index) => ({ ...record, id: `${table.kind}${index}` }))),
  );
  return fc
    .tuple(...records)
    .map((found) => Object.fromEntries(kinds.map(({ kind }, index) => [kind, found[index] ?? []])));
}

/** In a file, the key of any nullable field may be missing. */
const keysOfObject = (fields: readonly RecordField[], table: RecordTable): { readonly noNullPrototype: true } => {
  if (!table.source) return { noNullPrototype: true };
  const known = recordOf(fields, table);
  const requiredKeys = fields.filter((field) => !field.nullable && field.name in known).map(({ name }) => name);
  // The type of the keys is unknown to the compiler.
  return { requiredKeys, noNullPrototype: true } as { readonly noNullPrototype: true };
};

function recordOf(fields: readonly RecordField[], table: RecordTable): Record<string, fc.Arbitrary<unknown>> {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value = valueOf(field, table);
      return value ? [[field.name, value]] : [];
    }),
  );
}

function valueOf(field: RecordField, table: RecordTable): fc.Arbitrary<unknown> | undefined {
  if (field.kind === 'computed') return undefined;
  if (field.kind === 'relation') return isOwnLink(field) ? keysOf(field, table) : undefined;
  if (field.kind === 'object') {
    const object = fc.record(recordOf(field.fields, table), keysOfObject(field.fields, table));
    return maybe(field, field.list ? listOf(table.source ? object : fc.option(object)) : object);
  }
  if (field.column !== field.path) return undefined;
  const pool = table.source && field.type === 'Date' ? VALID_DAYS : poolOf(field, table);
  const one = fc.constantFrom(...pool);
  return maybe(field, field.list ? listOf(table.source ? one : orNull(pool)) : one);
}

const isOwnLink = ({ relation, path }: RelationField): boolean => relation.by === 'link' && relation.from === path;

function keysOf({ type, list, relation }: RelationField, { source }: RecordTable): fc.Arbitrary<unknown> {
  const isById = relation.by === 'link' && relation.to === 'id';
  const keys: readonly unknown[] = isById ? idsOf(type) : TEXTS;
  const key = orNull(keys);
  return list ? fc.option(listOf(source ? fc.constantFrom(...keys) : key)) : key;
}

const maybe = ({ nullable }: RecordField, value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  nullable ? fc.option(value) : value;

export function storeOf(world: World, tables: RecordTables = small): RecordStore {
  const store = openRecordStore({ file: ':memory:', tables });
  fill(store, world, tables);
  return store;
}

/** Replaces the contents of the store, or its records of some types. */
export function fill(
  store: RecordStore,
  world: World,
  tables: RecordTables = small,
  replaced: readonly string[] = Object.keys(tables),
): void {
  const before = replaced.map((kind) => [kind, [...store.rows(kind, ['id'])]] as const);
  store.write((writer) => {
    for (const [kind, rows] of before) for (const { id } of rows) writer.remove(kind, String(id));
    Object.values(tables).forEach(({ kind, fields, source }, place) => {
      if (!replaced.includes(kind)) return;
      (world[kind] ?? []).forEach((record, index) => {
        writer.put(
          kind,
          {
            ...(source ? toContentRow(record, fields) : toRow(record, fields)),
            id: String(record.id),
            parent: (record.parent ?? null) as SqlValue,
          },
          place * 1000 + index,
        );
      });
    });
  });
}

/** Converts a record to a row as if it were read from a file. */
const toContentRow = (record: Plain, fields: readonly RecordField[]): Record<string, SqlValue> => ({
  ...validateRecord(fields, { values: record, body: undefined, textOnly: false }, CONTENT).row,
  ...toRow(
    record,
    fields.filter(({ name }) => name === 'internal'),
  ),
});

const CONTENT = { codecs: {}, toLinkKey: (_field: RelationField, text: string) => text };

/** Converts a record to a row: objects become columns with dotted names, lists JSON text, and booleans numbers. */
function toRow(record: Plain, fields: readonly RecordField[]): Record<string, SqlValue> {
  return Object.assign(
    {},
    ...fields.map((field) => {
      const value = record[field.name];
      if (value === undefined || (field.kind === 'relation' && !isOwnLink(field))) return {};
      if (field.kind !== 'object' || field.list) return { [field.path]: toSqlValue(value) };
      return value === null ? {} : toRow(value as Plain, field.fields);
    }),
  ) as Record<string, SqlValue>;
}

function toSqlValue(value: unknown): SqlValue {
  if (typeof value === 'boolean') return value ? 1 : 0;
  return Array.isArray(value) ? JSON.stringify(value) : (value as SqlValue);
}
