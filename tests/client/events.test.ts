import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StreamEvent, StreamOptions } from '../../src/client/events.js';
import { readEvents } from '../../src/client/events.js';
import type { Answer, NotesServer } from './notes-server.js';
import { createNotesClient, sendJson, serveNotes } from './notes-server.js';

let server: NotesServer;

afterEach(() => server.close());

const streams = (response: ServerResponse, text: string) =>
  response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(text);

/** Reads so many events of a server that answers so, and then stops. */
async function read(answer: Answer, count: number, options: StreamOptions = {}) {
  server = await serveNotes(answer);
  const client = createNotesClient(server.url, { retry: { maxRetries: 1 }, timeoutMs: 500 });
  const found: StreamEvent<unknown>[] = [];
  for await (const event of readEvents((init) => client.GET('/notes', init), { reconnectMs: 5, ...options })) {
    found.push(event);
    if (found.length === count) break;
  }
  return found;
}

test('events are given as they come, and comments are passed over', async () => {
  const events = await read(
    (response) => streams(response, ': hello\n\nid: a\ndata: {"n":1}\n\n:\n\ndata: [2]\n\n'),
    2,
  );
  expect(events).toEqual([
    { id: 'a', data: { n: 1 } },
    { id: 'a', data: [2] },
  ]);
});

test('an event comes whole, however the network cuts it', async () => {
  const bytes = Buffer.from('id: ü\r\ndata: "\u2028 – né"\r\n\r\ndata: 2\n\n');
  const dribble = async (response: ServerResponse) => {
    for (const byte of bytes) {
      response.write(Buffer.from([byte]));
      await sleep(1);
    }
  };
  expect(await read((response) => void dribble(response), 2)).toEqual([
    { id: 'ü', data: '\u2028 – né' },
    { id: 'ü', data: 2 },
  ]);
});

test('the connection is closed when nobody reads on', async () => {
  let closed: Promise<unknown> | undefined;
  await read((response) => {
    closed = once(response, 'close');
    streams(response, 'data: 1\n\n');
  }, 1);
  await closed;
});

test.each<[string, (response: ServerResponse) => void]>([
  ['ends', (response) => void response.end()],
  ['is reset', (response) => void setTimeout(() => response.socket?.resetAndDestroy(), 20)],
])('a stream that %s is opened again after the last event', async (_reason, end) => {
  const answer: Answer = (response, nth) => {
    streams(response, `id: e${nth}\ndata: ${nth}\n\ndata: "half`);
    if (nth < 2) end(response);
  };
  expect((await read(answer, 3)).map(({ data }) => data)).toEqual([0, 1, 2]);
  expect(server.seen.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, 'e0', 'e1']);
});

test('the server may name the wait before a stream is opened again', async () => {
  const answer: Answer = (response, nth) => {
    streams(response, `retry: 300\ndata: ${nth}\n\n`);
    response.end();
  };
  await read(answer, 2);
  expect(server.seen[1]!.at - server.seen[0]!.at).toBeGreaterThanOrEqual(290);
});

test('a stream that is not served for a moment is asked for again', async () => {
  const events = await read((response, nth) => {
    if (nth === 0) sendJson(response, 503, {});
    else streams(response, 'data: 1\n\n');
  }, 1);
  expect(events).toEqual([{ id: undefined, data: 1 }]);
});

test('a refusal is thrown', async () => {
  const call = read((response) => sendJson(response, 404, { error: 'No board.', code: 'not_found' }), 1);
  await expect(call).rejects.toMatchObject({ name: 'ApiError', statusCode: 404, code: 'not_found' });
});

test('an answer without a stream is thrown', async () => {
  const call = read((response) => void response.writeHead(204).end(), 1);
  await expect(call).rejects.toThrow('Expected a stream of events; received status 204 without a body.');
});

test.each<[string, Answer]>([
  ['before the answer', () => undefined],
  ['between events', (response) => void streams(response, ':\n\n')],
  ['before the stream is opened again', (response) => void response.writeHead(200).end(':\n\n')],
])('an abort %s ends the stream', async (_reason, answer) => {
  const controller = new AbortController();
  const answerAndAbort: Answer = (...asked) => {
    setTimeout(() => controller.abort(new Error('enough')), 60);
    answer(...asked);
  };
  const call = read(answerAndAbort, 1, { signal: controller.signal, reconnectMs: 60_000 });
  await expect(call).rejects.toThrow('enough');
  expect(server.seen).toHaveLength(1);
});
