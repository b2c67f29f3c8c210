import type { RecordField, RelationField } from '@trellis/core/record-types';
import picomatch from 'picomatch';
import type { RecordSort } from '../../src/query/record-queries.js';
import type { RecordTables } from '../../src/records/record-schema.js';

export type Plain = Readonly<Record<string, unknown>>;
/** Records in creation order, by record type. */
export type World = Readonly<Record<string, readonly Plain[]>>;

export interface ReferenceQuery {
  readonly filter?: Plain;
  readonly sort?: RecordSort;
  readonly skip?: number;
  readonly limit?: number;
}

interface GroupSort {
  readonly by?: 'VALUE' | 'COUNT';
  readonly order?: 'ASC' | 'DESC';
}

/** A record, an object inside it, or null, with the fields of its level. */
interface Level {
  readonly own: Plain | null;
  readonly fields: readonly RecordField[];
  readonly kind: string;
  /** Whether an absent value is missing unless it is null. */
  readonly tells: boolean;
}

/** A reference implementation of the documented query semantics, with which the compiled SQL is compared. */
export class Evaluator {
  readonly #tables: RecordTables;
  readonly #world: World;
  readonly #compute: (kind: string, field: string, record: Plain) => unknown;

  constructor(tables: RecordTables, world: World, compute: (kind: string, field: string, record: Plain) => unknown) {
    this.#tables = tables;
    this.#world = world;
    this.#compute = compute;
  }

