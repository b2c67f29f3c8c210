import { getEventListeners } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { RetryEvent } from '../src/retry.js';
import { type Responder, type NotesServer, createNotesClient, sendJson, serveNotes } from './notes-server.js';

let server: NotesServer;
let notices: RetryEvent[];

beforeEach(() => {
  notices = [];
});
afterEach(() => server.close());

const onRetry = (notice: RetryEvent) => notices.push(notice);

/** Fails the first requests, then succeeds. */
const failFirst =
  (times: number, status: number, headers: Record<string, string> = {}): Responder =>
  (response, nth) =>
    nth < times ? sendJson(response, status, { error: 'Not now.' }, headers) : sendJson(response, 200, ['first']);

/** Sends only the start of the announced body, then resets the connection. */
function resetInBody(response: ServerResponse, status: number) {
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': '100' }).write('["fir');
  setTimeout(() => response.socket?.resetAndDestroy(), 20);
}

const now = Date.now();

const secondsFromNow = (seconds: number) => new Date(now + seconds * 1000).toUTCString();

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

describe('retries by status', () => {
  test('429 and every status from 500 to 599 are retried until a success', async () => {
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

  // The Fetch standard turns 407 into a network error, so the status is not visible.
  const clientErrors = range(400, 499).filter((status) => status !== 429 && status !== 407);

  test('every other status from 400 to 499 is returned after one attempt', async () => {
    let status = 0;
    server = await serveNotes((response) => sendJson(response, status, { error: 'No.' }));
    // Counted here and not at the server, as the platform itself retries after 421.
    let attempts = 0;
    const fetch = (request: Request) => {
      attempts += 1;
      return globalThis.fetch(request);
    };
    const client = createNotesClient(server.url, { fetch });
    for (status of clientErrors) {
      const { error, response } = await client.GET('/notes');
      expect({ status: response.status, error }).toEqual({ status, error: { error: 'No.' } });
    }
    expect(attempts).toBe(98);
  });

  test('a loop of redirects is an error after one attempt', async () => {
    server = await serveNotes((response) => void response.writeHead(302, { Location: '/notes' }).end());
    const message = 'Expected a response; received too many redirects.';
    await expect(createNotesClient(server.url, { onRetry }).GET('/notes')).rejects.toThrow(message);
    expect(notices).toEqual([]);
  });

  test('the last response is returned after the last retry', async () => {
    server = await serveNotes((response, nth) => sendJson(response, 503, { error: `Error ${nth}.` }));
    const { error, response } = await createNotesClient(server.url, { onRetry }).GET('/notes');
    expect(response.status).toBe(503);
    expect(response.url).toBe(`${server.url}/notes`);
    expect(error).toEqual({ error: 'Error 3.' });
    expect(notices.map(({ attempt, reason }) => [attempt, reason])).toEqual([
      [1, 'status 503'],
      [2, 'status 503'],
      [3, 'status 503'],
    ]);
  });

  test('maxRetries 0 turns retries off', async () => {
    server = await serveNotes(failFirst(1, 503));
    const { response } = await createNotesClient(server.url, { retry: { maxRetries: 0 } }).GET('/notes');
    expect(response.status).toBe(503);
    expect(server.seen).toHaveLength(1);
  });
});

describe('waits between attempts', () => {
  test('the wait is a random part of the upper half of a bound that doubles up to a maximum', async () => {
    server = await serveNotes((response) => sendJson(response, 500, {}));
    const client = createNotesClient(server.url, {
      retry: { maxRetries: 5, baseDelayMs: 2, maxDelayMs: 8 },
      onRetry,
    });
    for (let call = 0; call < 20; call += 1) await client.GET('/notes');
    [2, 4, 8, 8, 8].forEach((bound, index) => {
      const waits = notices.filter(({ attempt }) => attempt === index + 1).map(({ delayMs }) => delayMs);
      expect(Math.max(...waits)).toBeLessThan(bound);
      expect(Math.min(...waits)).toBeGreaterThanOrEqual(bound / 2);
      // Twenty equal waits have no random share.
      expect(new Set(waits).size).toBeGreaterThan(1);
    });
  });

  test('Retry-After in seconds is respected', async () => {
    server = await serveNotes(failFirst(1, 429, { 'Retry-After': '1' }));
    await createNotesClient(server.url, { retry: { maxRetryAfterMs: 2000 }, onRetry }).GET('/notes');
    expect(notices).toEqual([{ attempt: 1, delayMs: 1000, reason: 'status 429' }]);
    expect(server.seen[1]!.at - server.seen[0]!.at).toBeGreaterThanOrEqual(990);
  });

  test.each([429, 503])('Retry-After of %i as a date is respected', async (status) => {
    // Both dates use the same moment, so that they are exactly one second apart.
    const headers = { Date: secondsFromNow(0), 'Retry-After': secondsFromNow(1) };
    server = await serveNotes(failFirst(1, status, headers));
    await createNotesClient(server.url, { retry: { maxRetryAfterMs: 5000 }, onRetry }).GET('/notes');
    expect(notices).toEqual([{ attempt: 1, delayMs: 1000, reason: `status ${status}` }]);
    expect(server.seen[1]!.at - server.seen[0]!.at).toBeGreaterThanOrEqual(990);
  });

  test.each([
    ['a year of seconds', '31536000', 60],
    ['more seconds than a number holds exactly', '9'.repeat(30), 60],
    ['a date a year away', secondsFromNow(31_536_000), 60],
  ])('Retry-After of %s is capped', async (_reason, value, delayMs) => {
    server = await serveNotes(failFirst(1, 429, { 'Retry-After': value }));
    await createNotesClient(server.url, { onRetry }).GET('/notes');
    expect(notices).toEqual([{ attempt: 1, delayMs, reason: 'status 429' }]);
  });

  test.each(['0.5', '-1', 'soon', '', '1 hour', '0x10', 'Sun, 99 Nov 1994 08:49:37 GMT', '2030-01-01T00:00:00Z'])(
    'the invalid Retry-After "%s" is ignored',
    async (value) => {
      server = await serveNotes(failFirst(3, 429, { 'Retry-After': value }));
      const { data } = await createNotesClient(server.url, { retry: { baseDelayMs: 4 }, onRetry }).GET('/notes');
      expect(data).toEqual(['first']);
      notices.forEach(({ delayMs }, index) => expect(delayMs).toBeLessThan(4 * 2 ** index));
      // Three waits of 0 would mean that the value was read as a date in the past.
      expect(notices.some(({ delayMs }) => delayMs > 0)).toBe(true);
    },
  );

  test.each([
    ['0 seconds', '0'],
    ['a date in the past', 'Sun, 06 Nov 1994 08:49:37 GMT'],
  ])('Retry-After of %s falls back to the random wait', async (_reason, value) => {
    server = await serveNotes(failFirst(1, 429, { 'Retry-After': value }));
    await createNotesClient(server.url, { onRetry }).GET('/notes');
    expect(notices[0]!.delayMs).toBeGreaterThan(0);
    expect(notices[0]!.delayMs).toBeLessThan(4);
  });
});

describe('network errors', () => {
  test('a refused connection is retried, then thrown', async () => {
    await expect(createNotesClient('http://127.0.0.1:2', { onRetry }).GET('/notes')).rejects.toThrow('fetch failed');
    expect(notices).toHaveLength(3);
    expect(notices[0]!.reason).toContain('ECONNREFUSED');
  });

  test('a connection reset in the middle of the body is retried', async () => {
    server = await serveNotes((response, nth) => {
      if (nth > 0) sendJson(response, 200, ['first']);
      else resetInBody(response, 200);
    });
    const { data } = await createNotesClient(server.url, { onRetry }).GET('/notes');
    expect(data).toEqual(['first']);
    expect(notices).toHaveLength(1);
  });

  test('a reset in the middle of the body is thrown after the last retry', async () => {
    server = await serveNotes((response) => resetInBody(response, 200));
    const call = createNotesClient(server.url, { retry: { maxRetries: 1 } }).GET('/notes');
    await expect(call).rejects.toThrow('terminated');
    expect(server.seen).toHaveLength(2);
  });

  test('an error response with a lost body keeps its status and is not retried', async () => {
    server = await serveNotes((response) => resetInBody(response, 404));
    const { error, response } = await createNotesClient(server.url).GET('/notes');
    expect([response.status, error]).toEqual([404, '']);
    expect(server.seen).toHaveLength(1);
  });
});

describe('timeouts and aborts', () => {
  test('a body slower than the timeout is retried', async () => {
    server = await serveNotes((response, nth) => {
      if (nth > 0) sendJson(response, 200, ['first']);
      else response.writeHead(200, { 'Content-Type': 'application/json' }).write('["first"');
    });
    const { data } = await createNotesClient(server.url, { timeoutMs: 600, onRetry }).GET('/notes');
    expect(data).toEqual(['first']);
    expect(notices[0]!.reason).toBe('No complete response within 600 ms');
  });

  test.each<[string, Responder]>([
    ['never responds', () => undefined],
    ['never ends its body', (response) => void response.writeHead(200).write('[')],
  ])('a server that %s causes a TimeoutError after the last retry', async (_reason, respond) => {
    server = await serveNotes(respond);
    const call = createNotesClient(server.url, { timeoutMs: 500, retry: { maxRetries: 1 } }).GET('/notes');
    await expect(call).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(server.seen).toHaveLength(2);
  });

  test('timeoutMs 0 sets no limit', async () => {
    server = await serveNotes((response) => setTimeout(() => sendJson(response, 200, ['late']), 50));
    const { data } = await createNotesClient(server.url, { timeoutMs: 0 }).GET('/notes');
    expect(data).toEqual(['late']);
  });

  test('an abort ends a wait immediately', async () => {
    // A wait that is much longer than the timeout of the test.
    server = await serveNotes(failFirst(9, 429, { 'Retry-After': '3000' }));
    const controller = new AbortController();
    const client = createNotesClient(server.url, {
      retry: { maxRetryAfterMs: 3_600_000 },
      onRetry: () => setTimeout(() => controller.abort(new Error('enough')), 20),
    });
    await expect(client.GET('/notes', { signal: controller.signal })).rejects.toThrow('enough');
    expect(server.seen).toHaveLength(1);
  });

  test.each<[string, Responder]>([
    ['before the response', () => undefined],
    ['in the middle of the body', (response) => void response.writeHead(200).write('[')],
    ['in the middle of an error response', (response) => void response.writeHead(404).write('{')],
  ])('an abort %s ends the call without a retry', async (_reason, respond) => {
    const controller = new AbortController();
    server = await serveNotes((...args) => {
      setTimeout(() => controller.abort(new Error('enough')), 60);
      respond(...args);
    });
    const call = createNotesClient(server.url, { onRetry }).GET('/notes', { signal: controller.signal });
    await expect(call).rejects.toThrow('enough');
    expect(server.seen).toHaveLength(1);
    expect(notices).toEqual([]);
  });

  test.each([1, 0])('an abort ends the reading of a body that stalls, with %i bytes before', async (size) => {
    server = await serveNotes(failFirst(0, 500));
    let cancelled: unknown;
    const body = new ReadableStream<Uint8Array>({
      start: (stream) => size > 0 && stream.enqueue(new Uint8Array(size)),
      cancel: (reason) => void (cancelled = reason),
    });
    const controller = new AbortController();
    const call = createNotesClient(server.url).POST('/notes', { body: body as never, signal: controller.signal });
    setTimeout(() => controller.abort(new Error('enough')), 60);
    await expect(call).rejects.toThrow('enough');
    expect(cancelled).toEqual(new Error('enough'));
    expect(server.seen).toEqual([]);
  });

  test('attempts leave no listeners on the signal of the call', async () => {
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

  test('a call with an aborted signal sends nothing', async () => {
    server = await serveNotes(failFirst(0, 500));
    const call = createNotesClient(server.url).GET('/notes', { signal: AbortSignal.abort(new Error('never mind')) });
    await expect(call).rejects.toThrow('never mind');
    expect(server.seen).toEqual([]);
  });
});

describe('repeated requests', () => {
  const created: Responder = (response, nth) =>
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
    // The notes contract lacks this method, but the request is sent all the same.
    await createNotesClient(server.url).request(method as 'post', '/notes', { body: { text: 'x' } });
    expect(server.seen.map((seen) => seen.method)).toEqual(Array(3).fill(method.toUpperCase()));
    expect(new Set(server.seen.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    expect(server.seen[0]?.headers['idempotency-key']).toMatch(/^[\da-f-]{36}$/);
  });

  test('a POST whose response was lost takes effect once on a server that knows the key', async () => {
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

  test('each POST has a different Idempotency-Key', async () => {
    server = await serveNotes((response) => sendJson(response, 201, { id: 1 }));
    const client = createNotesClient(server.url);
    await client.POST('/notes', { body: { text: 'one' } });
    await client.POST('/notes', { body: { text: 'two' } });
    expect(new Set(server.seen.map(({ headers }) => headers['idempotency-key'])).size).toBe(2);
  });

  test('an Idempotency-Key of the caller is not replaced', async () => {
    server = await serveNotes(created);
    await createNotesClient(server.url).POST('/notes', {
      body: { text: 'mine' },
      headers: { 'Idempotency-Key': 'my-key' },
    });
    expect(server.seen.map(({ headers }) => headers['idempotency-key'])).toEqual(['my-key', 'my-key', 'my-key']);
  });

  test('a GET has neither Idempotency-Key nor body', async () => {
    server = await serveNotes(failFirst(1, 500));
    await createNotesClient(server.url).GET('/notes');
    for (const { headers, body } of server.seen) {
      expect([headers['idempotency-key'], headers['content-length'], body]).toEqual([undefined, undefined, '']);
    }
  });
});

describe('after a garbage collection', () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;

  /** Collects what is no longer used, once the start of the body has been sent and in the moments after. */
  async function startResponse() {
    let begin: () => void;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    server = await serveNotes((response) => void response.writeHead(200).write('[', () => begin()));
    return async () => {
      await begun;
      for (let count = 0; count < 5; count += 1) {
        await sleep(30);
        collectGarbage();
      }
    };
  }

  test('a response ends at its timeout', async () => {
    const collect = await startResponse();
    const call = createNotesClient(server.url, { timeoutMs: 500, retry: { maxRetries: 0 } }).GET('/notes');
    await Promise.all([collect(), expect(call).rejects.toMatchObject({ name: 'TimeoutError' })]);
  });

  test('a response ends when the caller aborts', async () => {
    const collect = await startResponse();
    const { signal, abort } = createAbort();
    const call = createNotesClient(server.url).GET('/notes', { signal });
    await Promise.all([collect().then(abort), expect(call).rejects.toThrow('enough')]);
  });

  test('a streamed response ends when the caller aborts', async () => {
    const collect = await startResponse();
    const { signal, abort } = createAbort();
    const { data } = await createNotesClient(server.url).GET('/notes', { parseAs: 'stream', signal });
    await Promise.all([collect().then(abort), expect(new Response(data).text()).rejects.toThrow('enough')]);
  });

  function createAbort() {
    const controller = new AbortController();
    return { signal: controller.signal, abort: () => controller.abort(new Error('enough')) };
  }
});

describe('streamed responses', () => {
  test('a streamed response may take longer than the timeout', async () => {
    server = await serveNotes((response) => {
      response.writeHead(200).write('one ');
      setTimeout(() => response.end('two'), 1_000);
    });
    const { data } = await createNotesClient(server.url, { timeoutMs: 500 }).GET('/notes', { parseAs: 'stream' });
    expect(await new Response(data).text()).toBe('one two');
    expect(server.seen).toHaveLength(1);
  });

  test('a streamed response ends when the caller aborts', async () => {
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
