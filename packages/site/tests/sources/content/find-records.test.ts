import { findRecords } from '../../../src/sources/content/find-records.js';
import { readEntries } from '../../../src/sources/content/read-entries.js';

const PEOPLE = 'ada:\n  name: Ada\n  id: 7\nbob:\n';
const BANNERS = '[[banners]]\nname = "One"\n[[banners]]\nname = "Two"\n';

test.each<[string, string, string, string | undefined, unknown[]]>([
  ['whole entries without `at`', 'yaml', '- a: 1\n- a: 2\n', undefined, [{ a: 1 }, { a: 2 }]],
  [
    ...(['each entry of an object, with its key as the id', 'yaml', PEOPLE, '*'] as const),
    [{ name: 'Ada', id: 'ada' }, { id: 'bob' }],
  ],
  ['the items of a list', 'toml', BANNERS, 'banners', [{ name: 'One' }, { name: 'Two' }]],
  ['an object', 'json', '{"a": {"b": {"c": 1}}}', 'a.b', [{ c: 1 }]],
  [
    'the items of lists in a list',
    'yaml',
    '- items: [{ a: 1 }, { a: 2 }]\n- items: [{ a: 3 }]\n',
    'items',
    [{ a: 1 }, { a: 2 }, { a: 3 }],
  ],
  [
    'the entries of an object in a list',
    'yaml',
    'all:\n  - x: { a: 1 }\n  - y: { a: 2 }\n',
    'all.*',
    [
      { a: 1, id: 'x' },
      { a: 2, id: 'y' },
    ],
  ],
  [
    'texts as values',
    'json',
    '{"home": "Start", "tags": ["a", "b"]}',
    '*',
    [
      { value: 'Start', id: 'home' },
      { value: ['a', 'b'], id: 'tags' },
    ],
  ],
  ['the items of a list of texts', 'yaml', 'names: [a, b]\n', 'names', [{ value: 'a' }, { value: 'b' }]],
  [
    ...(['an object below each key', 'yaml', 'ada: { info: { a: 1 } }\nbob: { info: { a: 2 } }\n', '*.info'] as const),
    [
      { a: 1, id: 'ada' },
      { a: 2, id: 'bob' },
    ],
  ],
  [
    ...([
      'the items of a list below each key',
      'yaml',
      'x: { all: [{ a: 1, id: 7 }] }\ny: { all: [a] }\n',
      '*.all',
    ] as const),
    [{ a: 1, id: 7 }, { value: 'a' }],
  ],
  ['front matter without the text', 'md', '---\nparts: [{ a: 1 }]\n---\nText.\n', 'parts', [{ a: 1 }]],
  ['nothing without the keys', 'yaml', 'a: 1\n', 'b', []],
  ['nothing for inherited properties', 'yaml', 'a: 1\n', 'constructor', []],
  ['nothing below a text', 'yaml', 'a: text\n', 'a.length', []],
])('findRecords: finds %s', (_what, extension, text, at, values) => {
  expect([...findRecords(readEntries(text, extension), at)].map(({ entry }) => entry.values)).toEqual(values);
});

test('findRecords: numbers keep the text and the line that they have in the file', () => {
  const entries = readEntries('# Versions\nall:\n  one: { version: 1.10 }\n  two: 2.00\n', 'yaml');
  const found = [...findRecords(entries, 'all.*')];
  expect(found.map(({ entry }) => entry.written)).toEqual([
    { '["version"]': '1.10', '["id"]': 'one' },
    { '["value"]': '2.00', '["id"]': 'two' },
  ]);
  expect(found.map(({ place }) => entries[place.entry]?.lineOf(place.path))).toEqual([3, 4]);
});

test('findRecords: thousands of numbers deep inside lists need little memory', () => {
  const [begin, end] = ['[', ']'].map((bracket) => bracket.repeat(400));
  const entries = readEntries(`a: { b: ${begin}${'1.0,'.repeat(20_000)}${end} }\n`, 'yaml');
  const [record] = findRecords(entries, 'a');
  expect(Object.keys(record?.entry.written ?? {})).toHaveLength(20_000);
});

test('findRecords: keys that are numbers keep their text, and the lines of their values', () => {
  const entries = readEntries('1.1: { a: 1 }\n1.10: { a: 2 }\n007: { a: 3 }\nnull: { a: 4 }\n"": { a: 5 }\n', 'yaml');
  const found = [...findRecords(entries, '*')];
  expect(found.map(({ entry }) => entry.values.id)).toEqual(['1.1', '1.10', '007', 'null', '']);
  expect(found.map(({ place }) => entries[place.entry]?.lineOf([...place.path, 'a']))).toEqual([1, 2, 3, 4, 5]);
});

test('findRecords: rejects more than 100,000 records', () => {
  const entries = readEntries(JSON.stringify({ all: Array.from({ length: 100_001 }, () => 0) }), 'json');
  expect(() => [...findRecords(entries, 'all')]).toThrow('expected at most 100000 records in a file.');
});
