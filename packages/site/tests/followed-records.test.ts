import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import type { RecordChange } from '../src/record-changes.js';
import { openRecordStore, type RecordStore } from '../src/record-store.js';
import { type FollowedRecords, followRecords, type SiteRecords } from '../src/stored-records.js';
import { Evaluator } from './query/evaluator.js';
import { byEngine, filtersOf, pages, pathsOf, sortsOf } from './query/query-arbitraries.js';
import { computedValues, computeValue, tables } from './query/tables.js';
import { fill, worldsOf } from './query/world.js';

const ID = { values: [{ kind: 'column', name: 'id', column: 'id', holds: 'value' }], relations: [] } as const;

let folder: string;
let store: RecordStore;
let followed: FollowedRecords;
let requested: string[];
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'trellis-followed-'));
  const file = path.join(folder, 'site.db');
  requested = [];
  let onCommit = (): void => undefined;
  store = openRecordStore({ file, tables, onCommit: () => onCommit() });
  followed = followRecords({
    file,
    tables,
    requestIndex(key) {
      requested.push(key);
      store.makeIndex(key);
    },
  });
  onCommit = () => followed.refresh(Date.now());
});
afterEach(() => {
  followed.close();
  store.close();
  rmSync(folder, { recursive: true });
});

const listIds = (records: SiteRecords): unknown[] => records.page('Item', {}, ID).nodes.map(({ id }) => id);

describe('followRecords', () => {
  test('finds the same records as the reference implementation, after each change of the store', async () => {
    const paths = pathsOf(tables, tables.Item.fields, 2);
    const [worlds, filters, sorts] = [worldsOf(tables), filtersOf(tables, tables.Item, byEngine), sortsOf(paths)];
    await fc.assert(
      fc.asyncProperty(worlds, filters, sorts, pages, async (world, filter, sort, page) => {
        fill(store, world);
        const question = { filter, sort, ...page };
        const found = followed.page('Item', { ...question, computed: computedValues() }, ID);
        expect((await followed.withComputedValues(() => found.nodes)).map(({ id }) => id)).toEqual(
          new Evaluator(tables, world, computeValue).page('Item', question).map(({ id }) => id),
        );
      }),
      { numRuns: 100 },
    );
  });

  test('shows a change when it is refreshed, and not before', () => {
    fill(store, { Item: [{ id: 'Item0' }], Part: [] });
    const file = path.join(folder, 'site.db');
    const other = followRecords({ file, tables, requestIndex: () => undefined });
    const { generation } = other;
    fill(store, { Item: [{ id: 'Item1' }], Part: [] });
    expect([listIds(followed), listIds(other), other.generation]).toEqual([['Item1'], ['Item0'], generation]);
    other.refresh(1);
    expect([listIds(other), other.changedAt]).toEqual([['Item1'], 1]);
    expect(other.generation).toBeGreaterThan(generation);
    other.close();
  });

  test('knows the types of records that changed, or of all if the snapshot has further changes', () => {
    fill(store, { Item: [{ id: 'Item0' }], Part: [] });
    const reported: RecordChange[] = [];
    const file = path.join(folder, 'other.db');
    const writer = openRecordStore({ file, tables, onCommit: (change) => void (change && reported.push(change)) });
    const other = followRecords({ file, tables, requestIndex: () => undefined });
    const put = (kind: string): void => fill(writer, { [kind]: [{ id: `${kind}0` }] });
    other.refresh(1);
    put('Item');
    other.refresh(2, reported.shift());
    expect(['Item', 'Part'].map((kind) => other.unchangedSince([kind]))).toEqual([other.generation, 0]);
    const before = other.generation;
    other.refresh(3);
    expect(other.unchangedSince(undefined)).toBe(before);
    writer.write((records) => records.put('Part', { id: 'Part0', parent: null }, 1));
    writer.write((records) => records.put('Part', { id: 'Part1', parent: null }, 2));
    other.refresh(4, reported.shift());
    expect(other.unchangedSince(['Item'])).toBe(other.generation);
    other.refresh(5, reported.shift());
    expect(other.unchangedSince(['Item'])).toBe(other.generation - 1);
    other.close();
    writer.close();
  });

  test('requests the index of a repeated query once, and uses it', () => {
    fill(store, { Item: [{ id: 'Item0', text: 'b', ratio: 0.5 }], Part: [] });
    for (let times = 0; times < 5; times += 1) {
      expect(followed.first('Item', ['id'], { text: 'b', ratio: 0.5 })).toEqual({ id: 'Item0' });
    }
    expect(requested).toHaveLength(1);
  });

  test('requests the index of pages that test many other records once, after some time', () => {
    fill(store, { Item: Array.from({ length: 2000 }, (_, at) => ({ id: `Item${at}`, text: 'ab'[at % 2] })), Part: [] });
    const question = { filter: { text: { eq: 'a' } }, sort: { fields: ['id'] }, limit: 10 } as const;
    for (let skip = 0; skip < 900; skip += 1) followed.page('Item', { ...question, skip }, ID).nodes.at(0);
    expect(requested).toEqual(['"Item" ("text", "id")']);
  });

  test('cannot change the records', () => {
    expect('write' in followed).toBe(false);
    expect(() => followRecords({ file: path.join(folder, 'none.db'), tables, requestIndex: () => undefined })).toThrow(
      /unable to open/,
    );
  });
});
