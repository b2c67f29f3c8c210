import { AppError } from '../errors.js';
import type { ComputedField, Field, RecordTable } from './fields.js';
import type { Patterns } from './patterns.js';
import type { RecordTables } from './record-schema.js';
import { frame, quote, sql } from './sql.js';
import type { Sql } from './sql.js';

/** What compiling one question needs to know of the store. */
export interface CompileContext {
  readonly tables: RecordTables;
  readonly patterns: Patterns;
  /** Whether text of that column may hold characters beyond U+FFFF. */
  readonly isAstral: (kind: string, column: string) => boolean;
  /** Kinds that have records at all, and among them those whose records have parents. */
  readonly kinds: { readonly any: readonly string[]; readonly children: readonly string[] };
  /** Counts what is looked up in other tables, and names each uniquely. */
  nextAlias(): string;
  /** Counts what is compared. */
  noteConditions(count: number): void;
  /** Whether each row is so much work that the time is to be looked at before it. */
  readonly isLaborious: boolean;
}

/** Where the fields of one level are read from: a row, an element of a list, or a computed object. */
export interface Scope {
  readonly fields: readonly Field[];
  /** Whether the level itself may be missing. */
  readonly nullable?: boolean;
  /** The SQL alias of the row, for a level whose relations can be followed. */
  readonly row?: { readonly alias: string; readonly kind: string };
  value(field: Field): Sql;
  isAstral(field: Field): boolean;
}

/** Looking through more relations than this multiplies the work of each row beyond use. */
const MAX_LOOKUPS = 200;

/** SQLite takes expressions of a thousand terms; people write some ten. */
const MAX_CONDITIONS = 300;

/** Up to here, 100,000 rows take some tenths of a second. */
const FEW_LOOKUPS = 3;
const FEW_CONDITIONS = 20;

type Shared = Pick<CompileContext, 'tables' | 'patterns' | 'isAstral'> & {
  readonly kinds: () => CompileContext['kinds'];
};

/** What one compilation counts, beside what all of them share. */
export class Compilation implements CompileContext {
  readonly tables: RecordTables;
  readonly patterns: Patterns;
  readonly isAstral: CompileContext['isAstral'];
  readonly #kinds: () => CompileContext['kinds'];
  #lookups = 0;
  #conditions = 0;

  constructor({ tables, patterns, isAstral, kinds }: Shared) {
    this.tables = tables;
    this.patterns = patterns;
    this.isAstral = isAstral;
    this.#kinds = kinds;
  }

  get kinds(): CompileContext['kinds'] {
    return this.#kinds();
  }

  get isLaborious(): boolean {
    return this.#lookups > FEW_LOOKUPS || this.#conditions > FEW_CONDITIONS;
  }

  noteConditions(count: number): void {
    this.#conditions += count;
    if (this.#conditions <= MAX_CONDITIONS) return;
    throw new AppError(
      'invalid_input',
      `Expected a filter of at most ${MAX_CONDITIONS} conditions; this one has more.`,
    );
  }

  nextAlias(): string {
    this.#lookups += 1;
    if (this.#lookups <= MAX_LOOKUPS) return `r${this.#lookups}`;
    throw new AppError(
      'invalid_input',
      `Expected a filter or sort that looks through at most ${MAX_LOOKUPS} relations; this one has more.`,
    );
  }
}

export function rowScope(table: RecordTable, alias: string, context: CompileContext): Scope {
  const column = (name: string): Sql => sql(`${alias}.${quote(name)}`);
  return {
    fields: table.fields,
    row: { alias, kind: table.kind },
    value: (field) =>
      field.kind === 'computed' ? computedValue(table.kind, field, column) : column(storedColumn(field)),
    isAstral: (field) => field.kind === 'computed' || context.isAstral(table.kind, storedColumn(field)),
  };
}

/** A row that may be of any of some kinds. */
export function nodeScope(kinds: readonly string[], alias: string, context: CompileContext): Scope {
  const row = rowScope(nodeTable(context), alias, context);
  return { ...row, isAstral: (field) => kinds.some((kind) => context.isAstral(kind, storedColumn(field))) };
}

/** The fields of every kind, as a table. */
export function nodeTable({ tables }: Pick<CompileContext, 'tables'>): RecordTable {
  const known = nodeTables.get(tables);
  if (known) return known;
  const [any] = Object.values(tables);
  const fields = (any?.fields ?? []).filter(({ name }) => NODE_FIELDS.includes(name));
  const table = { kind: 'Node', single: 'node', all: 'allNode', fields };
  nodeTables.set(tables, table);
  return table;
}

const nodeTables = new WeakMap<RecordTables, RecordTable>();

const NODE_FIELDS = ['id', 'parent', 'children', 'internal'];

/** The fields of an object kept as JSON, whose own path is `prefix`. */
export function jsonScope(fields: readonly Field[], object: Sql, prefix: string): Scope {
  const keys = (field: Field): string =>
    field.path
      .slice(prefix.length + 1)
      .split('.')
      .map((key) => `."${key}"`)
      .join('');
  return {
    fields,
    nullable: true,
    value: (field) => frame(`% ${isList(field) ? '->' : '->>'} %`, object, sql(`'$${keys(field)}'`)),
    isAstral: () => true,
  };
}

const isList = (field: Field): boolean => field.list;

const storedColumn = (field: Field): string => (field.kind === 'scalar' ? field.column : field.path);

/** A call of the resolver with its default arguments, on the columns that it says it needs. */
function computedValue(kind: string, field: ComputedField, column: (name: string) => Sql): Sql {
  const needs = ['id', ...field.needs.filter((name) => name !== 'id')];
  const pairs = needs.map((name) => frame(`'${name.replaceAll("'", "''")}', %`, column(name)));
  return frame(`computed('${kind}', '${field.path}', json_object(%))`, {
    text: pairs.map(({ text }) => text).join(', '),
    values: [],
  });
}

/** The table of a kind that a field leads to. */
export function tableOf(kind: string, { tables }: Pick<CompileContext, 'tables'>): RecordTable {
  const table = tables[kind];
  if (!table) throw new Error(`There is no record kind ${kind}.`);
  return table;
}

/** The fields that a filter or a path may name below a field; every kind has those of `Node`. */
export function fieldsBelow(field: Field, context: Pick<CompileContext, 'tables'>): readonly Field[] {
  if (field.kind === 'scalar') return [];
  if (field.kind !== 'relation') return field.fields;
  return field.type === 'Node' ? nodeTable(context).fields : tableOf(field.type, context).fields;
}
