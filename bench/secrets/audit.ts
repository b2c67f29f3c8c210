/** Audited writes and reads of one, two and four servers on one PostgreSQL, beside a bare transaction. */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { ageValue } from '../../tests/secrets/age-files.js';
import { build } from '../child.js';
import { type BenchPostgres, startPostgres } from '../postgres.js';
import { alternate, median } from '../rounds.js';
import { startServer, type RunningServer } from '../server.js';
import { toTable } from '../table.js';
import { sendReads, sendUpdates, type Load } from './secrets-load.js';
import { seedSecrets, type Seeded } from './secrets-seed.js';

export interface AuditBenchOptions {
  readonly secrets: number;
  /** The number of rounds of all contenders, in turns. */
  readonly rounds: number;
  /** The seconds of each load in a round. */
  readonly seconds: number;
  /** The number of clients, which the servers share. */
  readonly clients: number;
}

const SERVERS = [1, 2, 4];

/** Measures audited requests per second with different numbers of servers, beside `begin; insert; update; commit`. */
export async function benchAudit(options: AuditBenchOptions): Promise<string> {
  build();
  const work = mkdtempSync(path.join(tmpdir(), 'trellis-bench-audit-'));
  const postgres = await startPostgres();
  const servers: RunningServer[] = [];
  try {
    const seeded = await seedSecrets({ url: postgres.url }, { secrets: options.secrets, writers: 1 });
    for (let index = 0; index < Math.max(...SERVERS); index += 1) servers.push(await start(work, index, postgres.url));
    return await compare(servers, postgres, { ...options, ...seeded });
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    await postgres.stop();
    rmSync(work, { recursive: true, force: true });
  }
}

function start(work: string, index: number, url: string): Promise<RunningServer> {
  const state = path.join(work, `state-${index}`);
  mkdirSync(state, { mode: 0o700 });
  // All servers on one database have the key of the first.
  const key = path.join(work, 'state-0', 'server.key');
  if (existsSync(key)) copyFileSync(key, path.join(state, 'server.key'));
  const settings = { TRELLIS_STATE: state, TRELLIS_SERVICES: 'secrets', DATABASE_URL: url };
  return startServer(['dist/cli.js', 'serve'], settings, (origin) => fetch(`${origin}/healthz`));
}

type Contest = AuditBenchOptions & Seeded;

async function compare(servers: readonly RunningServer[], postgres: BenchPostgres, contest: Contest): Promise<string> {
  const pool = await openBare(postgres.url, contest.clients);
  const contenders = (seconds: number): Record<string, () => Promise<Metered>> => {
    const own = SERVERS.flatMap((count) => {
      const some = servers.slice(0, count);
      return (['writes', 'reads'] as const).map(
        (kind) =>
          [`${count} ${kind}`, () => meter(postgres, some, () => loadAll(some, kind, seconds, contest))] as const,
      );
    });
    const bareOnes = () => meter(postgres, [], () => runBare(pool, seconds, contest.clients));
    return { bare: bareOnes, ...Object.fromEntries(own) };
  };
  for (const warmUp of Object.values(contenders(Math.min(1, contest.seconds)))) await warmUp();
  const results = await alternate(contest.rounds, contenders(contest.seconds));
  await pool.end();
  const rateOf = (name: string): number => median((results[name] ?? []).map(({ perSecond }) => perSecond));
  const p99Of = (name: string): string => median((results[name] ?? []).map(({ p99 }) => p99)).toFixed(0);
  const cpuOf = (name: string): string => median((results[name] ?? []).map(({ cpuMs }) => cpuMs)).toFixed(2);
  const bare = rateOf('bare');
  const rows = SERVERS.map((count) => {
    const [writes, reads] = [`${count} writes`, `${count} reads`];
    const rate = (name: string): string[] => [
      rateOf(name).toFixed(0),
      p99Of(name),
      (rateOf(name) / bare).toFixed(2),
      cpuOf(name),
    ];
    return [String(count), ...rate(writes), ...rate(reads)];
  });
  const header = ['servers', 'writes/s', 'p99, ms', 'of bare', 'CPU, ms', 'reads/s', 'p99, ms', 'of bare', 'CPU, ms'];
  const about = `${contest.clients} clients; begin, insert, update, commit alone: ${bare.toFixed(0)}/s, p99 ${p99Of('bare')} ms, CPU ${cpuOf('bare')} ms.`;
  return [toTable(header, rows), about, await verify(servers, contest)].join('\n\n');
}

