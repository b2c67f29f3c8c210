import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import autocannon from 'autocannon';
import { build } from '../child.js';
import { alternate, lasting, median } from '../rounds.js';
import { ask, startServer, type RunningServer } from '../server.js';
import { toTable } from '../table.js';
import { compareCpu, CPU_HEADS, withCpu } from './request-cpu.js';
import { benchFolder } from './scan.js';
import { siteQueries, type SiteQuery } from './site-queries.js';

export interface QueryBenchOptions {
  readonly files: number;
  readonly folders: number;
  readonly rounds: number;
  /** The seconds that each query is sent for in each round. */
  readonly seconds: number;
}

const CONNECTIONS = 8;

/** The number of requests so far, which makes each of them different. */
let sent = 0;

/**
 * Measures the start of the server and its requests per second, beside the same server whose engine returns
 * constants.
 */
export async function benchQueries(options: QueryBenchOptions): Promise<string> {
  build();
  const site = benchFolder(options);
  const work = mkdtempSync(path.join(tmpdir(), 'trellis-bench-queries-'));
  try {
    const starts = await measureStarts(site, path.join(work, 'state'));
    const rates = await measureRates(starts.server, work, options);
    return `${starts.table}\n\n${rates}`;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

async function measureStarts(site: string, state: string) {
  const start = () =>
    startServer(['dist/cli.js', 'serve', '--site', site], {
      TRELLIS_STATE: state,
      TRELLIS_WATCH: 'false',
      // They would be rendered during the first queries.
      TRELLIS_IMAGE_PREVIEWS: 'false',
    });
  const cold = await start();
  const coldRow = ['cold', cold.firstAnswerMs.toFixed(0), cold.megabytes().toFixed(0)];
  await cold.stop();
  // Files that changed within the last two seconds are read again.
  await setTimeout(2100);
  await (await start()).stop();
  const server = await start();
  const warmRow = ['warm', server.firstAnswerMs.toFixed(0), server.megabytes().toFixed(0)];
  return { server, table: toTable(['start', 'first response, ms', 'RSS, MB'], [coldRow, warmRow]) };
}

async function measureRates(real: RunningServer, work: string, { rounds, seconds }: QueryBenchOptions) {
  const { allFile } = (await ask(real.origin, '{ allFile(limit: 1000, skip: 500) { nodes { relativePath } } }')) as {
    allFile: { nodes: { relativePath: string }[] };
  };
  const queries = siteQueries(allFile.nodes.map(({ relativePath }) => relativePath));
  const answers: Record<string, unknown> = {};
  for (const { name, query, variables } of queries) answers[name] = await ask(real.origin, query, variables[0]);
  const file = path.join(work, 'answers.json');
  writeFileSync(file, JSON.stringify(answers));
  const constant = await startServer(['bench/site/constant-server-child.js', file]);
  try {
    const rows: string[][] = [];
    for (const query of queries) rows.push(await compare(query, { real, constant, rounds, seconds }));
    const memory = `Resident after all of them: ${real.megabytes().toFixed(0)} MB.`;
    const heads = ['query', 'requests/s', 'p99, ms', 'limit, requests/s', 'of its limit', ...CPU_HEADS];
    return `${toTable(heads, rows)}\n\n${memory}`;
  } finally {
    await Promise.all([real.stop(), constant.stop()]);
  }
}

interface Contest {
  readonly real: RunningServer;
  readonly constant: RunningServer;
  readonly rounds: number;
  readonly seconds: number;
}

async function compare(query: SiteQuery, { real, constant, rounds, seconds }: Contest): Promise<string[]> {
  const load = (server: RunningServer) => withCpu(server, () => send(server.origin, query, seconds));
  const warmUp = Math.min(1, seconds);
  await send(real.origin, query, warmUp);
  await send(constant.origin, query, warmUp);
  const results = await alternate(rounds, { real: load(real), constant: load(constant) });
  const rate = (measured: readonly Load[]): number => median(measured.map(({ perSecond }) => perSecond));
  const p99 = median(results.real.map((one) => one.p99));
  const ratio = rate(results.real) / rate(results.constant);
  return [
    query.name,
    rate(results.real).toFixed(0),
    p99.toFixed(0),
    rate(results.constant).toFixed(0),
    ratio.toFixed(2),
    ...compareCpu(results.real, results.constant),
  ];
}

interface Load {
  readonly perSecond: number;
  readonly p99: number;
  readonly requests: number;
}

/** @throws Error when the status of a response is not 200. */
async function send(origin: string, { name, query, variables }: SiteQuery, seconds: number): Promise<Load> {
  // The server would send kept bytes for a request that it has seen before.
  const requests = variables.map((values) => ({
    setupRequest: (request: autocannon.Request) => ({
      ...request,
      body: JSON.stringify({ query, variables: values, extensions: { number: (sent += 1) } }),
    }),
  }));
  let clients = 0;
  const result = await autocannon({
    url: `${origin}/graphql`,
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    connections: CONNECTIONS,
    ...lasting(seconds),
    requests,
    // At the same place, one connection would read from the database, and the others the cached result.
    setupClient(client) {
      const start = Math.floor((clients * requests.length) / CONNECTIONS);
      clients += 1;
      client.setRequests([...requests.slice(start), ...requests.slice(0, start)]);
    },
  });
  if (result.non2xx + result.errors > 0) throw new Error(`${name}: ${result.non2xx + result.errors} requests failed.`);
  return { perSecond: result.requests.average, p99: result.latency.p99, requests: result.requests.total };
}
