/** The files of a site in a bucket: stored by a publisher, and read by a replica. */
import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import { openRecordStore } from '@trellis/site/record-store';
import { records as tables } from '../../src/generated/site/records.js';
import {
  getObject,
  type IndexHead,
  type IndexObject,
  putObject,
  readHead,
} from '../../src/site-data/index/index-head.js';
import { openPublishedFiles, type SiteFile } from '../../src/site-data/index/published-files.js';
import { openPublisher, type PublishedSite } from '../../src/site-data/index/publisher.js';
import { openPackTable, openSiteFiles } from '../../src/site-data/index/site-files.js';
import type { ObjectStore } from '../../src/storage/objects/object-store.js';
import { openObjectStore } from '../../src/storage/objects/s3-store.js';
import { eventually } from '../eventually.js';
import { createTestFolder } from '../storage/engine.js';
import { BUCKET, errorDocument, type S3TestServer, startS3Server } from '../storage/objects/s3-server.js';

let bucket: S3TestServer;
let folder: string;
let store: ObjectStore;
let count = 0;
beforeAll(async () => {
  bucket = await startS3Server();
});
beforeEach(async () => {
  folder = await createTestFolder();
  store = openObjectStore(`s3://${BUCKET}/${(count += 1)}`, bucket.env);
  bucket.requests.length = 0;
});
afterEach(async () => {
  bucket.fault = undefined;
  await store.close();
});
afterAll(() => bucket.close());

const { signal } = new AbortController();

async function save(name: string, content: Uint8Array | string): Promise<SiteFile> {
  const absolutePath = path.join(folder, name);
  await writeFile(absolutePath, content);
  const contentDigest = createHash('md5').update(content).digest('hex');
  return { absolutePath, contentDigest, size: Buffer.byteLength(content) };
}

const saveSmall = (files: number): Promise<SiteFile[]> =>
  Promise.all(Array.from({ length: files }, (_, index) => save(`${index}.txt`, index === 3 ? '' : `text ${index}`)));

const open = () => openPublishedFiles(store, folder, 'test');

