import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { build } from '../child.js';
import { startPostgres } from '../postgres.js';
import { median } from '../rounds.js';
import { type RunningServer, startServer } from '../server.js';
import { toTable } from '../table.js';
import { type ListSizes, seedLists, START, STEP_MS, type Visitor } from './lists-seed.js';

export interface ListsBenchOptions extends ListSizes {
  readonly rounds: number;
  readonly engines: readonly string[];
}

interface Measured {
  /** Response times in milliseconds. */
  readonly list: readonly number[];
  readonly health: readonly number[];
}

/** Measures every list of both services over many rows, beside `/healthz` of the same server in turns. */
export async function benchLists(options: ListsBenchOptions): Promise<string> {
  build();
  const columns: Column[] = [];
  for (const engine of options.engines) columns.push(await measureEngine(engine, options));
  const names = [...(columns[0]?.times.keys() ?? [])];
  const rows = names.map((name) => [name, ...columns.flatMap(({ times }) => toCells(times.get(name)))]);
  const head = options.engines.flatMap((engine) => [`${engine}, ms`, 'slowest', '/healthz']);
  return [toTable(['list', ...head], rows), ...columns.map(({ summary }) => summary)].join('\n\n');
}

interface Column {
  readonly times: ReadonlyMap<string, Measured>;
  readonly summary: string;
}

const toCells = (measured: Measured = { list: [], health: [] }): string[] => {
  const { list, health } = measured;
  return [median(list), Math.max(...list), median(health)].map((ms) => ms.toFixed(1));
};

async function measureEngine(engine: string, options: ListsBenchOptions): Promise<Column> {
  const work = mkdtempSync(path.join(tmpdir(), 'trellis-bench-lists-'));
  const state = path.join(work, 'state');
  mkdirSync(state, { mode: 0o700 });
  const postgres = engine === 'postgres' ? await startPostgres() : undefined;
  try {
    const place = postgres === undefined ? { file: path.join(state, 'trellis.db') } : { url: postgres.url };
    const startedAt = performance.now();
    const visitor = await seedLists(place, options);
    const filled = ((performance.now() - startedAt) / 1_000).toFixed(0);
    const database: Record<string, string> = postgres === undefined ? {} : { DATABASE_URL: postgres.url };
    const settings = { TRELLIS_STATE: state, TRELLIS_SERVICES: 'secrets,dashboard', ...database };
    const server = await startServer(['dist/cli.js', 'serve'], settings, (origin) => fetch(`${origin}/healthz`));
    try {
      await send(server, visitor, '/secrets/objects?limit=1');
      const before = server.megabytes();
      const times = await measure(server, visitor, options);
      const [load = 0] = loadavg();
      const memory = `${before.toFixed(0)} MB before and ${server.megabytes().toFixed(0)} MB after`;
      return { times, summary: `${engine}: filled in ${filled} s; ${memory}; load ${load.toFixed(1)}.` };
    } finally {
      await server.stop();
    }
  } finally {
    await postgres?.stop();
    rmSync(work, { recursive: true, force: true });
  }
}

async function measure(
  server: RunningServer,
  visitor: Visitor,
  options: ListsBenchOptions,
): Promise<ReadonlyMap<string, Measured>> {
  const times = new Map<string, Measured>();
  for (const [name, target] of await listTargets(server, visitor, options)) {
    const list: number[] = [];
    const health: number[] = [];
    for (let round = 0; round < options.rounds; round += 1) {
      health.push((await send(server, visitor, '/healthz')).milliseconds);
      list.push((await send(server, visitor, target)).milliseconds);
    }
    times.set(name, { list, health });
  }
  return times;
}

async function send({ origin }: RunningServer, { cookie, writeToken }: Visitor, target: string) {
  const headers = target.startsWith('/secrets/') && !target.startsWith('/secrets/tokens');
  const startedAt = performance.now();
  const response = await fetch(`${origin}${target}`, {
    headers: headers ? { authorization: `Bearer ${writeToken}` } : { cookie },
  });
  const text = await response.text();
  const milliseconds = performance.now() - startedAt;
  if (!response.ok) throw new Error(`${target}: ${response.status} ${text}`);
  return { milliseconds, next: /<([^>]+)>/.exec(response.headers.get('link') ?? '')?.[1] };
}

