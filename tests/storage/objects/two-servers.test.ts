/** Two servers with separate state folders that share a bucket. */
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { Writable } from 'node:stream';
import sharp from 'sharp';
import { createApp } from '../../../src/app.js';
import { loadConfig } from '../../../src/config/config.js';
import { openServices } from '../../../src/services.js';
import { eventually } from '../../eventually.js';
import { BUCKET, errorDocument, type Fault, type S3TestServer, startS3Server } from './s3-server.js';

interface Server {
  readonly origin: string;
  /** Everything that the server has printed. */
  readonly log: () => string;
  close(): Promise<void>;
}

let bucket: S3TestServer;
let folder: string;
let first: Server;
const servers: Server[] = [];

beforeAll(async () => {
  bucket = await startS3Server();
  folder = await mkdtemp(path.join(os.tmpdir(), 'trellis-two-'));
  await mkdir(path.join(folder, 'site'));
  const picture = sharp({ create: { width: 400, height: 300, channels: 3, background: 'teal' } });
  await picture.png().toFile(path.join(folder, 'site', 'teal.png'));
  await writeFile(path.join(folder, 'site', 'notes.txt'), 'version 1');
  first = await startServer('first');
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.close()));
  await bucket.close();
  await rm(folder, { recursive: true });
});
afterEach(() => {
  bucket.fault = undefined;
});

async function startServer(name: string): Promise<Server> {
  const state = path.join(folder, name);
  await mkdir(state, { mode: 0o700 });
  if (name !== 'first') await copyFile(path.join(folder, 'first/server.key'), path.join(state, 'server.key'));
  const env = { ...bucket.env, TRELLIS_OBJECTS: `s3://${BUCKET}/two` };
  const flags = { state, site: path.join(folder, 'site'), services: 'site', logLevel: 'silent', watch: 'false' };
  const config = await loadConfig({ flags, env, folder });
  let [origin, log] = ['', ''];
  const terminal = new Writable({ write: (chunk: Buffer, _encoding, done) => done(void (log += chunk.toString())) });
  const app = createApp({ config, origin: () => origin });
  const http = app.server.listen(0, '127.0.0.1');
  await once(http, 'listening');
  origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const stream = terminal as unknown as NodeJS.WriteStream;
  const services = await openServices(config, { version: 'test', origin: () => origin, terminal: stream });
  await services.site?.firstAttempt;
  await app.open(services);
  const server = {
    origin,
    log: () => log,
    async close() {
      http.close().closeAllConnections();
      await services.close();
    },
  };
  servers.push(server);
  return server;
}

/** Returns the link of an image, and that of a text file. */
async function findLinks(server: Server, width: number): Promise<{ image: string; file: string }> {
  const query = `{
    images: allImageProc { nodes { fixed(width: ${width}) { src } } }
    text: file(base: { eq: "notes.txt" }) { publicURL }
  }`;
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${server.origin}/graphql`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ query }),
  });
  const { data } = (await response.json()) as {
    data: { images: { nodes: [{ fixed: { src: string } }] }; text: { publicURL: string } };
  };
  return { image: data.images.nodes[0].fixed.src, file: data.text.publicURL };
}

async function get(server: Server, link: string): Promise<Buffer> {
  const response = await fetch(server.origin + link);
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}

const countRequests = (start: string) => bucket.requests.filter((line) => line.startsWith(start)).length;

test('a server serves the images that another server has stored in the bucket', async () => {
  const { image } = await findLinks(first, 100);
  const bytes = await get(first, image);
  await eventually(() => expect(countRequests('PUT /photos/two/images/')).toBe(1));
  const second = await startServer('second');
  expect(await get(second, image)).toEqual(bytes);
  expect(await get(second, image)).toEqual(bytes);
  expect(countRequests('GET /photos/two/images/')).toBe(2);
  expect(countRequests('PUT /photos/two/images/')).toBe(1);
  expect(second.log()).toBe('');
});

test('a link to a previous version of a file remains valid on a server that never had it', async () => {
  const { file } = await findLinks(first, 100);
  expect(String(await get(first, file))).toBe('version 1');
  await eventually(() => expect(countRequests('PUT /photos/two/static/')).toBe(1));
  await writeFile(path.join(folder, 'site', 'notes.txt'), 'version 2');
  const third = await startServer('third');
  expect(String(await get(third, file))).toBe('version 1');
  expect((await fetch(third.origin + file.replace(/[\da-f]{32}/, 'a'.repeat(32)))).status).toBe(404);
});

test.each<[string, Fault]>([
  ['refuses access', { status: 403, body: errorDocument('AccessDenied') }],
  ['does not respond', 'hang'],
  ['resets connections', 'reset'],
])('a server whose bucket %s generates images, warns once and stays ready', async (reason, fault) => {
  bucket.fault = () => fault;
  const server = await startServer(reason);
  for (const width of [50, 60, 70]) {
    const bytes = await get(server, (await findLinks(server, width)).image);
    expect((await sharp(bytes).metadata()).width).toBe(width);
  }
  expect((await fetch(`${server.origin}/readyz`)).status).toBe(200);
  expect(server.log()).toMatch(/^trellis: Object storage s3:\/\/photos\/two failed: [^\n]+\n$/);
});
