import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readEvents } from '@trellis/client/events';
import { createAccounts } from '../../src/accounts/accounts.js';
import type { Board } from '../../src/dashboard/boards/board.js';
import { createDashboardClient, type DashboardClient } from '../../src/generated/dashboard/client.js';
import type { Database } from '../../src/storage/database.js';
import { openDatabase } from '../../src/storage/open-database.js';
import { settingsFor, startForges, type Forges } from '../../tests/dashboard/refresh/forges.js';
import { githubDelivery } from '../../tests/forges/github.js';
import { build } from '../child.js';
import { median } from '../rounds.js';
import { startServer, type RunningServer } from '../server.js';
import { toTable } from '../table.js';
import { fillForges } from './fill-forges.js';

export interface BoardBenchOptions {
  readonly repositories: number;
  readonly pullRequests: number;
  /** The number of changes that a webhook reports. */
  readonly deliveries: number;
}

/** Measures the cost of reading three forges, first and later, and the delay until a change is seen. */
export async function benchBoard(options: BoardBenchOptions): Promise<string> {
  build();
  const work = mkdtempSync(path.join(tmpdir(), 'trellis-bench-board-'));
  const forges = await startForges();
  try {
    fillForges(forges, options);
    return await measure(work, forges, options);
  } finally {
    for (const forge of [forges.github, forges.forgejo, forges.gitlab]) await forge.close();
    rmSync(work, { recursive: true, force: true });
  }
}

async function measure(work: string, forges: Forges, options: BoardBenchOptions): Promise<string> {
  const state = path.join(work, 'state');
  mkdirSync(state, { mode: 0o700 });
  const database = await openDatabase({ file: path.join(state, 'trellis.db') });
  const cookie = await seed(database);
  const settings = { TRELLIS_STATE: state, TRELLIS_SERVICES: 'dashboard', TRELLIS_RATE_LIMIT: '0' };
  const server = await startServer(['dist/cli.js', 'serve'], settings, (origin) => fetch(`${origin}/healthz`));
  try {
    const client = createClient(server, cookie);
    const reads = await measureReads({ client, database, forges, ...options });
    const seen = await measureDeliveries({ client, server, forges, ...options });
    const head = ['reading', 'ms', 'requests to GitHub', 'Forgejo', 'GitLab', 'all', 'KB'];
    return `${toTable(head, reads)}\n\n${toTable(['a webhook to a client of the stream', 'ms'], seen)}`;
  } finally {
    await server.stop();
    await database.destroy();
  }
}

async function seed(database: Database): Promise<string> {
  const accounts = createAccounts(database, { origin: () => 'http://localhost' });
  const { id } = await accounts.users.add({ username: 'ada', displayName: 'Ada' });
  return `trellis_session=${await accounts.sessions.start(id)}`;
}

function createClient({ origin }: RunningServer, cookie: string): DashboardClient {
  return createDashboardClient(origin, {
    token: '',
    retry: { maxRetries: 0 },
    fetch(request) {
      request.headers.set('cookie', cookie);
      request.headers.set('origin', origin);
      return fetch(request);
    },
  });
}

interface Reads extends BoardBenchOptions {
  readonly client: DashboardClient;
  readonly database: Database;
  readonly forges: Forges;
}

async function measureReads({ client, database, forges, pullRequests }: Reads): Promise<string[][]> {
  const isWhole = (board: Board | undefined): boolean => board?.pullRequests.length === pullRequests;
  const first = async (): Promise<void> => {
    await client.PUT('/api/settings', { body: settingsFor(forges) });
    const stream = readEvents<Board>((init) => client.GET('/api/dashboard/stream', init));
    for await (const { data } of stream) if (isWhole(data)) return;
  };
  const again = async (): Promise<void> => {
    // The server would not allow the next refresh so soon.
    await database.updateTable('settings').set({ refreshed_at: null }).execute();
    const { data } = await client.POST('/api/dashboard/refresh');
    if (!isWhole(data)) throw new Error('The board is incomplete.');
  };
  const rows = [await count('first', forges, first)];
  for (const name of ['again, nothing changed', 'the same', 'the same']) rows.push(await count(name, forges, again));
  for (const { pullRequests: own } of forges.github.repositories.slice(0, 10)) {
    Object.assign(own[0] ?? {}, { title: 'Changed', updatedAt: '2026-06-01T08:00:00Z' });
  }
  rows.push(await count('again, 10 repositories changed', forges, again));
  return rows;
}

async function count(name: string, { github, forgejo, gitlab }: Forges, work: () => Promise<void>): Promise<string[]> {
  const all = [github, forgejo, gitlab];
  const before = all.map(({ seen, bytes }) => ({ requests: seen.length, bytes: bytes() }));
  const startedAt = performance.now();
  await work();
  const milliseconds = performance.now() - startedAt;
  const requests = all.map(({ seen }, index) => seen.length - (before[index]?.requests ?? 0));
  const bytes = all.map((forge, index) => forge.bytes() - (before[index]?.bytes ?? 0));
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
  const numbers = [milliseconds, ...requests, sum(requests), sum(bytes) / 1000];
  return [name, ...numbers.map((number) => number.toFixed(0))];
}

interface Deliveries extends BoardBenchOptions {
  readonly client: DashboardClient;
  readonly server: RunningServer;
  readonly forges: Forges;
}

/** Changes a different repository each time, as one that keeps changing is read less often. */
async function measureDeliveries({ client, server, forges, deliveries }: Deliveries): Promise<string[][]> {
  const { data } = await client.GET('/api/settings');
  const { webhookToken = '', webhookSecret = '' } = data ?? {};
  const stream = readEvents<Board>((init) => client.GET('/api/dashboard/stream', init));
  await stream.next();
  const times: number[] = [];
  for (const { nameWithOwner, pullRequests } of forges.github.repositories.slice(20, 20 + deliveries)) {
    const title = `Seen ${times.length}`;
    Object.assign(pullRequests[0] ?? {}, { title });
    const payload = { repository: { full_name: nameWithOwner } };
    const { body, headers } = githubDelivery(webhookSecret, payload);
    const url = `${server.origin}/api/webhooks/github/${webhookToken}`;
    const startedAt = performance.now();
    const { status } = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: new Uint8Array(body),
    });
    if (status !== 204) throw new Error(`The delivery was rejected with status ${status}.`);
    await untilSeen(stream, title);
    times.push(performance.now() - startedAt);
  }
  await stream.return();
  return [
    ['median', median(times).toFixed(0)],
    ['longest', Math.max(...times).toFixed(0)],
  ];
}

async function untilSeen(stream: AsyncIterator<{ readonly data: Board }, void>, title: string): Promise<void> {
  for (;;) {
    const next = await stream.next();
    if (next.done === true) throw new Error('The stream ended early.');
    if (next.value.data.pullRequests.some((one) => one.title === title)) return;
  }
}
