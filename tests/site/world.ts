import fc from 'fast-check';
import { openRecordStore } from '../../src/site/record-store.js';
import type { RecordStore, SqlValue } from '../../src/site/record-store.js';
import type { Plain, World } from './evaluator.js';
import { tables } from './tables.js';

/** Texts whose order differs between code points and code units, and what patterns and SQL stumble over. */
export const TEXTS = [
  '',
  'a',
  'B',
  'ab',
  'a.b',
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
export const NUMBERS = [-1, 0, 1, 2, 10];
export const RATIOS = [-0.5, 0, 0.1, 1 / 3, 1e21, 1e-9];
export const DAYS = ['2019', '2020-02-29', '2020-02-29T12:00:00.000Z', 'junk'];

const orNull = <T>(values: readonly T[]): fc.Arbitrary<T | null> => fc.constantFrom<T | null>(null, ...values);
const listOf = <T>(values: readonly T[]): fc.Arbitrary<(T | null)[] | null> =>
  fc.option(fc.array(orNull(values), { maxLength: 3 }));

const meta = fc.record({ title: orNull(TEXTS), deep: fc.record({ level: orNull(NUMBERS) }) });
const thing = fc.record({ name: orNull(TEXTS), amount: orNull(NUMBERS), labels: listOf(TEXTS) });

const internal = fc.record({ type: fc.constantFrom('one', 'two'), mediaType: orNull(['text/plain', 'image/png']) });
const idOf = (count: number): fc.Arbitrary<string | null> => fc.option(fc.nat(count).map((index) => `i${index}`));

const item = fc.record({
  text: orNull(TEXTS),
  size: orNull(NUMBERS),
  ratio: orNull(RATIOS),
  done: orNull([true, false]),
  day: orNull(DAYS),
  tags: listOf(TEXTS),
  counts: listOf(NUMBERS),
  meta,
  things: fc.option(fc.array(thing, { maxLength: 3 })),
  link: idOf(12),
  parent: idOf(12),
  internal,
});

const part = fc.record({ name: orNull(TEXTS), parent: idOf(12), internal });

/** Some records that point at each other, or at nothing. */
export const worlds: fc.Arbitrary<World> = fc
  .record({ Item: fc.array(item, { maxLength: 12 }), Part: fc.array(part, { maxLength: 6 }) })
  .map(({ Item, Part }) => ({
    Item: Item.map((one, index) => ({ id: `i${index}`, ...one })),
    Part: Part.map((one, index) => ({ id: `p${index}`, ...one })),
  }));

export function storeOf(world: World): RecordStore {
  const store = openRecordStore({ file: ':memory:', tables });
  fill(store, world);
  return store;
}

/** Takes the place of what the store held. */
export function fill(store: RecordStore, world: World): void {
  const before = (['Item', 'Part'] as const).map((kind) => [kind, [...store.rows(kind, ['id'])]] as const);
  store.write((writer) => {
    for (const [kind, rows] of before) for (const { id } of rows) writer.remove(kind, String(id));
    world.Item.forEach((record, index) => writer.put('Item', toRow(record), index));
    world.Part.forEach((record, index) => writer.put('Part', toRow(record), 1000 + index));
  });
}

/** Objects become columns with dotted names, lists JSON text and booleans numbers. */
function toRow(record: Plain, prefix = ''): Record<string, SqlValue> {
  return Object.fromEntries(
    Object.entries(record).flatMap(([name, value]) => {
      if (value !== null && typeof value === 'object' && !Array.isArray(value))
        return Object.entries(toRow(value as Plain, `${prefix}${name}.`));
      return [[prefix + name, toSqlValue(value)]];
    }),
  );
}

function toSqlValue(value: unknown): SqlValue {
  if (typeof value === 'boolean') return value ? 1 : 0;
  return Array.isArray(value) ? JSON.stringify(value) : (value as SqlValue);
}

export const loud = (_kind: string, _field: string, { text }: Record<string, unknown>): unknown =>
  typeof text === 'string' ? `${text}!` : null;
