import { once } from 'node:events';
import { mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as httpRequest,
  type Server,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import express from 'express';
import { createLog, requestContext } from '../../src/http/request.js';
import { errorHandler, notFoundHandler } from '../../src/http/responses.js';
import { loadAssets, renderPageTemplate } from '../../src/pages/built-pages.js';
import { publishedFiles } from '../../src/published-files.js';

let root: string;
let server: Server;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'trellis-static-'));
  await mkdir(join(root, 'static', 'a'), { recursive: true });
  await writeFile(join(root, 'secret.txt'), 'hush');
  await writeFile(join(root, 'static', 'a', '.well-hidden'), 'published');
  await writeFile(join(root, 'static', 'a', 'page.html'), '<script>1</script>');
  await writeFile(join(root, 'static', 'a', 'text.txt'), '0123456789');
  await writeFile(join(root, 'static', 'a', 'paper.PDF'), '%PDF');
  await writeFile(join(root, 'static', 'a', 'film.mp4'), 'too large to copy');
  await writeFile(join(root, 'static', 'a', 'song.Ogg'), 'OggS');
  await writeFile(join(root, 'page.html'), '<link href="{{site.css}}">');
  await writeFile(join(root, 'site.css'), 'p{}');
  const app = express();
  const log = createLog({ level: 'silent' });
  app.use(loadAssets('/assets', { 'site.css': join(root, 'site.css') }).handler);
  app.use(requestContext({ log }));
  app.use('/static', publishedFiles(publish));
  app.use(notFoundHandler(), errorHandler({ log }));
  // As long as in production, so that no idle connection ends during a test.
  server = createServer({ keepAliveTimeout: 65_000 }, app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
  await rm(root, { recursive: true });
});

const PUBLISHED = [
  '.well-hidden',
  'page.html',
  'text.txt',
  'paper.PDF',
  'film.mp4',
  'song.Ogg',
  'large.bin',
  'evicted.txt',
];

/** Publishes the files of one folder. `evicted.txt` is removed when it is published for the first time. */
async function publish(path: string) {
  const base = PUBLISHED.find((name) => path === `/a/${name}`);
  if (base === undefined) return undefined;
  const absolutePath = join(root, 'static', 'a', base);
  if (base === 'evicted.txt' && (evictions += 1) === 2) await writeFile(absolutePath, 'again');
  return { absolutePath, contentDigest: base, isCopy: base !== 'film.mp4' };
}
let evictions = 0;

