/** Servers that serve the index which another server publishes to a bucket. */
import { copyFile, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { createLog } from '@trellis/server/http/request';
import sharp from 'sharp';
import { loadConfig } from '../../src/config/config.js';
import type { IndexHead, IndexProgress } from '../../src/site-data/index/index-head.js';
import { openPublisher } from '../../src/site-data/index/publisher.js';
import { start } from '../../src/startup/start-server.js';
import { openObjectStore } from '../../src/storage/objects/s3-store.js';
import { startRoundRobin } from '../contract/round-robin.js';
import { eventually } from '../eventually.js';
import { createTestFolder } from '../storage/engine.js';
import { BUCKET, errorDocument, type Fault, type S3TestServer, startS3Server } from '../storage/objects/s3-server.js';

interface Server {
  readonly origin: string;
  /** Everything that the server has logged. */
  readonly log: () => string;
  readonly isOpen: Promise<unknown>;
  readonly index: () => IndexProgress | undefined;
  close(): Promise<void>;
}

const PREFIX = `s3://${BUCKET}/index`;
let bucket: S3TestServer;
let folder: string;
const running = new Set<Server>();

beforeAll(async () => {
  bucket = await startS3Server();
  folder = await createTestFolder();
  await mkdir(path.join(folder, 'site', 'posts'), { recursive: true });
  const picture = sharp({ create: { width: 400, height: 300, channels: 3, background: 'teal' } });
  await picture.png().toFile(path.join(folder, 'site', 'teal.png'));
  for (let index = 0; index < 30; index += 1)
    await writeFile(path.join(folder, 'site', 'posts', `${index}.txt`), `text ${index} 😀`);
});
afterEach(() => {
  bucket.fault = undefined;
});
afterAll(async () => {
  await Promise.all([...running].map((server) => server.close()));
  await bucket.close();
});

let key: string | undefined;

async function startServer(name: string, flags: Readonly<Record<string, string>>): Promise<Server> {
  const state = path.join(folder, name);
  await mkdir(state, { recursive: true, mode: 0o700 });
  if (key === undefined) key = path.join(state, 'server.key');
  else if (key !== path.join(state, 'server.key')) await copyFile(key, path.join(state, 'server.key'));
  const config = await loadConfig({
    flags: { state, services: 'site', port: '0', rateLimit: '0', ...flags },
    env: bucket.env,
    folder,
  });
  let log = '';
  const destination = { write: (line: string) => void (log += line) };
  const terminal = { isTTY: false, columns: 80, write: () => true };
  const { services, origin, close } = await start(config, {
    ...{ version: 'test', terminal },
    log: createLog({ level: 'warn', destination }),
  });
  const isOpen = services.site!.firstAttempt;
  isOpen.catch(() => undefined);
  const server = {
    origin,
    log: () => log,
    isOpen,
    index: () => services.site?.index,
    async close() {
      running.delete(server);
      await close();
    },
  };
  running.add(server);
  return server;
}

const publish = (name = 'publisher', prefix = PREFIX, site = path.join(folder, 'site')): Promise<Server> =>
  startServer(name, { site, sitePublish: prefix });

const replicate = (name: string, prefix = PREFIX): Promise<Server> => startServer(name, { site: prefix });

async function ask(server: Server, query: string): Promise<unknown> {
  const response = await fetch(`${server.origin}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  return response.json();
}

const QUERIES = [
  '{ allFile(sort: { fields: [relativePath] }) { totalCount nodes { id absolutePath publicURL size internal { contentDigest description } parent { id } } } }',
  '{ allDirectory { totalCount nodes { relativePath birthTime ctime internal { owner } } } }',
  '{ allFile(filter: { name: { regex: "/^1/" }, extension: { eq: "txt" } }) { totalCount nodes { name base dir } } }',
  '{ allFile { group(field: extension) { fieldValue totalCount } distinct(field: name) } }',
  '{ allImageProc { nodes { id fixed(width: 50) { src srcSet width height } fluid { src aspectRatio } } } }',
];

/** Compares the responses of both servers, and returns them. */
async function compare(one: Server, other: Server): Promise<unknown[]> {
  const results: unknown[] = [];
  for (const query of QUERIES) {
    const expected = await ask(one, query);
    expect(expected).not.toHaveProperty('errors');
    expect(await ask(other, query)).toEqual(expected);
    results.push(expected);
  }
  return results;
}

async function countFiles(server: Server): Promise<number | undefined> {
  const { data } = (await ask(server, '{ allFile { totalCount } }')) as { data?: { allFile: { totalCount: number } } };
  return data?.allFile.totalCount;
}

async function readSite(server: Server): Promise<{ status: string; indexAgeSeconds?: number } | undefined> {
  const response = await fetch(`${server.origin}/readyz`);
  return ((await response.json()) as { site?: { status: string; indexAgeSeconds?: number } }).site;
}

const write = (name: string, text: string): Promise<void> => writeFile(path.join(folder, 'site', name), text);

/** Follows the changes that a server reports, or the results of a live query. */
async function subscribe(origin: string, query = 'subscription { siteChanged { revision kinds ids } }') {
  const end = new AbortController();
  const headers = { accept: 'text/event-stream' };
  const url = `${origin}/graphql?query=${encodeURIComponent(query)}`;
  const { body } = await fetch(url, { headers, signal: end.signal });
  let text = '';
  void (async () => {
    for await (const chunk of body!.pipeThrough(new TextDecoderStream())) text += chunk;
  })().catch(() => undefined);
  return {
    text: () => text,
    /** The last one that was reported. */
    revision: () => [...text.matchAll(/"revision":(\d+)/g)].at(-1)?.[1],
    close: () => end.abort(),
  };
}

async function getBytes(server: Server, link: string): Promise<Buffer> {
  const response = await fetch(server.origin + link);
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}

describe('a replica', () => {
  let publisher: Server;
  let replica: Server;
  beforeAll(async () => {
    publisher = await publish();
    replica = await replicate('replica');
    await replica.isOpen;
  });

  test('responds to queries as the publisher does, also after changes', async () => {
    const before = await compare(publisher, replica);
    await write('new.md', '# New');
    await write('posts/3.txt', 'a longer text');
    await rm(path.join(folder, 'site', 'posts', '4.txt'));
    await rename(path.join(folder, 'site', 'posts', '5.txt'), path.join(folder, 'site', 'posts', 'five.txt'));
    await eventually(async () => {
      const after = await compare(publisher, replica);
      expect(JSON.stringify(after)).toContain('five.txt');
      expect(JSON.stringify(after)).toContain('new.md');
      expect(after).not.toEqual(before);
    });
    const { origin, sequence } = publisher.index()!;
    await eventually(() => expect(replica.index()).toMatchObject({ origin, sequence }));
    expect(sequence).toBeGreaterThan(1);
  });

  test('reports changes to subscribers and live queries, after which queries see them', async () => {
    const count = await countFiles(replica);
    const stream = await subscribe(replica.origin);
    const live = await subscribe(replica.origin, 'query @live { file(base: { eq: "followed.md" }) { name } }');
    await write('followed.md', 'text');
    // An earlier change of the site may be reported first.
    await eventually(async () => {
      expect(stream.text()).toContain('"File"');
      expect(await countFiles(replica)).toBe(count! + 1);
      expect(live.text()).toContain('{"data":{"file":{"name":"followed"}}}');
    });
    stream.close();
    live.close();
  });

  test('reports the same revisions at each replica behind a proxy, so that a client may connect again to any', async () => {
    const second = await replicate('second replica');
    await second.isOpen;
    const proxy = await startRoundRobin([replica, second].map(({ origin }) => Number(new URL(origin).port)));
    const streams = [await subscribe(proxy.url), await subscribe(proxy.url)];
    expect(proxy.counts).toEqual([1, 1]);
    await write('through the proxy.md', 'text');
    const query = '{ file(base: { eq: "through the proxy.md" }) { id } }';
    await eventually(async () => {
      const { data } = (await ask(publisher, query)) as { data: { file: { id: string } } };
      for (const stream of streams) expect(stream.text()).toContain(data.file.id);
      expect(streams[0]!.revision()).toBe(streams[1]!.revision());
    });
    streams.push(await subscribe(proxy.url), await subscribe(proxy.url));
    await eventually(() => {
      const revisions = streams.map((stream) => stream.revision());
      expect(revisions).toEqual(Array(4).fill(revisions[0]));
    });
    for (const stream of streams) stream.close();
    await proxy.close();
    await second.close();
  });

  test('serves images and public files that only the bucket has', async () => {
    const { data } = (await ask(
      replica,
      '{ allImageProc { nodes { fixed(width: 60) { src } original { src } } } file(base: { eq: "7.txt" }) { publicURL } }',
    )) as {
      data: {
        allImageProc: { nodes: [{ fixed: { src: string }; original: { src: string } }] };
        file: { publicURL: string };
      };
    };
    const [{ fixed, original }] = data.allImageProc.nodes;
    await rename(path.join(folder, 'site'), path.join(folder, 'moved'));
    try {
      expect((await sharp(await getBytes(replica, fixed.src)).metadata()).width).toBe(60);
      expect((await sharp(await getBytes(replica, original.src)).metadata()).width).toBe(400);
      expect((await getBytes(replica, data.file.publicURL)).toString()).toBe('text 7 😀');
    } finally {
      await rename(path.join(folder, 'moved'), path.join(folder, 'site'));
    }
  });

  test('responds with 503 for a file whose content in the bucket is damaged, and serves it once it is repaired', async () => {
    const { data } = (await ask(replica, '{ file(base: { eq: "8.txt" }) { publicURL } }')) as {
      data: { file: { publicURL: string } };
    };
    bucket.fault = (line) => (/^GET \/photos\/index\/(files|packs)\//.test(line) ? 'damage' : undefined);
    expect((await fetch(replica.origin + data.file.publicURL)).status).toBe(503);
    bucket.fault = undefined;
    expect((await getBytes(replica, data.file.publicURL)).toString()).toBe('text 8 😀');
  });

  test.each<[string, Fault]>([
    ['refuses access', { status: 403, body: errorDocument('AccessDenied') }],
    ['resets connections', 'reset'],
    ['sends half of each object', 'truncate'],
    ['changes a byte of each object', 'damage'],
  ])('serves the last index while the bucket %s, and follows again', async (name, fault) => {
    const before = await countFiles(replica);
    bucket.fault = (line) => (line.startsWith('GET /photos/index/') ? fault : undefined);
    const file = `during ${name}.md`;
    await write(file, name);
    await eventually(() => expect(replica.log()).toContain('The last copy is served.'));
    expect(await countFiles(replica)).toBe(before);
    expect(await readSite(replica)).toMatchObject({ status: 'ok', indexAgeSeconds: expect.any(Number) as number });
    bucket.fault = undefined;
    await eventually(async () => expect(await countFiles(replica)).toBe(before! + 1));
    // The publisher may have seen the file before its text was written.
    await eventually(async () => void (await compare(publisher, replica)));
  });

  test.each([
    ['is unavailable', { status: 503, body: errorDocument('SlowDown') }],
    ['refuses access', { status: 403, body: errorDocument('AccessDenied') }],
  ])('starts with its last copy while the bucket %s, and continues from it', async (name, fault) => {
    const count = await countFiles(replica);
    await replica.close();
    bucket.fault = () => fault;
    replica = await replicate('replica');
    await replica.isOpen;
    expect(await countFiles(replica)).toBe(count);
    expect(await readSite(replica)).not.toHaveProperty('indexAgeSeconds');
    await write(`while it ${name}.md`, 'text');
    bucket.fault = undefined;
    bucket.requests.length = 0;
    await eventually(async () => expect(await countFiles(replica)).toBe(count! + 1));
    expect(bucket.requests.filter((line) => line.startsWith('GET /photos/index/base/'))).toEqual([]);
  });

  test('follows a publisher that was restarted, from the changes alone', async () => {
    await publisher.close();
    await write('before the restart.md', 'text');
    bucket.requests.length = 0;
    publisher = await publish();
    await publisher.isOpen;
    await eventually(async () => {
      expect(JSON.stringify(await compare(publisher, replica))).toContain('before the restart.md');
    });
    expect(bucket.requests.filter((line) => line.startsWith('PUT /photos/index/base/'))).toEqual([]);
  });

  test('fails no query while the whole index is replaced', async () => {
    const count = await countFiles(replica);
    await publisher.close();
    const records = path.join(folder, 'publisher', 'site');
    for (const name of await readdir(records)) if (name.startsWith('site-')) await rm(path.join(records, name));
    const answers: (number | undefined)[] = [];
    const end = new AbortController();
    const queries = (async () => {
      while (!end.signal.aborted) answers.push(await countFiles(replica));
    })();
    // The records of the publisher are new, so its changes do not continue those before.
    publisher = await publish();
    await publisher.isOpen;
    await write('after the loss.md', 'text');
    await eventually(async () => expect(await countFiles(replica)).toBe(count! + 1));
    end.abort();
    await queries;
    expect(new Set(answers)).toEqual(new Set([count, count! + 1]));
    await compare(publisher, replica);
  });

  test('reads the index again if its copy is missing, or older than noted', async () => {
    const copies = path.join(folder, 'replica', 'site', 'replica');
    const count = await countFiles(replica);
    for (const change of [(file: string) => rm(file), setBack]) {
      await replica.close();
      const { file } = JSON.parse(await readFile(path.join(copies, 'current.json'), 'utf8')) as { file: string };
      await change(path.join(copies, file));
      replica = await replicate('replica');
      await replica.isOpen;
      await eventually(async () => expect(await countFiles(replica)).toBe(count));
    }
    await compare(publisher, replica);
  });

  test('publishes everything again to a bucket that was emptied', async () => {
    await deleteObjects('index/');
    await write('after the deletion.md', 'text');
    await eventually(async () => {
      const { index } = JSON.parse(await readObject('/photos/index/head.json')) as IndexHead;
      await readObject(`/photos/index/${index!.base.key}`);
    });
    const other = await replicate('other replica');
    await other.isOpen;
    await eventually(async () => void (await compare(publisher, other)));
    await other.close();
  });

  test('refuses an index with a different schema, and serves the last one', async () => {
    const head = '/photos/index/head.json';
    const stored = await readObject(head);
    const text = stored.replace(/"schema":"[0-9a-f]+"/, `"schema":"${'0'.repeat(64)}"`);
    const headers = { etag: '"different"', 'content-length': String(Buffer.byteLength(text)) };
    bucket.fault = (line) => (line === `GET ${head}` ? { status: 200, body: text, headers } : undefined);
    await eventually(() => expect(replica.log()).toContain('published with a different schema'));
    await expect(countFiles(replica)).resolves.toBeGreaterThan(0);
  });

  test('keeps its index when a second server is refused at the same place', async () => {
    const other = path.join(folder, 'other');
    await mkdir(other, { recursive: true });
    const second = await publish('second', PREFIX, other);
    await expect(second.isOpen).rejects.toThrow(
      'Another server publishes its site to s3://photos/index (TRELLIS_SITE_PUBLISH).',
    );
    await second.close();
    await compare(publisher, replica);
  });
});

/** Removes the last file of a copy, as if its transaction was lost with the power. */
async function setBack(file: string): Promise<void> {
  const database = new DatabaseSync(file);
  // An index of the file names uses a function of the record store.
  database.function('lower_case', { deterministic: true }, (text: unknown) => String(text).toLowerCase());
  database.exec(`UPDATE "~meta" SET value = value - 1 WHERE key = '~sequence'; DELETE FROM "File" WHERE name = 'teal'`);
  database.close();
}

async function deleteObjects(below: string): Promise<void> {
  const store = openObjectStore(`s3://${BUCKET}`, bucket.env);
  for await (const { key: name } of store.list(below)) await store.delete(name);
  await store.close();
}

/** Reads an object past the faults. */
async function readObject(target: string): Promise<string> {
  const store = openObjectStore(`s3://${BUCKET}`, bucket.env);
  try {
    const found = await store.get(target.replace(`/${BUCKET}/`, ''));
    const chunks: Uint8Array[] = [];
    for await (const chunk of found!.body) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  } finally {
    await store.close();
  }
}

test('A publisher takes over from one that has stopped', async () => {
  const bucketOf = () => openObjectStore(`s3://${BUCKET}/taken`, bucket.env);
  const log = { error: () => undefined, info: () => undefined, warn: () => undefined };
  const open = (name: string) =>
    openPublisher(bucketOf(), { folder: path.join(folder, name), release: name, log, takeOverMs: 300 });
  const first = await open('one');
  const second = await open('two');
  await second.close();
  await first.close();
  expect(await readObject(`/${BUCKET}/taken/head.json`)).toContain('"release":"two"');
});

test('A replica waits for the first index, with the reason in its log', async () => {
  const prefix = `s3://${BUCKET}/later`;
  const replica = await replicate('early', prefix);
  await eventually(() => expect(replica.log()).toContain('No index is published at s3://photos/later yet.'));
  expect((await fetch(`${replica.origin}/graphql?query={__typename}`)).status).toBe(503);
  const publisher = await publish('late', prefix);
  await replica.isOpen;
  await compare(publisher, replica);
});
