import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { open as openFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import type { RecordSelection } from '@trellis/site/query/record-queries';
import { openRecordStore, type RecordStore } from '@trellis/site/record-store';
import { createIndexes } from '@trellis/site/records/record-schema';
import { records } from '../../../src/generated/site/records.js';

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'trellis-fill-'));
  file = path.join(folder, 'site.db');
});
afterEach(() => rmSync(folder, { recursive: true }));

const open = (name = file): RecordStore => openRecordStore({ file: name, tables: records });

function put(store: RecordStore, id: string, position = 1): void {
  store.write((writer) => writer.put('File', { id, name: id }, position));
}

function idsIn(store: RecordStore): unknown[] {
  return [...store.rows('File', ['id'])].map(({ id }) => id);
}

/** Opens a file, reads the ids of its records and closes it. */
function storedIds(name = file): unknown[] {
  const store = open(name);
  const ids = idsIn(store);
  store.close();
  return ids;
}

function indexNames(): string[] {
  const database = new DatabaseSync(file);
  const rows = database.prepare(`SELECT name FROM sqlite_schema WHERE type = 'index' ORDER BY name`).all();
  database.close();
  return (rows as { name: string }[]).map(({ name }) => name);
}

const ID: RecordSelection = { values: [{ kind: 'column', name: 'id', column: 'id', holds: 'value' }], relations: [] };

/** Runs a query that an index would speed up. */
const findByName = (store: RecordStore, name: string): unknown =>
  store.find('File', { filter: { name: { eq: name } } }, ID)?.id;

/** The result of {@link indexNames} for a store without a bulk load. */
const ALL_INDEXES = [...createIndexes(records).keys()].sort();

/** Opens a store and loads records, so that its indexes are missing. */
async function openFilled(): Promise<RecordStore> {
  const store = open();
  await store.bulkLoad(async () => put(store, 'a'));
  return store;
}

test('bulk load: an empty store gets its indexes afterwards', async () => {
  const store = await openFilled();
  expect(indexNames()).toEqual([]);
  await store.createMissingIndexes();
  store.close();
  expect(storedIds()).toEqual(['a']);
  expect(indexNames()).toEqual(ALL_INDEXES);
  expect(ALL_INDEXES).toContain('File.name');
});

test('missing indexes: queries and writes work while indexes are created', async () => {
  const store = await openFilled();
  const made = store.createMissingIndexes();
  const found: unknown[] = [];
  for (let round = 2; !indexNames().includes('File.name'); round += 1) {
    put(store, 'a', round);
    found.push(findByName(store, 'a'));
    await setTimeout(20);
  }
  await made;
  expect(new Set(found)).toEqual(new Set(['a']));
  expect(findByName(store, 'a')).toBe('a');
  store.close();
});

test('missing indexes: the next store creates those that a closed store left out', async () => {
  const store = await openFilled();
  const made = store.createMissingIndexes();
  while (!indexNames().includes('File.parent')) await setTimeout(20);
  store.close();
  await made;
  expect(indexNames().length).toBeLessThan(ALL_INDEXES.length);
  const next = open();
  await next.createMissingIndexes();
  next.close();
  expect(indexNames()).toEqual(ALL_INDEXES);
});

test('bulk load: keeps the journal of a store that is open elsewhere', async () => {
  const reader = open();
  const store = open();
  await store.bulkLoad(async () => put(store, 'a'));
  expect(idsIn(reader)).toEqual(['a']);
  store.close();
  reader.close();
});

test('bulk load: later writes replace records by id', async () => {
  const store = open();
  await store.bulkLoad(async () => put(store, 'a', 1));
  put(store, 'a', 2);
  expect([...store.rows('File', ['id'])]).toEqual([{ id: 'a', position: 2 }]);
  store.close();
});

