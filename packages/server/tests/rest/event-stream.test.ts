import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { AppError } from '@trellis/core/errors';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { HandlerRequest, OperationSpec, ServerSentEvent, Validator } from '../../src/rest/operation.js';
import { contractRouter } from '../../src/rest/router.js';
import { serve, type TestServer } from '../serve.js';

const validate = new Ajv2020().compile({ type: 'object', required: ['n'] }) as Validator;
const operation: OperationSpec = {
  id: 'follow',
  method: 'get',
  path: '/follow',
  security: [{ scheme: 'session', roles: [] }],
  parameters: [],
  responses: { 202: { contentTypes: ['text/event-stream'], validate } },
  validate: {},
};

let server: TestServer;
let events: (request: HandlerRequest) => AsyncIterable<ServerSentEvent>;
/** Throws unless the caller is authorized. */
let checkCaller: () => void;
const stopping = new AbortController();

beforeEach(async () => {
  checkCaller = () => undefined;
  server = await serve(
    contractRouter({
      basePath: '',
      revision: 'r1',
      operations: [operation],
      schemes: { session: 'session' },
      handlers: {
        follow: async (request: HandlerRequest) => ({
          ...{ status: 202, body: events(request) },
          headers: { 'X-Job': '7' },
        }),
      },
      authenticate: async () => {
        checkCaller();
        return { kind: 'session', sessionId: 's1', personId: 'p1', username: 'ada', isAdmin: false };
      },
      replays: { answerOnce: (_request, answer) => answer() },
      validateResponses: true,
      streams: { heartbeatMs: 10, stopping: stopping.signal },
    }),
  );
});
afterEach(() => server.close());

async function* count(from: number, to: number): AsyncGenerator<ServerSentEvent> {
  for (let n = from; n <= to; n += 1) yield await Promise.resolve({ id: `e${n}`, data: { n, text: 'a\nb' } });
}

/** Yields no event until the response ends. */
const silence = ({ signal }: HandlerRequest): AsyncIterable<ServerSentEvent> => ({
  [Symbol.asyncIterator]: () => ({
    async next() {
      if (!signal.aborted) await once(signal, 'abort');
      return { done: true, value: undefined };
    },
  }),
});

const read = async (method = 'GET') => {
  const response = await fetch(`${server.url}/follow`, { method });
  return { response, text: await response.text() };
};

