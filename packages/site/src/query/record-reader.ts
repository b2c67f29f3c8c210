import type { RelationField } from '@trellis/core/record-types';
import { NULLS, toNullsEntry } from '../records/record-schema.js';
import { quoteIdentifier, sql, type Sql, sqlTemplate, type SqlValue, type Statements } from '../records/sql.js';
import { type CompiledQuery, restrictToPositions } from './compile-query.js';
import type {
  RecordSelection,
  SelectedColumn,
  SelectedRelation,
  SelectedValue,
  SiteRecord,
  WorkMeter,
} from './record-queries.js';
import { type CompileContext, targetKinds } from './scope.js';

export interface LoadContext {
  readonly statements: Statements;
  readonly kinds: () => CompileContext['kinds'];
  readonly meter: WorkMeter | undefined;
}

/** Returns the column of a record with the key of a relation. */
const startColumn = ({ relation }: RelationField): string => {
  if (relation.by === 'parent') return 'parent';
  return relation.by === 'link' || relation.by === 'back' ? relation.from : 'id';
};

/** Returns the column of the related record type that the key refers to. */
const endColumn = ({ relation }: RelationField): string => {
  if (relation.by === 'parent') return 'id';
  return relation.by === 'link' || relation.by === 'back' ? relation.to : 'parent';
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
    for (const kind of targetKinds(field, context.kinds))
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
  const reader = readerWithRelations(kind, selection, ['position']);
  const { from, key } = keySource(field, `t.${quoteIdentifier(end)}`);
  const text = `SELECT ${reader.select}, ${key} FROM ${quoteIdentifier(kind)} AS t${from} WHERE ${key} IN (SELECT value FROM json_each(?)) ORDER BY t.position`;
  const rows = context.statements.all(text, [JSON.stringify(wanted)]);
  const records = toRecords(rows, { selection, reader, context });
  const position = reader.keyIndex('position');
  rows.forEach((row, index) => {
    const at = row.at(-1) ?? null;
    const related = found.get(at) ?? [];
    const own = { position: Number(row[position]), record: records[index] ?? {} };
    // A list may contain the same key twice.
    if (related.at(-1)?.position !== own.position) related.push(own);
    found.set(at, related);
  });
}

/** Returns the SQL for the keys of a related row: its column, or each value of the list in its column. */
function keySource({ relation }: RelationField, column: string): { readonly from: string; readonly key: string } {
  if (relation.by !== 'back' || !relation.inList) return { from: '', key: column };
  return { from: `, json_each(${column}) AS k`, key: 'k.value' };
}

type Build = (row: readonly SqlValue[]) => unknown;

/** Reads the records of one selection: names the columns to select and converts each row. */
export interface RecordReader {
  /** The SQL expressions on the row `alias`, joined by commas. */
  readonly select: string;
  /** Returns the names of the columns of `select`. */
  readonly names: () => string;
  /** Whether JSON preserves all values. Floats lose precision, as SQLite writes them with 15 digits. */
  readonly isJsonExact: boolean;
  /** Returns the index in the row of a key column of a relation. */
  keyIndex(column: string): number;
  toRecord(row: readonly SqlValue[]): SiteRecord;
}

/** @param keys Columns to read in addition to those of the selection. */
function recordReader(kind: string, selection: RecordSelection, keys: readonly string[], alias: string): RecordReader {
  const expressions: string[] = [];
  const indexes = new Map<string, number>();
  const read = (expression: string): number => {
    const index = indexes.get(expression) ?? expressions.push(expression) - 1;
    indexes.set(expression, index);
    return index;
  };
  const column = (name: string): number => read(`${alias}.${quoteIdentifier(name)}`);
  for (const key of keys) column(key);
  const builds = selection.values.map((value) => [value.name, buildValue(value, column, read)] as const);
  if (expressions.length === 0) column('position');
  const plain = builds.filter((entry): entry is readonly [string, number] => typeof entry[1] === 'number');
  const made = builds.filter((entry): entry is readonly [string, Build] => typeof entry[1] !== 'number');
  return {
    select: expressions.map((expression, index) => `${expression} AS c${index}`).join(', '),
    names: () => expressions.map((_, index) => `c${index}`).join(', '),
    isJsonExact: !selection.values.some(holdsFloat),
    keyIndex: column,
    toRecord(row) {
      const record: SiteRecord = { __typename: kind };
      for (const [name, index] of plain) record[name] = row[index];
      for (const [name, build] of made) record[name] = build(row);
      return record;
    },
  };
}

const holdsFloat = (value: SelectedValue): boolean =>
  value.kind === 'object' ? value.values.some(holdsFloat) : value.holds === 'float';

/** Returns the index of a value that needs no conversion, otherwise the function that builds it from the row. */
function buildValue(
  value: SelectedValue,
  column: (name: string) => number,
  read: (expression: string) => number,
): number | Build {
  if (value.kind === 'column') return buildColumn(value, column(value.column));
  const parts = value.values.map((part) => [part.name, buildValue(part, column, read)] as const);
  const isPresent = value.presence.map(column);
  const nulls = value.emptyPath === undefined ? undefined : column(NULLS);
  const entry = toNullsEntry(value.emptyPath ?? '');
  return (row) => {
    const hasNoValues = isPresent.length > 0 && isPresent.every((index) => row[index] === null);
    if (hasNoValues && (nulls === undefined || !isNoted(row[nulls], entry))) return null;
    const object: SiteRecord = {};
    for (const [name, build] of parts) object[name] = typeof build === 'number' ? row[build] : build(row);
    return object;
  };
}

