import type { KindDescription } from '@trellis/core/record-types';
import {
  defaultColumns,
  linkToGrid,
  listGridColumns,
  parseFilter,
  parseGridState,
  toFilter,
} from '../../../src/web/app/site/grid/grid-state.js';

const field = (name: string, column?: object) => ({
  name,
  description: '',
  selection: name,
  ...(column && { column }),
});

const KIND = {
  ...{ kind: 'Recipe', description: '', single: 'recipe', all: 'allRecipe', made: [], searchable: true },
  fields: [
    field('id', { type: 'ID' }),
    field('body', { type: 'String' }),
    field('title', { type: 'String' }),
    field('cooked', { type: 'Date' }),
    field('serves', { type: 'Int' }),
    field('weight', { type: 'Float' }),
    field('tags', { type: 'String', list: true }),
    field('fresh', { type: 'Boolean' }),
    field('season', { type: 'String', values: ['SUMMER', 'WINTER'] }),
    field('cover'),
  ],
} as KindDescription;

const column = (name: string) => listGridColumns(KIND).find((one) => one.name === name)!;

describe('parseFilter', () => {
  test.each([
    ['title', 'a.*b/c', { regex: String.raw`/a\.\*b\/c/i` }],
    ['title', '= Bread', { eq: 'Bread' }],
    ['tags', 'soup', { regex: '/soup/i' }],
    ['title', 'é', { regex: `/${'é'.normalize('NFC')}|${'é'.normalize('NFD')}/i` }],
    ['serves', '4', { gte: 4, lte: 4 }],
    ['serves', '>4', { gt: 4 }],
    ['serves', '<= -4', { lte: -4 }],
    ['serves', '2..6', { gte: 2, lte: 6 }],
    ['weight', '0.5..1.25', { gte: 0.5, lte: 1.25 }],
    ['cooked', '2026', { gte: '2026-01-01', lt: '2027-01-01' }],
    ['cooked', '2026-12', { gte: '2026-12-01', lt: '2027-01-01' }],
    ['cooked', '2024-02-29', { gte: '2024-02-29', lt: '2024-03-01' }],
    ['cooked', '>2025', { gte: '2026-01-01' }],
    ['cooked', '>=2025', { gte: '2025-01-01' }],
    ['cooked', '<2025-06', { lt: '2025-06-01' }],
    ['cooked', '<=2025-06', { lt: '2025-07-01' }],
    ['cooked', '2025..2026-03', { gte: '2025-01-01', lt: '2026-04-01' }],
    ['fresh', 'No', { eq: false }],
    ['season', 'WINTER', { eq: 'WINTER' }],
  ])('%s %s', (name, text, condition) => {
    expect(parseFilter(column(name), text)).toEqual({ condition });
  });

  test.each([
    ['serves', '4.5'],
    ['serves', 'four'],
    ['serves', '>2..4'],
    ['cooked', '2026-02-30'],
    ['cooked', 'yesterday'],
    ['fresh', 'maybe'],
    ['season', 'SPRING'],
  ])('rejects %s %s with the expected form', (name, text) => {
    expect(parseFilter(column(name), text).problem).toMatch(new RegExp(`^${name}: `));
  });
});

test('toFilter: reports conditions that are not valid, and applies the others', () => {
  const { filter, problems } = toFilter(listGridColumns(KIND), { title: 'soup', serves: 'many' });
  expect(filter).toEqual({ title: { regex: '/soup/i' } });
  expect(problems).toHaveLength(1);
});

describe('the address of a grid', () => {
  const parse = (address: string) =>
    parseGridState(KIND, Object.fromEntries(new URL(address, 'http://localhost').searchParams));

  test('holds every part of the state, and nothing that is the default', () => {
    const initial = parse('/site/records?kind=Recipe');
    expect(initial.columns).toEqual(['title', 'cooked', 'serves', 'weight', 'tags']);
    expect(linkToGrid(KIND, initial)).toBe('/site/records?kind=Recipe');
    const state = {
      ...{ columns: ['title', 'body'], sort: 'cooked', search: '"two words"', page: 3 },
      ...{ order: 'DESC' as const, filters: { title: 'a&b=c', serves: '>4' } },
    };
    expect(parse(linkToGrid(KIND, state, 'r1'))).toEqual(state);
    expect(linkToGrid(KIND, state, 'r1')).toMatch(/&record=r1$/);
  });

  test('drops what the record type does not have', () => {
    const state = parse('/site/records?columns=nope+title+title&sort=cover&order=up&where.nope=1&where.cover=1&page=x');
    expect(state).toEqual({ columns: ['title'], sort: '', order: 'ASC', search: '', filters: {}, page: 1 });
  });
});

test('defaultColumns: shows something for a type with internal columns only', () => {
  expect(defaultColumns({ ...KIND, fields: [field('id', { type: 'ID' })] } as KindDescription)).toEqual(['id']);
});
