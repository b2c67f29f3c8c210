import type { RecordField, ScalarField, ScalarType } from '@trellis/core/record-types';
import { readEntries } from '../../../src/sources/content/read-entries.js';
import { validateRecord } from '../../../src/sources/content/validate-record.js';

const scalar = (path: string, type: ScalarType, changes: Partial<ScalarField> = {}): ScalarField => ({
  kind: 'scalar',
  name: path.split('.').at(-1) ?? '',
  path,
  column: path,
  type,
  list: false,
  nullable: true,
  dateArguments: false,
  indexed: false,
  ...changes,
});

const FIELDS: readonly RecordField[] = [
  scalar('id', 'ID', { nullable: false }),
  scalar('title', 'String', { nullable: false }),
  scalar('servings', 'Int'),
  scalar('rating', 'Float'),
  scalar('vegan', 'Boolean'),
  scalar('cooked', 'Date'),
  scalar('tags', 'String', { list: true, nullable: false }),
  scalar('body', 'String'),
  {
    kind: 'object',
    type: 'Origin',
    name: 'origin',
    path: 'origin',
    list: false,
    nullable: true,
    fields: [scalar('origin.country', 'String')],
  },
  {
    kind: 'object',
    type: 'Ingredient',
    name: 'ingredients',
    path: 'ingredients',
    list: true,
    nullable: true,
    fields: [
      scalar('ingredients.name', 'String', { nullable: false }),
      scalar('ingredients.grams', 'Float'),
      scalar('ingredients.fresh', 'Boolean'),
    ],
  },
  {
    kind: 'relation',
    type: 'File',
    name: 'cover',
    path: 'cover',
    list: false,
    nullable: true,
    relation: { by: 'link', from: 'cover', to: 'id' },
  },
];

const fit = (text: string, extension = 'md') =>
  readEntries(text, extension).map((entry) => {
    const { row, misfits } = validateRecord(FIELDS, entry, {
      codecs: {},
      toLinkKey: (field, key) => `${field.type}:${key}`,
    });
    return {
      row,
      misfits: misfits.map(({ path, at, message }) => ({ path, message, line: entry.lineOf(at) })),
    };
  });

test('validation: a value that JSON does not have is reported', () => {
  expect(fit('---\ntitle: Soup\nservings: !!merge <<\n---\n')[0]?.misfits).toEqual([
    { path: 'servings', message: 'servings: expected a 32-bit whole number; received nothing.', line: 3 },
  ]);
});

test('validation: valid values become columns', () => {
  const [fitted] = fit(
    '---\ntitle: Soup\nservings: 4\nrating: 4.5\nvegan: true\ncooked: 2024-03-01\ntags: [warm, quick]\norigin: {country: Italy}\n' +
      'ingredients: [{name: bean, grams: 200}, {name: leek, fresh: true}]\ncover: ./soup.jpg\nunknown: 1\n---\nBoil.\n',
  );
  expect(fitted).toEqual({
    misfits: [],
    row: {
      title: 'Soup',
      servings: 4,
      rating: 4.5,
      vegan: 1,
      cooked: '2024-03-01',
      tags: '["warm","quick"]',
      body: 'Boil.\n',
      'origin.country': 'Italy',
      ingredients: '[{"name":"bean","grams":200},{"name":"leek","fresh":true}]',
      cover: 'File:./soup.jpg',
      '~nulls': null,
    },
  });
});

test('validation: text is that of the file, also where it looks like a number', () => {
  const lines = [
    ...['title: 1.10', 'tags: [01234, 0x1F, True, 2, 1.5]', 'origin: {country: 1e3}', 'rating: 1.10', 'cover: 007'],
    'ingredients: [{name: 12345678901234567890, grams: 2.50}, {name: 2.0}]',
  ];
  const row = {
    title: '1.10',
    tags: '["01234","0x1F","True","2","1.5"]',
    'origin.country': '1e3',
    rating: 1.1,
    cover: 'File:007',
    ingredients: '[{"name":"12345678901234567890","grams":2.5},{"name":"2.0"}]',
  };
  expect(fit(`---\n${lines.join('\n')}\n---\n`)).toMatchObject([{ row, misfits: [] }]);
  expect(fit('- title: 1.0\n- title: 1\n- title: 2.0\n', 'yaml').map(({ row: { title } = {} }) => title)).toEqual([
    '1.0',
    '1',
    '2.0',
  ]);
});

