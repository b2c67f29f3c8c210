/**
 * Measures how a replica follows the index of a site that another server publishes to a bucket: the time until both are
 * ready, the delay from a saved file to the response of each server, their memory, and the size of the index. The bucket
 * is s3rver, in this process.
 *
 * Usage: npm run bench:site-index -- [files] [changes] [workers of the replica]
 */
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type PublishedIndex, readHead } from '../../src/site-data/index/index-head.js';
import { openObjectStore } from '../../src/storage/objects/s3-store.js';
import { BUCKET, startS3Server } from '../../tests/storage/objects/s3-server.js';
import { type FaultServer, start, stop } from '../operations/fault-server.js';
import { toTable } from '../table.js';
import { makeFiles } from './make-files.js';

const [files = 5_000, changes = 20, workers = 1] = process.argv.slice(2).map(Number);
const PREFIX = `s3://${BUCKET}/bench`;
const root = await mkdtemp(path.join(tmpdir(), 'trellis-index-'));
const site = path.join(root, 'site');
const bucket = await startS3Server();
const common = { ...bucket.env, TRELLIS_SERVICES: 'site', TRELLIS_RATE_LIMIT: '0' };
const servers: FaultServer[] = [];

async function ask({ origin }: FaultServer, query: string): Promise<unknown> {
  const response = await fetch(`${origin}/graphql?query=${encodeURIComponent(query)}`);
  return ((await response.json()) as { data?: unknown }).data;
}

const countOf = (name: string): string => `{ allFile(filter: { name: { eq: "${name}" } }) { totalCount } }`;

/** Starts a server, and waits until it serves. */
async function serve(name: string, env: Readonly<Record<string, string>>): Promise<FaultServer> {
  const server = await start(path.join(root, name), { ...common, ...env });
  servers.push(server);
  if (server.hasEnded) throw new Error(server.lastProblem());
  return server;
}

/** Returns the time until the server has the file. */
async function waitFor(server: FaultServer, name: string, startedAt: number): Promise<number> {
  for (;;) {
    const found = JSON.stringify(await ask(server, countOf(name)));
    if (found === '{"allFile":{"totalCount":1}}') return performance.now() - startedAt;
    await sleep(10);
  }
}

/** Returns the resident memory of a server now and at most, in MB, with that of its workers. */
async function readMemory({ child }: FaultServer): Promise<string[]> {
  const own = String(child.pid);
  const children = await readFile(`/proc/${own}/task/${own}/children`, 'utf8');
  const statuses = [own, ...children.split(' ').filter(Boolean)].map((pid) => readFile(`/proc/${pid}/status`, 'utf8'));
  const sum = (name: string, texts: readonly string[]): string =>
    (texts.reduce((all, text) => all + Number(new RegExp(`${name}:\\s+(\\d+)`).exec(text)?.[1]), 0) / 1024).toFixed(0);
  const texts = await Promise.all(statuses);
  return [sum('VmRSS', texts), sum('VmHWM', texts)];
}

const store = openObjectStore(PREFIX, bucket.env);

async function findIndex(): Promise<PublishedIndex | undefined> {
  const found = await readHead(store, undefined, AbortSignal.timeout(60_000));
  return found === undefined || found === 'unchanged' ? undefined : found.head.index;
}

/** Describes the published index. */
async function describeIndex(): Promise<string> {
  const index = await findIndex();
  if (index === undefined) throw new Error('No index is published.');
  const base = await store.head(index.base.key);
  const sizes = index.changes.map(({ bytes }) => bytes).sort((one, other) => one - other);
  const mb = (bytes = 0): string => (bytes / 1e6).toFixed(1);
  return `Base: ${mb(index.base.bytes)} MB, ${mb(base?.bytes)} MB compressed; ${sizes.length} changes of ${sizes[sizes.length >> 1] ?? 0} bytes (median).`;
}

const seconds = (milliseconds: number): string => (milliseconds / 1000).toFixed(1);

function toRow(name: string, delays: number[]): string[] {
  delays.sort((one, other) => one - other);
  const at = (share: number): string => (delays[Math.floor(share * (delays.length - 1))] ?? 0).toFixed(0);
  return [name, at(0.5), at(0.95), at(1)];
}

try {
  makeFiles(site, { files, folders: Math.ceil(files / 100) });
  for (const name of ['publisher', 'replica']) await mkdir(path.join(root, name), { mode: 0o700 });
  const publishedAt = performance.now();
  const publisher = await serve('publisher', { TRELLIS_SITE: site, TRELLIS_SITE_PUBLISH: PREFIX });
  while ((await findIndex()) === undefined) await sleep(200);
  const published = performance.now() - publishedAt;
  await copyFile(path.join(root, 'publisher/server.key'), path.join(root, 'replica/server.key'));
  const startedAt = performance.now();
  const replica = await serve('replica', { TRELLIS_SITE: PREFIX, TRELLIS_WORKERS: String(workers) });
  const started = performance.now() - startedAt;
  const delays = { publisher: [] as number[], replica: [] as number[] };
  for (let change = 0; change < changes; change += 1) {
    await sleep(1000 * Math.random());
    const name = `saved-${change}`;
    const savedAt = performance.now();
    await writeFile(path.join(site, `${name}.txt`), name);
    const [own, other] = await Promise.all([waitFor(publisher, name, savedAt), waitFor(replica, name, savedAt)]);
    delays.publisher.push(own);
    delays.replica.push(other);
  }
  const query =
    '{ allFile(sort: { fields: [relativePath] }, limit: 5000) { nodes { id absolutePath internal { contentDigest } } } }';
  const [one, other] = [JSON.stringify(await ask(publisher, query)), JSON.stringify(await ask(replica, query))];
  const rows = [
    [...toRow('publisher', delays.publisher), seconds(published), ...(await readMemory(publisher))],
    [...toRow('replica', delays.replica), seconds(started), ...(await readMemory(replica))],
  ];
  const head = ['server', 'delay p50, ms', 'p95, ms', 'longest, ms', 'ready, s', 'memory, MB', 'peak, MB'];
  process.stdout.write(
    `${toTable(head, rows)}\n${await describeIndex()}\nEqual responses: ${one === other}, ${one.length} bytes\n`,
  );
} finally {
  await Promise.all(servers.map(stop));
  await store.close();
  await bucket.close();
  await rm(root, { recursive: true, force: true });
}
