import { createHash } from 'node:crypto';
import { readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import path from 'node:path';
import { type Images, openImages } from '@trellis/images/images';
import type { ImageSource } from '@trellis/images/source';
import { openImageDatabase } from '@trellis/images/store/database';
import { toImageFolder } from '@trellis/images/store/files';
import { imageLinks, publishedFiles } from '@trellis/server/published-files';
import { openPublicFiles } from '@trellis/site/public-files';
import express from 'express';
import sharp from 'sharp';
import { createImageFolder, type ImageFolder, scene } from '../../../packages/images/tests/image-folder.js';
import { serve, type TestServer } from '../../../packages/server/tests/serve.js';

/** A fixed key, because links must outlive the process. */
const LINK_KEY = Buffer.alloc(32, 7);

const QUOTA_BYTES = 1_000_000;

let pictures: ImageFolder;
let images: Images;
let server: TestServer;
let photo: ImageSource;
const sources: ImageSource[] = [];
/** The names of damaged files that were found. */
const damaged: string[] = [];
/** How often a request had to generate an image. */
let generated = 0;

beforeAll(async () => {
  pictures = await createImageFolder();
  photo = await pictures.put('photos/größe 1.jpg', scene(640, 480).jpeg());
  sources.push(photo);
  await open();
});
afterAll(async () => {
  await close();
  await pictures.remove();
});

async function open(): Promise<void> {
  const stateDirectory = path.join(pictures.folder, 'state');
  const findSource = (digest: string, base?: string): ImageSource | undefined =>
    sources.find((one) => one.contentDigest === digest && (base === undefined || one.base === base));
  const onDamage = (name: string): void => void damaged.push(name);
  images = openImages({ stateDirectory, findSource, linkKey: LINK_KEY, quotaBytes: QUOTA_BYTES, onDamage });
  const publicFiles = openPublicFiles({ store: images.store, findFile: findSource });
  const links = imageLinks({ findRoute: (url) => images.findRoute(url), countImage: () => (generated += 1) });
  const others = publishedFiles(async (url) => {
    const name = publicFiles.parsePath(url) ?? images.parseOriginal(url);
    return name && publicFiles.publish(name);
  });
  server = await serve(express.Router().use('/static', links, others));
}

async function close(): Promise<void> {
  await server.close();
  await images.close();
}

/** Returns the path of the file behind a link. */
const fileOf = (url: string): string =>
  path.join(
    toImageFolder(path.join(pictures.folder, 'state')),
    images.findRoute(url.slice(`${server.url}/static`.length))!.path,
  );

const linkOf = async (width: number, source = photo): Promise<string> =>
  `${server.url}${await (await images.answer('resize', source, { width })).src()}`;

function flipByte(bytes: Buffer): Buffer {
  bytes[bytes.length - 20]! ^= 1;
  return bytes;
}

describe('image links', () => {
  test('generates an image at the first GET, and serves it as immutable', async () => {
    const url = await linkOf(100);
    expect(url).toMatch(/\/static\/[0-9a-f]{32}\/[\w-]{16}_[\w.-]+\/gr%C3%B6%C3%9Fe%201\.jpg$/u);
    const answer = await fetch(url);
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'image/jpeg',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      'accept-ranges': 'bytes',
    });
    expect(answer.headers.has('last-modified')).toBe(false);
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(answer.headers.get('etag')).toBe(`"${createHash('sha256').update(bytes).digest('base64url')}"`);
    const { width, height } = await sharp(bytes).metadata();
    expect([width, height]).toEqual([100, 75]);
  });

  test('supports HEAD, ranges and conditional requests', async () => {
    const url = await linkOf(101);
    const head = await fetch(url, { method: 'HEAD' });
    expect(head.status).toBe(200);
    const etag = head.headers.get('etag') ?? '';
    const range = await fetch(url, { headers: { range: 'bytes=0-2', 'if-range': etag } });
    expect(range.status).toBe(206);
    expect(Buffer.from(await range.arrayBuffer()).toString('hex')).toBe('ffd8ff');
    await expect(statusOf(url, { 'if-none-match': etag })).resolves.toBe(304);
  });

  test('sends the same headers for an image from memory as from the disk', async () => {
    const url = await linkOf(102);
    const told = async (method: string) => {
      const { status, headers } = await fetch(url, { method });
      const own = [...headers].filter(([name]) => !['connection', 'date', 'keep-alive', 'x-request-id'].includes(name));
      return { status, ...Object.fromEntries(own) };
    };
    const made = await told('GET');
    await expect(told('GET')).resolves.toEqual(made);
    const whole = await fetch(url, { headers: { range: 'bytes=0-' } });
    for (const name of ['etag', 'cache-control', 'content-type', 'content-length'] as const) {
      expect(whole.headers.get(name)).toBe(made[name as keyof typeof made]);
    }
    await rm(fileOf(url));
    await expect(told('GET')).resolves.toEqual(made);
    await expect(told('HEAD')).resolves.toEqual(made);
    await expect((await fetch(url, { method: 'HEAD' })).text()).resolves.toBe('');
  });

  /** Uses node:http, because fetch adds no-cache to conditional requests. */
  const statusOf = (url: string, headers: Record<string, string>): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      get(url, { headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      }).on('error', reject);
    });

  test('generates an image once for 300 concurrent requests', async () => {
    let runs = 0;
    const files = { ...images.files };
    const add: typeof files.add = (file, write) => files.add(file, write).finally(() => (runs += 1));
    Object.assign(images.files, { add });
    const url = await linkOf(333);
    const bodies = await Promise.all(
      Array.from({ length: 300 }, async () => Buffer.from(await (await fetch(url)).arrayBuffer())),
    );
    expect(runs).toBe(1);
    expect(new Set(bodies.map((body) => createHash('md5').update(body).digest('hex'))).size).toBe(1);
  });

  test('serves a link that was issued before a restart', async () => {
    const before = new URL(await linkOf(120)).pathname;
    await close();
    await open();
    const answer = await fetch(`${server.url}${before}`);
    expect(answer.status).toBe(200);
    expect((await sharp(Buffer.from(await answer.arrayBuffer())).metadata()).width).toBe(120);
  });

  test.each<[string, (file: string) => Promise<void>]>([
    ['cut to 500 bytes', (file) => truncate(file, 500)],
    ['emptied', (file) => truncate(file, 0)],
    ['changed in one byte', async (file) => writeFile(file, flipByte(await readFile(file)))],
    ['lost', (file) => rm(file)],
  ])('generates an image again whose file was %s', async (reason, damage) => {
    for (const restart of [false, true]) {
      const url = await linkOf(130);
      const answer = await fetch(url);
      const bytes = Buffer.from(await answer.arrayBuffer());
      const file = fileOf(url);
      await damage(file);
      const found = damaged.length;
      if (restart) await close().then(open);
      // A range is not served from memory.
      const again = await fetch(await linkOf(130), { headers: { range: 'bytes=0-' } });
      expect(Buffer.from(await again.arrayBuffer())).toEqual(bytes);
      expect([again.status, again.headers.get('etag')]).toEqual([206, answer.headers.get('etag')]);
      expect(await readFile(file)).toEqual(bytes);
      expect(damaged.slice(found)).toEqual(
        reason === 'lost' ? [] : [`public/images/${images.findRoute(new URL(url).pathname.slice(7))!.path}`],
      );
    }
  });

  test('generates an image again whose digest is unknown, such as that of an earlier release', async () => {
    const url = await linkOf(140);
    const bytes = Buffer.from(await (await fetch(url)).arrayBuffer());
    await close();
    const database = openImageDatabase(path.join(pictures.folder, 'state/images.db'));
    database.prepare('UPDATE stored SET value = NULL').run();
    database.close();
    await open();
    const before = generated;
    const again = await fetch(await linkOf(140));
    expect(Buffer.from(await again.arrayBuffer())).toEqual(bytes);
    expect(generated).toBe(before + 1);
  });

  test('finds no image whose source is no longer in the site, even if its file exists', async () => {
    const source = await pictures.put('photos/secret.jpg', scene(80, 60).jpeg());
    sources.push(source);
    const url = await linkOf(40, source);
    await expect(fetch(url)).resolves.toMatchObject({ status: 200 });
    sources.pop();
    const gone = await fetch(url);
    expect([gone.status, gone.headers.get('cache-control')]).toEqual([404, 'no-store']);
    expect(await gone.json()).toMatchObject({ error: 'The source image is no longer in the site.' });
  });

  test('serves an original image under its name and digest', async () => {
    const { src } = await images.original(photo);
    const answer = await fetch(`${server.url}${src}`);
    expect(answer.status).toBe(200);
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(await readFile(photo.absolutePath));
  });

  test('does not find an image for which no link was issued', async () => {
    const known = await linkOf(100);
    const [, image = ''] = /^(\/[^/]+\/[^/]+)\//u.exec(known.slice(`${server.url}/static`.length)) ?? [];
    const other = known.replace(image, image.replace('w100', 'w10'));
    expect(other).not.toBe(known);
    const body = { code: 'not_found', requestId: expect.any(String) as string };
    for (const url of [other, known.replace(/jpg$/u, 'png')]) {
      const answer = await fetch(url);
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([404, 'no-store']);
      expect(await answer.json()).toMatchObject(body);
    }
  });

  test('passes other methods and paths to the next handler', async () => {
    const url = await linkOf(100);
    await expect(fetch(url, { method: 'POST' })).resolves.toMatchObject({ status: 404 });
    await expect(fetch(`${server.url}/static/nothing`)).resolves.toMatchObject({ status: 404 });
  });

  test('reports why an image can\u2019t be generated, with the name of its file', async () => {
    const whole = await scene(200, 100).jpeg().toBuffer();
    const cut = await pictures.put('photos/cut.jpg', whole.subarray(0, whole.length / 3));
    sources.push(cut);
    const answer = await fetch(await linkOf(50, cut));
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({
      code: 'unprocessable',
      error: expect.stringContaining('"photos/cut.jpg"') as string,
    });
  });

  test('rejects a link whose file has changed since it was issued', async () => {
    const source = await pictures.put('photos/edited.jpg', scene(90, 60).jpeg());
    sources.push(source);
    const url = await linkOf(50, source);
    await utimes(source.absolutePath, 1, 1);
    await expect(fetch(url)).resolves.toMatchObject({ status: 409 });
    await rm(source.absolutePath);
    await expect(fetch(url)).resolves.toMatchObject({ status: 404 });
  });

  test('writes only complete images', async () => {
    for await (const { path: file, bytes } of images.files.list()) {
      const whole = path.join(toImageFolder(path.join(pictures.folder, 'state')), file);
      expect((await stat(whole)).size).toBe(bytes);
      await expect(sharp(whole).stats()).resolves.toBeDefined();
    }
  });
});