test('validation: null differs from missing, and objects without values from missing objects', () => {
  const written = [
    'origin: {}',
    'origin: {country: null}\nrating: null',
    'origin: null\nservings: many',
    'vegan: true',
  ];
  const rows = written.map((lines) => fit(`---\ntitle: Soup\n${lines}\n---\n`)[0]?.row);
  expect(rows.map((row) => row?.['~nulls'])).toEqual([
    '|origin|',
    '|rating|origin.country|origin|',
    '|servings|',
    null,
  ]);
  const [fitted] = fit('---\ntitle: Soup\ningredients: [{name: bean, grams: null}]\n---\n');
  expect(fitted?.row?.ingredients).toBe('[{"name":"bean","grams":null}]');
});

test('validation: a codec converts the values of a scalar, and its errors are reported', () => {
  const fields = [
    scalar('price', 'Int', { declared: 'Money' }),
    scalar('old', 'Int', { declared: 'Money', list: true }),
  ];
  const parse = (value: unknown): unknown => {
    if (value === 'half') return 0.5;
    if (typeof value !== 'string') throw new Error(`expected a price; received ${JSON.stringify(value)}.`);
    return Number(value) * 100;
  };
  const validate = (text: string) =>
    readEntries(text, 'json').map((entry) =>
      validateRecord(fields, entry, { codecs: { Money: { parse } }, toLinkKey: () => undefined }),
    );
  expect(validate('{"price": "12.50", "old": ["1", "30000000"]}')).toMatchObject([
    { row: { price: 1250, old: '[100,3000000000]' }, misfits: [] },
  ]);
  expect(validate('[{"price": 7}, {"old": ["1", false]}, {"price": "half"}]')).toMatchObject([
    { row: { price: null }, misfits: [{ path: 'price', message: 'price: expected a price; received 7.' }] },
    { row: { old: '[100]' }, misfits: [{ at: ['old', 1], message: 'old[1]: expected a price; received false.' }] },
    { misfits: [{ message: 'price: expected the codec of Money to return Int; received 0.5.' }] },
  ]);
});

test.each([
  ['2021-07-04 10:00:00', '2021-07-04T10:00:00.000Z'],
  ['2021-07-04 10:00', '2021-07-04T10:00:00.000Z'],
  ['2021-07-04 10:00:00 +0200', '2021-07-04T08:00:00.000Z'],
  ['2021-07-04 10:00:00.5 -5', '2021-07-04T15:00:00.500Z'],
  ['2021-7-4t9:05:06 Z', '2021-07-04T09:05:06.000Z'],
  ['2021-7-4', '2021-07-04'],
  ['2021/07/04', '2021-07-04'],
  ['20210704', '2021-07-04'],
  ['"20210704"', '2021-07-04'],
  ['2021', '2021'],
  ['2021-07-04T10:00:00+02:00', '2021-07-04T10:00:00+02:00'],
  ["'Jul 08 2022'", '2022-07-08'],
  ['July 8, 2022', '2022-07-08'],
  ['04 Sept 2022', '2022-09-04'],
  ['6 december 2024', '2024-12-06'],
  ['Fri Jul 08 2022', '2022-07-08'],
  ['Fri, 08 Jul 2022 10:00:00 GMT', '2022-07-08T10:00:00.000Z'],
  ['Jul 8, 2022 10:00', '2022-07-08T10:00:00.000Z'],
  ['"8 May 2022 10:00 +0200"', '2022-05-08T08:00:00.000Z'],
  ['31 June 2022', null],
  ['8 Summer 2022', null],
  ['07/08/2022', null],
  ['2021-2-30', null],
  ['2021-07-04 25:00:00', null],
  ['2021-07/04', null],
  ['"10:00"', null],
  ['202107', null],
])('validation: the date %s is stored as %j', (written, expected) => {
  const [fitted] = fit(`---\ntitle: Soup\ncooked: ${written}\n---\n`);
  expect(fitted?.row?.cooked).toBe(expected);
  expect(fitted?.misfits).toHaveLength(expected === null ? 1 : 0);
});

test('validation: absent values are null, and absent non-null lists are empty', () => {
  expect(fit('---\ntitle: Soup\n---\n')[0]?.row).toMatchObject({
    servings: null,
    tags: '[]',
    cover: null,
    ingredients: null,
  });
});

