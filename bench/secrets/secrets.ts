import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { DatabaseTarget } from '../../src/storage/database.js';
import { build } from '../child.js';
import { startPostgres } from '../postgres.js';
import { alternate, median } from '../rounds.js';
import { startServer, type RunningServer } from '../server.js';
import { toTable } from '../table.js';
import { sendReads, sendWrites, type Load } from './secrets-load.js';
import { seedSecrets, type Seeded } from './secrets-seed.js';

export interface SecretsBenchOptions {
  /** The number of secrets, an even one. */
  readonly secrets: number;
  /** The seconds of the mixed load of readers and writers. */
  readonly seconds: number;
  /** The number of rounds of reads alone, in turns with those of Express. */
  readonly rounds: number;
  /** The seconds of each load in a round. */
  readonly roundSeconds: number;
  readonly engines: readonly string[];
  /** The number of rejected reads of each kind. */
  readonly refusals: number;
}

const WRITERS = 8;
const READERS = 32;

/** Measures the secrets service on each engine: mixed load, reads beside Express alone, and rejected reads. */
export async function benchSecrets(options: SecretsBenchOptions): Promise<string> {
  build();
  const tables: string[] = [];
  for (const engine of options.engines) tables.push(`### ${engine}\n\n${await measureEngine(engine, options)}`);
  return tables.join('\n\n');
}

async function measureEngine(engine: string, options: SecretsBenchOptions): Promise<string> {
  const work = mkdtempSync(path.join(tmpdir(), 'trellis-bench-secrets-'));
  const state = path.join(work, 'state');
  mkdirSync(state, { mode: 0o700 });
  const postgres = engine === 'postgres' ? await startPostgres() : undefined;
  try {
    const place = postgres === undefined ? { file: path.join(state, 'trellis.db') } : { url: postgres.url };
    return await measure(place, state, options);
  } finally {
    await postgres?.stop();
    rmSync(work, { recursive: true, force: true });
  }
}

async function measure(place: DatabaseTarget, state: string, options: SecretsBenchOptions): Promise<string> {
  const seeded = await seedSecrets(place, { secrets: options.secrets, writers: WRITERS });
  const database: Record<string, string> = 'url' in place ? { DATABASE_URL: place.url } : {};
  const settings = { TRELLIS_STATE: state, TRELLIS_SERVICES: 'secrets', TRELLIS_RATE_LIMIT: '0', ...database };
  const real = await startServer(['dist/cli.js', 'serve'], settings, (origin) => fetch(`${origin}/healthz`));
  const where = 'url' in place ? place.url : place.file;
  const bare = await startServer(['bench/secrets/secrets-express-child.js', where], {}, (origin) => fetch(origin));
  try {
    const reads = await compareReads({ real, bare, ...seeded, ...options });
    const mixed = await mix(real, seeded, options.seconds);
    return [reads, mixed, await timeRefusals(real, seeded, options.refusals), await verify(real, seeded)].join('\n\n');
  } finally {
    await Promise.all([real.stop(), bare.stop()]);
  }
}

interface Contest extends SecretsBenchOptions, Seeded {
  readonly real: RunningServer;
  readonly bare: RunningServer;
}

async function compareReads({ real, bare, rounds, roundSeconds, writeToken, secrets }: Contest): Promise<string> {
  const load = (server: RunningServer, prefix: string, seconds: number, token?: string) => () => {
    const toPath = (index: number): string => `${prefix}/object-${index % secrets}`;
    return sendReads(server.origin, { connections: READERS, seconds, toPath, ...(token !== undefined && { token }) });
  };
  const contenders = (seconds: number) => ({
    'Trellis, audited': load(real, '/secrets/objects', seconds, writeToken),
    'Express, audited': load(bare, '/audited', seconds),
    'Express, not audited': load(bare, '/read', seconds),
  });
  for (const warmUp of Object.values(contenders(Math.min(1, roundSeconds)))) await warmUp();
  const results = await alternate(rounds, contenders(roundSeconds));
  for (const loads of Object.values(results)) loads.forEach(requireNoRefusal);
  const rates = Object.entries(results).map(([name, loads]) => [name, loads, rateOf(loads)] as const);
  const own = rateOf(results['Trellis, audited']);
  const rows = rates.map(([name, loads, rate]) => [
    name,
    rate.toFixed(0),
    median(loads.map(({ p99 }) => p99)).toFixed(0),
    (own / rate).toFixed(2),
  ]);
  return toTable([`${READERS} readers`, 'reads/s', 'p99, ms', 'Trellis of it'], rows);
}

const rateOf = (loads: readonly Load[]): number => median(loads.map(({ perSecond }) => perSecond));

function requireNoRefusal({ statuses }: Load): void {
  if (Object.keys(statuses).some((status) => status !== '200')) throw new Error(JSON.stringify(statuses));
}

/** Measures readers and writers at the same time. */
async function mix({ origin }: RunningServer, seeded: Seeded, seconds: number): Promise<string> {
  const toPath = (index: number): string => `/secrets/objects/object-${index % seeded.secrets}`;
  const [reads, writes] = await Promise.all([
    sendReads(origin, { connections: READERS, seconds, toPath, token: seeded.writeToken }),
    sendWrites(origin, seeded, seconds),
  ]);
  const row = (name: string, { perSecond, p99, statuses }: Load): string[] => {
    const told = Object.entries(statuses).map(([status, count]) => `${count} × ${status}`);
    return [name, perSecond.toFixed(0), p99.toFixed(0), told.join(', ')];
  };
  const rows = [row(`${READERS} readers`, reads), row(`${WRITERS} writers`, writes)];
  return toTable([`mixed for ${seconds} s`, 'requests/s', 'p99, ms', 'answers'], rows);
}

/** Measures both kinds of 404: an unknown name and the secret of a different consumer must take the same time. */
async function timeRefusals(
  { origin }: RunningServer,
  { consumerToken, secrets }: Seeded,
  refusals: number,
): Promise<string> {
  const ask = (slug: (index: number) => string) => {
    let turn = 0;
    return async (): Promise<number> => {
      const startedAt = performance.now();
      const headers = { authorization: `Bearer ${consumerToken}` };
      const response = await fetch(`${origin}/secrets/objects/${slug((turn += 1))}`, { headers });
      await response.arrayBuffer();
      if (response.status !== 404) throw new Error(`Expected status 404; received ${response.status}.`);
      return performance.now() - startedAt;
    };
  };
  const results = await alternate(refusals, {
    // Both names have the same length.
    'unknown name': ask((turn) => `absent-${(2 * turn + 1) % secrets}`),
    'secret of a different consumer': ask((turn) => `object-${(2 * turn + 1) % secrets}`),
  });
  const rows = Object.entries(results).map(([name, times]) => {
    const sorted = times.toSorted((one, other) => one - other);
    const at = (share: number): string => (sorted[Math.floor(sorted.length * share)] ?? NaN).toFixed(3);
    return [name, at(0.1), at(0.5), at(0.9)];
  });
  return toTable([`404, ${refusals} times in turns`, '10 %, ms', 'median, ms', '90 %, ms'], rows);
}

async function verify({ origin }: RunningServer, { writeToken }: Seeded): Promise<string> {
  const startedAt = performance.now();
  const headers = { authorization: `Bearer ${writeToken}` };
  const response = await fetch(`${origin}/secrets/audit-log/verify`, { headers });
  const { intact, entries } = (await response.json()) as { intact: boolean; entries: number };
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  return `The chain of ${entries} entries is ${intact ? 'intact' : 'broken'}, found in ${seconds} s.`;
}
