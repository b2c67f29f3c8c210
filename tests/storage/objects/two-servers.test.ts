/** Two servers with separate state folders that share a bucket. */
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createLog } from '@trellis/server/http/request';
import sharp from 'sharp';
import { loadConfig } from '../../../src/config/config.js';
import { start } from '../../../src/startup/start-server.js';
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
  const flags = {
    state,
    site: path.join(folder, 'site'),
    services: 'site',
    logLevel: 'silent',
    watch: 'false',
    port: '0',
  };
  const config = await loadConfig({ flags, env, folder });
  let log = '';
  const destination = { write: (line: string) => void (log += line) };
  const { services, origin, close } = await start(config, {
    ...{ version: 'test', terminal: process.stderr },
    log: createLog({ level: 'warn', destination }),
  });
  await services.site?.firstAttempt;
  const server = { origin, log: () => log, close };
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
  expect(server.log()).toMatch(/"msg":"Object storage s3:\/\/photos\/two failed: [^\n]+\n$/);
});