test.each([
  ['text for a number', 'servings: many', 'servings', 'servings: expected a 32-bit whole number; received "many".', 3],
  ['a fraction for an Int', 'servings: 1.5', 'servings', 'servings: expected a 32-bit whole number; received 1.5.', 3],
  [
    'a number out of range',
    'servings: 4294967296',
    'servings',
    'servings: expected a 32-bit whole number; received 4294967296.',
    3,
  ],
  ['infinity', 'rating: .inf', 'rating', 'rating: expected a number; received null.', 3],
  ['a word for a boolean', 'vegan: yes', 'vegan', 'vegan: expected true or false; received "yes".', 3],
  [
    'an impossible day',
    'cooked: 2024-02-30',
    'cooked',
    'cooked: expected a date such as 2026-07-08 or 8 July 2026; received "2024-02-30".',
    3,
  ],
  [
    'an object for text',
    'origin: {country: {a: 1}}',
    'origin.country',
    'origin.country: expected text; received {"a":1}.',
    3,
  ],
  [
    'a list for a link',
    'cover: [a, b]',
    'cover',
    'cover: expected text that identifies a File; received ["a","b"].',
    3,
  ],
])('validation: %s is reported with its line and becomes null', (_reason, written, column, message, line) => {
  const [fitted] = fit(`---\ntitle: Soup\n${written}\n---\n`);
  expect(fitted?.misfits.map((misfit) => [misfit.message, misfit.line])).toEqual([[message, line]]);
  expect(fitted?.row?.[column] ?? null).toBeNull();
});

test.each([
  ['missing', 'servings: 4', 'title: expected a value that is not null; received nothing.'],
  ['null', 'title: null', 'title: expected a value that is not null; received null.'],
  ['of the wrong type', 'title: [a]', 'title: expected text; received ["a"].'],
])('validation: a record is left out if a required value is %s', (_reason, written, message) => {
  const [fitted] = fit(`---\n${written}\n---\n`);
  expect(fitted?.row).toBeUndefined();
  expect(fitted?.misfits.map((misfit) => misfit.message)).toEqual([message]);
});

test('validation: a record is left out if an element lacks a required value', () => {
  const [fitted] = fit('---\ntitle: Soup\ningredients: [{grams: 5}]\n---\n');
  expect(fitted?.row).toBeUndefined();
  expect(fitted?.misfits[0]?.message).toBe('ingredients[0].name: expected a value that is not null; received nothing.');
});

test('validation: numbers, booleans and lists are parsed from CSV text', () => {
  const [fitted, misfit] = fit(
    'title,servings,rating,vegan,tags\nSoup,4,4.5,TRUE,warm; quick\nStew,0x10,x,maybe,\n',
    'csv',
  );
  expect(fitted?.row).toMatchObject({ title: 'Soup', servings: 4, rating: 4.5, vegan: 1, tags: '["warm","quick"]' });
  expect(misfit?.misfits.map(({ path, line }) => [path, line])).toEqual([
    ['servings', 3],
    ['rating', 3],
    ['vegan', 3],
  ]);
});

test('validation: keys that are no names of GraphQL belong to fields with underscores', () => {
  const text = (path: string) => scalar(path, 'String');
  const fields = [
    ...['First_Name', 'read_time', 'og_title', '_2nd', 'gr__e', 'both_forms', 'none_here'].map(text),
    { ...scalar('page_count', 'Int') },
  ];
  const validate = (lines: string, extension: string) =>
    readEntries(lines, extension).map((entry) =>
      validateRecord(fields, entry, { codecs: {}, toLinkKey: () => undefined }),
    );
  const front =
    'read-time: 1.10\nog:title: T\n2nd: b\ngröße: L\nboth-forms: 1\nboth_forms: 2\nnone-her: 1\npage.count: x\n';
  expect(validate(front, 'yaml')).toMatchObject([
    {
      row: { read_time: '1.10', og_title: 'T', _2nd: 'b', gr__e: 'L', both_forms: '2', none_here: null },
      misfits: [{ at: ['page.count'], message: 'page.count: expected a 32-bit whole number; received "x".' }],
    },
  ]);
  expect(validate('First Name,page count\nAda,3\n', 'csv')).toMatchObject([
    { row: { First_Name: 'Ada', page_count: 3 } },
  ]);
});

test('validation: inherited properties are ignored', () => {
  expect(fit('---\ntitle: Soup\nconstructor: 1\n__proto__: {servings: 3}\n---\n')[0]?.row).toMatchObject({
    servings: null,
  });
});