/** Uses node:http, because fetch removes the dots of a path. */
function get(path: string, headers: Record<string, string> = {}) {
  const { port } = server.address() as AddressInfo;
  return new Promise<{ status: number; headers: IncomingHttpHeaders; text: string }>((resolve, reject) => {
    const request = httpRequest({ port, host: '127.0.0.1', path, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
    request.on('error', reject).end();
  });
}

describe('published files', () => {
  test('serves a published file as immutable, with its type and in a sandbox', async () => {
    const { status, headers } = await get('/static/a/page.html');
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': expect.stringContaining('sandbox') as string,
      'x-content-type-options': 'nosniff',
    });
  });

  test('serves a published file whose name starts with a dot', async () => {
    await expect(get('/static/a/.well-hidden')).resolves.toMatchObject({ status: 200, text: 'published' });
  });

  test.each(['paper.PDF', 'film.mp4', 'song.Ogg'])(
    'serves %s without a sandbox, in which viewers do not work',
    async (name) => {
      const { status, headers } = await get(`/static/a/${name}`);
      expect(status).toBe(200);
      expect(headers).not.toHaveProperty('content-security-policy');
    },
  );

  test('closes the connection of a file that is shortened while it is sent', async () => {
    const file = join(root, 'static', 'a', 'large.bin');
    await writeFile(file, Buffer.alloc(32 * 1024 * 1024));
    const { port } = server.address() as AddressInfo;
    const request = httpRequest({ port, host: '127.0.0.1', path: '/static/a/large.bin' }).end();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    await truncate(file, 24 * 1024 * 1024);
    await expect(buffer(response)).rejects.toThrow('aborted');
  }, 10_000);

  test('lets caches revalidate a file that is not a copy', async () => {
    const { headers } = await get('/static/a/film.mp4');
    expect(headers).toMatchObject({ 'cache-control': 'private, no-cache', etag: '"film.mp4"' });
  });

  test('publishes a file again that was evicted before it could be sent', async () => {
    await expect(get('/static/a/evicted.txt')).resolves.toMatchObject({ status: 200, text: 'again' });
    expect(evictions).toBe(2);
  });

  test('responds to a known ETag, the content digest, with 304', async () => {
    const { headers } = await get('/static/a/text.txt');
    expect(headers).toMatchObject({ etag: '"text.txt"' });
    expect(headers).not.toHaveProperty('last-modified');
    await expect(get('/static/a/text.txt', { 'If-None-Match': headers.etag ?? '' })).resolves.toMatchObject({
      status: 304,
      text: '',
    });
  });

  test('responds to fetch, which sends Cache-Control: no-cache with every condition, with 304', async () => {
    const headers = { 'If-None-Match': '"text.txt"', 'Cache-Control': 'no-cache' };
    await expect(get('/static/a/text.txt', headers)).resolves.toMatchObject({ status: 304 });
  });

  test('ignores a condition by time, as the file has none', async () => {
    const headers = { 'If-Unmodified-Since': 'Tue, 01 Dec 2026 00:00:00 GMT' };
    await expect(get('/static/a/text.txt', headers)).resolves.toMatchObject({ status: 200 });
  });

  test.each([
    ['bytes=2-4', 206, '234'],
    ['bytes=-2', 206, '89'],
    ['bytes=-20', 206, '0123456789'],
    ['bytes=-0', 416, undefined],
    ['bytes=20-', 416, undefined],
  ])('responds to the range %s with %i', async (range, status, text) => {
    const answer = await get('/static/a/text.txt', { Range: range });
    expect(answer.status).toBe(status);
    if (text === undefined) expect(answer.headers).toMatchObject({ 'content-range': 'bytes */10' });
    else expect(answer.text).toBe(text);
  });

  test.each([
    ['"text.txt"', 206],
    ['W/"text.txt"', 200],
    ['"film.mp4"', 200],
  ])('responds to a range if the file is %s with %i', async (etag, status) => {
    const range = { Range: 'bytes=0-1', 'If-Range': etag };
    await expect(get('/static/a/text.txt', range)).resolves.toMatchObject({ status });
  });

  test.each([
    ['a path up', '/static/../secret.txt'],
    ['an escaped path up', '/static/%2e%2e/secret.txt'],
    ['an escaped slash', '/static/..%2fsecret.txt'],
    ['a backslash', '/static/..%5csecret.txt'],
    ['a null byte', '/static/a/text.txt%00.html'],
    ['an absolute path', '/static//etc/passwd'],
    ['a folder', '/static/a/'],
    ['a folder without its slash', '/static/a'],
    ['a broken escape', '/static/%E0%A4%A'],
  ])('does not find %s', async (_reason, path) => {
    const { status, text } = await get(path);
    expect([400, 403, 404]).toContain(status);
    expect(text).not.toContain('hush');
  });

  test('serves an asset under a URL with a digest of its content', async () => {
    const assets = loadAssets('/assets', { 'site.css': join(root, 'site.css') });
    const url = assets.urlOf('site.css');
    expect(url).toMatch(/^\/assets\/site-[0-9a-f]{16}\.css$/);
    expect(renderPageTemplate(join(root, 'page.html'), assets)).toBe(`<link href="${url}">`);
    const { headers, text } = await get(url);
    expect(text).toBe('p{}');
    expect(headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'text/css; charset=utf-8',
    });
  });

  test('rejects a page that refers to an unknown asset', () => {
    const assets = loadAssets('/assets', {});
    expect(() => renderPageTemplate(join(root, 'page.html'), assets)).toThrow('Unknown asset "site.css"');
  });
});
