import type { RecordField, RecordTable } from '@trellis/core/record-types';
import fc from 'fast-check';
import type { RecordTables } from '../../src/records/record-schema.js';
import { isLeaf, type Plain } from './evaluator.js';
import { poolOf, VALUES } from './world.js';

const PATTERNS = ['/a/', '/^a/i', '/b$/', '/./', '/[0-9]+/', '/(a|B)+b?/', '/^$/', '/null/', "/o'x|%/", '/\\.md$/'];
/** Excludes negations, which the tests of patterns cover, because the evaluator uses a different matcher. */
const GLOBS = ['*', '**', 'a*', '*.b', '**/*.md', '{a,B}', '[a-c]', '?', ''];

const DEPTH = 3;

/** The operators of each type in the schema, which does not order text. */
const OPERATORS: Readonly<Record<string, readonly string[]>> = {
  Boolean: ['eq', 'ne', 'in', 'nin'],
  Date: ['eq', 'ne', 'in', 'nin', 'gt', 'gte', 'lt', 'lte'],
  Float: ['eq', 'ne', 'in', 'nin', 'gt', 'gte', 'lt', 'lte'],
  Int: ['eq', 'ne', 'in', 'nin', 'gt', 'gte', 'lt', 'lte'],
  String: ['eq', 'ne', 'in', 'nin', 'regex', 'glob'],
};

/** Returns the operators of a type. Unlike the schema, the engine orders text too. */
export type OperatorsOf = (type: string) => readonly string[];
export const bySchema: OperatorsOf = (type) => OPERATORS[type === 'ID' ? 'String' : type] ?? [];
export const byEngine: OperatorsOf = (type) =>
  type === 'String' ? [...bySchema('Date'), 'regex', 'glob'] : bySchema(type);

/** Returns random filters of one record type. */
export function filtersOf(tables: RecordTables, table: RecordTable, operatorsOf: OperatorsOf): fc.Arbitrary<Plain> {
  return new Filters(tables, operatorsOf).ofKind(table, DEPTH);
}

class Filters {
  readonly #tables: RecordTables;
  readonly #operatorsOf: OperatorsOf;
  readonly #made = new Map<string, fc.Arbitrary<Plain>>();

  constructor(tables: RecordTables, operatorsOf: OperatorsOf) {
    this.#tables = tables;
    this.#operatorsOf = operatorsOf;
  }

  ofKind(table: RecordTable, depth: number): fc.Arbitrary<Plain> {
    const plain = this.#once(`${table.kind} ${depth}`, () => this.#some(table.fields, { table, depth }));
    const combined = fc.record({ or: fc.array(plain, { maxLength: 3 }), not: plain }, { requiredKeys: [] });
    return fc.oneof(
      { weight: 4, arbitrary: plain },
      { weight: 1, arbitrary: fc.tuple(combined, plain).map(([one, other]) => ({ ...other, ...one })) },
    );
  }

  #some(fields: readonly RecordField[], at: At): fc.Arbitrary<Plain> {
    const filters = new Map(
      fields.flatMap((field) => (this.#isAskable(field, at) ? [[field.name, field] as const] : [])),
    );
    return fc
      .uniqueArray(fc.constantFrom(...filters.keys()), { maxLength: at.depth === DEPTH ? 3 : 2 })
      .chain((names) =>
        fc.record(
          Object.fromEntries(
            names.map((name) => [name, fc.option(this.#ofField(filters.get(name)!, at), { freq: 20 })]),
          ),
        ),
      );
  }

  #isAskable = (field: RecordField, { depth }: At): boolean => isLeaf(field) || depth > 1;

  #ofField(field: RecordField, { table, depth }: At): fc.Arbitrary<Plain> {
    if (field.kind === 'scalar') return this.#operators(field, poolOf(field, table));
    if (field.kind === 'computed' && isLeaf(field))
      return this.#operators(field, field.values ?? VALUES[field.type] ?? []);
    const below = this.#below(field, { table, depth: depth - 1 });
    return field.list ? fc.option(below, { freq: 20, nil: {} }).map((elemMatch) => ({ elemMatch })) : below;
  }

  #below(field: RecordField, at: At): fc.Arbitrary<Plain> {
    if (field.kind === 'scalar') throw new Error(`The scalar ${field.path} has no fields.`);
    if (field.kind !== 'relation')
      return this.#once(`${at.table.kind} ${field.path} ${at.depth}`, () => this.#some(field.fields, at));
    const table = this.#tables[field.type];
    if (table) return this.ofKind(table, at.depth);
    return this.#once(`Node ${at.depth}`, () =>
      this.#some(nodeFields(this.#tables), { ...at, table: anyTable(this.#tables) }),
    );
  }

  #operators(
    { type, values }: { readonly type: string; readonly values?: readonly string[] },
    pool: readonly (string | number | boolean)[],
  ): fc.Arbitrary<Plain> {
    const value = fc.constantFrom<string | number | boolean | null>(null, ...pool, ...pool);
    const operators = values ? bySchema('Boolean') : this.#operatorsOf(type);
    const one = fc.constantFrom(...operators).chain((name) => operator(name, value));
    return fc.oneof(
      { weight: 6, arbitrary: one },
      { weight: 2, arbitrary: fc.tuple(one, one).map(([first, second]) => ({ ...first, ...second })) },
      { weight: 1, arbitrary: fc.constant({}) },
    );
  }

