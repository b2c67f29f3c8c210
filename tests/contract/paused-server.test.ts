import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { ageValue } from '../secrets/age-files.js';
import { expectPrompt, listCallers, LONGEST_MS, type ServerPair, startServerPair, time } from './server-pair.js';

const PAUSES = Number(process.env.PAUSES ?? 4);
const WRITERS = 4;

let pair: ServerPair;

beforeAll(async () => {
  pair = await startServerPair();
  for (let index = 0; index < WRITERS; index += 1) await create(`written-${index}`);
  await create('other');
});
afterAll(() => pair.close());

async function create(slug: string): Promise<void> {
  const { response } = await pair.first().client.POST('/objects', { body: { slug, value: ageValue() } });
  expect(response.status).toBe(201);
}

/** The names of each acknowledged write in the audit log, one for each of its tries. */
const acknowledged: string[][] = [];

/** Replaces the value of one secret until the signal, and retries each request until it succeeds. */
async function write(writer: number, signal: AbortSignal): Promise<void> {
  for (let step = 0; !signal.aborted; step += 1) {
    const tries: string[] = [];
    const body = { value: ageValue() };
    for (let isDone = false; !isDone;) {
      tries.push(`${writer} ${step} ${tries.length}`);
      const header = { 'Idempotency-Key': `paused-${writer}-${step}`, 'X-Caller': tries.at(-1)! };
      const params = { path: { slug: `written-${writer}` }, header };
      const { response, error } = await pair.first().client.PUT('/objects/{slug}', { params, body });
      isDone = response.ok;
      if (!isDone) expect({ status: response.status, error }).toMatchObject({ status: 503 });
    }
    acknowledged.push(tries);
  }
}

const replace = (slug: string) =>
  time(pair.second.client.PUT('/objects/{slug}', { params: { path: { slug } }, body: { value: ageValue() } }));
const read = (slug: string) =>
  time(pair.second.client.GET('/objects/{slug}', { params: { path: { slug } }, parseAs: 'arrayBuffer' }));
const readLog = () => time(pair.second.client.GET('/audit-log'));

test(`Another server responds while one is paused during writes, ${PAUSES} times, and nothing is lost`, async () => {
  const stop = new AbortController();
  const writing = Promise.all(Array.from({ length: WRITERS }, (_none, writer) => write(writer, stop.signal)));
  writing.catch(() => stop.abort());
  for (let pause = 0; pause < PAUSES; pause += 1) {
    const enough = acknowledged.length + WRITERS + Math.random() * 20;
    while (acknowledged.length < enough && !stop.signal.aborted) await sleep(1);
    pair.first().child.kill('SIGSTOP');
    const [own, found, ...contended] = await Promise.all([
      replace('other'),
      read('written-0'),
      readLog(),
      ...Array.from({ length: WRITERS }, (_none, writer) => replace(`written-${writer}`)),
    ]);
    pair.first().child.kill('SIGCONT');
    for (const outcome of [own, found]) {
      expect(outcome.status).toBe(200);
      expect(outcome.ms).toBeLessThan(2_000);
    }
    contended.forEach(expectPrompt);
  }
  stop.abort();
  await writing;
  const entries = await listCallers(pair.second);
  const counts = acknowledged.map((tries) => entries.filter((caller) => tries.includes(caller)).length);
  expect(counts).toEqual(acknowledged.map(() => 1));
  const { data } = await pair.second.client.GET('/audit-log/verify', { params: { query: { full: true } } });
  expect(data).toMatchObject({ intact: true });
});

test('A sequencer that holds its lock delays only readers of the audit log, whose responses name the time to retry', async () => {
  const stalled = new pg.Client({ connectionString: pair.databaseUrl });
  await stalled.connect();
  await stalled.query('begin; select pg_advisory_xact_lock(7872656916); lock table audit_head in exclusive mode');
  for (const { status, ms } of [await replace('other'), await read('other')]) {
    expect(status).toBe(200);
    expect(ms).toBeLessThan(2_000);
  }
  const refused = await readLog();
  expect(refused).toMatchObject({ status: 503, retryAfter: '2' });
  expect(refused.ms).toBeLessThan(LONGEST_MS);
  await stalled.end();
  const { data } = await pair.second.client.GET('/audit-log', { params: { query: { order: 'desc', limit: 2 } } });
  expect(data!.map(({ action, object_id }) => `${action} ${object_id}`)).toEqual(['read other', 'update other']);
});
