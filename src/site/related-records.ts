import type { RelationField } from './fields.js';
import type { Meter } from './record-queries.js';
import { recordReader } from './read-records.js';
import type { RecordReader } from './read-records.js';
import { targetKinds } from './relations.js';
import type { CompileContext } from './scope.js';
import { relatedKey } from './selection.js';
import type { Selection, SelectedRelation, SiteRecord } from './selection.js';
import { quote } from './sql.js';
import type { SqlValue } from './sql.js';
import type { Statements } from './statements.js';

export interface LoadContext {
  readonly statements: Statements;
  readonly kinds: () => CompileContext['kinds'];
  readonly meter: Meter | undefined;
}

/** The column of a record that a relation starts from. */
const startColumn = ({ relation }: RelationField): string => {
  if (relation.by === 'parent') return 'parent';
  return relation.by === 'link' ? relation.from : 'id';
};

/** The column of the related kind that it leads to. */
const endColumn = ({ relation }: RelationField): string => {
  if (relation.by === 'parent') return 'id';
  return relation.by === 'link' ? relation.to : 'parent';
};

/** A reader of a kind whose rows also hold what the relations of the selection start from. */
export function readerWithRelations(kind: string, selection: Selection, keys: readonly string[] = []): RecordReader {
  return recordReader(kind, selection, [...keys, ...selection.relations.map(({ field }) => startColumn(field))], 't');
}

/** Makes the records of some rows, with their relations: one statement per relation and kind, however many rows. */
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
  readonly selection: Selection;
  readonly reader: RecordReader;
  readonly context: LoadContext;
}

function loadRelated(
  { field, select }: SelectedRelation,
  starts: readonly SqlValue[],
  context: LoadContext,
): unknown[] {
  const wanted = [...new Set(starts.filter((start) => start !== null))];
  const found = new Map<SqlValue, { position: number; record: SiteRecord }[]>();
  if (wanted.length > 0) {
    for (const kind of targetKinds(field, { kinds: context.kinds() }))
      loadKind({ kind, selection: select(kind), field, wanted, context }, found);
  }
  for (const related of found.values()) related.sort((one, other) => one.position - other.position);
  return starts.map((start) => {
    const related = (found.get(start) ?? []).map(({ record }) => record);
    return field.list ? related : (related[0] ?? null);
  });
}

interface KindLoading {
  readonly kind: string;
  readonly selection: Selection;
  readonly field: RelationField;
  readonly wanted: readonly SqlValue[];
  readonly context: LoadContext;
}

function loadKind(
  { kind, selection, field, wanted, context }: KindLoading,
  found: Map<SqlValue, { position: number; record: SiteRecord }[]>,
): void {
  context.meter?.check();
  const end = endColumn(field);
  const reader = readerWithRelations(kind, selection, ['position', end]);
  const text = `SELECT ${reader.select} FROM ${quote(kind)} AS t WHERE t.${quote(end)} IN (SELECT value FROM json_each(?)) ORDER BY t.position`;
  const rows = context.statements.all(text, [JSON.stringify(wanted)]);
  const records = toRecords(rows, { selection, reader, context });
  const [position, at] = [reader.keyIndex('position'), reader.keyIndex(end)];
  rows.forEach((row, index) => {
    const related = found.get(row[at] ?? null) ?? [];
    related.push({ position: Number(row[position]), record: records[index] ?? {} });
    found.set(row[at] ?? null, related);
  });
}