  #once(key: string, make: () => fc.Arbitrary<Plain>): fc.Arbitrary<Plain> {
    const made = this.#made.get(key) ?? make();
    this.#made.set(key, made);
    return made;
  }
}

interface At {
  readonly table: RecordTable;
  readonly depth: number;
}

function operator(name: string, value: fc.Arbitrary<unknown>): fc.Arbitrary<Plain> {
  if (name === 'regex') return fc.constantFrom(...PATTERNS).map((regex) => ({ regex }));
  if (name === 'glob') return fc.constantFrom(...GLOBS).map((glob) => ({ glob }));
  if (name !== 'in' && name !== 'nin') return value.map((given) => ({ [name]: given }));
  // Long lists are passed to the database in another form.
  const times = fc.constantFrom(1, 20);
  return fc.tuple(fc.array(value, { maxLength: 4 }), times).map(([given, length]) => ({
    [name]: Array<unknown[]>(length).fill(given).flat(),
  }));
}

const anyTable = (tables: RecordTables): RecordTable => Object.values(tables)[0]!;

const NODE = ['id', 'parent', 'children', 'internal'];
const nodeFields = (tables: RecordTables): RecordField[] =>
  anyTable(tables).fields.filter(({ name }) => NODE.includes(name));

/** Returns every path of a record type with up to four segments. */
export function pathsOf(tables: RecordTables, fields: readonly RecordField[], steps = 3): string[] {
  return fields.flatMap((field) => {
    const below =
      field.kind === 'relation'
        ? (tables[field.type]?.fields ?? nodeFields(tables))
        : 'fields' in field
          ? field.fields
          : [];
    const inner = steps === 0 ? [] : pathsOf(tables, below, steps - 1).map((path) => `${field.name}.${path}`);
    return isLeaf(field) || field.list ? [field.name, ...inner] : inner;
  });
}

/** Whether a path can be grouped by, because its values are scalars. */
export function hasText(tables: RecordTables, fields: readonly RecordField[], path: string): boolean {
  const [name, ...rest] = path.split('.');
  const field = fields.find((one) => one.name === name)!;
  if (rest.length === 0) return isLeaf(field) || field.list;
  const below =
    field.kind === 'relation' ? (tables[field.type] ?? anyTable(tables)).fields : 'fields' in field ? field.fields : [];
  return hasText(tables, below, rest.join('.'));
}

export const sortsOf = (paths: readonly string[]) =>
  fc.record(
    {
      fields: fc.array(fc.constantFrom(...paths), { maxLength: 3 }),
      order: fc.array(fc.constantFrom('ASC' as const, 'DESC' as const), { maxLength: 4 }),
    },
    { requiredKeys: ['fields'] },
  );

export const pages = fc.record({ skip: fc.nat(6), limit: fc.nat(6) }, { requiredKeys: [] });

export const groupSorts = fc.option(
  fc.record({
    by: fc.constantFrom('VALUE' as const, 'COUNT' as const),
    order: fc.constantFrom('ASC' as const, 'DESC' as const),
  }),
  { nil: undefined },
);
