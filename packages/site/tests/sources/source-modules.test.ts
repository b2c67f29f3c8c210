import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openRecordStore, type RecordStore } from '../../src/record-store.js';
import {
  defineSource,
  markSourceTypes,
  type RunningSources,
  runSources,
  type SourceChange,
  type SourceModule,
} from '../../src/sources/source-modules.js';
import { tables as queryTables } from '../query/tables.js';

/** The fields of every record that the tables for queries leave out. */
const internal = ['internal.contentDigest', 'internal.owner'].map((column) => ({
  ...({ kind: 'scalar', type: 'String', name: column, path: column, column } as const),
  ...{ list: false, nullable: true, dateArguments: false, indexed: false },
}));
const tables = {
  ...queryTables,
  Item: { ...queryTables.Item, fields: [...queryTables.Item.fields, ...internal] },
};

let folder: string;
let store: RecordStore;
let running: RunningSources | undefined;
let messages: string[];

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'trellis-sources-'));
  store = open();
  messages = [];
});
afterEach(async () => {
  await running?.close();
  running = undefined;
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

const open = (): RecordStore =>
  openRecordStore({
    file: path.join(folder, 'site.db'),
    tables: markSourceTypes(tables, { items: { type: 'Item' } as SourceModule }),
  });

interface Item {
  readonly text?: unknown;
  readonly size?: unknown;
  readonly day?: unknown;
}
type Read = SourceModule<Item>['read'];

/** Runs one source once. */
async function run(read: Read, more: Partial<SourceModule<Item>> = {}): Promise<void> {
  await running?.close();
  running = start({ items: defineSource<Item>({ type: 'Item', read, ...more }) });
  await running.firstRuns;
}

const start = (modules: Readonly<Record<string, SourceModule>>): RunningSources =>
  runSources({
    modules,
    store,
    tables,
    variable: (name) => `value of ${name}`,
    onProblem: (message) => messages.push(message),
  });

/** Returns a `read` that reports these changes and returns the cursor. */
const reporting = (changes: readonly SourceChange<Item>[], cursor?: string): Read =>
  async function* read() {
    yield* changes;
    return cursor;
  };

const item = (id: string, values: Item = {}): SourceChange<Item> => ({ id, values: { text: id, ...values } });
const texts = (): unknown[] => [...store.rows('Item', ['text'])].map(({ text }) => text);
const ids = (): unknown[] => [...store.rows('Item', ['id'])].map(({ id }) => id);

describe('a run without a cursor', () => {
  test('stores the records in the order of their reports, and deletes the others', async () => {
    await run(reporting([item('a'), item('b'), item('c')]));
    const [idOfA, , idOfC] = ids();
    expect(texts()).toEqual(['a', 'b', 'c']);
    await run(reporting([item('c'), item('a', { size: 2 })]));
    expect(texts()).toEqual(['c', 'a']);
    expect(ids()).toEqual([idOfC, idOfA]);
  });

  test('writes nothing if nothing changed', async () => {
    await run(reporting([item('a')]));
    const before = store.generation;
    await run(reporting([item('a')]));
    expect(store.generation).toBe(before);
  });

  test('uses the last of several reports of a record', async () => {
    await run(reporting([item('a'), item('a', { size: 2 }), item('b'), { id: 'b', deleted: true }]));
    expect([...store.rows('Item', ['text', 'size'])]).toMatchObject([{ text: 'a', size: 2 }]);
  });
});

describe('a run with a cursor', () => {
  const seen: unknown[] = [];
  const noting = (changes: readonly SourceChange<Item>[], cursor: string): Read =>
    async function* read({ cursor: received }) {
      seen.push(received);
      yield* changes;
      return cursor;
    };

  test('receives what the last run returned, also after a restart, and changes only what it reports', async () => {
    seen.length = 0;
    await run(noting([item('a'), item('b'), item('c')], 'one'));
    await running?.close();
    store.close();
    store = open();
    await run(noting([{ id: 'b', deleted: true }, item('d')], 'two'));
    await run(noting([], 'two'));
    expect(seen).toEqual([undefined, 'one', 'two']);
    expect(texts()).toEqual(['a', 'c', 'd']);
  });

  test('starts again without the cursor when the version changes', async () => {
    seen.length = 0;
    await run(noting([item('a')], 'one'));
    await run(noting([item('b')], 'two'), { version: 2 });
    expect(seen).toEqual([undefined, undefined]);
    expect(texts()).toEqual(['b']);
  });
});

describe('a source that fails', () => {
  test('keeps its records and its cursor, is reported once, and runs again', async () => {
    await run(reporting([item('a')], 'one'));
    let runs = 0;
    const cursors: unknown[] = [];
    await run(
      async function* read({ cursor }) {
        cursors.push(cursor);
        runs += 1;
        if (runs < 3) {
          yield item('lost');
          throw new Error('The feed is offline', { cause: new Error('ECONNREFUSED') });
        }
        yield item('b');
        return 'two';
      },
      { everySeconds: 1 },
    );
    expect(texts()).toEqual(['a']);
    const problem = 'The source items failed; its records stay as they were. The feed is offline (ECONNREFUSED)';
    expect(messages).toEqual([problem]);
    expect(running?.problems().map(({ path: where, reason }) => `${where} ${reason}`)).toEqual([problem]);
    await until(() => texts().length === 2);
    expect(cursors).toEqual(['one', 'one', 'one']);
    expect(messages).toHaveLength(1);
    expect(running?.problems()).toEqual([]);
  });

  test('is stopped after its time, even if it ignores the signal', async () => {
    await run(
      async function* read() {
        yield item('a');
        await new Promise(() => undefined);
      },
      { timeoutSeconds: 0.05 },
    );
    expect(messages).toEqual([
      'The source items failed; its records stay as they were. It took more than 0.05 seconds.',
    ]);
    expect(texts()).toEqual([]);
  });

  test.each<[string, Read, RegExp]>([
    ['a change without an id', reporting([{ values: {} } as never]), /an `id` of 1 to 512 characters; received none/],
    ['a change without values', reporting([{ id: 'a' } as never]), /expected `values` or `deleted: true`/],
    ['a cursor that is not text', reporting([], 3 as never), /a cursor of at most 65536 characters of text/],
    [
      'more values than fit into memory',
      async function* read() {
        for (let index = 0; ; index += 1) yield item(`a${index}`, { text: 'x'.repeat(8 * 1024 ** 2) });
      },
      /at most 67.1 MB in one run/,
    ],
  ])('rejects %s', async (_what, read, message) => {
    await run(read);
    expect(messages).toEqual([expect.stringMatching(message)]);
    expect(texts()).toEqual([]);
  });
});

test('values are validated as those of files are: an invalid one is reported with its record, and is null', async () => {
  await run(reporting([item('a', { size: 'many' }), item('b', { day: new Date('2026-03-01T10:00:00Z') })]));
  expect([...store.rows('Item', ['text', 'size', 'day'])]).toMatchObject([
    { text: 'a', size: null },
    { text: 'b', day: '2026-03-01T10:00:00.000Z' },
  ]);
  expect(messages).toEqual([
    'The source items, record "a": Item.size: expected a 32-bit whole number; received "many".',
  ]);
});

test('a run receives variables of the environment, and a signal that closing aborts', async () => {
  let variable = '';
  let signal: AbortSignal | undefined;
  running = start({
    items: {
      type: 'Item',
      async *read(received) {
        variable = received.variable('NEWS_TOKEN');
        ({ signal } = received);
        yield item('a');
        await new Promise(() => undefined);
      },
    },
  });
  await until(() => signal !== undefined);
  await running.close();
  expect(variable).toBe('value of NEWS_TOKEN');
  expect(signal?.aborted).toBe(true);
  expect(texts()).toEqual([]);
});

test('a source that the project no longer has loses its records', async () => {
  await run(reporting([item('a')]));
  await running?.close();
  running = start({});
  expect(texts()).toEqual([]);
});

test.each<[string, Readonly<Record<string, Partial<SourceModule>>>, RegExp]>([
  [
    'of an unknown type',
    { news: { type: 'News' } },
    /source news: expected `type` to name a record type; received "News"/,
  ],
  ['of a type with files', { news: { type: 'Post' } }, /expected a record type without @source/],
  ['of the type of another source', { a: { type: 'Item' }, b: { type: 'Item' } }, /the source b has Item too/],
  ['that never pauses', { a: { type: 'Item', everySeconds: 0 } }, /everySeconds of at least 1; received 0/],
  ['with an endless run', { a: { type: 'Item', timeoutSeconds: 3601 } }, /between 0 and 3600; received 3601/],
  ['without a function', { a: { type: 'Item', read: undefined } }, /a default export with a function `read`/],
])('a source %s is refused', (_reason, modules, message) => {
  const complete = Object.entries(modules).map(([name, module]) => [name, { read: reporting([]), ...module }] as const);
  expect(() => start(Object.fromEntries(complete) as Record<string, SourceModule>)).toThrow(message);
});

/** Waits for a condition without a fixed time. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => void setTimeout(resolve, 10));
}