const isNoted = (nulls: SqlValue | undefined, entry: string): boolean =>
  typeof nulls === 'string' && nulls.includes(entry);

function buildColumn({ holds }: SelectedColumn, index: number): number | Build {
  if (holds === 'value' || holds === 'float') return index;
  if (holds === 'boolean') return (row) => (row[index] === null ? null : row[index] === 1);
  return (row) => (row[index] === null ? null : (JSON.parse(row[index] as string) as unknown));
}

/** Returns a key that no field has, so that a relation never hides a column of the same name, such as `parent`. */
const relatedKey = (field: string): `~${string}` => `~${field}`;

/** Thrown by a query that needs asynchronous work first, such as loading computed values. */
export class DataNotLoadedError extends Error {
  readonly load: () => Promise<void>;

  constructor(load: () => Promise<void>) {
    super('This query needs values that have not been loaded yet.');
    this.load = load;
  }
}

/** Returns the result of `read`, synchronously if possible, otherwise after loading the values that it needs. */
export function withComputedValues<T>(read: () => T | Promise<T>): T | Promise<T> {
  const retry = async (error: unknown): Promise<T> => {
    if (!(error instanceof DataNotLoadedError)) throw error;
    await error.load();
    return withComputedValues(read);
  };
  try {
    const found = read();
    return found instanceof Promise ? found.catch(retry) : found;
  } catch (error) {
    if (error instanceof DataNotLoadedError) return retry(error);
    throw error;
  }
}

/** The size of pieces adapts until each takes about this long, so that other requests wait only briefly. */
const PIECE_MS = 10;
const FIRST_ROWS = 200;
const MAX_ROWS = 10_000;

/** The maximum number of attempts if records change during the search. */
const MAX_ATTEMPTS = 5;

/** A query restricted to its matches, which are those of one version of the records. */
export interface FoundMatches {
  readonly version: number;
  readonly query: CompiledQuery;
}

interface SearchOptions {
  readonly run: (statement: Sql) => SqlValue[][];
  /** Returns a number that changes with the records that the query reads. */
  readonly getVersion: () => number;
  readonly meter: WorkMeter;
}

/**
 * Finds the matches of a slow filter, such as one with a malicious pattern, a few rows at a time with other requests in
 * between. A single SQLite statement cannot pause and would block the process until its end. Returns `undefined` if
 * records changed during each attempt.
 */
export async function findInPieces(query: CompiledQuery, search: SearchOptions): Promise<FoundMatches | undefined> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const version = search.getVersion();
    const positions = await findPositions(query, search);
    if (positions) return { version, query: restrictToPositions(query, JSON.stringify(positions)) };
  }
  return undefined;
}

/** Returns the positions of all matches, or `undefined` if records changed during the search. */
async function findPositions(query: CompiledQuery, search: SearchOptions): Promise<SqlValue[] | undefined> {
  const { meter } = search;
  const version = search.getVersion();
  const positions: SqlValue[] = [];
  let after: SqlValue = Number.MIN_SAFE_INTEGER;
  let rows = FIRST_ROWS;
  for (;;) {
    await meter.nextTurn();
    if (search.getVersion() !== version) return undefined;
    const startedAt = performance.now();
    const piece = await withComputedValues(() => meter.work(() => findPiece(query, { after, rows }, search)));
    if (!piece) return positions;
    for (const position of piece.positions) positions.push(position);
    after = piece.last;
    rows = nextSize(rows, performance.now() - startedAt);
  }
}

/** Returns the statement whose matches {@link findInPieces} finds. */
export const searchStatement = ({ kind, where }: CompiledQuery): Sql =>
  sqlTemplate(`SELECT t.position FROM ${quoteIdentifier(kind)} AS t WHERE %`, where);

interface Piece {
  readonly after: SqlValue;
  readonly rows: number;
}

interface FoundPiece {
  readonly last: SqlValue;
  readonly positions: readonly SqlValue[];
}

function findPiece(
  query: CompiledQuery,
  { after, rows }: Piece,
  { run, meter }: SearchOptions,
): FoundPiece | undefined {
  meter.check();
  const table = quoteIdentifier(query.kind);
  const bound = sql(
    `SELECT max(position) FROM (SELECT position FROM ${table} WHERE position > ? ORDER BY position LIMIT ?)`,
    after,
    rows,
  );
  const last = run(bound)[0]?.[0] ?? null;
  if (last === null) return undefined;
  const within = sql('t.position > ? AND t.position <= ?', after, last);
  const found = sqlTemplate(`SELECT t.position FROM ${table} AS t WHERE % AND (%)`, within, query.where);
  return { last, positions: run(found).map(([position = null]) => position) };
}

function nextSize(rows: number, milliseconds: number): number {
  if (milliseconds > PIECE_MS) return Math.max(1, Math.floor((rows * PIECE_MS) / milliseconds));
  return Math.min(MAX_ROWS, rows * 2);
}
