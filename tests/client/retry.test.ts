import { getEventListeners } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { RetryNotice } from '../../src/client/retry.js';
import { CLOSED_PORT } from '../closed-port.js';
import type { Answer, NotesServer } from './notes-server.js';
import { createNotesClient, sendJson, serveNotes } from './notes-server.js';

let server: NotesServer;
let notices: RetryNotice[];

beforeEach(() => {
  notices = [];
});
afterEach(() => server.close());

const onRetry = (notice: RetryNotice) => notices.push(notice);

/** Refuses the first requests and answers the rest. */
const refuseFirst =
  (times: number, status: number, headers: Record<string, string> = {}): Answer =>
  (response, nth) =>
    nth < times ? sendJson(response, status, { error: 'Not now.' }, headers) : sendJson(response, 200, ['first']);

/** Announces more than it sends, and resets the connection once that is under way. */
function resetInBody(response: ServerResponse, status: number) {
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': '100' }).write('["fir');
  setTimeout(() => response.socket?.resetAndDestroy(), 20);
}

const now = Date.now();

const secondsFromNow = (seconds: number) => new Date(now + seconds * 1000).toUTCString();

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

describe('statuses', () => {
  test('429 and every status from 500 to 599 is tried again until it is answered', async () => {
    let status = 0;
    server = await serveNotes((response, nth) =>
      nth % 2 === 0 ? sendJson(response, status, {}) : sendJson(response, 200, ['first']),
    );
    const client = createNotesClient(server.url, { retry: { baseDelayMs: 0 } });
    for (status of [429, ...range(500, 599)]) {
      const { data } = await client.GET('/notes');
      expect({ status, data }).toEqual({ status, data: ['first'] });
    }
    expect(server.seen).toHaveLength(2 * 101);
  });

  // The Fetch standard makes a network failure of 407, so that no status is seen.
  const refusals = range(400, 499).filter((status) => status !== 429 && status !== 407);

  test('every other status from 400 to 499 is returned after one try', async () => {
    let status = 0;
    server = await serveNotes((response) => sendJson(response, status, { error: 'No.' }));
    // Counted here and not at the server: of a 421 the platform asks once more by itself.
    let attempts = 0;
    const fetch = (request: Request) => {
      attempts += 1;
      return globalThis.fetch(request);
    };
    const client = createNotesClient(server.url, { fetch });
    for (status of refusals) {
      const { error, response } = await client.GET('/notes');
      expect({ status: response.status, error }).toEqual({ status, error: { error: 'No.' } });
    }
    expect(attempts).toBe(98);
  });

  test('the last response is returned when the tries are spent', async () => {
    server = await serveNotes((response, nth) => sendJson(response, 503, { error: `Refusal ${nth}.` }));
    const { error, response } = await createNotesClient(server.url, { onRetry }).GET('/notes');
    expect(response.status).toBe(503);
    expect(response.url).toBe(`${server.url}/notes`);
    expect(error).toEqual({ error: 'Refusal 3.' });
    expect(notices.map(({ attempt, reason }) => [attempt, reason])).toEqual([
      [1, 'status 503'],
      [2, 'status 503'],
      [3, 'status 503'],
    ]);
  });

  test('no retries are made when none are wanted', async () => {
    server = await serveNotes(refuseFirst(1, 503));
    const { response } = await createNotesClient(server.url, { retry: { maxRetries: 0 } }).GET('/notes');
    expect(response.status).toBe(503);
    expect(server.seen).toHaveLength(1);
  });
});

describe('waits', () => {
  test('the wait is a random share of a bound that doubles up to a maximum', async () => {
    server = await serveNotes((response) => sendJson(response, 500, {}));
    const client = createNotesClient(server.url, {
      retry: { maxRetries: 5, baseDelayMs: 2, maxDelayMs: 8 },
      onRetry,
    });
    for (let call = 0; call < 20; call += 1) await client.GET('/notes');
    const longest = range(1, 5).map((attempt) =>
      Math.max(...notices.filter((notice) => notice.attempt === attempt).map(({ delayMs }) => delayMs)),
    );
    [2, 4, 8, 8, 8].forEach((bound, index) => {
      expect(longest[index]).toBeLessThan(bound);
      // Twenty draws below half the bound happen once in a million.
      expect(longest[index]).toBeGreaterThan(bound / 2);
    });
  });

  test('Retry-After in seconds is waited out', async () => {
    server = await serveNotes(refuseFirst(1, 429, { 'Retry-After': '1' }));
    await createNotesClient(server.url, { retry: { maxRetryAfterMs: 2000 }, onRetry }).GET('/notes');
    expect(notices).toEqual([{ attempt: 1, delayMs: 1000, reason: 'status 429' }]);
    expect(server.seen[1]!.at - server.seen[0]!.at).toBeGreaterThanOrEqual(990);
  });

  test.each([429, 503])('Retry-After of %i as a date is waited for', async (status) => {
    // Both of one moment, as between two of them a second may end.
    const headers = { Date: secondsFromNow(0), 'Retry-After': secondsFromNow(1) };
    server = await serveNotes(refuseFirst(1, status, headers));
    await createNotesClient(server.url, { retry: { maxRetryAfterMs: 5000 }, onRetry }).GET('/notes');
    expect(notices).toEqual([{ attempt: 1, delayMs: 1000, reason: `status ${status}` }]);
    expect(server.seen[1]!.at - server.seen[0]!.at).toBeGreaterThanOrEqual(990);
  });

  test.each([
    ['a year of seconds', '31536000', 60],
    ['more seconds than a number holds exactly', '9'.repeat(30), 60],
    ['a date a year away', secondsFromNow(31_536_000), 60],
  ])('Retry-After of %s is capped', async (_reason, value, delayMs) => {
    server = await serveNotes(refuseFirst(1, 429, { 'Retry-After': value }));
    await createNotesClient(server.url, { onRetry }).GET('/notes');
    expect(notices).toEqual([{ attempt: 1, delayMs, reason: 'status 429' }]);
  });

  test.each(['0.5', '-1', 'soon', '', '1 hour', '0x10', 'Sun, 99 Nov 1994 08:49:37 GMT', '2030-01-01T00:00:00Z'])(
    'Retry-After of "%s" makes no sense and the own wait is taken',
    async (value) => {
      server = await serveNotes(refuseFirst(3, 429, { 'Retry-After': value }));
      const { data } = await createNotesClient(server.url, { retry: { baseDelayMs: 4 }, onRetry }).GET('/notes');
      expect(data).toEqual(['first']);
      notices.forEach(({ delayMs }, index) => expect(delayMs).toBeLessThan(4 * 2 ** index));
      // An instant retry, three times, would be the sign of a value read as the past.
      expect(notices.some(({ delayMs }) => delayMs > 0)).toBe(true);
    },
  );

  test.each([
    ['no wait at all', '0'],
    ['a date already past', 'Sun, 06 Nov 1994 08:49:37 GMT'],
  ])('Retry-After of %s leaves the own wait', async (_reason, value) => {
    server = await serveNotes(refuseFirst(1, 429, { 'Retry-After': value }));
    await createNotesClient(server.url, { onRetry }).GET('/notes');
    expect(notices[0]!.delayMs).toBeGreaterThan(0);
    expect(notices[0]!.delayMs).toBeLessThan(4);
  });
});

describe('the network', () => {
  test('a refused connection is tried again and then thrown', async () => {
    await expect(createNotesClient(CLOSED_PORT, { onRetry }).GET('/notes')).rejects.toThrow('fetch failed');
    expect(notices).toHaveLength(3);
    expect(notices[0]!.reason).toContain('ECONNREFUSED');
  });

  test('a connection reset in the middle of the body is tried again', async () => {
    server = await serveNotes((response, nth) => {
      if (nth > 0) sendJson(response, 200, ['first']);
      else resetInBody(response, 200);
    });
    const { data } = await createNotesClient(server.url, { onRetry }).GET('/notes');
    expect(data).toEqual(['first']);
    expect(notices).toHaveLength(1);
  });

  test('a connection always reset in the middle of the body is thrown', async () => {
    server = await serveNotes((response) => resetInBody(response, 200));
    const call = createNotesClient(server.url, { retry: { maxRetries: 1 } }).GET('/notes');
    await expect(call).rejects.toThrow('terminated');
    expect(server.seen).toHaveLength(2);
  });

  test('a refusal keeps its status when its body is lost, and is not tried again', async () => {
    server = await serveNotes((response) => resetInBody(response, 404));
    const { error, response } = await createNotesClient(server.url).GET('/notes');
    expect([response.status, error]).toEqual([404, '']);
    expect(server.seen).toHaveLength(1);
  });
});

describe('time', () => {
  test('a body slower than the timeout is tried again', async () => {
    server = await serveNotes((response, nth) => {
      if (nth > 0) sendJson(response, 200, ['first']);
      else response.writeHead(200, { 'Content-Type': 'application/json' }).write('["first"');
    });
    const { data } = await createNotesClient(server.url, { timeoutMs: 600, onRetry }).GET('/notes');
    expect(data).toEqual(['first']);
    expect(notices[0]!.reason).toBe('No complete response within 600 ms');
  });

  test.each<[string, Answer]>([
    ['never answers', () => undefined],
    ['never ends its body', (response) => void response.writeHead(200).write('[')],
  ])('a server that %s is given up with a TimeoutError', async (_reason, answer) => {
    server = await serveNotes(answer);
    const call = createNotesClient(server.url, { timeoutMs: 500, retry: { maxRetries: 1 } }).GET('/notes');
    await expect(call).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(server.seen).toHaveLength(2);
  });

  test('a timeout of 0 waits as long as it takes', async () => {
    server = await serveNotes((response) => setTimeout(() => sendJson(response, 200, ['late']), 50));
    const { data } = await createNotesClient(server.url, { timeoutMs: 0 }).GET('/notes');
    expect(data).toEqual(['late']);
  });

  test('an abort ends a wait at once', async () => {
    // Much later than tests are waited for.
    server = await serveNotes(refuseFirst(9, 429, { 'Retry-After': '3000' }));
    const controller = new AbortController();
    const client = createNotesClient(server.url, {
      retry: { maxRetryAfterMs: 3_600_000 },
      onRetry: () => setTimeout(() => controller.abort(new Error('enough')), 20),
    });
    await expect(client.GET('/notes', { signal: controller.signal })).rejects.toThrow('enough');
    expect(server.seen).toHaveLength(1);
  });

  test.each<[string, Answer]>([
    ['before the answer', () => undefined],
    ['in the middle of the body', (response) => void response.writeHead(200).write('[')],
    ['in the middle of a refusal', (response) => void response.writeHead(404).write('{')],
  ])('an abort %s ends the call without another try', async (_reason, answer) => {
    const controller = new AbortController();
    server = await serveNotes((...asked) => {
      setTimeout(() => controller.abort(new Error('enough')), 60);
      answer(...asked);
    });
    const call = createNotesClient(server.url, { onRetry }).GET('/notes', { signal: controller.signal });
    await expect(call).rejects.toThrow('enough');
    expect(server.seen).toHaveLength(1);
    expect(notices).toEqual([]);
  });

  test('no try leaves a listener on the signal of its call', async () => {
    server = await serveNotes((response, nth) => {
      if (nth % 2 === 0) sendJson(response, 503, {});
      else resetInBody(response, 200);
    });
    let signal: AbortSignal | undefined;
    const left: number[] = [];
    const client = createNotesClient(server.url, {
      retry: { maxRetries: 4 },
      onRetry: () => left.push(getEventListeners(signal!, 'abort').length),
    });
    client.use({ onRequest: ({ request }) => void (signal = request.signal) });
    await client.GET('/notes');
    expect(left).toEqual([0, 0, 0, 0]);
  });

  test('a call aborted beforehand sends nothing', async () => {
    server = await serveNotes(refuseFirst(0, 500));
    const call = createNotesClient(server.url).GET('/notes', { signal: AbortSignal.abort(new Error('never mind')) });
    await expect(call).rejects.toThrow('never mind');
    expect(server.seen).toEqual([]);
  });
});

describe('what is repeated', () => {
  const created: Answer = (response, nth) =>
    nth < 2 ? sendJson(response, 502, {}) : sendJson(response, 201, { id: nth });

  test('a POST repeats its body and keeps one Idempotency-Key', async () => {
    server = await serveNotes(created);
    const { data } = await createNotesClient(server.url).POST('/notes', { body: { text: 'héllo' } });
    expect(data).toEqual({ id: 2 });
    expect(server.seen.map(({ body }) => body)).toEqual(Array(3).fill('{"text":"héllo"}'));
    const keys = new Set(server.seen.map(({ headers }) => headers['idempotency-key']));
    expect(keys.size).toBe(1);
    expect([...keys][0]).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  });

  test.each(['put', 'patch', 'delete'])('a %s keeps one Idempotency-Key', async (method) => {
    server = await serveNotes(created);
    // Notes have no such operation; what is sent is the same.
    await createNotesClient(server.url).request(method as 'post', '/notes', { body: { text: 'x' } });
    expect(server.seen.map((seen) => seen.method)).toEqual(Array(3).fill(method.toUpperCase()));
    expect(new Set(server.seen.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    expect(server.seen[0]?.headers['idempotency-key']).toMatch(/^[\da-f-]{36}$/);
  });

  test('a POST whose answer was lost has one effect on a server that knows the key', async () => {
    const notes = new Map<unknown, number>();
    server = await serveNotes((response, nth, { headers }) => {
      const key = headers['idempotency-key'];
      if (!notes.has(key)) notes.set(key, notes.size + 1);
      if (nth === 0) response.socket?.resetAndDestroy();
      else sendJson(response, 201, { id: notes.get(key) });
    });
    const { data } = await createNotesClient(server.url).POST('/notes', { body: { text: 'once' } });
    expect(data).toEqual({ id: 1 });
    expect(server.seen).toHaveLength(2);
    expect(notes.size).toBe(1);
  });

  test('each POST has a key of its own', async () => {
    server = await serveNotes((response) => sendJson(response, 201, { id: 1 }));
    const client = createNotesClient(server.url);
    await client.POST('/notes', { body: { text: 'one' } });
    await client.POST('/notes', { body: { text: 'two' } });
    expect(new Set(server.seen.map(({ headers }) => headers['idempotency-key'])).size).toBe(2);
  });

  test("a caller's own key is kept", async () => {
    server = await serveNotes(created);
    await createNotesClient(server.url).POST('/notes', {
      body: { text: 'mine' },
      headers: { 'Idempotency-Key': 'my-key' },
    });
    expect(server.seen.map(({ headers }) => headers['idempotency-key'])).toEqual(['my-key', 'my-key', 'my-key']);
  });

  test('a GET has neither key nor body', async () => {
    server = await serveNotes(refuseFirst(1, 500));
    await createNotesClient(server.url).GET('/notes');
    for (const { headers, body } of server.seen) {
      expect([headers['idempotency-key'], headers['content-length'], body]).toEqual([undefined, undefined, '']);
    }
  });
});

describe('streams', () => {
  test('a streamed answer is handed over as it comes, past the timeout', async () => {
    server = await serveNotes((response) => {
      response.writeHead(200).write('one ');
      setTimeout(() => response.end('two'), 1_000);
    });
    const { data } = await createNotesClient(server.url, { timeoutMs: 500 }).GET('/notes', { parseAs: 'stream' });
    expect(await new Response(data).text()).toBe('one two');
    expect(server.seen).toHaveLength(1);
  });

  test('a streamed answer ends when the caller aborts', async () => {
    server = await serveNotes((response) => void response.writeHead(200).write('one '));
    const controller = new AbortController();
    const { data } = await createNotesClient(server.url).GET('/notes', {
      parseAs: 'stream',
      signal: controller.signal,
    });
    controller.abort(new Error('enough'));
    await expect(new Response(data).text()).rejects.toThrow();
  });
});
