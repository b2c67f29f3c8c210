/** One server with two workers. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import path from 'node:path';
import { createAccounts } from '../../src/accounts/accounts.js';
import { EMPTY_BOARD_SNAPSHOT } from '../../src/dashboard/boards/board.js';
import { createDashboard } from '../../src/dashboard/dashboard.js';
import { openDatabase } from '../../src/storage/open-database.js';
import { createServerKey } from '../../src/storage/server-key.js';
import { pullRequest } from '../dashboard/pull-request.js';
import { eventually } from '../eventually.js';
import { runCli, collect, type RunningServer, startServer } from '../running-server.js';
import { createTestFolder } from '../storage/engine.js';

const TWO = ['--workers', '2'];

let site: string;
beforeAll(async () => {
  site = path.join(await createTestFolder(), 'site');
  await mkdir(site);
  for (const name of ['a.txt', 'b.txt', 'c.md']) await writeFile(path.join(site, name), name);
});

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Sends a request on a connection of its own. The connections alternate between the workers. */
function send(server: RunningServer, target: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    get(server.origin + target, { agent: false, headers }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body })).on('error', reject);
    }).on('error', reject);
  });
}

const times = <T>(count: number, run: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, run));

const toQuery = (query: string): string => `/graphql?query=${encodeURIComponent(query)}`;

/** Returns the ids of the processes that have logged requests with this status. */
function findProcesses(server: RunningServer): number[] {
  const instances = server.lines().flatMap(({ instance, route }) => (route === undefined ? [] : [String(instance)]));
  return [...new Set(instances)].map((instance) => Number(instance.split(':').at(-1)));
}

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** Sends requests until two processes have logged some, and returns the ids of all that have. */
async function findWorkers(server: RunningServer): Promise<number[]> {
  await eventually(async () => {
    await times(4, () => send(server, '/healthz'));
    expect(findProcesses(server).filter(isRunning)).toHaveLength(2);
  });
  return findProcesses(server).filter(isRunning);
}