type Target = readonly [name: string, path: string];

async function listTargets(server: RunningServer, visitor: Visitor, options: ListsBenchOptions): Promise<Target[]> {
  const { secrets, entries, people } = options;
  const objects = '/secrets/objects';
  const far = Math.min(100_000, Math.floor(secrets / 2));
  const { next = objects } = await send(server, visitor, `${objects}?offset=${far}`);
  const farUsers = await send(server, visitor, `/api/admin/users?limit=100&offset=${Math.floor(people / 2)}`);
  const log = '/secrets/audit-log';
  const at = (part: number): string => new Date(START + Math.floor(entries * part) * STEP_MS).toISOString();
  const host = 'acme/host-10007';
  return [
    ['secrets', objects],
    ['secrets, 500', `${objects}?limit=500`],
    ['secrets, by cursor', next],
    [`secrets, offset ${far.toLocaleString('en')}`, `${objects}?offset=${far}`],
    ['secrets, slug', `${objects}?slug=secret-10000005`],
    ['secrets, consumer', `${objects}?used_by=${host}`],
    ['secrets, consumer of half of them', `${objects}?used_by=fleet`],
    ['secrets, tag', `${objects}?tag=team-7`],
    ['secrets, tag of all', `${objects}?tag=prod`],
    ['secrets, two tags', `${objects}?tag=prod&tag=team-7`],
    ['secrets, tag and consumer', `${objects}?tag=prod&used_by=${host}`],
    ['secrets, two filters with many matches', `${objects}?tag=prod&used_by=fleet`],
    ['secrets, two filters without a match', `${objects}?tag=team-8&used_by=${host}`],
    ['secrets, reseal', `${objects}?reseal=true`],
    ['secrets, no reseal', `${objects}?reseal=false`],
    ['secrets, reseal and tag', `${objects}?reseal=true&tag=team-0`],
    ['secrets, due', `${objects}?rotation_due=true`],
    ['secrets, not due', `${objects}?rotation_due=false`],
    ['secrets, due and tag', `${objects}?rotation_due=true&tag=team-0`],
    ['versions', `${objects}/secret-10000005/versions`],
    ['consumers, names', '/secrets/consumers'],
    ['consumers, page 2', '/secrets/consumers?page=2'],
    ['consumers, text', '/secrets/consumers?q=99'],
    ['audit log', log],
    ['audit log, newest', `${log}?order=desc`],
    ['audit log, after', `${log}?after=${Math.floor(entries / 2)}`],
    ['audit log, slug', `${log}?object_id=secret-10000031`],
    ['audit log, caller', `${log}?caller=caller-7`],
    ['audit log, actor', `${log}?actor=token-7`],
    ['audit log, no actor', `${log}?actor=none`],
    ['audit log, tokens', `${log}?subject_type=token`],
    ['audit log, secrets', `${log}?subject_type=object&order=desc`],
    ['audit log, one hour', `${log}?from=${at(0.5)}&to=${new Date(Date.parse(at(0.5)) + 3_600_000).toISOString()}`],
    ['audit log, second half', `${log}?from=${at(0.5)}`],
    ['audit log, first half, newest', `${log}?to=${at(0.5)}&order=desc`],
    ['audit log, second half, tokens', `${log}?from=${at(0.5)}&subject_type=token`],
    ['audit log, caller and actor', `${log}?caller=caller-7&actor=token-7`],
    ['audit log, two filters without a match', `${log}?caller=caller-8&actor=token-7`],
    ['audit log, values of filters', `${log}/filter-options`],
    ['write tokens', '/secrets/tokens'],
    ['consumer tokens', '/secrets/consumer-tokens?limit=500'],
    ['users, 1,000', '/api/admin/users'],
    ['users, 100 by cursor', farUsers.next ?? '/api/admin/users'],
    ['requests to forges, 1,000', '/api/admin/requests'],
    ['requests to forges, account', '/api/admin/requests?account=user-7&limit=50'],
    ['throughput', '/api/insights/throughput'],
  ];
}
