import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from '../child.js';
import { ask, startServer, type RunningServer } from '../server.js';
import { toTable } from '../table.js';
import { makePictures } from './make-pictures.js';

export interface ImageFloodOptions {
  /** The number of different images that are requested without a credential. */
  readonly requests: number;
  /** The setting TRELLIS_IMAGES_QUOTA, in MB. */
  readonly quotaMegabytes: number;
  /** The number of concurrent image requests. */
  readonly connections: number;
}

const PICTURES = 5;

/** A query and a file that pages request. */
const ORDINARY_QUERY = '{ allFile(limit: 20) { nodes { relativePath size } } }';

/** Milliseconds between two ordinary requests, as of a visitor. */
const PAUSE_MS = 20;

/** Sends anonymous requests for different images, and measures ordinary ones at the same time; returns a Markdown table. */
export async function benchImageFlood(options: ImageFloodOptions): Promise<string> {
  build();
  const work = mkdtempSync(path.join(tmpdir(), 'trellis-bench-flood-'));
  const state = path.join(work, 'state');
  let server: RunningServer | undefined;
  try {
    await makePictures(path.join(work, 'site'), PICTURES, 2);
    server = await startServer(['dist/cli.js', 'serve', '--site', path.join(work, 'site')], {
      TRELLIS_STATE: state,
      TRELLIS_WATCH: 'false',
      TRELLIS_IMAGES_QUOTA: `${options.quotaMegabytes}MB`,
      TRELLIS_RATE_LIMIT: '0',
    });
    return await measure(server, state, options);
  } finally {
    await server?.stop();
    rmSync(work, { recursive: true, force: true });
  }
}

async function measure(server: RunningServer, state: string, options: ImageFloodOptions): Promise<string> {
  const quiet = await waitWhile(server, sleep(Math.min(20_000, options.requests * 20)));
  const disk = { files: 0, database: 0 };
  const lookAt = (): void => {
    disk.files = Math.max(disk.files, sizeOf(path.join(state, 'public')));
    disk.database = Math.max(disk.database, statSync(path.join(state, 'images.db')).size);
  };
  const look = setInterval(lookAt, 250);
  const startedAt = performance.now();
  const flood = floodWith(server, options);
  const during = await waitWhile(server, flood);
  clearInterval(look);
  lookAt();
  const { made, bytes } = await flood;
  const row = (name: string, { count, p50, p99 }: Waits): string[] => [
    name,
    String(count),
    p50.toFixed(0),
    p99.toFixed(0),
  ];
  return [
    toTable(
      ['ordinary requests', 'answered', 'p50, ms', 'p99, ms'],
      [row('without the flood', quiet), row('during the flood', during)],
    ),
    toTable(
      [
        'different images requested',
        'made',
        'seconds',
        'bytes of them, MB',
        'quota, MB',
        'files at most, MB',
        'images.db at most, MB',
      ],
      [
        [
          String(options.requests),
          String(made),
          ((performance.now() - startedAt) / 1000).toFixed(0),
          toMegabytes(bytes),
          String(options.quotaMegabytes),
          toMegabytes(disk.files),
          toMegabytes(disk.database),
        ],
      ],
    ),
  ].join('\n\n');
}

interface Waits {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
}

/** Sends ordinary requests, one after the other, until a promise settles. */
async function waitWhile({ origin }: RunningServer, ended: Promise<unknown>): Promise<Waits> {
  const over = new AbortController();
  void ended.finally(() => over.abort()).catch(() => undefined);
  const times: number[] = [];
  while (!over.signal.aborted) {
    const startedAt = performance.now();
    await ask(origin, ORDINARY_QUERY);
    const page = await fetch(`${origin}/healthz`);
    if (!page.ok) throw new Error(`/healthz responded with ${page.status} during the flood.`);
    await page.arrayBuffer();
    times.push(performance.now() - startedAt);
    await sleep(PAUSE_MS);
  }
  times.sort((one, other) => one - other);
  const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { count: times.length, p50: at(0.5), p99: at(0.99) };
}

/** Requests images that differ in their size, colours or quality; each query links to ten of one picture. */
async function floodWith(server: RunningServer, { requests, connections }: ImageFloodOptions) {
  const total = { made: 0, bytes: 0 };
  let next = 0;
  async function requestNext(): Promise<void> {
    while (next < requests) {
      const first = next;
      next += 10;
      const fields = Array.from({ length: Math.min(10, requests - first) }, (_none, index) => fieldOf(first + index));
      const name = PICTURE_NAMES[(first / 10) % PICTURES] ?? '';
      const query = `{ file(base: { eq: "${name}" }) { childImageProc { ${fields.join(' ')} } } }`;
      const { file } = (await ask(server.origin, query)) as {
        file: { childImageProc: Record<string, { src: string }> };
      };
      for (const { src } of Object.values(file.childImageProc)) {
        const response = await fetch(server.origin + src);
        const { byteLength } = await response.arrayBuffer();
        if (!response.ok) throw new Error(`${src} answered ${response.status}.`);
        total.made += 1;
        total.bytes += byteLength;
      }
    }
  }
  await Promise.all(Array.from({ length: connections }, requestNext));
  return total;
}

const PICTURE_NAMES = Array.from({ length: PICTURES }, (_none, index) => `picture-${index}.jpg`);

function fieldOf(index: number): string {
  const highlight = `#${(index % 0xffffff).toString(16).padStart(6, '0')}`;
  return `i${index}: resize(width: ${200 + (index % 200)}, quality: 90, duotone: { highlight: "${highlight}", shadow: "#102030" }) { src }`;
}

/** Returns the size of all files below a folder, in bytes. */
function sizeOf(folder: string): number {
  let bytes = 0;
  if (!existsSync(folder)) return bytes;
  for (const name of readdirSync(folder, { recursive: true }) as string[]) {
    const stats = statSync(path.join(folder, name), { throwIfNoEntry: false });
    if (stats?.isFile()) bytes += stats.size;
  }
  return bytes;
}

const toMegabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);

const sleep = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));
