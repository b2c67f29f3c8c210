import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import { parseTransformText } from '@trellis/images/plan/links';
import { type OutputFormat, toImageDigest, formatTransform } from '@trellis/images/plan/transform';
import type { ImageSource } from '@trellis/images/source';
import autocannon from 'autocannon';
import { spawnNode } from '../../tests/child-process.js';
import { build } from '../child.js';
import { alternate, lasting, median } from '../rounds.js';
import { ask, startServer, type RunningServer } from '../server.js';
import { toTable } from '../table.js';
import { makePictures } from './make-pictures.js';

export interface ImageBenchOptions {
  /** The number of images in the query, and the megapixels of each. */
  readonly pictures: number;
  readonly megapixels: number;
  /** The number of images whose derived images are generated; fewer take less time. */
  readonly made: number;
  readonly rounds: number;
  /** The seconds for which each server receives requests for the same file in a round. */
  readonly seconds: number;
}

/** Measures responses, generation and serving, each beside its lower bound; returns Markdown tables. */
export async function benchImages(options: ImageBenchOptions): Promise<string> {
  build();
  const work = mkdtempSync(path.join(tmpdir(), 'trellis-bench-images-'));
  try {
    const sources = await makePictures(path.join(work, 'site'), options.pictures, options.megapixels);
    // Files that changed within the last two seconds are read again.
    await setTimeout(2100);
    const making = await benchMaking(sources.slice(0, options.made), work);
    const server = await startServer(['dist/cli.js', 'serve', '--site', path.join(work, 'site')], {
      TRELLIS_STATE: path.join(work, 'state'),
      TRELLIS_WATCH: 'false',
      TRELLIS_IMAGE_PREVIEWS: 'false',
      // One response contains the previews of two hundred large images.
      TRELLIS_QUERY_TIMEOUT_MS: '600000',
    });
    try {
      const answers = await benchAnswers(server, making, options);
      const serving = await benchServing(server, work, options);
      const previews = await benchPreviews(server.origin, work, sources.length);
      return [answers, previews, making.table, serving].join('\n\n');
    } finally {
      await server.stop();
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

const TEN_FIELDS = 'id relativePath name base extension size prettySize mtime birthTime relativeDirectory';
const FLUID = 'fluid { aspectRatio src srcSet sizes }';
const FRAGMENT = 'fluid { base64 aspectRatio src srcSet srcWebp srcSetWebp sizes }';
const PICTURES = 'allFile(filter: { extension: { eq: "jpg" } }, sort: { fields: [relativePath] })';
const listOf = (fields: string): string =>
  `{ ${PICTURES} { nodes { ${TEN_FIELDS} childImageProc { id ${fields} } } } }`;

async function benchAnswers(
  server: RunningServer,
  { millisecondsEach }: Making,
  { pictures, rounds, seconds }: ImageBenchOptions,
): Promise<string> {
  const first = await time(() => ask(server.origin, listOf(FLUID)));
  const previews = await time(() => ask(server.origin, listOf(FRAGMENT)));
  const asked = (fields: string) => () => answerMs(server, listOf(fields), seconds);
  const contenders = { without: asked(''), fluid: asked(FLUID), fragment: asked(FRAGMENT) };
  await alternate(1, contenders);
  const results = await alternate(rounds, contenders);
  const without = median(results.without);
  const pixels = millisecondsEach * pictures;
  const row = (name: string, ms: number): string[] => [
    name,
    ms.toFixed(1),
    (ms / without).toFixed(2),
    (pixels / ms).toFixed(0),
  ];
  return toTable(
    [`${pictures} pictures`, 'ms', 'of no image fields', 'times faster than the pixels'],
    [
      row('fluid, headers unread', first),
      row('with base64 and WEBP, previews not generated yet', previews),
      row('no image fields', without),
      row('fluid, again', median(results.fluid)),
      row('with base64 and WEBP, again', median(results.fragment)),
    ],
  );
}

/** The same queries, of a server that has rendered the previews and of one that has not. Both have kept no response. */
async function benchPreviews(onDemand: string, work: string, pictures: number): Promise<string> {
  const state = path.join(work, 'state-previews');
  const args = ['dist/cli.js', 'serve', '--site', path.join(work, 'site')];
  const ahead = await startServer(args, { TRELLIS_STATE: state, TRELLIS_WATCH: 'false' });
  try {
    while (countPreviews(state) < pictures) await setTimeout(100);
    const first = (origin: string, fields: string) => time(() => ask(origin, listOf(fields)));
    const links = await first(ahead.origin, FLUID);
    const previews = await first(ahead.origin, FRAGMENT);
    const row = (name: string, ms: number): string[] => [name, ms.toFixed(1), (ms / links).toFixed(2)];
    return toTable(
      [`previews of ${pictures} pictures rendered ahead`, 'ms', 'of the first'],
      [
        row('fluid, first query', links),
        row('with base64 and WEBP, first query', previews),
        row('with base64 and WEBP, rendered by a query before', await first(onDemand, FRAGMENT)),
      ],
    );
  } finally {
    await ahead.stop();
  }
}

/** Returns the number of previews that a server with this state folder has rendered. */
export function countPreviews(state: string): number {
  const database = new DatabaseSync(path.join(state, 'images.db'), { readOnly: true });
  try {
    const { count } = database.prepare("SELECT count(*) AS count FROM stored WHERE share = 'values'").get() as {
      count: number;
    };
    return count;
  } finally {
    database.close();
  }
}

/** Sends one request after the other, with a client that discards the responses. */
async function answerMs(server: RunningServer, query: string, seconds: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const body = JSON.stringify({ query });
  const startedAt = performance.now();
  let count = 0;
  for (; performance.now() - startedAt < seconds * 1000; count += 1)
    await pass(`${server.origin}/graphql`, body, agent);
  agent.destroy();
  return (performance.now() - startedAt) / count;
}

async function pass(url: string, body: string, agent: Agent): Promise<void> {
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  const sent = request(url, { method: 'POST', agent, headers });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`Expected status 200; received ${response.statusCode}.`);
  await once(response.resume(), 'end');
}

interface Making {
  readonly table: string;
  /** The cost of generating all derived images of one source image. */
  readonly millisecondsEach: number;
}

/** Source images of one job. The two processes take turns, so that other load on the machine affects both. */
const JOB = 5;

async function benchMaking(sources: readonly ImageSource[], work: string): Promise<Making> {
  const script = path.join(import.meta.dirname, 'images-child.js');
  const ours = spawnNode([script, 'ours', path.join(work, 'made')]);
  const bare = spawnNode([script, 'bare', path.join(work, 'bare')]);
  for (const child of [ours, bare]) child.stderr.pipe(process.stderr);
  const totals = { ours: 0, bare: 0, oursCpu: 0, bareCpu: 0, images: 0, oursMegabytes: 0, bareMegabytes: 0 };
  for (let start = 0; start < sources.length; start += JOB) {
    const made = await give(ours, sources.slice(start, start + JOB));
    const loop = await give(bare, made.outputs ?? []);
    totals.ours += made.milliseconds;
    totals.bare += loop.milliseconds;
    totals.oursCpu += made.cpuMilliseconds;
    totals.bareCpu += loop.cpuMilliseconds;
    totals.images += made.outputs?.length ?? 0;
    totals.oursMegabytes = made.megabytes;
    totals.bareMegabytes = loop.megabytes;
  }
  for (const child of [ours, bare]) child.kill();
  const row = (name: string, ms: number, cpu: number, megabytes: number): string[] => [
    name,
    (totals.images / (ms / 1000)).toFixed(2),
    (cpu / totals.images).toFixed(0),
    megabytes.toFixed(0),
    (totals.bare / ms).toFixed(2),
  ];
  return {
    millisecondsEach: totals.ours / sources.length,
    table: toTable(
      [
        `${totals.images} images of ${sources.length} pictures`,
        'images/s',
        'CPU ms each',
        'peak RSS, MB',
        'of the loop',
      ],
      [
        row('bare loop around sharp', totals.bare, totals.bareCpu, totals.bareMegabytes),
        row('build', totals.ours, totals.oursCpu, totals.oursMegabytes),
      ],
    ),
  };
}

interface Done {
  readonly milliseconds: number;
  readonly cpuMilliseconds: number;
  readonly megabytes: number;
  readonly outputs?: readonly object[];
}

async function give(child: ChildProcess, job: readonly object[]): Promise<Done> {
  const answered = once(child, 'message') as Promise<[Done]>;
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`The process that generates images ended with ${String(code)}.`);
  });
  child.send(job);
  return (await Promise.race([answered, ended]))[0];
}