  /** Returns the records of a page, in order. */
  page(kind: string, { filter, sort, skip = 0, limit }: ReferenceQuery): Plain[] {
    const matches = (this.#world[kind] ?? []).filter((record) => this.#holds(filter ?? {}, this.#at(kind, record)));
    return this.#sorted(kind, matches, sort).slice(skip, limit === undefined ? undefined : skip + limit);
  }

  distinct(kind: string, records: readonly Plain[], path: string): string[] {
    return [...new Set(records.flatMap((record) => this.#texts(kind, record, path)))].sort();
  }

  groups(kind: string, records: readonly Plain[], path: string, sort?: GroupSort): [string, unknown[]][] {
    const groups = this.distinct(kind, records, path).map((text): [string, unknown[]] => [
      text,
      records.filter((record) => this.#texts(kind, record, path).includes(text)).map(({ id }) => id),
    ]);
    if (sort?.by === 'COUNT') groups.sort(([, one], [, other]) => (one.length - other.length) * signOf(sort.order));
    else if (sort?.order === 'DESC') groups.reverse();
    return groups;
  }

  /** Returns the ids of the related records. */
  related(kind: string, record: Plain, field: RelationField): unknown {
    const found = this.#follow(field, this.#at(kind, record));
    return Array.isArray(found) ? found.map(({ own }) => own?.id) : (found?.own?.id ?? null);
  }

  #texts(kind: string, record: Plain, path: string): string[] {
    return [this.#valueAt(this.#at(kind, record), path.split('.'))]
      .flat(Infinity)
      .filter((one) => one !== null && one !== undefined)
      .map((one) => (typeof one === 'object' ? JSON.stringify(one) : String(one as string | number | boolean)));
  }

  #at(kind: string, own: Plain | null): Level {
    const table = this.#tables[kind];
    return { own, fields: table?.fields ?? [], kind, tells: table?.source !== undefined };
  }

  #holds(filter: Plain, level: Level): boolean {
    return Object.entries(filter).every(([name, input]) => {
      if (input === null || input === undefined) return true;
      if (name === 'or') return (input as Plain[]).some((branch) => this.#holds(branch, level));
      if (name === 'not') return asksNothing(input as Plain) || !this.#holds(input as Plain, level);
      const field = fieldOf(level, name);
      if (isLeaf(field)) {
        const value = this.#leaf(field, level);
        return Object.entries(input).every(([operator, given]) => test(operator, value, given));
      }
      return this.#holdsBelow(field, input as Plain, level);
    });
  }

  #holdsBelow(field: RecordField, input: Plain, level: Level): boolean {
    const filter = field.list ? ((input.elemMatch ?? {}) as Plain) : input;
    if (asksNothing(filter)) return true;
    const found = this.#step(field, level);
    // A relation without a record breaks the path off, so the values behind it are missing.
    const isBroken = level.own === null && level.tells;
    const tells = field.kind === 'relation' || isBroken || tellsBelow(field, level);
    const nothing = { own: null, fields: this.#fieldsBelow(field), kind: '', tells };
    if (field.list && !Array.isArray(found)) return false;
    if (Array.isArray(found)) return found.some((one) => this.#holds(filter, one));
    return this.#holds(filter, found ?? nothing);
  }

  /** Returns the level below a field that is not a leaf, a list of levels, or null. */
  #step(field: RecordField, level: Level): Level | Level[] | null {
    if (field.kind === 'relation') return this.#follow(field, level);
    const value = this.#leaf(field, level);
    const fields = this.#fieldsBelow(field);
    const below = { fields, kind: level.kind, tells: tellsBelow(field, level) };
    if (Array.isArray(value)) return value.map((own: Plain | null) => ({ own, ...below }));
    return value === null || value === undefined ? null : { own: value as Plain, ...below };
  }

  #leaf(field: RecordField, { own, kind, fields, tells }: Level): unknown {
    const absent = tells ? undefined : null;
    if (!own) return absent;
    if (field.kind === 'computed') return this.#compute(kind, field.path, own) ?? null;
    if (field.kind === 'scalar' && field.column !== field.path)
      return this.#leaf(fieldOf({ fields }, field.column), { own, kind, fields, tells });
    const value = own[field.name];
    return value === undefined ? absent : value;
  }

  #fieldsBelow(field: RecordField): readonly RecordField[] {
    if (field.kind === 'scalar') return [];
    if (field.kind !== 'relation') return field.fields;
    const table = field.type === 'Node' ? Object.values(this.#tables)[0] : this.#tables[field.type];
    return table?.fields ?? [];
  }

  #follow({ type, relation, list, nullable }: RelationField, { own }: Level): Level | Level[] | null {
    if (!own) return null;
    const kinds = type === 'Node' ? Object.keys(this.#tables) : [type];
    const everyone = kinds.flatMap((kind) => (this.#world[kind] ?? []).map((record) => this.#at(kind, record)));
    const whose = (name: string, value: unknown): Level[] =>
      value === null || value === undefined ? [] : everyone.filter((one) => one.own?.[name] === value);
    const whoseList = (name: string, value: unknown): Level[] =>
      value === null ? [] : everyone.filter(({ own: one }) => (one?.[name] as unknown[] | null)?.includes(value));
    if (relation.by !== 'link' && relation.by !== 'back') {
      const found = relation.by === 'parent' ? whose('id', own.parent) : whose('parent', own.id);
      return list ? found : (found[0] ?? null);
    }
    const keys = own[relation.from] ?? null;
    if (relation.by === 'back') {
      const { to, inList } = relation;
      const found = inList ? whoseList(to, keys) : whose(to, keys);
      return list ? found : (found[0] ?? null);
    }
    if (!list) return whose(relation.to, keys)[0] ?? null;
    if (keys === null) return nullable ? null : [];
    const found = (keys as unknown[]).flatMap((key) => whose(relation.to, key).slice(0, 1));
    return found.filter((one, place) => found.findIndex(({ own: same }) => same === one.own) === place);
  }

  /** Returns the value at a path; through a list, the list of the values of its elements. */
  #valueAt(level: Level, [name = '', ...rest]: readonly string[]): unknown {
    if (!level.own) return undefined;
    const field = fieldOf(level, name);
    if (rest.length === 0 && field.kind !== 'relation') return this.#leaf(field, level);
    const found = this.#step(field, level);
    const path = rest.length === 0 ? ['id'] : rest;
    if (Array.isArray(found)) {
      const values = found.map((one) => this.#valueAt(one, path));
      return this.#tells(field, path, level.tells) ? values.filter((value) => value !== undefined) : values;
    }
    return found ? this.#valueAt(found, path) : undefined;
  }

  /** Whether a value at the end of a path may be null or missing, and not just absent. */
  #tells(field: RecordField, [name = '', ...rest]: readonly string[], before: boolean): boolean {
    const isOfNode = field.kind === 'relation' && field.type === 'Node';
    const isTarget = field.kind === 'relation' && this.#tables[field.type]?.source !== undefined;
    const tells = isOfNode ? false : field.kind === 'relation' ? isTarget : tellsBelow(field, { tells: before });
    // A relation at the end of a path stands for the id of its records.
    if (name === '') return tells && field.kind !== 'relation';
    return this.#tells(fieldOf({ fields: this.#fieldsBelow(field) }, name), rest, tells);
  }

  #sorted(kind: string, records: readonly Plain[], sort: RecordSort | undefined): Plain[] {
    const keys = (sort?.fields ?? []).map((path, index) => ({
      path: (path ?? '').split('.'),
      sign: signOf(sort?.order?.[index]),
    }));
    const keyOf = (record: Plain, path: readonly string[]): unknown => {
      const level = this.#at(kind, record);
      const value = this.#valueAt(level, path);
      const [name = '', ...rest] = path;
      const absent = this.#tells(fieldOf(level, name), rest, level.tells) ? undefined : null;
      return Array.isArray(value) ? String(value) : (value ?? (value === null ? null : absent));
    };
    return [...records].sort((one, other) => {
      for (const { path, sign } of keys) {
        const order = compare(keyOf(one, path), keyOf(other, path));
        if (order !== 0) return order * sign;
      }
      return 0;
    });
  }
}

const NODE = ['id', 'parent', 'children', 'internal'];
const isNodeName = ({ path }: RecordField): boolean => NODE.includes(path.split('.')[0]!);

const tellsBelow = (field: RecordField, { tells }: { readonly tells: boolean }): boolean =>
  tells && field.kind !== 'computed' && !isNodeName(field);

const signOf = (order: string | null | undefined): number => (order === 'DESC' ? -1 : 1);

export const isLeaf = (field: RecordField): boolean =>
  field.kind === 'scalar' || (field.kind === 'computed' && field.fields.length === 0);

function fieldOf({ fields }: Pick<Level, 'fields'>, name: string): RecordField {
  const field = fields.find((one) => one.name === name);
  if (!field) throw new Error(`Unknown field ${name}.`);
  return field;
}

const OPERATORS = ['eq', 'ne', 'in', 'nin', 'gt', 'gte', 'lt', 'lte', 'regex', 'glob'];

const isOperators = (input: Plain): boolean =>
  Object.keys(input).length > 0 && Object.keys(input).every((key) => OPERATORS.includes(key));

const asksNothing = (filter: Plain): boolean =>
  Object.entries(filter).every(([name, input]) => {
    if (input === null || input === undefined) return true;
    return name !== 'or' && !isOperators(input as Plain) && asksNothing(input as Plain);
  });

function test(operator: string, value: unknown, given: unknown): boolean {
  if (given === undefined) return true;
  if (operator === 'ne') return !test('eq', value, given);
  if (operator === 'nin') return !test('in', value, given);
  if (operator === 'in') return (given as unknown[]).some((one) => test('eq', value, one));
  if (Array.isArray(value)) return value.some((element) => test(operator, element, given));
  const present = value ?? null;
  if (operator === 'eq') return present === given;
  if (given === null) return (operator === 'gte' || operator === 'lte') && value === null;
  if (present === null) return false;
  if (operator === 'regex') return toRegExp(given as string).test(present as string);
  if (operator === 'glob')
    return given === '' ? present === '' : picomatch.makeRe(given as string).test(toLine(present as string));
  if (operator === 'gt') return (present as string) > (given as string);
  if (operator === 'gte') return (present as string) >= (given as string);
  if (operator === 'lt') return (present as string) < (given as string);
  if (operator === 'lte') return (present as string) <= (given as string);
  throw new Error(`Unknown operator ${operator}.`);
}

/** For globs, line ends are ordinary characters, but not for picomatch. */
const toLine = (text: string): string => text.replaceAll('\n', ' ');

function toRegExp(text: string): RegExp {
  const [, source = '', flags = ''] = /^\/([^]*)\/(\w*)$/.exec(text) ?? [];
  return new RegExp(source, flags);
}

function compare(one: unknown, other: unknown): number {
  if (one === other) return 0;
  const [rank, otherRank] = [one, other].map((value) => [null, undefined].indexOf(value as null));
  if (rank! >= 0 || otherRank! >= 0) return rank! - otherRank!;
  return (one as string) < (other as string) ? -1 : 1;
}
