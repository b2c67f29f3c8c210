import { ageValue } from '../secrets/age-files.js';
import { type CutConnection, startCutConnection } from './cut-connection.js';
import { expectPrompt, listCallers, type Outcome, type ServerPair, startServerPair, time } from './server-pair.js';

/** `POINTS=all` interrupts a write after each of its statements, and prints the response times of the other server. */
const ALL = process.env.POINTS === 'all';

/** The first statement of a write that has a transaction of its own, and of one that shares a batch. */
const TRANSACTION = /^begin isolation level serializable/;
const BATCH = /^\s*with given as materialized/;

/** The limit of requests that need no lock of the interrupted server. */
const OTHERS_MS = 2_000;

let pair: ServerPair;
let connection: CutConnection;

beforeAll(async () => {
  pair = await startServerPair(async (url) => {
    connection = await startCutConnection(url);
    return connection.url;
  });
  for (const slug of ['written', 'other']) {
    const { response } = await pair.second.client.POST('/objects', { body: { slug, value: ageValue() } });
    expect(response.status).toBe(201);
  }
});
afterAll(async () => {
  await pair.close();
  await connection.close();
  if (ALL) process.stdout.write(`${rows.join('\n')}\n`);
});

const update = (slug: string, header: Readonly<Record<string, string>> = {}, { client } = pair.second) =>
  client.PUT('/objects/{slug}', {
    params: { path: { slug }, header },
    body: { value: ageValue({ payload: PAYLOAD }) },
  });
const read = (slug: string) =>
  time(pair.second.client.GET('/objects/{slug}', { params: { path: { slug } }, parseAs: 'arrayBuffer' }));

/** The same in each try, as a repeated key requires. */
const PAYLOAD = 'interrupted';

const MAX_TRIES = 10;

interface Fault {
  readonly provoke: () => Promise<void> | void;
  readonly repair: () => Promise<void> | void;
}

const FAULTS: Readonly<Record<string, Fault>> = {
  'is paused': {
    provoke() {
      pair.first().child.kill('SIGSTOP');
      connection.restore();
    },
    repair: () => void pair.first().child.kill('SIGCONT'),
  },
  'is cut off from the database': {
    provoke: () => undefined,
    repair: () => connection.restore(),
  },
  'is killed': {
    async provoke() {
      await pair.killFirst();
      connection.restore();
    },
    repair: () => pair.restartFirst(),
  },
};

/** Thrown if a write succeeded before the point at which it was to be interrupted. */
class WriteEndedError extends Error {}

interface Point {
  readonly from: RegExp;
  readonly count: number;
}

/** Interrupts a write at a point, or before it if the write has fewer statements than the one that was counted. */
async function interrupt(fault: Fault, name: string, { from, count }: Point): Promise<Interruption> {
  for (let left = count; ; left -= 1) {
    try {
      return await interruptAt(fault, left === count ? name : `${name} after ${left}`, { from, count: left });
    } catch (error) {
      if (!(error instanceof WriteEndedError) || left === 1) throw error;
    }
  }
}

interface Interruption {
  /** The name of the write. */
  readonly name: string;
  readonly others: readonly Outcome[];
  readonly contended: readonly Outcome[];
}

/**
 * Interrupts a write of the first server at a point, and returns the response times of the second one meanwhile.
 *
 * @throws WriteEndedError if the write has fewer statements.
 */
async function interruptAt(fault: Fault, name: string, point: Point): Promise<Interruption> {
  const hasKey = point.from === TRANSACTION;
  const header = (attempt: number) => ({
    'X-Caller': `${name} ${attempt}`,
    ...(hasKey && { 'Idempotency-Key': name.replaceAll(' ', '-') }),
  });
  const cut = connection.cutAt(point);
  const body = { value: ageValue({ payload: PAYLOAD }) };
  const request = hasKey
    ? update('written', header(0), pair.first()).then(({ response }) => response)
    : pair.first().put('/objects/written', body, header(0));
  const interrupted = request.catch(() => undefined);
  const ended = interrupted.then((result) => {
    const text = `The write ended before its statement ${point.count}: ${String(result?.status)}`;
    throw result?.status === 200 ? new WriteEndedError(text) : new Error(text);
  });
  await Promise.race([cut, ended]);
  ended.catch(() => undefined);
  await fault.provoke();
  const others = await Promise.all([
    time(update('other')),
    read('other'),
    read('written'),
    time(pair.second.client.GET('/objects')),
  ]);
  // The first server may hold the lock of the sequencer, for which readers of the audit log wait.
  const contended = await Promise.all([time(update('written')), time(pair.second.client.GET('/audit-log'))]);
  await fault.repair();
  const first = await interrupted;
  // A write without a key can't be repeated safely.
  const statuses: (number | undefined)[] = [first?.status];
  while (hasKey && statuses.at(-1) !== 200 && statuses.length < MAX_TRIES) {
    statuses.push((await update('written', header(statuses.length))).response.status);
  }
  if (hasKey) expect(statuses.at(-1)).toBe(200);
  return { name, others, contended };
}

const rows = ['| The first server | requests of the second | slowest, ms | that need its locks | slowest, ms |'];

describe.each(Object.entries(FAULTS))('A server that %s', (title, fault) => {
  test('delays requests that need none of its locks by less than 2 seconds, and its write is stored once', async () => {
    void connection.cutAt({ from: TRANSACTION, count: Infinity });
    const key = `whole-${title.replaceAll(' ', '-')}`;
    const { response } = await update('written', { 'Idempotency-Key': key }, pair.first());
    expect(response.status).toBe(200);
    const { length } = connection.counted;
    expect(connection.counted.at(-1)).toBe('commit');
    const counts = Array.from({ length }, (_none, index) => index + 1);
    const chosen = ALL ? counts : [2, length - 1, length];
    const points = [...chosen.map((count) => ({ from: TRANSACTION, count })), { from: BATCH, count: 1 }];
    const others: Outcome[] = [];
    const contended: Outcome[] = [];
    for (const [index, point] of points.entries()) {
      const { name, ...result } = await interrupt(fault, `${title} ${index}`, point);
      others.push(...result.others);
      contended.push(...result.contended);
      const entries = (await listCallers(pair.second)).filter((caller) => caller.startsWith(`${name} `));
      // PostgreSQL has received the whole change of a batch, which it completes.
      expect([name, entries.length]).toEqual([name, 1]);
    }
    for (const { status, ms } of others) {
      expect(status).toBe(200);
      expect(ms).toBeLessThan(OTHERS_MS);
    }
    contended.forEach(expectPrompt);
    const { data } = await pair.second.client.GET('/audit-log/verify', { params: { query: { full: true } } });
    expect(data).toMatchObject({ intact: true });
    const slowest = (all: readonly Outcome[]) => Math.max(...all.map(({ ms }) => ms)).toFixed(0);
    rows.push(`| ${title} | ${others.length} | ${slowest(others)} | ${contended.length} | ${slowest(contended)} |`);
  }, 600_000);
});
