import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveTrellis, type TrellisServer } from '../../client/trellis-server.js';
import { eventually } from '../../eventually.js';

let site: string;
let server: TrellisServer;

beforeEach(async () => {
  site = await mkdtemp(join(tmpdir(), 'trellis-kept-'));
  await mkdir(join(site, 'posts'));
  await writeFile(join(site, 'posts/one.md'), 'one');
});
afterEach(async () => {
  await server.close();
  await rm(site, { recursive: true });
});

const start = async (flags: Readonly<Record<string, string>> = {}): Promise<void> => {
  server = await serveTrellis({ flags: { services: 'site', site, rateLimit: '0', ...flags } });
};

const get = (query: string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${server.url}/graphql?query=${encodeURIComponent(query)}`, { headers });

const cacheControlOf = async (query: string, headers?: Readonly<Record<string, string>>) =>
  (await get(query, headers)).headers.get('cache-control');

const NAMES = '{ allFile(sort: { fields: [relativePath] }) { nodes { relativePath size mtime publicURL } } }';

test('a repeated query has the same bytes and ETag, and an id of its own, until a file changes', async () => {
  await start();
  const first = await get(NAMES);
  const second = await get(NAMES);
  expect(await second.text()).toBe(await first.text());
  expect(second.headers.get('etag')).toBe(first.headers.get('etag'));
  expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
  const condition = { 'If-None-Match': String(first.headers.get('etag')) };
  expect((await get(NAMES, condition)).status).toBe(304);
  await writeFile(join(site, 'posts/two.md'), 'two');
  await eventually(async () => {
    const changed = await get(NAMES, condition);
    expect(changed.status).toBe(200);
    expect(await changed.text()).toContain('two.md');
  });
});

test('only responses of a public site are for shared caches', async () => {
  await start({ siteCacheSeconds: '60' });
  expect(await cacheControlOf(NAMES)).toBe('public, max-age=0, s-maxage=60, stale-while-revalidate=60');
  expect((await get(NAMES)).headers.get('ratelimit-limit')).toBeNull();
  await server.close();
  const token = 'a'.repeat(32);
  await start({ siteCacheSeconds: '60', siteAccess: 'token', siteToken: token });
  expect(await cacheControlOf(NAMES, { Authorization: `Bearer ${token}` })).toBe('private, no-cache');
  expect((await get(NAMES)).status).toBe(401);
  expect((await get(NAMES, { Authorization: `Bearer ${token}` })).status).toBe(200);
  expect((await get(NAMES)).status).toBe(401);
});

test('a response that depends on the clock is not reused', async () => {
  await start({ siteCacheSeconds: '60' });
  for (const clock of ['fromNow: true', 'difference: "milliseconds"']) {
    const query = `{ file { mtime(${clock}) } }`;
    expect(await cacheControlOf(query)).toBe('public, no-cache');
  }
  const query = '{ file { mtime(difference: "milliseconds") } }';
  const before = await (await get(query)).text();
  await eventually(async () => expect(await (await get(query)).text()).not.toBe(before));
});

test('the page of the endpoint, other methods and rejected requests are served as usual', async () => {
  await start();
  const page = await fetch(`${server.url}/graphql`, { headers: { Accept: 'text/html' } });
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  expect((await fetch(`${server.url}/graphql`, { method: 'PUT', body: '{}' })).status).toBe(405);
  const rejected = await get(NAMES, { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Dest': 'image' });
  expect(rejected.status).toBe(403);
  expect(rejected.headers.get('x-request-id')).toBeTruthy();
});