describe('a server with two workers', () => {
  let server: RunningServer;
  beforeAll(async () => {
    server = await startServer([...TWO, '--site', site, '--metrics', '0'], { LOG_LEVEL: 'info' });
  });
  afterAll(() => server.stop());

  test('serves requests in both workers, and in no other process', async () => {
    const workers = await findWorkers(server);
    expect(workers).not.toContain(server.process.pid);
    const line = server.lines().find(({ route }) => route !== undefined);
    expect(line).toMatchObject({ worker: expect.any(Number) as number });
  });

  test('shows a change of a file in both workers', async () => {
    await writeFile(path.join(site, 'new.txt'), 'new');
    const query = toQuery('{ allFile(filter: { name: { eq: "new" } }) { totalCount nodes { relativePath } } }');
    const expected = { totalCount: 1, nodes: [{ relativePath: 'new.txt' }] };
    await eventually(async () => {
      const answers = await times(8, () => send(server, query));
      expect(answers.map(({ body }) => (JSON.parse(body) as { data: unknown }).data)).toEqual(
        answers.map(() => ({ allFile: expected })),
      );
    });
  });

  test('creates the index of a query that a worker repeats', async () => {
    const query = toQuery(
      '{ allFile(filter: { accessTime: { gt: "2001" } }, sort: { fields: [uid] }) { totalCount } }',
    );
    const answers = await times(40, () => send(server, query));
    expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
    expect(JSON.parse(answers[0]!.body)).toMatchObject({
      data: { allFile: { totalCount: expect.any(Number) as number } },
    });
  });

  const requests = /^trellis_http_requests_total\{.*status="404"/;
  const read = async (sample: RegExp): Promise<number> => {
    const url = /http:\S+\/metrics/.exec(server.output())?.[0] ?? '';
    const lines = (await (await fetch(url)).text()).split('\n');
    return Number(
      lines
        .find((line) => sample.test(line))
        ?.split(' ')
        .at(-1),
    );
  };

  test('adds the metrics of the workers', async () => {
    await server.printed('The metrics are at');
    await times(10, () => send(server, '/nothing/at-all'));
    await eventually(async () => expect(await read(requests)).toBe(10));
    await expect(read(/^trellis_workers /)).resolves.toBe(2);
    await expect(read(/^trellis_site_ready /)).resolves.toBe(1);
    await expect(read(/^trellis_build_info/)).resolves.toBe(1);
  });

  test('replaces a worker that was killed, while the other serves', async () => {
    const [killed = 0, other = 0] = await findWorkers(server);
    process.kill(killed, 'SIGKILL');
    await server.printed('ended with SIGKILL');
    const answers = await times(20, () => send(server, '/healthz'));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const workers = await findWorkers(server);
    expect(workers).toContain(other);
    expect(workers).not.toContain(killed);
    const ready = await times(4, () => send(server, '/readyz'));
    expect(ready.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    await expect(read(requests)).resolves.toBe(10);
  });

  test('keeps the counters of several workers that were killed', async () => {
    await times(10, () => send(server, '/nothing/at-all'));
    await eventually(async () => expect(await read(requests)).toBe(20));
    for (const id of await findWorkers(server)) process.kill(id, 'SIGKILL');
    await eventually(async () => expect(await read(/^trellis_worker_failures /)).toBe(3));
    await expect(read(requests)).resolves.toBe(20);
    await eventually(async () => expect(await read(/^trellis_workers /)).toBe(2));
    await expect(read(requests)).resolves.toBe(20);
  });
});

test('Workers count requests of an address together', async () => {
  const limit = 20;
  const server = await startServer([...TWO, '--site', site, '--site-rate-limit', String(limit)]);
  try {
    let passed = 0;
    await eventually(async () => {
      const statuses: number[] = [];
      for (let sent = 0; sent < 4; sent += 1) statuses.push((await send(server, toQuery('{ __typename }'))).status);
      passed += statuses.filter((status) => status === 200).length;
      expect(statuses).toEqual([429, 429, 429, 429]);
    });
    // Each worker alone would let 20 requests pass.
    expect(passed).toBeGreaterThanOrEqual(limit);
    expect(passed).toBeLessThan(1.8 * limit);
  } finally {
    await server.stop();
  }
});

test('A stream in one worker receives a change that the other one makes', async () => {
  const state = path.join(await createTestFolder(), 'state');
  await mkdir(state, { mode: 0o700 });
  const { cookie, generatedAt } = await seed(path.join(state, 'trellis.db'));
  const server = await startServer([...TWO, '--state', state, '--services', 'dashboard'], { TRELLIS_SERVER_KEY: KEY });
  try {
    const headers = { Cookie: cookie, Origin: server.origin };
    // Two connections: one to each worker.
    const streams = [openStream(server, headers), openStream(server, headers)];
    for (const stream of streams) await eventually(() => expect(stream.text()).toContain('"number":17'));
    for (const stream of streams) expect(stream.text()).not.toContain('changedSinceVisit');
    const visit = await fetch(`${server.origin}/api/dashboard/visit`, {
      method: 'PUT',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: JSON.stringify({ seenAt: generatedAt }),
    });
    expect(visit.status).toBe(204);
    for (const stream of streams) await eventually(() => expect(stream.text()).toContain('"changedSinceVisit":false'));
    for (const stream of streams) stream.close();
  } finally {
    await server.stop();
  }
});

test('The command of the server key runs once for all workers, and the state folder gets no key', async () => {
  const folder = await createTestFolder();
  const runs = path.join(folder, 'runs');
  const state = path.join(folder, 'state');
  const command = `echo run >> '${runs}'; echo ${KEY}`;
  const server = await startServer([...TWO, '--state', state, '--services', 'dashboard'], {
    TRELLIS_SERVER_KEY_COMMAND: command,
  });
  try {
    expect((await fetch(`${server.origin}/readyz`)).status).toBe(200);
    expect(await readFile(runs, 'utf8')).toBe('run\n');
    expect(await readdir(state)).not.toContain('server.key');
  } finally {
    await server.stop();
  }
});

const KEY = 'k'.repeat(43);

const FAR = Date.now() + 86_400_000;

/** Creates a user with a board. */
async function seed(file: string) {
  const database = await openDatabase({ file });
  const accounts = createAccounts(database, { origin: () => 'http://localhost' });
  const { id } = await accounts.users.add({ username: 'ada', displayName: 'Ada' });
  const session = await accounts.sessions.start(id);
  const { boards, settings } = createDashboard({
    database,
    key: createServerKey(KEY),
    origin: () => 'http://localhost',
  });
  await settings.save({ kind: 'session', sessionId: '', personId: id, username: 'ada', isAdmin: true }, {});
  // A refresh would replace the board.
  await database.updateTable('refresh_schedule').set({ due_at: FAR, look_at: FAR }).execute();
  await boards.save(id, { ...EMPTY_BOARD_SNAPSHOT, pullRequests: [pullRequest()] });
  const { generated_at } = await database.selectFrom('boards').select('generated_at').executeTakeFirstOrThrow();
  await database.destroy();
  return { cookie: `trellis_session=${session}`, generatedAt: new Date(generated_at).toISOString() };
}

/** Opens an event stream on a connection of its own. */
function openStream(server: RunningServer, headers: Readonly<Record<string, string>>) {
  let text = '';
  const request = get(`${server.origin}/api/dashboard/stream`, { agent: false, headers }, (response) => {
    response
      .setEncoding('utf8')
      .on('data', (chunk: string) => (text += chunk))
      .on('error', () => undefined);
  }).on('error', () => undefined);
  return {
    text: () => text,
    close: () => request.destroy(),
  };
}

test('A stop completes open requests, and ends the workers', async () => {
  const server = await startServer([...TWO, '--site', site], { LOG_LEVEL: 'info' });
  const workers = await findWorkers(server);
  const open = times(20, () => send(server, '/healthz'));
  const statuses = (await open).map(({ status }) => status);
  await expect(server.stop()).resolves.toBe(0);
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect(workers.filter(isRunning)).toEqual([]);
});

test('Workers end when the primary process is killed', async () => {
  const server = await startServer([...TWO, '--site', site], { LOG_LEVEL: 'info' });
  const workers = await findWorkers(server);
  server.process.kill('SIGKILL');
  await eventually(() => expect(workers.filter(isRunning)).toEqual([]));
});

test('A port in use ends the start with one line', async () => {
  const server = await startServer([...TWO, '--site', site]);
  try {
    const { port } = new URL(server.origin);
    const state = await createTestFolder();
    const child = runCli(['serve', ...TWO, '--port', port, '--site', site, '--state', state]);
    const output = collect(child);
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect([code, output()]).toEqual([
      1,
      expect.stringMatching(/^trellis: PORT: port \d+ on 127\.0\.0\.1 is already in use\n$/),
    ]);
  } finally {
    await server.stop();
  }
});
