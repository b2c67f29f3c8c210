import fc from 'fast-check';
import { DAYS, NUMBERS, RATIOS, TEXTS } from './world.js';

/** Random filters, sorts and pages over the kinds of `tables.ts`. */

const orNull = <T>(values: readonly T[]): fc.Arbitrary<T | null> => fc.constantFrom<T | null>(null, ...values);

const PATTERNS = ['/a/', '/^a/i', '/b$/', '/./', '/[0-9]+/', '/(a|B)+b?/', '/^$/', '/null/', "/o'x|%/"];

function operators(
  values: readonly (string | number)[],
  ...more: readonly fc.Arbitrary<object>[]
): fc.Arbitrary<object> {
  const value = orNull(values);
  const one = (name: string): fc.Arbitrary<object> => value.map((given) => ({ [name]: given }));
  const list = (name: string): fc.Arbitrary<object> =>
    fc.array(value, { maxLength: 4 }).map((given) => ({ [name]: given }));
  const any = fc.oneof(...['eq', 'ne', 'gt', 'gte', 'lt', 'lte'].map(one), ...['in', 'nin'].map(list), ...more);
  return fc.oneof(
    { weight: 4, arbitrary: any },
    fc.tuple(any, any).map(([first, second]) => ({ ...first, ...second })),
  );
}

const text = operators(TEXTS, fc.constantFrom(...PATTERNS.map((regex) => ({ regex }))));
const number = operators(NUMBERS);
const boolean = fc.oneof(
  orNull([true, false]).map((eq) => ({ eq })),
  orNull([true, false]).map((ne) => ({ ne })),
);
const id = operators(['i0', 'i1', 'i2', 'p0', 'nowhere']);

const some = (fields: Record<string, fc.Arbitrary<unknown>>, most: number): fc.Arbitrary<Record<string, unknown>> =>
  fc
    .uniqueArray(fc.constantFrom(...Object.keys(fields)), { maxLength: most })
    .chain((names) => fc.record(Object.fromEntries(names.map((name) => [name, fields[name]!]))));

const internal = some({ type: operators(['one', 'two']), mediaType: operators(['text/plain', 'image/png']) }, 2);
const leaf = some({ id, internal }, 2);
const node = some({ id, internal, parent: leaf, children: leaf.map((elemMatch) => ({ elemMatch })) }, 2);
const thing = some({ name: text, amount: number, labels: text }, 2);

const plain = some(
  {
    text,
    alias: text,
    loud: operators(['a!', 'B!']),
    size: number,
    ratio: operators(RATIOS),
    done: boolean,
    day: operators(DAYS),
    tags: text,
    counts: number,
    meta: some({ title: text, deep: some({ level: number }, 1) }, 2),
    things: thing.map((elemMatch) => ({ elemMatch })),
    childPart: some({ id, name: text, parent: leaf }, 2),
    linked: some({ id, text, size: number }, 2),
    parent: node,
    children: node.map((elemMatch) => ({ elemMatch })),
    internal,
    link: fc.constant(null),
  },
  3,
);

const combined = fc.record({ or: fc.array(plain, { maxLength: 3 }), not: plain, size: number }, { requiredKeys: [] });

export const filters = fc.oneof(
  { weight: 3, arbitrary: plain },
  { weight: 1, arbitrary: combined },
  { weight: 1, arbitrary: combined.map((linked) => ({ linked })) },
);

export const PATHS = [
  'text',
  'alias',
  'loud',
  'size',
  'ratio',
  'done',
  'day',
  'tags',
  'counts',
  'meta.title',
  'meta.deep.level',
  'things.name',
  'things.amount',
  'things.labels',
  'internal.mediaType',
  'parent.id',
  'parent.internal.type',
  'parent.children.id',
  'children.id',
  'children.internal.mediaType',
  'childPart.name',
  'linked.size',
  'linked.linked.text',
  'id',
];

export const sorts = fc.record(
  {
    fields: fc.array(fc.constantFrom(...PATHS), { maxLength: 3 }),
    order: fc.array(fc.constantFrom('ASC' as const, 'DESC' as const), { maxLength: 3 }),
  },
  { requiredKeys: ['fields'] },
);

export const pages = fc.record({ skip: fc.nat(6), limit: fc.nat(6) }, { requiredKeys: [] });
