/** The files of a site in a bucket: stored by a publisher, and read by a replica. */
import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
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
import { openPublisher } from '../../src/site-data/index/publisher.js';
import { openPackTable, openSiteFiles } from '../../src/site-data/index/site-files.js';
import type { ObjectStore } from '../../src/storage/objects/object-store.js';
import { openObjectStore } from '../../src/storage/objects/s3-store.js';
import { eventually } from '../eventually.js';
import { createTestFolder } from '../storage/engine.js';
import { BUCKET, type S3TestServer, startS3Server } from '../storage/objects/s3-server.js';

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

test('A replica waits longer for a large file of a slow bucket than for a small one', async () => {
  const published = open();
  const files = [await save('small.bin', Buffer.alloc(1_000, 1)), await save('large.bin', Buffer.alloc(2_000_000, 2))];
  await published.add(files, signal);
  published.close();
  const slow: ObjectStore = {
    ...store,
    async get(key, options) {
      const found = await store.get(key, options);
      if (found) await delay(50, undefined, { signal: options!.signal! });
      async function* wait(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
        yield* body;
        await delay(500, undefined, { signal: options!.signal! });
      }
      return found && { ...found, body: wait(found.body) };
    },
  };
  const site = openSiteFiles(slow, folder, 200);
  const target = path.join(folder, 'fetched');
  await expect(site.fetch(files[0]!.contentDigest, target)).rejects.toMatchObject({ code: 'unavailable' });
  await site.fetch(files[1]!.contentDigest, target);
  expect(await readFile(target)).toEqual(Buffer.alloc(2_000_000, 2));
});

test('An object of the index whose content was exchanged for a valid one is reported as damaged', async () => {
  const object = await putObject(store, 'catalogs', Buffer.from('one'), signal);
  const other = await putObject(store, 'catalogs', Buffer.from('two'), signal);
  const exchanged = await store.get(other.key, { signal });
  await store.put(object.key, await buffer(exchanged!.body), { signal });
  await expect(getObject(store, other, signal)).resolves.toEqual(Buffer.from('two'));
  await expect(getObject(store, object, signal)).rejects.toThrow('is damaged');
});

test('A publisher renews its head while files are stored, so that others see that it runs', async () => {
  const site = path.join(folder, 'site.db');
  const records = openRecordStore({ file: site, tables });
  const files = await saveSmall(20);
  records.write((writer) => {
    files.forEach(({ contentDigest, ...file }, index) => {
      writer.put('File', { ...file, id: `File${index}`, parent: null, 'internal.contentDigest': contentDigest }, index);
    });
  });
  const log = { error: () => undefined, info: () => undefined, warn: () => undefined };
  const options = { folder: path.join(folder, 'publisher'), release: 'test', log, renewalMs: 50 };
  // This server of others replaces objects in two steps, so the head is read only while it is not written.
  const countWrites = (): number => bucket.requests.filter((line) => /^PUT .*head\.json/.test(line)).length;
  bucket.fault = (line) => (line.startsWith('PUT ') && line.includes('/packs/') ? 'hang' : undefined);
  const publisher = await openPublisher(openObjectStore(store.address, bucket.env), options);
  publisher.start({
    store: records,
    file: site,
    schema: 'schema',
    description: {},
    problems: () => ({ entries: [], count: 0 }),
    openCopy: (file) => openRecordStore({ file, tables }),
  });
  await eventually(() => expect(bucket.requests.join()).toContain('/packs/'));
  const before = countWrites();
  await eventually(() => expect(countWrites()).toBeGreaterThan(before + 3));
  expect(publisher.progress).toBeUndefined();
  await publisher.close();
  records.close();
  await eventually(async () => {
    const { head } = (await readHead(store, undefined, signal)) as { head: IndexHead };
    expect(head.revision).toBeGreaterThan(before + 3);
  });
});
