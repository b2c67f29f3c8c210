import { mkdirSync, rmSync } from 'node:fs';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { openImages, type Images } from '@trellis/images/images';
import type { ImageSource } from '@trellis/images/source';
import { openImageDatabase, type ImageDatabase, openQuota } from '@trellis/images/store/database';
import fc from 'fast-check';
import sharp from 'sharp';
import { createImageFolder, scene, type ImageFolder } from '../../../packages/images/tests/image-folder.js';
import { eventually } from '../../eventually.js';

let pictures: ImageFolder;
let photo: ImageSource;
const sources: ImageSource[] = [];
beforeAll(async () => {
  pictures = await createImageFolder();
  photo = await pictures.put('photo.jpg', scene(640, 480).jpeg());
  sources.push(photo);
});
afterAll(() => pictures.remove());

/** The bytes that the quota adds to each entry for its database row. */
const ROW = 256;

describe('a quota', () => {
  let database: ImageDatabase;
  const evicted: string[] = [];
  beforeEach(() => {
    evicted.length = 0;
    database = openImageDatabase(':memory:');
  });
  afterEach(() => database.close());

  const open = (maxBytes: number) =>
    openQuota(database, { share: 'files', maxBytes, onEvict: (key) => void evicted.push(key) });

  test('evicts the entry that was used the longest ago', async () => {
    const quota = open(3 * (100 + ROW));
    for (const key of ['a', 'b', 'c']) await quota.put(key, 100);
    expect([quota.usedBytes(), evicted]).toEqual([3 * (100 + ROW), []]);
    age('a', 'b', 'c');
    quota.touch('a');
    await quota.put('d', 100);
    expect(evicted).toEqual(['b']);
    expect(['a', 'b', 'c', 'd'].filter((key) => quota.has(key))).toEqual(['a', 'c', 'd']);
    quota.close();
  });

  /** Makes entries older than a minute, as later uses are not written. */
  function age(...keys: readonly string[]): void {
    for (const [index, key] of keys.entries()) {
      database.prepare('UPDATE stored SET used = ? WHERE key = ?').run(Date.now() - 1e6 + index, key);
    }
  }

  test('counts a replaced entry once, and a removed entry no longer', async () => {
    const quota = open(10_000);
    await quota.put('a', 100);
    await quota.put('a', 300);
    expect(quota.usedBytes()).toBe(300 + ROW);
    quota.remove('a');
    quota.remove('a');
    expect(quota.usedBytes()).toBe(0);
    quota.close();
  });

  test('always counts exactly its entries, and never exceeds its limit', async () => {
    const action = fc.record({ key: fc.integer({ min: 0, max: 20 }), bytes: fc.integer({ min: 0, max: 900 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 60 }), async (actions) => {
        database.close();
        database = openImageDatabase(':memory:');
        const quota = open(3_000);
        for (const { key, bytes } of actions) {
          if (bytes < 50) quota.remove(String(key));
          else await quota.put(String(key), bytes);
          const rows = database.prepare('SELECT bytes FROM stored').all() as { bytes: number }[];
          expect(quota.usedBytes()).toBe(rows.reduce((sum, row) => sum + row.bytes, 0));
          expect(quota.usedBytes()).toBeLessThanOrEqual(3_000);
        }
        quota.close();
      }),
      { numRuns: 30 },
    );
  });

  test('is shared by two processes', async () => {
    const file = path.join(pictures.folder, 'shared.db');
    const databases = [openImageDatabase(file), openImageDatabase(file)];
    const [one, other] = databases.map((each) =>
      openQuota(each, { share: 'files', maxBytes: 5_000, onEvict: (key) => void evicted.push(key) }),
    );
    for (let index = 0; index < 20; index += 1) await (index % 2 ? one! : other!).put(String(index), 500);
    expect(one!.usedBytes()).toBe(other!.usedBytes());
    expect(one!.usedBytes()).toBeLessThanOrEqual(5_000);
    expect(evicted.length).toBe(20 - Math.floor(5_000 / (500 + ROW)));
    for (const quota of [one!, other!]) quota.close();
    for (const each of databases) each.close();
  });
});

