import path from 'node:path';
import { openRecordStore, type RecordStore } from '@trellis/site/record-store';
import { ENTRY_COLUMNS } from '@trellis/site/sources/file-records';
import fc from 'fast-check';
import { records } from '../../../src/generated/site/records.js';

type Row = Readonly<Record<string, unknown>>;

let store: RecordStore;
beforeAll(() => {
  store = openRecordStore({ file: ':memory:', tables: records, derived: ENTRY_COLUMNS });
});
afterAll(() => store.close());

/** Writes a record with these stored columns and returns its derived columns. */
function keep(kind: 'File' | 'Directory' | 'ImageProc', stored: Readonly<Record<string, string | number>>): Row {
  store.write((rows) => rows.put(kind, stored, 1));
  return store.at(kind, Object.keys(ENTRY_COLUMNS[kind]!), 1)!;
}

function keepPath(absolutePath: string): Row {
  const { name, ext } = path.posix.parse(absolutePath);
  return keep('File', { id: 'a', absolutePath, name, ext });
}

/** A segment of a path: without a slash, and neither `.` nor `..`. */
const part = fc
  .string({ unit: fc.constantFrom('.', 'a', 'B', 'É', 'İ', '\n', ' ', '日', '😀', "'"), minLength: 1, maxLength: 6 })
  .filter((text) => !/^\.{1,2}$/.test(text));

test('derived columns: the parts of a path equal those of path.parse', () => {
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
])('derived columns: the parts of the folder %j equal those of path.parse', (absolutePath, expected) => {
  const { name, ext } = path.posix.parse(absolutePath);
  expect(keep('Directory', { id: 'a', absolutePath, name, ext })).toMatchObject(expected);
});

const TIME_COLUMNS = { atime: 'atimeMs', ctime: 'ctimeMs', birthTime: 'birthtimeMs' };

/** Rounds like the `Stats` of Node.js. */
const toIso = (ms: number): string => new Date(Math.round(ms)).toISOString();

test.each([
  ['common times', fc.double({ min: 0, max: 4e12, noNaN: true })],
  ['before 1970', fc.double({ min: -6e13, max: 0, noNaN: true })],
  ['beyond four digits', fc.double({ min: -8.64e15, max: 8.64e15, noNaN: true })],
  ['edge cases', fc.constantFrom(-62_167_219_200_000, -62_167_219_200_000.6, 253_402_300_799_999.6, 0.5, -0.5, 0)],
])('derived columns: times equal those of toISOString: %s', (_, times) => {
  fc.assert(
    fc.property(times, (ms) => {
      const stored = Object.fromEntries(Object.values(TIME_COLUMNS).map((column) => [column, ms]));
      const expected = Object.fromEntries(Object.keys(TIME_COLUMNS).map((column) => [column, toIso(ms)]));
      expect(keep('File', { id: 'a', ...stored })).toMatchObject(expected);
    }),
    { numRuns: 500 },
  );
});

test.each(['File', 'Directory', 'ImageProc'] as const)('derived columns: a %s has its type and owner', (kind) => {
  const owner = kind === 'ImageProc' ? 'gatsby-transformer-sharp' : 'gatsby-source-filesystem';
  expect(keep(kind, { id: 'a' })).toMatchObject({ 'internal.type': kind, 'internal.owner': owner });
});

test('derived columns: cannot be written', () => {
  expect(() => store.write((rows) => rows.put('File', { id: 'a', base: 'b' }, 1))).toThrow('File has no column base.');
});
