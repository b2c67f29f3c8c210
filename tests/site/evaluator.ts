import type { Sort } from '../../src/site/compile-sort.js';

/** A plain-JavaScript reading of the documented semantics, to compare the compiled SQL with. */

export type Plain = Readonly<Record<string, unknown>>;
export type World = Readonly<Record<'Item' | 'Part', readonly Plain[]>>;

/** Records in creation order that match, then sorted and cut. */
export function evaluate(
  world: World,
  { filter, sort, skip = 0, limit }: { filter?: Plain; sort?: Sort; skip?: number; limit?: number },
): Plain[] {
  const matches = world.Item.filter((record) => holds(filter ?? {}, record, world));
  const sorted = sortRecords(matches, sort, world);
  return sorted.slice(skip, limit === undefined ? undefined : skip + limit);
}

export function distinct(records: readonly Plain[], path: string, world: World): string[] {
  return [...new Set(records.flatMap((record) => texts(valueAt(record, path.split('.'), world))))].sort();
}

export function groups(records: readonly Plain[], path: string, world: World): [string, unknown[]][] {
  return distinct(records, path, world).map((text) => [
    text,
    records.filter((record) => texts(valueAt(record, path.split('.'), world)).includes(text)).map(({ id }) => id),
  ]);
}

const texts = (value: unknown): string[] =>
  [value]
    .flat(Infinity)
    .filter((one) => one !== null && one !== undefined)
    .map(String);

function holds(filter: Plain, record: unknown, world: World): boolean {
  return Object.entries(filter).every(([name, input]) => {
    if (input === null || input === undefined) return true;
    if (name === 'or') return (input as Plain[]).some((branch) => holds(branch, record, world));
    if (name === 'not') return asksNothing(input as Plain) || !holds(input as Plain, record, world);
    const value = fieldOf(record, name, world);
    if (isOperators(input as Plain))
      return Object.entries(input).every(([operator, given]) => test(operator, value, given));
    if ('elemMatch' in (input as Plain)) return elemMatch(value, (input as { elemMatch: Plain }).elemMatch, world);
    return holds(input as Plain, value, world);
  });
}

const OPERATORS = ['eq', 'ne', 'in', 'nin', 'gt', 'gte', 'lt', 'lte', 'regex', 'glob'];

const isOperators = (input: Plain): boolean =>
  Object.keys(input).length > 0 && Object.keys(input).every((key) => OPERATORS.includes(key));

function elemMatch(value: unknown, filter: Plain, world: World): boolean {
  if (asksNothing(filter)) return true;
  const elements = Array.isArray(value) ? (value as unknown[]) : [value];
  return elements.some((element) => holds(filter, element, world));
}

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
  if (given === null) return (operator === 'gte' || operator === 'lte') && present === null;
  if (present === null) return false;
  if (operator === 'regex') return toRegExp(given as string).test(present as string);
  if (operator === 'gt') return (present as string) > (given as string);
  if (operator === 'gte') return (present as string) >= (given as string);
  if (operator === 'lt') return (present as string) < (given as string);
  if (operator === 'lte') return (present as string) <= (given as string);
  throw new Error(`No meaning for ${operator}.`);
}

function toRegExp(text: string): RegExp {
  const [, source = '', flags = ''] = /^\/([^]*)\/(\w*)$/.exec(text) ?? [];
  return new RegExp(source, flags);
}

function fieldOf(record: unknown, name: string, world: World): unknown {
  if (record === null || record === undefined) return undefined;
  const own = record as Plain;
  const everyone = [...world.Item, ...world.Part];
  if (name === 'parent') return everyone.find(({ id }) => id === own.parent) ?? null;
  if (name === 'children') return everyone.filter(({ parent }) => parent === own.id);
  if (name === 'childPart') return world.Part.find(({ parent }) => parent === own.id) ?? null;
  if (name === 'linked') return world.Item.find(({ id }) => id === own.link) ?? null;
  if (name === 'alias') return own.text;
  if (name === 'loud') return typeof own.text === 'string' ? `${own.text}!` : null;
  return own[name];
}

/** What a path leads to; through a list, the list of what its elements lead to. */
function valueAt(value: unknown, [name, ...rest]: readonly string[], world: World): unknown {
  if (name === undefined || value === null || value === undefined) return value ?? null;
  if (Array.isArray(value)) return value.map((element) => valueAt(element, [name, ...rest], world));
  return valueAt(fieldOf(value, name, world), rest, world);
}

function sortRecords(records: readonly Plain[], sort: Sort | undefined, world: World): Plain[] {
  const keys = (sort?.fields ?? []).map((path, index) => ({
    path: path!.split('.'),
    sign: sort?.order?.[index] === 'DESC' ? -1 : 1,
  }));
  const keyOf = (record: Plain, path: readonly string[]): unknown => {
    const value = valueAt(record, path, world);
    return Array.isArray(value) ? String(value) : value;
  };
  return [...records].sort((one, other) => {
    for (const { path, sign } of keys) {
      const order = compare(keyOf(one, path), keyOf(other, path));
      if (order !== 0) return order * sign;
    }
    return 0;
  });
}

function compare(one: unknown, other: unknown): number {
  if (one === other) return 0;
  if (one === null) return 1;
  if (other === null) return -1;
  return (one as string) < (other as string) ? -1 : 1;
}
