import type { RecordTable, ScalarField } from '@trellis/core/record-types';
import type { RecordFilter, RecordSort } from '../../src/query/record-queries.js';
import { openRecordStore } from '../../src/record-store.js';
import { tables } from './tables.js';

const column = (name: string) => ({ kind: 'column', name, column: name, holds: 'value' }) as const;
const ID = { values: [column('id')], relations: [] };

const REQUIRED = { list: false, nullable: false, indexed: true, dateArguments: false };
const indexed = (name: string, type: ScalarField['type']) =>
  ({ kind: 'scalar', name, path: name, column: name, type, ...REQUIRED }) as const;
const Thing: RecordTable = {
  kind: 'Thing',
  single: 'thing',
  all: 'allThing',
  fields: [
    ...tables.Item.fields.filter(({ name }) => ['id', 'internal'].includes(name)),
    indexed('type', 'String'),
    indexed('size', 'Int'),
  ],
};

/** More than the engine tests in the order of a page before it searches otherwise. */
const COUNT = 12_000;

interface Row {
  readonly id: string;
  readonly type: string;
  readonly size: number;
  readonly position: number;
}

/** Equal sizes are frequent; `late` occurs only among the largest, and `rare` ten times. */
const rows = Array.from({ length: COUNT }, (_, position): Row => {
  const size = (position * 7919) % 4001;
  const common = ['md', 'txt', 'json'][position % 3] ?? '';
  const type = position % 1200 === 0 ? 'rare' : size > 3900 && position % 2 === 0 ? 'late' : common;
  return { id: `t${position}`, type, size, position };
});

/** The SQL of the latest statement. */
let latest = '';

const watch = { slowMs: 0, onSlow: ({ text }: { readonly text: string }) => void (latest = text) };
const store = openRecordStore({ file: ':memory:', tables: { Thing }, watch });
store.write((writer) => {
  for (const { position, ...row } of rows) writer.put('Thing', { ...row, parent: null }, position);
});
afterAll(() => store.close());

const FILTERS: readonly (readonly [RecordFilter, (row: Row) => boolean])[] = [
  [{}, () => true],
  [{ type: { eq: 'md' } }, ({ type }) => type === 'md'],
  [{ type: { eq: 'rare' } }, ({ type }) => type === 'rare'],
  [{ type: { in: ['late', 'rare'] } }, ({ type }) => ['late', 'rare'].includes(type)],
  [{ type: { glob: 'l*' } }, ({ type }) => type === 'late'],
  [{ type: { ne: 'txt' }, id: { regex: '/7$/' } }, ({ type, id }) => type !== 'txt' && id.endsWith('7')],
  [{ size: { gt: 3990 } }, ({ size }) => size > 3990],
];

const SORTS: readonly (readonly [RecordSort, (one: Row, other: Row) => number])[] = [
  [{}, (one, other) => one.position - other.position],
  [{ fields: ['size'] }, (one, other) => one.size - other.size],
  [{ fields: ['size'], order: ['DESC'] }, (one, other) => other.size - one.size],
  [
    { fields: ['type', 'size'] },
    (one, other) => (one.type < other.type ? -1 : Number(one.type > other.type)) || one.size - other.size,
  ],
];

const PAGES = [{ limit: 20 }, { skip: 15, limit: 10 }, { skip: 990, limit: 10 }, { limit: 1 }];

test.each([
  ['one value, which test the records with others', { type: { eq: 'txt' } }, true],
  ['all records', {}, false],
] as const)('only pages of %s create an index after some time', (_, filter, creates) => {
  const sort = { fields: ['size'], order: ['DESC'] } as const;
  const usesIndex = Array.from({ length: 980 }, (_page, skip) => {
    expect(store.page('Thing', { filter, sort, skip, limit: 10 }, ID).nodes).toHaveLength(10);
    return latest.includes('shape:');
  });
  expect([usesIndex[0], usesIndex.at(-1)]).toEqual([false, creates]);
});

test.each(FILTERS.map(([filter, matches]) => [JSON.stringify(filter), filter, matches] as const))(
  'pages of %s are those of all records',
  (_, filter, matches) => {
    for (const [sort, compare] of SORTS) {
      const sorted = rows.filter(matches).sort((one, other) => compare(one, other) || one.position - other.position);
      // A repeated query may use what the first one found out or created.
      for (const page of [...PAGES, ...PAGES]) {
        const { skip = 0, limit } = page;
        const found = store.page('Thing', { filter, sort, ...page }, ID).nodes.map(({ id }) => id);
        expect(found).toEqual(sorted.slice(skip, skip + limit).map(({ id }) => id));
      }
    }
  },
);

test.each(['type', 'size'] as const)('distinct values and pages of groups by %s are those of all records', (field) => {
  for (const [filter, matches] of FILTERS) {
    for (const [sort, compare] of SORTS) {
      const sorted = rows.filter(matches).sort((one, other) => compare(one, other) || one.position - other.position);
      const values = [...new Set(sorted.map((row) => String(row[field])))].sort();
      const found = store.page('Thing', { filter, sort }, ID);
      expect(found.distinct({ field })).toEqual(values);
      const groups = found.group({ field, skip: 1, limit: 3 });
      const shown = groups.map(({ fieldValue, nodes }) => [fieldValue, nodes.map(({ id }) => id)]);
      const members = new Map<string, Row[]>(values.map((value) => [value, []]));
      for (const row of sorted) members.get(String(row[field]))?.push(row);
      expect(shown).toEqual(
        values.map((value) => [
          value,
          members
            .get(value)
            ?.slice(1, 4)
            .map(({ id }) => id),
        ]),
      );
    }
  }
});
