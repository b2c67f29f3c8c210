import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as sendRequest } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import autocannon from 'autocannon';
import { build } from '../child.js';
import { alternate, lasting, median } from '../rounds.js';
import { ask, type RunningServer, startServer } from '../server.js';
import { toTable } from '../table.js';
import { compareCpu, CPU_HEADS, withCpu } from './request-cpu.js';
import { benchFolder } from './scan.js';
import { siteQueries } from './site-queries.js';

export interface RepeatedBenchOptions {
  readonly files: number;
  readonly folders: number;
  readonly rounds: number;
  /** The seconds that each query is sent for in each round. */
  readonly seconds: number;
}

const CONNECTIONS = 8;

/** A request, sent again and again. */
interface Repeated {
  readonly name: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Measures the requests per second of repeated queries, beside bare `node:http` that sends the same bytes. */
export async function benchRepeated(options: RepeatedBenchOptions): Promise<string> {
  build();
  const site = benchFolder(options);
  const work = mkdtempSync(path.join(tmpdir(), 'trellis-bench-repeated-'));
  const real = await startServer(['dist/cli.js', 'serve', '--site', site], {
    TRELLIS_STATE: path.join(work, 'state'),
    TRELLIS_WATCH: 'false',
    // They would be rendered during the first queries.
    TRELLIS_IMAGE_PREVIEWS: 'false',
  });
  try {
    const rows: string[][] = [];
    for (const request of await listRequests(real)) rows.push(await compare(request, { ...options, real, work }));
    const memory = `Resident after all of them: ${real.megabytes().toFixed(0)} MB.`;
    return `${toTable(['query', 'bytes', 'requests/s', 'p99, ms', 'bare, requests/s', 'of it', ...CPU_HEADS], rows)}\n\n${memory}`;
  } finally {
    await real.stop();
    rmSync(work, { recursive: true, force: true });
  }
}

async function listRequests({ origin }: RunningServer): Promise<readonly Repeated[]> {
  const { allFile } = (await ask(origin, '{ allFile(limit: 10) { nodes { relativePath } } }')) as {
    allFile: { nodes: { relativePath: string }[] };
  };
  const queries = siteQueries(allFile.nodes.map(({ relativePath }) => relativePath));
  return queries.flatMap(({ name, query, variables: [variables] }): Repeated[] => {
    const text = query.replaceAll(/\s+/g, ' ');
    const search = new URLSearchParams({ query: text, variables: JSON.stringify(variables) });
    const get = {
      method: 'GET',
      path: `/graphql?${search.toString()}`,
      headers: { accept: 'application/json' },
    } as const;
    return [
      {
        name,
        method: 'POST',
        path: '/graphql',
        headers: { accept: 'application/json', 'content-type': 'application/json' },
        body: JSON.stringify({ query: text, variables }),
      },
      { name: `${name}, GET`, ...get },
      { name: `${name}, GET with br`, ...get, headers: { ...get.headers, 'accept-encoding': 'br' } },
    ];
  });
}

interface Contest extends RepeatedBenchOptions {
  readonly real: RunningServer;
  readonly work: string;
}

async function compare(request: Repeated, { real, work, rounds, seconds }: Contest): Promise<string[]> {
  const { bytes, encoding } = await readBytes(real.origin, request);
  const file = path.join(work, 'response');
  writeFileSync(file, bytes);
  const bare = await startServer(['bench/site/bare-http-child.js', file, encoding], {}, (origin) => fetch(origin));
  try {
    const load = (server: RunningServer) => withCpu(server, () => send(server.origin, request, seconds));
    const warmUp = Math.min(1, seconds);
    await send(real.origin, request, warmUp);
    await send(bare.origin, request, warmUp);
    const results = await alternate(rounds, { real: load(real), bare: load(bare) });
    const rate = (loads: readonly Load[]): number => median(loads.map(({ perSecond }) => perSecond));
    const ratios = results.real.map((one, round) => one.perSecond / (results.bare[round]?.perSecond ?? NaN));
    const p99 = median(results.real.map((one) => one.p99));
    const rates = [rate(results.real).toFixed(0), p99.toFixed(0), rate(results.bare).toFixed(0)];
    const cpu = compareCpu(results.real, results.bare);
    return [request.name, String(bytes.length), ...rates, median(ratios).toFixed(2), ...cpu];
  } finally {
    await bare.stop();
  }
}

/** Returns the body of a response as it is sent. */
async function readBytes(origin: string, { method, path, headers, body }: Repeated) {
  return new Promise<{ bytes: Buffer; encoding: string }>((resolve, reject) => {
    const request = sendRequest(`${origin}${path}`, { method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ bytes: Buffer.concat(chunks), encoding: response.headers['content-encoding'] ?? '' }),
      );
    });
    request.on('error', reject);
    request.end(body);
  });
}

interface Load {
  readonly perSecond: number;
  readonly p99: number;
  readonly requests: number;
}

/** @throws Error when the status of a response is not 200. */
async function send(origin: string, { name, ...request }: Repeated, seconds: number): Promise<Load> {
  const result = await autocannon({ url: origin, connections: CONNECTIONS, ...lasting(seconds), requests: [request] });
  if (result.non2xx + result.errors > 0) throw new Error(`${name}: ${result.non2xx + result.errors} requests failed.`);
  return { perSecond: result.requests.average, p99: result.latency.p99, requests: result.requests.total };
}
