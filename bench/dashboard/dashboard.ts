import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import autocannon from 'autocannon';
import { sql } from 'kysely';
import { createAccounts } from '../../src/accounts/accounts.js';
import type { SessionCaller } from '../../src/accounts/callers.js';
import type { BoardSnapshot } from '../../src/dashboard/boards/board.js';
import { createBoards } from '../../src/dashboard/boards/boards.js';
import { createVisits } from '../../src/dashboard/boards/owner-state.js';
import type { Database } from '../../src/storage/database.js';
import { openDatabase } from '../../src/storage/open-database.js';
import { build } from '../child.js';
import { alternate, lasting, median } from '../rounds.js';
import { startServer, type RunningServer } from '../server.js';
import { toTable } from '../table.js';
import { makeBoard } from './make-board.js';

export interface DashboardBenchOptions {
  readonly pullRequests: number;
  readonly rounds: number;
  /** The seconds that each request is sent for in each round. */
  readonly seconds: number;
}

const CONNECTIONS = 8;
const REPOSITORIES = 300;
const BOARD_PATH = '/api/dashboard';

/** The number of changes of a board, and of requests after each. */
const CHANGES = 9;

/** Measures responses with a large board, beside an Express app that has the bytes ready. */
export async function benchDashboard(options: DashboardBenchOptions): Promise<string> {
  build();
  const work = mkdtempSync(path.join(tmpdir(), 'trellis-bench-dashboard-'));
  try {
    return await measure(work, options);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

async function measure(work: string, options: DashboardBenchOptions): Promise<string> {
  const state = path.join(work, 'state');
  mkdirSync(state, { mode: 0o700 });
  const database = await openDatabase({ file: path.join(state, 'trellis.db') });
  const snapshot = makeBoard({ repositories: REPOSITORIES, pullRequests: options.pullRequests });
  const { ada, token } = await seed(database, snapshot);
  const settings = { TRELLIS_STATE: state, TRELLIS_SERVICES: 'dashboard', TRELLIS_RATE_LIMIT: '0' };
  const real = await startServer(['dist/cli.js', 'serve'], settings, answersVersion);
  const headers = { authorization: `Bearer ${token}` };
  const { bytes, etag } = await readBoard(real, headers);
  const file = path.join(work, 'board.json');
  writeFileSync(file, bytes);
  const bare = await startServer(['bench/dashboard/board-express-child.js', file, etag], {}, answersVersion);
  try {
    const contest = { real, bare, ...options };
    const title = `${options.pullRequests} pull requests, ${(bytes.length / 1e6).toFixed(1)} MB`;
    const rows = [
      await compare(`${title}, with its ETag`, { ...headers, 'if-none-match': etag }, contest),
      await compare(title, headers, contest),
    ];
    const changes = await timeChanges(database, { real, headers, ada, snapshot });
    const head = [
      'GET /api/dashboard',
      'answers/s',
      'p99, ms',
      'Express with its bytes, responses/s',
      'of it',
      'Express with response.json, responses/s',
    ];
    return `${toTable(head, rows)}\n\n${toTable(['just after', 'first response, ms', 'again, ms'], changes)}`;
  } finally {
    await Promise.all([real.stop(), bare.stop(), database.destroy()]);
  }
}

const answersVersion = (origin: string): Promise<unknown> => fetch(`${origin}/api/version`);

async function seed(database: Database, snapshot: BoardSnapshot): Promise<{ ada: SessionCaller; token: string }> {
  await sql`pragma synchronous = off`.execute(database);
  const accounts = createAccounts(database, { origin: () => 'http://localhost' });
  const { id } = await accounts.users.add({ username: 'ada', displayName: 'Ada' });
  const ada = await accounts.sessions.findCaller(await accounts.sessions.start(id));
  if (ada === undefined) throw new Error('Signing in returned no session.');
  const boards = createBoards(database);
  await boards.save(id, snapshot);
  // Gives every row local state, which makes it the most expensive board.
  await createVisits({ database, boards }).save(ada, new Date());
  const wanted = { label: 'bench', expiresAt: new Date(Date.now() + 86_400_000) };
  const { token } = await accounts.tokens.create(ada, wanted, '127.0.0.1');
  return { ada, token };
}

type Headers = Readonly<Record<string, string>>;

async function readBoard({ origin }: RunningServer, headers: Headers): Promise<{ bytes: Buffer; etag: string }> {
  const response = await fetch(origin + BOARD_PATH, { headers });
  return { bytes: Buffer.from(await response.arrayBuffer()), etag: response.headers.get('etag') ?? '' };
}

interface Contest extends DashboardBenchOptions {
  readonly real: RunningServer;
  readonly bare: RunningServer;
}

async function compare(name: string, headers: Headers, { real, bare, rounds, seconds }: Contest): Promise<string[]> {
  const load = (origin: string) => () => send(origin, headers, seconds);
  const contenders = {
    real: load(real.origin + BOARD_PATH),
    bare: load(bare.origin + BOARD_PATH),
    json: load(`${bare.origin}${BOARD_PATH}/json`),
  };
  for (const run of [contenders.real, contenders.bare]) await run();
  const results = await alternate(rounds, contenders);
  const rate = (measured: readonly Load[]): number => median(measured.map(({ perSecond }) => perSecond));
  return [
    name,
    rate(results.real).toFixed(0),
    median(results.real.map(({ p99 }) => p99)).toFixed(0),
    rate(results.bare).toFixed(0),
    (rate(results.real) / rate(results.bare)).toFixed(2),
    rate(results.json).toFixed(0),
  ];
}

interface Load {
  readonly perSecond: number;
  readonly p99: number;
}

/** @throws Error when any request is refused. */
async function send(url: string, headers: Headers, seconds: number): Promise<Load> {
  const result = await autocannon({ url, headers, connections: CONNECTIONS, ...lasting(seconds) });
  const refused = result['4xx'] + result['5xx'] + result.errors;
  if (refused > 0) throw new Error(`${refused} requests failed, ${JSON.stringify(result.statusCodeStats)}.`);
  return { perSecond: result.requests.average, p99: result.latency.p99 };
}

interface Changing {
  readonly real: RunningServer;
  readonly headers: Headers;
  readonly ada: SessionCaller;
  readonly snapshot: BoardSnapshot;
}

/** Changes the board in the database as a second server would, so that this one has nothing cached. */
async function timeChanges(database: Database, { real, headers, ada, snapshot }: Changing): Promise<string[][]> {
  const boards = createBoards(database);
  const visits = createVisits({ database, boards });
  const refresh = () => boards.save(ada.personId, snapshot);
  const visit = () => visits.save(ada, new Date());
  const times: Record<string, [first: number, again: number][]> = { 'a refresh': [], 'a visit': [] };
  for (let turn = 0; turn < CHANGES; turn += 1) {
    await refresh();
    times['a refresh']?.push([await time(real, headers), await time(real, headers)]);
    await visit();
    times['a visit']?.push([await time(real, headers), await time(real, headers)]);
  }
  return Object.entries(times).map(([what, pairs]) => [
    what,
    median(pairs.map(([first]) => first)).toFixed(0),
    median(pairs.map(([, again]) => again)).toFixed(0),
  ]);
}

async function time(server: RunningServer, headers: Headers): Promise<number> {
  const startedAt = performance.now();
  await readBoard(server, headers);
  return performance.now() - startedAt;
}