interface Result extends Pick<Load, 'p99' | 'perSecond'> {
  readonly count: number;
}

interface Metered extends Result {
  /** The processor time of PostgreSQL, the servers and the clients for each request. */
  readonly cpuMs: number;
}

/** Measures the processor time of a load, which depends less on other programs than its rate. */
async function meter(
  postgres: BenchPostgres,
  servers: readonly RunningServer[],
  run: () => Promise<Result>,
): Promise<Metered> {
  const read = async (): Promise<number> => {
    const { user, system } = process.cpuUsage();
    return servers.reduce((sum, server) => sum + server.cpuMs(), (user + system) / 1_000) + (await postgres.cpuMs());
  };
  const before = await read();
  const result = await run();
  return { ...result, cpuMs: ((await read()) - before) / result.count };
}

/** Sends requests to several servers at the same time. */
async function loadAll(
  servers: readonly RunningServer[],
  kind: 'reads' | 'writes',
  seconds: number,
  { clients, secrets, writeToken }: Contest,
): Promise<Result> {
  // Chosen at random, so that servers do not change the same secrets at the same time.
  const toPath = (): string => `/secrets/objects/object-${Math.floor(Math.random() * secrets)}`;
  const options = { connections: Math.ceil(clients / servers.length), seconds, toPath, token: writeToken };
  const send = kind === 'reads' ? sendReads : sendUpdates;
  const loads = await Promise.all(servers.map(({ origin }) => send(origin, options)));
  for (const { statuses } of loads)
    if (Object.keys(statuses).some((status) => status !== '200')) throw new Error(JSON.stringify(statuses));
  return {
    perSecond: loads.reduce((sum, { perSecond }) => sum + perSecond, 0),
    p99: Math.max(...loads.map(({ p99 }) => p99)),
    count: loads.reduce((sum, { statuses }) => sum + Object.values(statuses).reduce((all, one) => all + one, 0), 0),
  };
}

/** Creates the tables of the bare transaction. Its connections stay open, so that their processor time can be read. */
async function openBare(url: string, clients: number): Promise<pg.Pool> {
  const pool = new pg.Pool({ connectionString: url, max: clients, idleTimeoutMillis: 0 });
  await pool.query('create table bare_objects (id integer primary key, value text, changed bigint)');
  await pool.query('create table bare_entries (id bigserial primary key, action text, at bigint)');
  await pool.query("insert into bare_objects select n, repeat('x', 1400), 0 from generate_series(1, 500) n");
  return pool;
}

/** Commits a row and a changed row in each transaction, from one process with a connection for each client. */
async function runBare(pool: pg.Pool, seconds: number, clients: number): Promise<Result> {
  const value = ageValue({ payload: 'x'.repeat(1_024) });
  const until = performance.now() + seconds * 1000;
  const times: number[] = [];
  const startedAt = performance.now();
  const runClient = async (): Promise<void> => {
    const client = await pool.connect();
    for (let begun = performance.now(); begun < until; begun = performance.now()) {
      await client.query('begin');
      await client.query('insert into bare_entries (action, at) values ($1, $2)', ['update', Date.now()]);
      const id = 1 + Math.floor(Math.random() * 500);
      await client.query('update bare_objects set value = $1, changed = $2 where id = $3', [value, Date.now(), id]);
      await client.query('commit');
      times.push(performance.now() - begun);
    }
    client.release();
  };
  await Promise.all(Array.from({ length: clients }, runClient));
  const elapsed = (performance.now() - startedAt) / 1000;
  times.sort((one, other) => one - other);
  return { count: times.length, perSecond: times.length / elapsed, p99: times[Math.floor(times.length * 0.99)] ?? NaN };
}

async function verify([server]: readonly RunningServer[], { writeToken }: Contest): Promise<string> {
  const headers = { authorization: `Bearer ${writeToken}` };
  const response = await fetch(`${server?.origin ?? ''}/secrets/audit-log/verify?full=true`, { headers });
  const { intact, entries } = (await response.json()) as { intact: boolean; entries: number };
  return `The chain of ${entries} entries is ${intact ? 'intact' : 'broken'}.`;
}
