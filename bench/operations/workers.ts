import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import autocannon from 'autocannon';
import { build } from '../child.js';
import { alternate, lasting, median } from '../rounds.js';
import { ask, type RunningServer, startServer } from '../server.js';
import { benchFolder } from '../site/scan.js';
import { siteQueries, type SiteQuery } from '../site/site-queries.js';
import { toTable } from '../table.js';

export interface WorkersBenchOptions {
  readonly files: number;
  readonly folders: number;
  readonly rounds: number;
  /** The seconds that each query is sent for in each round. */
  readonly seconds: number;
  /** The number of workers that are compared with one process. */
  readonly workers: number;
}

/** Several per worker, as proxies keep. */
const CONNECTIONS = 16;

/** The queries of pages, whose results are cached, and which are read from the database. */
const QUERIES = ['page', 'pages', 'list'];

/** Measures requests per second of one process and of several workers, in turns. */
export async function benchWorkers({ workers, ...options }: WorkersBenchOptions): Promise<string> {
  build();
  const site = benchFolder(options);
  const work = mkdtempSync(path.join(tmpdir(), 'trellis-bench-workers-'));
  const start = (count: number): Promise<RunningServer> =>
    startServer(['dist/cli.js', 'serve', '--site', site, '--workers', String(count)], {
      TRELLIS_STATE: path.join(work, String(count)),
      TRELLIS_WATCH: 'false',
    });
  const servers = { one: await start(1), several: await start(workers) };
  try {
    const rows: string[][] = [];
    for (const query of await listQueries(servers.one)) rows.push(await compare(query, servers, options));
    return toTable(['query', 'one process, requests/s', `${workers} workers, requests/s`, 'times'], rows);
  } finally {
    await Promise.all([servers.one.stop(), servers.several.stop()]);
    rmSync(work, { recursive: true, force: true });
  }
}

async function listQueries({ origin }: RunningServer): Promise<SiteQuery[]> {
  const { allFile } = (await ask(origin, '{ allFile(limit: 1000) { nodes { relativePath } } }')) as {
    allFile: { nodes: { relativePath: string }[] };
  };
  const queries = siteQueries(allFile.nodes.map(({ relativePath }) => relativePath));
  return queries.filter(({ name }) => QUERIES.includes(name));
}

async function compare(
  query: SiteQuery,
  { one, several }: { readonly one: RunningServer; readonly several: RunningServer },
  { rounds, seconds }: Pick<WorkersBenchOptions, 'rounds' | 'seconds'>,
): Promise<string[]> {
  const load = (server: RunningServer) => () => send(server.origin, query, seconds);
  const contenders = { one: load(one), several: load(several) };
  await alternate(1, contenders);
  const results = await alternate(rounds, contenders);
  const [alone, together] = [median(results.one), median(results.several)];
  return [query.name, alone.toFixed(0), together.toFixed(0), (together / alone).toFixed(2)];
}

async function send(origin: string, { name, query, variables }: SiteQuery, seconds: number): Promise<number> {
  const result = await autocannon({
    url: `${origin}/graphql`,
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    connections: CONNECTIONS,
    ...lasting(seconds),
    requests: variables.map((values) => ({ body: JSON.stringify({ query, variables: values }) })),
  });
  if (result.non2xx + result.errors > 0) throw new Error(`${name}: ${result.non2xx + result.errors} requests failed.`);
  return result.requests.average;
}
