import type { RelationField } from '../core/record-types.js';
import type { WorkMeter } from './record-queries.js';
import { recordReader } from './read-records.js';
import type { RecordReader } from './read-records.js';
import { targetKinds } from './relations.js';
import type { CompileContext } from './scope.js';
import { relatedKey } from './selection.js';
import type { RecordSelection, SelectedRelation, SiteRecord } from './selection.js';
import { quoteIdentifier } from './sql.js';
import type { SqlValue } from './sql.js';
import type { Statements } from './statements.js';

export interface LoadContext {
  readonly statements: Statements;
  readonly kinds: () => CompileContext['kinds'];
  readonly meter: WorkMeter | undefined;
}

/** Returns the column of a record with the key of a relation. */
const startColumn = ({ relation }: RelationField): string => {
  if (relation.by === 'parent') return 'parent';
  return relation.by === 'link' ? relation.from : 'id';
};

/** Returns the column of the related record type that the key refers to. */
const endColumn = ({ relation }: RelationField): string => {
  if (relation.by === 'parent') return 'id';
  return relation.by === 'link' ? relation.to : 'parent';
};

/** Returns a reader whose rows also contain the keys of the selected relations. */
export function readerWithRelations(
  kind: string,
  selection: RecordSelection,
  keys: readonly string[] = [],
): RecordReader {
  return recordReader(kind, selection, [...keys, ...selection.relations.map(({ field }) => startColumn(field))], 't');
}

/** Converts rows to records and loads their relations, with one statement per relation and record type. */
export function toRecords(
  rows: readonly (readonly SqlValue[])[],
  { selection, reader, context }: Loading,
): SiteRecord[] {
  const records = rows.map((row) => reader.toRecord(row));
  for (const relation of selection.relations) {
    const index = reader.keyIndex(startColumn(relation.field));
    const related = loadRelated(
      relation,
      rows.map((row) => row[index] ?? null),
      context,
    );
    const key = relatedKey(relation.field.name);
    records.forEach((record, place) => (record[key] = related[place]));
  }
  return records;
}

interface Loading {
  readonly selection: RecordSelection;
  readonly reader: RecordReader;
  readonly context: LoadContext;
}

type Found = Map<SqlValue, { position: number; record: SiteRecord }[]>;

function loadRelated(
  { field, select }: SelectedRelation,
  starts: readonly SqlValue[],
  context: LoadContext,
): unknown[] {
  const keys = starts.map((start) => keysOf(field, start));
  const wanted = [...new Set(keys.flat())];
  const found: Found = new Map();
  if (wanted.length > 0) {
    for (const kind of targetKinds(field, { kinds: context.kinds() }))
      loadKind({ kind, selection: select(kind), field, wanted, context }, found);
  }
  for (const related of found.values()) related.sort((one, other) => one.position - other.position);
  return keys.map((own, index) => {
    if (!field.list) return found.get(own[0] ?? null)?.[0]?.record ?? null;
    if (field.nullable && starts[index] === null) return null;
    return isKeyList(field) ? firstOfEach(own, found) : (found.get(own[0] ?? null) ?? []).map(({ record }) => record);
  });
}

/** Returns the keys of a record's relation. */
function keysOf(field: RelationField, start: SqlValue): readonly SqlValue[] {
  if (start === null) return [];
  if (!isKeyList(field)) return [start];
  const keys = JSON.parse(String(start)) as readonly (SqlValue | boolean)[];
  return keys.filter((key) => key !== null).map((key) => (typeof key === 'boolean' ? Number(key) : key));
}

/** Whether the column contains a JSON list with a key for each record. */
const isKeyList = ({ list, relation }: RelationField): boolean => list && relation.by === 'link';

function firstOfEach(keys: readonly SqlValue[], found: Found): SiteRecord[] {
  const records = keys.map((key) => found.get(key)?.[0]?.record);
  return [...new Set(records.filter((record) => record !== undefined))];
}

interface KindLoading {
  readonly kind: string;
  readonly selection: RecordSelection;
  readonly field: RelationField;
  readonly wanted: readonly SqlValue[];
  readonly context: LoadContext;
}

function loadKind({ kind, selection, field, wanted, context }: KindLoading, found: Found): void {
  context.meter?.check();
  const end = endColumn(field);
  const reader = readerWithRelations(kind, selection, ['position', end]);
  const text = `SELECT ${reader.select} FROM ${quoteIdentifier(kind)} AS t WHERE t.${quoteIdentifier(end)} IN (SELECT value FROM json_each(?)) ORDER BY t.position`;
  const rows = context.statements.all(text, [JSON.stringify(wanted)]);
  const records = toRecords(rows, { selection, reader, context });
  const [position, at] = [reader.keyIndex('position'), reader.keyIndex(end)];
  rows.forEach((row, index) => {
    const related = found.get(row[at] ?? null) ?? [];
    related.push({ position: Number(row[position]), record: records[index] ?? {} });
    found.set(row[at] ?? null, related);
  });
}
