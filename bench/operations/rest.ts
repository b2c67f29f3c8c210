import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import autocannon from 'autocannon';
import { sql } from 'kysely';
import { createAccounts } from '../../src/accounts/accounts.js';
import { EMPTY_BOARD_SNAPSHOT } from '../../src/dashboard/boards/board.js';
import { createBoards } from '../../src/dashboard/boards/boards.js';
import { openDatabase } from '../../src/storage/open-database.js';
import { pullRequest } from '../../tests/dashboard/pull-request.js';
import { build } from '../child.js';
import { alternate, lasting, median } from '../rounds.js';
import { startServer, type RunningServer } from '../server.js';
import { toTable } from '../table.js';

export interface RestBenchOptions {
  readonly rounds: number;
  /** The seconds that each operation is sent for in each round. */
  readonly seconds: number;
  /** A user may have 100 tokens, so that many create them in turns. */
  readonly people: number;
}

const CONNECTIONS = 8;
const ENTRIES = 100;

/** Method, headers and body of a request. */
interface Visitor {
  readonly token: string;
  readonly cookies: readonly string[];
}

interface Operation {
  readonly name: string;
  /** Returns the options of the next request. */
  readonly next: () => autocannon.Request;
}

/** Measures requests per second of three operations, beside a bare Express app that returns the same JSON. */
export async function benchRest(options: RestBenchOptions): Promise<string> {
  build();
  const work = mkdtempSync(path.join(tmpdir(), 'trellis-bench-rest-'));
  try {
    return await measure(work, options);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

async function measure(work: string, options: RestBenchOptions): Promise<string> {
  const state = path.join(work, 'state');
  mkdirSync(state, { mode: 0o700 });
  const bareFile = path.join(work, 'bare.db');
  const visitor = await seed(path.join(state, 'trellis.db'), options.people);
  await seed(bareFile, options.people);
  const settings = { TRELLIS_STATE: state, TRELLIS_SERVICES: 'dashboard', TRELLIS_RATE_LIMIT: '0' };
  const real = await startServer(['dist/cli.js', 'serve'], settings, answersVersion);
  const answers = path.join(work, 'answers.json');
  writeFileSync(answers, JSON.stringify(await readAnswers(real, visitor)));
  const bare = await startServer(['bench/operations/bare-express-child.js', answers, bareFile], {}, answersVersion);
  try {
    const rows: string[][] = [];
    for (const operation of operations(visitor, real.origin))
      rows.push(await compare(operation, { real, bare, ...options }));
    return toTable(['operation', 'requests/s', 'p99, ms', 'Express alone, requests/s', 'of it'], rows);
  } finally {
    await Promise.all([real.stop(), bare.stop()]);
  }
}

const answersVersion = (origin: string): Promise<unknown> => fetch(`${origin}/api/version`);

async function seed(file: string, people: number): Promise<Visitor> {
  const database = await openDatabase({ file });
  await sql`pragma synchronous = off`.execute(database);
  const accounts = createAccounts(database, { origin: () => 'http://localhost' });
  const cookies: string[] = [];
  for (let index = 0; index < people; index += 1) {
    const person = await accounts.users.add({ username: `person${index}`, displayName: 'Person' });
    cookies.push(`trellis_session=${await accounts.sessions.start(person.id)}`);
  }
  const [first = ''] = cookies;
  const ada = await accounts.sessions.findCaller(first.slice(first.indexOf('=') + 1));
  if (ada === undefined) throw new Error('Signing in returned no session.');
  const pullRequests = Array.from({ length: ENTRIES }, (_none, index) => pullRequest({ number: index + 1 }));
  await createBoards(database).save(ada.personId, { ...EMPTY_BOARD_SNAPSHOT, pullRequests });
  const token = { label: 'bench', expiresAt: new Date(Date.now() + 86_400_000) };
  const created = await accounts.tokens.create(ada, token, '127.0.0.1');
  await database.destroy();
  return { token: created.token, cookies };
}

async function readAnswers({ origin }: RunningServer, { token }: Visitor): Promise<object> {
  const get = async (url: string): Promise<unknown> => {
    const response = await fetch(origin + url, { headers: { authorization: `Bearer ${token}` } });
    return response.json();
  };
  return { version: await get('/api/version'), board: await get('/api/dashboard') };
}

function operations({ token, cookies }: Visitor, origin: string): Operation[] {
  const authorization = `Bearer ${token}`;
  const body = JSON.stringify({ label: 'bench', expiresAt: new Date(Date.now() + 86_400_000).toISOString() });
  let turn = 0;
  const createToken = (): autocannon.Request => {
    turn += 1;
    const headers = {
      'content-type': 'application/json',
      cookie: cookies[turn % cookies.length] ?? '',
      origin,
      // The client sends one too, so that a retry is safe.
      'idempotency-key': randomUUID(),
    };
    return { method: 'POST', path: '/api/tokens', headers, body };
  };
  return [
    { name: 'GET /api/version', next: () => ({ method: 'GET', path: '/api/version' }) },
    {
      name: `GET /api/dashboard, ${ENTRIES} entries`,
      next: () => ({ method: 'GET', path: '/api/dashboard', headers: { authorization } }),
    },
    { name: 'POST /api/tokens', next: createToken },
  ];
}

interface Contest extends RestBenchOptions {
  readonly real: RunningServer;
  readonly bare: RunningServer;
}

async function compare(operation: Operation, { real, bare, rounds, seconds }: Contest): Promise<string[]> {
  const load = (server: RunningServer) => () => send(server.origin, operation, seconds);
  const warmUp = Math.min(1, seconds);
  await send(real.origin, operation, warmUp);
  await send(bare.origin, operation, warmUp);
  const results = await alternate(rounds, { real: load(real), bare: load(bare) });
  const rate = (measured: readonly Load[]): number => median(measured.map(({ perSecond }) => perSecond));
  const p99 = median(results.real.map((one) => one.p99));
  const ratio = rate(results.real) / rate(results.bare);
  return [
    operation.name,
    rate(results.real).toFixed(0),
    p99.toFixed(0),
    rate(results.bare).toFixed(0),
    ratio.toFixed(2),
  ];
}

interface Load {
  readonly perSecond: number;
  readonly p99: number;
}

/** @throws Error when any request is refused. */
async function send(origin: string, { name, next }: Operation, seconds: number): Promise<Load> {
  const result = await autocannon({
    url: origin,
    connections: CONNECTIONS,
    ...lasting(seconds),
    requests: [{ ...next(), setupRequest: (request) => ({ ...request, ...next() }) }],
  });
  if (result.non2xx + result.errors > 0)
    throw new Error(
      `${name}: ${result.non2xx + result.errors} requests failed, ${JSON.stringify(result.statusCodeStats)}.`,
    );
  return { perSecond: result.requests.average, p99: result.latency.p99 };
}