async function benchServing(
  server: RunningServer,
  work: string,
  { rounds, seconds }: ImageBenchOptions,
): Promise<string> {
  const query =
    '{ file { childImageProc { thumbnail: resize(width: 200) { src } image: resize(width: 800) { src } } } }';
  const { file } = (await ask(server.origin, query)) as { file: { childImageProc: Record<string, { src: string }> } };
  const bare = await startServer(['bench/site/static-child.js', path.join(work, 'state', 'public', 'images')]);
  try {
    const rows: string[][] = [];
    for (const [name, { src }] of Object.entries(file.childImageProc)) {
      const { byteLength } = await (await fetch(server.origin + src)).arrayBuffer();
      const urls = { ours: server.origin + src, bare: bare.origin + storedPath(src) };
      const warmUp = Math.min(1, seconds);
      await alternate(1, { ours: () => rateOf(urls.ours, warmUp), bare: () => rateOf(urls.bare, warmUp) });
      const rates = await alternate(rounds, {
        ours: () => rateOf(urls.ours, seconds),
        bare: () => rateOf(urls.bare, seconds),
      });
      const [own, limit] = [median(rates.ours), median(rates.bare)];
      const size = `${name}, ${(byteLength / 1000).toFixed(0)} kB`;
      rows.push([size, own.toFixed(0), limit.toFixed(0), (own / limit).toFixed(2)]);
    }
    return toTable(['generated image', 'requests/s', 'express.static, requests/s', 'of it'], rows);
  } finally {
    await bare.stop();
  }
}

/** Returns the path of the file behind a link. */
function storedPath(src: string): string {
  const [, contentDigest = '', text = '', extension = ''] =
    /([^/]+)\/[\w-]{16}_([^/]+)\/[^/]*\.(\w+)$/u.exec(src) ?? [];
  const recipe = parseTransformText(text, extension as OutputFormat);
  return `/${contentDigest}/${toImageDigest(formatTransform(recipe))}.${extension}`;
}

const CONNECTIONS = 8;

/** @throws Error when a response is not the file. */
async function rateOf(url: string, seconds: number): Promise<number> {
  const result = await autocannon({ url, connections: CONNECTIONS, ...lasting(seconds) });
  if (result.non2xx + result.errors > 0) throw new Error(`${url}: ${result.non2xx + result.errors} requests failed.`);
  return result.requests.average;
}

async function time(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}