describe('derived images', () => {
  let images: Images;
  let state: string;
  let count = 0;
  beforeEach(() => {
    count += 1;
    state = path.join(pictures.folder, `state-${count}`);
    images = open();
  });
  afterEach(() => images.close());

  const open = (quotaBytes = 100_000): Images =>
    openImages({
      stateDirectory: state,
      findSource: (digest) => sources.find(({ contentDigest }) => contentDigest === digest),
      linkKey: Buffer.alloc(32, 3),
      quotaBytes,
    });

  const fileOf = (route: { readonly path: string }): string => path.join(state, 'public/images', route.path);

  async function routeOf(args: object, source = photo) {
    const { src } = await images.answer('resize', source, args);
    return images.findRoute((await src()).slice('/static'.length))!;
  }

  async function storedBytes(): Promise<number> {
    const names = await readdir(path.join(state, 'public'), { recursive: true });
    const sizes = await Promise.all(names.map((name) => stat(path.join(state, 'public', name))));
    return sizes.reduce((sum, one) => sum + (one.isFile() ? one.size : 0), 0);
  }

  test('stay within the quota on the disk; evicted ones are generated again on request', async () => {
    const first = await routeOf({ width: 400, quality: 90 });
    await first.generate();
    const bytes = await readFile(fileOf(first));
    for (let quality = 50; quality < 90; quality += 1) await (await routeOf({ width: 400, quality })).generate();
    expect(images.quota.evicted).toBeGreaterThan(0);
    expect(await storedBytes()).toBeLessThanOrEqual(75_000);
    await expect(stat(fileOf(first))).rejects.toThrow('ENOENT');
    await first.generate();
    expect(await readFile(fileOf(first))).toEqual(bytes);
  });

  test('are not evicted while they are served regularly', async () => {
    const used = await routeOf({ width: 401 });
    await used.generate();
    const database = openImageDatabase(path.join(state, 'images.db'));
    for (let quality = 50; quality < 90; quality += 1) {
      // A use within a minute of the last one is not written, so all rows are made older.
      database.prepare('UPDATE stored SET used = used - 100000').run();
      used.touch();
      await (await routeOf({ width: 400, quality })).generate();
    }
    database.close();
    expect(images.quota.evicted).toBeGreaterThan(10);
    await expect(stat(fileOf(used))).resolves.toBeDefined();
  });

  test('are counted after the database is lost', async () => {
    const route = await routeOf({ width: 400 });
    await route.generate();
    const used = images.quota.usedBytes();
    expect(used).toBe((await stat(fileOf(route))).size + ROW);
    await images.close();
    for (const name of ['images.db', 'images.db-wal', 'images.db-shm']) rmSync(path.join(state, name), { force: true });
    mkdirSync(path.join(state, 'public/static/0'), { recursive: true });
    await writeFile(path.join(state, 'public/static/0/a.txt'), 'a copy');
    images = open();
    await eventually(() => expect(images.quota.usedBytes()).toBe(used + 6 + ROW));
  });

  test('are rejected if they exceed the size limit, and not rendered again', async () => {
    const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const;
    const source = await pictures.put(
      `noise-${count}.png`,
      sharp({ create: { width: 500, height: 500, channels: 3, background: '#000', noise } }).png(),
    );
    sources.push(source);
    const route = await routeOf({ width: 500, quality: 100 }, source);
    const error = { code: 'unprocessable', message: expect.stringMatching(/the limit is 75000\. Request/u) as string };
    await expect(route.generate()).rejects.toMatchObject(error);
    await rm(source.absolutePath);
    await expect(route.generate()).rejects.toMatchObject(error);
    expect(await storedBytes()).toBe(0);
  });

  test('are limited to a megabyte each as inline images', async () => {
    const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const;
    const create = { width: 1000, height: 1000, channels: 3, background: '#000', noise } as const;
    const source = await pictures.put(`inline-${count}.png`, sharp({ create }).png({ compressionLevel: 0 }));
    const { src } = await images.answer('resize', source, { width: 1000, quality: 100, base64: true });
    await expect((async () => src())()).rejects.toThrow(/the limit is 1048576/u);
  });

  test('are limited to a quarter of the quota as inline images', async () => {
    const database = openImageDatabase(path.join(state, 'images.db'));
    let inlineBytes = 0;
    for (let red = 0; red < 60; red += 1) {
      const duotone = { highlight: `#${red.toString(16).padStart(2, '0')}ff00`, shadow: '#000000' };
      const { src } = await images.answer('resize', photo, { width: 120, base64: true, duotone });
      inlineBytes += (await src()).length;
    }
    expect(inlineBytes).toBeGreaterThan(50_000);
    const { bytes } = database.prepare('SELECT sum(bytes) AS bytes FROM stored').get() as { bytes: number };
    expect(bytes).toBeGreaterThan(15_000);
    expect(bytes).toBeLessThanOrEqual(25_000);
    database.close();
  });

  test('have no row until their link is requested', async () => {
    const database = openImageDatabase(path.join(state, 'images.db'));
    for (let width = 10; width < 300; width += 1) await images.answer('fluid', photo, { maxWidth: width });
    expect(database.prepare('SELECT count(*) AS rows FROM stored').get()).toEqual({ rows: 0 });
    database.close();
  });
});
