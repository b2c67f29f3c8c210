import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import { createAccounts } from '../../src/accounts/accounts.js';
import { createBoards } from '../../src/dashboard/boards/boards.js';
import type { Database } from '../../src/storage/database.js';
import { openDatabase } from '../../src/storage/open-database.js';
import { build } from '../child.js';
import { type RunningServer, startServer } from '../server.js';
import { toTable } from '../table.js';
import { makeBoard } from './make-board.js';

export interface StreamsBenchOptions {
  readonly streams: number;
  readonly pullRequests: number;
  readonly seconds: number;
}

/** The streams of whole boards, and of their differences. */
const PATHS = ['/api/dashboard/stream', '/api/dashboard/changes'] as const;
type StreamPath = (typeof PATHS)[number];

/** A user may have 16. */
const STREAMS_OF_USER = 16;

const REPOSITORIES = 20;

/** The longest wait for the events of the last change. */
const LIMIT_MS = 30_000;

interface User {
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Opens many streams of boards, and changes every board at once each second. Measures when each stream has received
 * the event, its bytes, and the processor time and memory of the server, first with whole boards, then at a new server
 * with differences. The client takes a part of the same cores.
 */
export async function benchStreams(options: StreamsBenchOptions): Promise<string> {
  build();
  const measured: Measured[] = [];
  for (const path of PATHS) measured.push(await benchPath(path, options));
  const head = ['streams', 'events', 'p50, ms', 'p99, ms', 'slowest, ms'];
  const table = toTable(
    [...head, 'bytes of an event', 'bytes of the first', 'CPU, cores', 'memory, MB'],
    measured.map(({ cells }) => cells),
  );
  return `${table}\n\n${options.pullRequests} pull requests, ${measured[0]?.jsonBytes ?? 0} bytes of JSON.`;
}

interface Measured {
  readonly cells: readonly string[];
  readonly jsonBytes: number;
}

async function benchPath(path: StreamPath, options: StreamsBenchOptions): Promise<Measured> {
  const work = mkdtempSync(join(tmpdir(), 'trellis-bench-streams-'));
  const state = join(work, 'state');
  mkdirSync(state, { mode: 0o700 });
  const database = await openDatabase({ file: join(state, 'trellis.db') });
  try {
    const users = await addUsers(database, Math.ceil(options.streams / STREAMS_OF_USER));
    const environment = { TRELLIS_STATE: state, TRELLIS_SERVICES: 'dashboard' };
    const server = await startServer(['dist/cli.js', 'serve'], environment, (origin) => fetch(`${origin}/api/version`));
    try {
      return await measure({ server, users, database, streamPath: path }, options);
    } finally {
      await server.stop();
    }
  } finally {
    await database.destroy();
    rmSync(work, { recursive: true, force: true });
  }
}

async function addUsers(database: Database, count: number): Promise<User[]> {
  const accounts = createAccounts(database, { origin: () => 'http://localhost' });
  const users: User[] = [];
  for (let index = 0; index < count; index += 1) {
    const username = `user-${index}`;
    const { id } = await accounts.users.add({ username, displayName: username });
    const caller = await accounts.sessions.findCaller(await accounts.sessions.start(id));
    if (caller === undefined) throw new Error('Signing in returned no session.');
    const scopes: ('read' | 'write')[] = ['read', 'write'];
    const wanted = { label: 'bench', expiresAt: new Date(Date.now() + 86_400_000), scopes };
    const { token } = await accounts.tokens.create(caller, wanted, '127.0.0.1');
    users.push({ id, headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' } });
  }
  return users;
}

/** What the streams have received. */
interface Received {
  /** The number of events of each stream. */
  readonly counts: number[];
  bytes: number;
  /** Called for each event. */
  onEvent: () => void;
}

interface Setup {
  readonly server: RunningServer;
  readonly users: readonly User[];
  readonly database: Database;
  readonly streamPath: StreamPath;
}

async function measure(
  { server, users, database, streamPath }: Setup,
  options: StreamsBenchOptions,
): Promise<Measured> {
  const snapshot = makeBoard({ repositories: REPOSITORIES, pullRequests: options.pullRequests });
  // The streams list no drafts.
  const row = snapshot.pullRequests.find(({ draft }) => !draft);
  if (row === undefined) throw new Error('The board has no row to change.');
  const send = async ({ headers }: User, method: string, address: string, body: object): Promise<void> => {
    const response = await fetch(server.origin + address, { method, headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${method} ${address} returned ${response.status}: ${await response.text()}`);
  };
  const boards = createBoards(database);
  for (const user of users) await send(user, 'PUT', '/api/settings', {});
  // The first refresh of each user would replace the board.
  await until(async () => {
    const { count } = await database
      .selectFrom('boards')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return count === users.length;
  });
  for (const user of users) await boards.save(user.id, snapshot);
  const idleMegabytes = server.megabytes();
  const received: Received = { counts: [], bytes: 0, onEvent: () => undefined };
  const close: (() => void)[] = [];
  const owners = Array.from({ length: STREAMS_OF_USER }, () => users).flat();
  for (const [index, { headers }] of owners.slice(0, options.streams).entries()) {
    received.counts.push(0);
    const url = `${server.origin}${streamPath}?includeSnoozed=true`;
    close.push(await open(url, headers, { received, index }));
  }
  await until(() => received.counts.every((count) => count > 0));
  const [firstBytes, megabytes] = [received.bytes, server.megabytes()];
  received.bytes = 0;
  const delays: number[] = [];
  const startedAt = performance.now();
  const startedCpu = server.cpuMs();
  const target = { forge: row.forge, fullName: row.repo, number: row.number };
  for (let second = 0; second < options.seconds; second += 1) {
    await sleep(startedAt + second * 1_000 - performance.now());
    const sentAt = performance.now();
    let left = options.streams;
    received.onEvent = () => {
      left -= 1;
      delays.push(performance.now() - sentAt);
    };
    const change = second % 2 === 0 ? 'snooze' : 'unsnooze';
    const body = change === 'snooze' ? { ...target, untilChange: true } : target;
    await Promise.all(users.map((user) => send(user, 'POST', `/api/pull-requests/${change}`, body)));
    await until(() => left <= 0);
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  const cpu = (server.cpuMs() - startedCpu) / (seconds * 1_000);
  for (const end of close) end();
  delays.sort((one, other) => one - other);
  const at = (part: number): string =>
    delays.at(Math.min(delays.length - 1, Math.floor(delays.length * part)))?.toFixed(0) ?? '';
  return {
    jsonBytes: JSON.stringify(snapshot.pullRequests).length,
    cells: [
      `${options.streams} of ${users.length} users, ${streamPath}`,
      ...[String(delays.length), at(0.5), at(0.99), at(1)],
      ...[(received.bytes / delays.length).toFixed(0), (firstBytes / options.streams).toFixed(0), cpu.toFixed(2)],
      `${idleMegabytes.toFixed(0)}, then ${megabytes.toFixed(0)} to ${server.megabytes().toFixed(0)}`,
    ],
  };
}

/** Opens a compressed stream, and counts its events and bytes. Returns a function that closes it. */
async function open(
  url: string,
  headers: User['headers'],
  { received, index }: { readonly received: Received; readonly index: number },
): Promise<() => void> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { headers: { ...headers, 'accept-encoding': 'gzip' }, agent: false }, resolve).once('error', reject);
  });
  if (response.statusCode !== 200) throw new Error(`A stream returned ${response.statusCode ?? ''}.`);
  response.on('data', (chunk: Buffer) => (received.bytes += chunk.length)).on('error', () => undefined);
  let end = '';
  const text = response.pipe(createGunzip()).on('error', () => undefined);
  text.on('data', (chunk: Buffer) => {
    // An event ends with an empty line, and so does a comment, which begins with a colon.
    const last = end + chunk.toString('latin1');
    end = last.slice(-1);
    const events = last.split('}\n\n').length - 1;
    for (let event = 0; event < events; event += 1) {
      received.counts[index] = (received.counts[index] ?? 0) + 1;
      received.onEvent();
    }
    if (last.endsWith('}\n')) end = '}\n';
  });
  return () => response.destroy();
}

/** @throws Error after half a minute. */
async function until(isReached: () => Promise<boolean> | boolean): Promise<void> {
  const startedAt = performance.now();
  while (!(await isReached())) {
    if (performance.now() - startedAt > LIMIT_MS)
      throw new Error('The boards were not made, or some streams have received no event.');
    await sleep(5);
  }
}
