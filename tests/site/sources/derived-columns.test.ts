import path from 'node:path';

import fc from 'fast-check';

import { records } from '../../../src/generated/site/records.js';
import { openRecordStore } from '../../../src/site/record-store.js';
import type { RecordStore } from '../../../src/site/record-store.js';
import { ENTRY_COLUMNS } from '../../../src/site/sources/derived-columns.js';

type Row = Readonly<Record<string, unknown>>;

let store: RecordStore;
beforeAll(() => {
  store = openRecordStore({ file: ':memory:', tables: records, derived: ENTRY_COLUMNS });
});
afterAll(() => store.close());

/** What the store gives back of a record of these stored columns. */
function keep(kind: 'File' | 'Directory' | 'ImageProc', stored: Readonly<Record<string, string | number>>): Row {
  store.write((rows) => rows.put(kind, stored, 1));
  return store.at(kind, Object.keys(ENTRY_COLUMNS[kind]!), 1)!;
}

function keepPath(absolutePath: string): Row {
  const { name, ext } = path.posix.parse(absolutePath);
  return keep('File', { id: 'a', absolutePath, name, ext });
}

/** A part of a path: no slash, and neither `.` nor `..`. */
const part = fc
  .string({ unit: fc.constantFrom('.', 'a', 'B', 'É', 'İ', '\n', ' ', '日', '😀', "'"), minLength: 1, maxLength: 6 })
  .filter((text) => !/^\.{1,2}$/.test(text));

test('the parts of any path are those that Node finds in it', () => {
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), (parts) => {
      const absolutePath = `/${parts.join('/')}`;
      const { root: start, dir, base, ext } = path.posix.parse(absolutePath);
      const extension = ext.slice(1).toLowerCase();
      expect(keepPath(absolutePath)).toMatchObject({ root: start, dir, base, extension });
    }),
    { numRuns: 500 },
  );
});

test.each([
  ['/', { dir: '/', base: '' }],
  ['/site', { dir: '/', base: 'site' }],
  ['/srv/site', { dir: '/srv', base: 'site' }],
])('the folder %j has the parts that Node finds in it', (absolutePath, expected) => {
  const { name, ext } = path.posix.parse(absolutePath);
  expect(keep('Directory', { id: 'a', absolutePath, name, ext })).toMatchObject(expected);
});

const TIME_COLUMNS = { atime: 'atimeMs', ctime: 'ctimeMs', birthTime: 'birthtimeMs' };

/** As Node's own `Stats` rounds. */
const toIso = (ms: number): string => new Date(Math.round(ms)).toISOString();

test.each([
  ['the usual', fc.double({ min: 0, max: 4e12, noNaN: true })],
  ['before 1970', fc.double({ min: -6e13, max: 0, noNaN: true })],
  ['beyond four digits', fc.double({ min: -8.64e15, max: 8.64e15, noNaN: true })],
  ['the edges', fc.constantFrom(-62_167_219_200_000, -62_167_219_200_000.6, 253_402_300_799_999.6, 0.5, -0.5, 0)],
])('times are those of toISOString: %s', (_, times) => {
  fc.assert(
    fc.property(times, (ms) => {
      const stored = Object.fromEntries(Object.values(TIME_COLUMNS).map((column) => [column, ms]));
      const expected = Object.fromEntries(Object.keys(TIME_COLUMNS).map((column) => [column, toIso(ms)]));
      expect(keep('File', { id: 'a', ...stored })).toMatchObject(expected);
    }),
    { numRuns: 500 },
  );
});

test.each(['File', 'Directory', 'ImageProc'] as const)('a %s says what it is and who made it', (kind) => {
  const owner = kind === 'ImageProc' ? 'gatsby-transformer-sharp' : 'gatsby-source-filesystem';
  expect(keep(kind, { id: 'a' })).toMatchObject({ 'internal.type': kind, 'internal.owner': owner });
});

test('refuses to be told what it derives', () => {
  expect(() => store.write((rows) => rows.put('File', { id: 'a', base: 'b' }, 1))).toThrow('File has no column base.');
});