describe('event stream', () => {
  test('sends each event with its id and its data in one line, and ends with the events', async () => {
    events = () => count(1, 2);
    const { response, text } = await read();
    expect(text).toBe('id: e1\ndata: {"n":1,"text":"a\\nb"}\n\nid: e2\ndata: {"n":2,"text":"a\\nb"}\n\n');
    expect([response.status, response.headers.get('x-job')]).toEqual([202, '7']);
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect([response.headers.get('cache-control'), response.headers.get('x-accel-buffering')]).toEqual([
      'no-store',
      'no',
    ]);
  });

  test('serializes frozen data once for all streams', async () => {
    let made = 0;
    const data = Object.freeze({ n: 1, text: { toJSON: () => 'ü'.repeat(5_000 + (made += 1)) } });
    events = async function* () {
      yield await Promise.resolve({ id: 'e1', data });
    };
    const texts = [await read(), await read(), await read()].map(({ text }) => text);
    expect(new Set(texts).size).toBe(1);
    expect(texts[0]).toMatch(/^id: e1\ndata: \{"n":1,"text":"ü+"\}\n\n$/);
  });

  test('responds to HEAD without an event, and aborts the signal of the handler', async () => {
    let ended: Promise<unknown> | undefined;
    events = (request) => {
      ended = once(request.signal, 'abort');
      return silence(request);
    };
    expect((await read('HEAD')).text).toBe('');
    await ended;
  });

  test('sends a comment at every heartbeat, until the credential ends', async () => {
    events = silence;
    const response = await fetch(`${server.url}/follow`);
    const reader = response.body!.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe(':\n\n');
    checkCaller = () => {
      throw new AppError('unauthenticated', 'Expected a session that is still valid.');
    };
    while (!(await reader.read()).done);
  });

  test.each([
    ['a busy database', new AppError('unavailable', 'The database is busy.')],
    ['an unexpected error', new Error('the connection was closed')],
  ])('continues after three checks that fail because of %s, and ends after four', async (_reason, error) => {
    events = silence;
    const response = await fetch(`${server.url}/follow`);
    const reader = response.body!.getReader();
    await reader.read();
    let failures = 0;
    let last = 3;
    checkCaller = () => {
      failures += 1;
      if (failures <= last) throw error;
    };
    while (failures < 5) expect((await reader.read()).done).toBe(false);
    last = Infinity;
    failures = 0;
    while (!(await reader.read()).done);
    expect(failures).toBe(4);
  });

  test('keeps no data of earlier events while it is open', async () => {
    const sent: WeakRef<object>[] = [];
    events = async function* (request) {
      for (let n = 1; n <= 20; n += 1) {
        const data = Object.freeze({ n, text: 'x'.repeat(1_000) });
        sent.push(new WeakRef(data));
        yield await Promise.resolve({ id: `e${n}`, data });
      }
      yield* silence(request);
    };
    const reader = (await fetch(`${server.url}/follow`)).body!.getReader();
    for (let text = ''; !text.includes('id: e20');) text += new TextDecoder().decode((await reader.read()).value);
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    // Referents of a WeakRef are kept until the end of the turn that last used it.
    await sleep(20);
    collectGarbage();
    expect(sent.filter((data) => data.deref() !== undefined).length).toBeLessThan(3);
    await reader.cancel();
  });

  test('ends and logs the error when the events fail or violate the contract', async () => {
    events = async function* () {
      yield* count(1, 1);
      yield { id: 'e2', data: { secret: 'x' } };
    };
    expect((await read()).text).toMatch(/^id: e1\n.*\n\n$/);
    events = async function* () {
      yield* count(1, 1);
      throw new Error('the database is away');
    };
    expect((await read()).text).toMatch(/^id: e1\n/);
    const errors = server.lines.filter(({ msg }) => msg === 'internal error').map(({ err }) => (err as Error).message);
    expect(errors).toEqual([expect.stringMatching(/^Operation follow: an event at/), 'the database is away']);
    expect(JSON.stringify(server.lines)).not.toContain('secret');
  });

  test('sends the next event after one that is larger than the buffer of the connection', async () => {
    const data = { n: 1, text: 'x'.repeat(2 ** 20) };
    events = async function* () {
      for (let n = 1; n <= 5; n += 1) yield await Promise.resolve({ id: `e${n}`, data });
    };
    expect((await read()).text.match(/^id: e\d$/gm)).toEqual(['id: e1', 'id: e2', 'id: e3', 'id: e4', 'id: e5']);
  });

  test('requests no further event while the client does not read', async () => {
    let taken = 0;
    const data = { n: 1, text: 'x'.repeat(2 ** 20) };
    events = async function* ({ signal }) {
      for (; !signal.aborted; taken += 1) yield await Promise.resolve({ id: 'e', data });
    };
    const socket = connect(server.port, '127.0.0.1');
    socket.pause().write('GET /follow HTTP/1.1\r\nHost: localhost\r\n\r\n');
    // Once the buffers of both kernels are full, nothing is sent.
    let before = -1;
    while (taken === 0 || taken !== before) {
      before = taken;
      await sleep(50);
    }
    expect(taken).toBeLessThan(50);
    socket.destroy();
  });

  test.each([
    ['the client disconnects while it does not read', { n: 1, text: 'x'.repeat(2 ** 20) }],
    ['an event violates the contract', { secret: 'x' }],
  ])('lets the handler clean up when %s', async (_reason, data) => {
    const clean = new Promise<string>((resolve) => {
      events = async function* () {
        try {
          for (;;) yield await Promise.resolve({ id: 'e', data });
        } finally {
          resolve('clean');
        }
      };
    });
    const socket = connect(server.port, '127.0.0.1');
    socket.pause().write('GET /follow HTTP/1.1\r\nHost: localhost\r\n\r\n');
    // Time enough to fill the buffers of both kernels, after which nothing is sent.
    await sleep(500);
    socket.destroy();
    await expect(Promise.race([clean, sleep(10_000, 'waiting', { ref: false })])).resolves.toBe('clean');
  });

  test('ends when the server stops, and ends at once in a stopping server', async () => {
    events = silence;
    const first = read();
    await sleep(0);
    stopping.abort();
    expect((await first).text.replaceAll(':\n\n', '')).toBe('');
    expect((await read()).text).toBe('');
  });
});