/** Returns the requests since the last call by method and folder, with their count. */
function takeRequests(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const line of bucket.requests.splice(0)) {
    const kind = line.replace(/^(\w+) \/photos\/\d+\/(\w+).*/s, '$1 $2');
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

/** Publishes the catalogs, follows them in a folder of a replica, and returns the content of each file there. */
async function readAsReplica(files: readonly SiteFile[], catalogs: readonly IndexObject[]) {
  const replica = path.join(folder, 'replica');
  await mkdir(replica, { recursive: true });
  const table = openPackTable(replica);
  for (const catalog of catalogs) await table.add(catalog.key, await getObject(store, catalog, signal));
  const site = openSiteFiles(openObjectStore(store.address, bucket.env), replica);
  const contents: Buffer[] = [];
  try {
    for (const { contentDigest } of files) {
      const target = path.join(folder, 'fetched');
      await site.fetch(contentDigest, target);
      contents.push(await readFile(target));
    }
  } finally {
    table.close();
    await site.close();
  }
  return contents;
}

const readAll = (files: readonly SiteFile[]): Promise<Buffer[]> =>
  Promise.all(files.map(({ absolutePath }) => readFile(absolutePath)));

describe('the files of a published index', () => {
  test('stores many small files with one request, and a replica reads each of them', async () => {
    const files = [...(await saveSmall(40)), await save('large.bin', Buffer.alloc(300_000, 'large'))];
    const published = open();
    await published.add(files, signal);
    expect(takeRequests()).toEqual({ 'PUT packs': 1, 'PUT files': 1 });
    const catalogs = await published.putCatalogs(signal);
    expect(takeRequests()).toEqual({ 'PUT catalogs': 1 });
    expect(await readAsReplica(files, catalogs)).toEqual(await readAll(files));
    published.close();
  });

  test('stores a saved file alone, and nothing twice after a restart', async () => {
    const first = open();
    const files = await saveSmall(40);
    await first.add(files, signal);
    const catalogs = await first.putCatalogs(signal);
    first.close();
    takeRequests();
    const second = open();
    const saved = await save('saved.txt', 'saved');
    await second.add([...files, saved], signal);
    expect(await second.putCatalogs(signal)).toEqual(catalogs);
    expect(takeRequests()).toEqual({ 'PUT files': 1 });
    expect(await readAsReplica([saved], catalogs)).toEqual([Buffer.from('saved')]);
    takeRequests();
    second.forget();
    await second.add([...files, saved], signal);
    expect(takeRequests()).toEqual({ 'PUT packs': 1 });
    second.close();
  });

  test('leaves out files that have changed, that are missing, or that the disk cannot read', async () => {
    const files = await saveSmall(40);
    await writeFile(files[7]!.absolutePath, 'changed');
    for (const index of [8, 9]) await rm(files[index]!.absolutePath);
    // Reads of it fail with EIO, as those of a damaged block do.
    await symlink('/proc/self/mem', files[9]!.absolutePath);
    const published = open();
    await published.add(files, signal);
    const catalogs = await published.putCatalogs(signal);
    const present = files.filter((_, index) => index < 7 || index > 9);
    expect(await readAsReplica(present, catalogs)).toEqual(await readAll(present));
    await expect(readAsReplica([files[7]!], catalogs)).rejects.toMatchObject({ code: 'unavailable' });
    published.close();
  });

  test.each<[string, (content: Buffer) => Buffer]>([
    ['the header', (content) => content.fill(7, 0, 100)],
    ['pages', (content) => content.fill(7, 4096)],
  ])('are stored again, or found in the bucket, if %s of their list is damaged', async (_part, damage) => {
    const files = await saveSmall(40);
    const first = open();
    await first.add(files, signal);
    first.close();
    const list = path.join(folder, 'published-test.db');
    const database = new DatabaseSync(list);
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    database.close();
    await writeFile(list, damage(await readFile(list)));
    const second = open();
    expect(second.isNew).toBe(true);
    await second.add(files, signal);
    expect(await readAsReplica(files, await second.putCatalogs(signal))).toEqual(await readAll(files));
    second.close();
  });

  test('adds to a catalog, of which a replica reads the new packs', async () => {
    const published = open();
    const files = await saveSmall(20);
    await published.add(files, signal);
    const before = await published.putCatalogs(signal);
    await readAsReplica(files, before);
    const more = await Promise.all(Array.from({ length: 20 }, (_, index) => save(`more-${index}`, `more ${index}`)));
    await published.add(more, signal);
    const after = await published.putCatalogs(signal);
    expect([before.length, after.length]).toEqual([1, 1]);
    expect(await readAsReplica([...files, ...more], after)).toEqual(await readAll([...files, ...more]));
    published.close();
  });

  test('are unavailable while the table of the replica is damaged, which is created again', async () => {
    const published = open();
    const files = await saveSmall(20);
    await published.add(files, signal);
    const catalogs = await published.putCatalogs(signal);
    const replica = path.join(folder, 'replica');
    await mkdir(replica);
    await writeFile(path.join(replica, 'packs.db'), 'not a database '.repeat(1000));
    const site = openSiteFiles(openObjectStore(store.address, bucket.env), replica);
    const target = path.join(folder, 'fetched');
    await expect(site.fetch(files[0]!.contentDigest, target)).rejects.toMatchObject({ code: 'unavailable' });
    await site.close();
    expect(await readAsReplica(files, catalogs)).toEqual(await readAll(files));
    published.close();
  });
});

const DAY_MS = 86_400_000;

describe('the cleanup of the stored files', () => {
  /** Runs a cleanup this many days from now, by default with no file in use. */
  async function cleanUp(
    published: ReturnType<typeof open>,
    days: number,
    { used = [], meanwhile }: { used?: readonly SiteFile[]; meanwhile?: () => Promise<void> } = {},
  ): Promise<number | undefined> {
    const cleanup = published.beginCleanup(Date.now() + days * DAY_MS);
    try {
      await meanwhile?.();
      return await cleanup?.deleteUnused(
        used.map(({ contentDigest }) => contentDigest),
        signal,
      );
    } finally {
      cleanup?.end();
    }
  }

  const listFiles = async (): Promise<string[]> => {
    const keys: string[] = [];
    for await (const { key } of store.list('files/')) keys.push(key.slice('files/'.length));
    return keys;
  };

  const saveLarge = (text: string): Promise<SiteFile> => save(`${text}.bin`, Buffer.alloc(300_000, text));

  test('deletes a file after a week without use, keeps the others, and stores it again when it returns', async () => {
    const [kept, dropped] = [await saveLarge('kept'), await saveLarge('dropped')];
    const small = await saveSmall(40);
    const published = open();
    await published.add([kept, dropped, ...small], signal);
    await store.put('files/of others', Buffer.from('other'));
    expect(await cleanUp(published, 0.9)).toBeUndefined();
    expect(await cleanUp(published, 1.1, { used: [kept] })).toBe(0);
    expect(await cleanUp(published, 2, { used: [kept] })).toBeUndefined();
    expect(await cleanUp(published, 8, { used: [kept] })).toBe(0);
    expect(await cleanUp(published, 9.1, { used: [kept] })).toBe(1);
    expect(await listFiles()).toEqual([kept.contentDigest, 'of others'].sort());
    await published.add([dropped], signal);
    const files = [kept, dropped, ...small];
    expect(await readAsReplica(files, await published.putCatalogs(signal))).toEqual(await readAll(files));
    published.close();
  });

  test('counts the week again for a file that was in use meanwhile, across restarts', async () => {
    const file = await saveLarge('again');
    for (const [days, used, deleted] of [
      [1.1, [], 0],
      [3, [file], 0],
      [9, [], 0],
      [15, [], 0],
      [17, [], 1],
    ] as const) {
      const published = open();
      await published.add([file], signal);
      expect([days, await cleanUp(published, days, { used })]).toEqual([days, deleted]);
      published.close();
    }
  });

  test('keeps a file that returns while the cleanup runs', async () => {
    const file = await saveLarge('returned');
    const published = open();
    await published.add([file], signal);
    await cleanUp(published, 1.1);
    expect(await cleanUp(published, 9, { meanwhile: () => published.add([file], signal) })).toBe(0);
    expect(await readAsReplica([file], [])).toEqual(await readAll([file]));
    published.close();
  });

  test('keeps the object of a file that the bucket does not delete, and serves it when it returns', async () => {
    const file = await saveLarge('refused');
    const published = open();
    await published.add([file], signal);
    await cleanUp(published, 1.1);
    bucket.fault = (line) =>
      line.startsWith('DELETE ') ? { status: 403, body: errorDocument('AccessDenied') } : undefined;
    await expect(cleanUp(published, 9)).rejects.toThrow('Access denied to DELETE');
    await published.add([file], signal);
    expect(await readAsReplica([file], [])).toEqual(await readAll([file]));
    bucket.fault = undefined;
    expect([await cleanUp(published, 11), await cleanUp(published, 19)]).toEqual([0, 1]);
    published.close();
  });

  test('stores a file that returns while its object is deleted', async () => {
    const file = await saveLarge('deleted');
    const published = open();
    await published.add([file], signal);
    await cleanUp(published, 1.1);
    let refused = 0;
    bucket.fault = (line) => {
      if (!line.startsWith('DELETE ') || (refused += 1) > 1) return undefined;
      return { status: 503, body: errorDocument('SlowDown') };
    };
    const cleanup = cleanUp(published, 9);
    await eventually(() => expect(refused).toBe(1));
    await published.add([file], signal);
    expect(await cleanup).toBe(1);
    expect(await readAsReplica([file], [])).toEqual(await readAll([file]));
    published.close();
  });
});

test('A replica waits longer for a large file of a slow bucket than for a small one', async () => {
  const published = open();
  const files = [await save('small.bin', Buffer.alloc(1_000, 1)), await save('large.bin', Buffer.alloc(4_000_000, 2))];
  await published.add(files, signal);
  published.close();
  const slow: ObjectStore = {
    ...store,
    async get(key, options) {
      const found = await store.get(key, options);
      if (found) await delay(50, undefined, { signal: options!.signal! });
      async function* wait(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
        yield* body;
        await delay(1_500, undefined, { signal: options!.signal! });
      }
      return found && { ...found, body: wait(found.body) };
    },
  };
  const site = openSiteFiles(slow, folder, 1_000);
  const target = path.join(folder, 'fetched');
  await expect(site.fetch(files[0]!.contentDigest, target)).rejects.toMatchObject({ code: 'unavailable' });
  await site.fetch(files[1]!.contentDigest, target);
  expect(await readFile(target)).toEqual(Buffer.alloc(4_000_000, 2));
});

test('An object of the index whose content was exchanged for a valid one is reported as damaged', async () => {
  const object = await putObject(store, 'catalogs', Buffer.from('one'), signal);
  const other = await putObject(store, 'catalogs', Buffer.from('two'), signal);
  const exchanged = await store.get(other.key, { signal });
  await store.put(object.key, await buffer(exchanged!.body), { signal });
  await expect(getObject(store, other, signal)).resolves.toEqual(Buffer.from('two'));
  await expect(getObject(store, object, signal)).rejects.toThrow('is damaged');
});

/** Returns a site with the records of the files. */
function toSite(files: readonly SiteFile[]): PublishedSite & { close(): void } {
  const file = path.join(folder, 'site.db');
  const records = openRecordStore({ file, tables });
  records.write((writer) => {
    files.forEach(({ contentDigest, ...stored }, index) => {
      writer.put(
        'File',
        { ...stored, id: `File${index}`, parent: null, 'internal.contentDigest': contentDigest },
        index,
      );
    });
  });
  return {
    ...{ store: records, file, schema: 'schema', description: {} },
    problems: () => ({ entries: [], count: 0 }),
    openCopy: (copy) => openRecordStore({ file: copy, tables }),
    close: () => records.close(),
  };
}

test('A publisher renews its head while files are stored, so that others see that it runs', async () => {
  const site = toSite(await saveSmall(20));
  const log = { error: () => undefined, info: () => undefined, warn: () => undefined };
  const options = { folder: path.join(folder, 'publisher'), release: 'test', log, renewalMs: 50 };
  const countWrites = (): number => bucket.requests.filter((line) => /^PUT .*head\.json/.test(line)).length;
  bucket.fault = (line) => (line.startsWith('PUT ') && line.includes('/packs/') ? 'hang' : undefined);
  const publisher = await openPublisher(openObjectStore(store.address, bucket.env), options);
  publisher.start(site);
  await eventually(() => expect(bucket.requests.join()).toContain('/packs/'));
  const before = countWrites();
  await eventually(() => expect(countWrites()).toBeGreaterThan(before + 3));
  expect(publisher.progress).toBeUndefined();
  await publisher.close();
  site.close();
  await eventually(async () => {
    const { head } = (await readHead(store, undefined, signal)) as { head: IndexHead };
    expect(head.revision).toBeGreaterThan(before + 3);
  });
});

test('A publisher deletes the content of files that the site no longer has, and names their number', async () => {
  const [kept, dropped] = [await save('kept.bin', Buffer.alloc(300_000, 1)), await save('dropped.bin', 'dropped')];
  const site = toSite([kept]);
  const lines: string[] = [];
  const note = (line: string) => void lines.push(line);
  const options = {
    folder: path.join(folder, 'publisher'),
    release: 'test',
    log: { error: note, info: note, warn: note },
  };
  const name = createHash('sha256').update(store.address).digest('hex').slice(0, 16);
  const run = async (until: () => void) => {
    const publisher = await openPublisher(openObjectStore(store.address, bucket.env), options);
    publisher.start(site);
    await eventually(until);
    await publisher.close();
  };
  await run(() => expect(lines).toHaveLength(1));
  const list = openPublishedFiles(store, options.folder, name);
  await list.add([dropped], signal);
  list.close();
  // A cleanup long ago found no use of the file.
  const database = new DatabaseSync(path.join(options.folder, `published-${name}.db`));
  database.exec(`UPDATE facts SET value = '0' WHERE key = 'cleaned'`);
  database.prepare('INSERT INTO unused VALUES (?, 0)').run(dropped.contentDigest);
  database.close();
  await run(() => expect(lines.at(-1)).toBe(`Files deleted from ${store.address}, unused for a week: 1.`));
  site.close();
  expect(await store.head(`files/${dropped.contentDigest}`)).toBeUndefined();
  expect(await store.head(`files/${kept.contentDigest}`)).toMatchObject({ bytes: 300_000 });
});