test('missing indexes: the first change of a record type creates its id index, and an error rolls it back', async () => {
  const store = await openFilled();
  const fail = (): void =>
    store.write((writer) => {
      writer.remove('File', 'a');
      throw new Error('stopped');
    });
  expect(fail).toThrow('stopped');
  expect(indexNames()).toEqual([]);
  put(store, 'a', 2);
  expect(indexNames()).toEqual(['File.id']);
  expect([...store.rows('File', ['id'])]).toEqual([{ id: 'a', position: 2 }]);
  await store.createMissingIndexes();
  store.close();
  expect(indexNames()).toEqual(ALL_INDEXES);
});

test('bulk load: an error keeps the transactions committed before', async () => {
  const store = open();
  const failed = store.bulkLoad(async () => {
    put(store, 'a');
    store.write((writer) => {
      writer.put('File', { id: 'b' }, 2);
      throw new Error('stopped');
    });
  });
  await expect(failed).rejects.toThrow('stopped');
  store.close();
  expect(storedIds()).toEqual(['a']);
  expect(existsSync(`${file}.filling`)).toBe(false);
});

test('bulk load: a store is emptied after a crash', async () => {
  const crashed = path.join(folder, 'crashed.db');
  const store = open();
  await store.bulkLoad(async () => {
    put(store, 'a');
    for (const ending of ['', '.filling']) copyFileSync(file + ending, crashed + ending);
  });
  store.close();
  expect(storedIds(crashed)).toEqual([]);
  expect(existsSync(`${crashed}.filling`)).toBe(false);
});

test('bulk load: a store with records is written to normally', async () => {
  const store = open();
  put(store, 'a', 1);
  await store.bulkLoad(async () => {
    expect(existsSync(`${file}.filling`)).toBe(false);
    put(store, 'a', 2);
  });
  expect(idsIn(store)).toEqual(['a']);
  store.close();
});

test('bulk load: works in memory', async () => {
  const store = open(':memory:');
  await store.bulkLoad(async () => put(store, 'a'));
  expect(idsIn(store)).toEqual(['a']);
  store.close();
});

describe('RecordWriter', () => {
  test('accepts rows with more, fewer and differently ordered columns', () => {
    const store = open(':memory:');
    store.write((writer) => {
      writer.put('File', { id: 'a', name: 'A' }, 1);
      writer.put('File', { name: 'B', id: 'b' }, 2);
      writer.put('File', { id: 'c', name: 'C', size: 3 }, 3);
      writer.put('File', { id: 'd' }, 4);
      writer.put('File', { id: 'a', size: 5 }, 1);
    });
    expect([...store.rows('File', ['id', 'name', 'size'])]).toEqual([
      { position: 1, id: 'a', name: null, size: 5 },
      { position: 2, id: 'b', name: 'B', size: null },
      { position: 3, id: 'c', name: 'C', size: 3 },
      { position: 4, id: 'd', name: null, size: null },
    ]);
    store.close();
  });

  test.each([
    ['in the first row of a type', []],
    ['in a later row', [{ id: 'a' }]],
  ])('rejects an unknown column %s', (_, before) => {
    const store = open(':memory:');
    const write = (): void =>
      store.write((writer) => {
        before.forEach((row, index) => writer.put('File', row, index + 1));
        writer.put('File', { id: 'b', colour: 'red' }, 9);
      });
    expect(write).toThrow('File has no column colour.');
    expect(idsIn(store)).toEqual([]);
    store.close();
  });
});

test('damage that the creation of an index finds is reported', async () => {
  (await openFilled()).close();
  const other = new DatabaseSync(file);
  const { root } = other.prepare(`SELECT rootpage AS root FROM sqlite_schema WHERE name = 'File'`).get() as {
    root: number;
  };
  const { size } = other.prepare('SELECT page_size AS size FROM pragma_page_size').get() as { size: number };
  other.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  other.close();
  const handle = await openFile(file, 'r+');
  await handle.write(Buffer.alloc(size, 0xa5), 0, size, (root - 1) * size);
  await handle.close();
  const damages: unknown[] = [];
  const store = openRecordStore({ file, tables: records, onDamage: (error) => damages.push(error) });
  await expect(store.createMissingIndexes()).rejects.toThrow('malformed');
  expect(damages).toHaveLength(1);
  store.close();
});
