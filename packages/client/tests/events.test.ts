import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { findEventEnd, parseEvent, readEvents, type StreamEvent, type StreamOptions } from '../src/events.js';
import { createNotesClient, type NotesServer, type Responder, sendJson, serveNotes } from './notes-server.js';

describe('readEvents', () => {
  let server: NotesServer;

  afterEach(() => server.close());

  const sendStream = (response: ServerResponse, text: string) =>
    response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(text);

  /** Reads `count` events from a server with this response, then stops. */
  async function read(respond: Responder, count: number, options: StreamOptions = {}) {
    server = await serveNotes(respond);
    const client = createNotesClient(server.url, { retry: { maxRetries: 1 }, timeoutMs: 500 });
    const found: StreamEvent<unknown>[] = [];
    for await (const event of readEvents((init) => client.GET('/notes', init), { reconnectMs: 5, ...options })) {
      found.push(event);
      if (found.length === count) break;
    }
    return found;
  }

  test('readEvents yields events as they arrive, and ignores comments and events without data', async () => {
    const events = await read(
      (response) => sendStream(response, ': hello\n\nid: a\ndata: {"n":1}\n\n:\n\ndata:\n\ndata: [2]\n\n'),
      2,
    );
    expect(events).toEqual([
      { id: 'a', data: { n: 1 } },
      { id: 'a', data: [2] },
    ]);
  });

  test('readEvents joins events that arrive byte by byte', async () => {
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

  test('readEvents reconnects when not even a comment arrives for some time', async () => {
    const events = await read((response) => sendStream(response, `id: ${server.seen.length}\ndata: 1\n\n`), 2, {
      idleMs: 100,
    });
    expect(events.map(({ id }) => id)).toEqual(['1', '2']);
    expect(server.seen.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '1']);
  });

  test('readEvents keeps a connection with comments', async () => {
    const beat = async (response: ServerResponse) => {
      sendStream(response, 'data: 1\n\n');
      for (let beats = 0; beats < 8; beats += 1) {
        await sleep(100);
        response.write(':\n\n');
      }
      response.write('data: 2\n\n');
    };
    const events = await read((response) => void beat(response), 2, { idleMs: 600 });
    expect(events.map(({ data }) => data)).toEqual([1, 2]);
    expect(server.seen).toHaveLength(1);
  });

  test('readEvents closes the connection when the loop ends', async () => {
    let closed: Promise<unknown> | undefined;
    await read((response) => {
      closed = once(response, 'close');
      sendStream(response, 'data: 1\n\n');
    }, 1);
    await closed;
  });

  test.each<[string, (response: ServerResponse) => void]>([
    ['ends', (response) => void response.end()],
    ['is reset', (response) => void setTimeout(() => response.socket?.resetAndDestroy(), 20)],
  ])('readEvents reconnects with the last id after a stream %s', async (_reason, end) => {
    const respond: Responder = (response, nth) => {
      sendStream(response, `id: e${nth}\ndata: ${nth}\n\ndata: "half`);
      if (nth < 2) end(response);
    };
    expect((await read(respond, 3)).map(({ data }) => data)).toEqual([0, 1, 2]);
    expect(server.seen.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, 'e0', 'e1']);
  });

  test('readEvents waits as long as the server requests before it reconnects', async () => {
    const respond: Responder = (response, nth) => {
      sendStream(response, `retry: 300\ndata: ${nth}\n\n`);
      response.end();
    };
    await read(respond, 2);
    expect(server.seen[1]!.at - server.seen[0]!.at).toBeGreaterThanOrEqual(290);
  });

  test('readEvents retries after status 503', async () => {
    const events = await read((response, nth) => {
      if (nth === 0) sendJson(response, 503, {});
      else sendStream(response, 'data: 1\n\n');
    }, 1);
    expect(events).toEqual([{ id: undefined, data: 1 }]);
  });

  test('readEvents throws an error response as ApiError', async () => {
    const call = read((response) => sendJson(response, 404, { error: 'No board.', code: 'not_found' }), 1);
    await expect(call).rejects.toMatchObject({ name: 'ApiError', statusCode: 404, code: 'not_found' });
  });

  test('readEvents throws for a response without a body', async () => {
    const call = read((response) => void response.writeHead(204).end(), 1);
    await expect(call).rejects.toThrow('Expected a stream of events; received status 204 without a body.');
  });

  test.each(['text/html; charset=utf-8', 'application/json'])(
    'readEvents throws for a body of type %s',
    async (type) => {
      const respond: Responder = (response) => void response.writeHead(200, { 'Content-Type': type }).end('<p>Sign in');
      const message = `Expected a stream of events; received status 200 with a body of type "${type}".`;
      await expect(read(respond, 1, { signal: AbortSignal.timeout(1000) })).rejects.toThrow(new TypeError(message));
      expect(server.seen).toHaveLength(1);
    },
  );

  test('readEvents sends ids of any language back, in UTF-8 as browsers do', async () => {
    const respond: Responder = (response, nth) => {
      sendStream(response, `id: é€${nth}\ndata: ${nth}\n\n`);
      response.end();
    };
    expect((await read(respond, 2)).map(({ id }) => id)).toEqual(['é€0', 'é€1']);
    expect(Buffer.from(server.seen[1]!.headers['last-event-id'] as string, 'latin1').toString()).toBe('é€0');
  });

  test.each<[string, Responder]>([
    ['before the response', () => undefined],
    ['between events', (response) => void sendStream(response, ':\n\n')],
    ['before a reconnect', (response) => void response.writeHead(200).end(':\n\n')],
  ])('readEvents stops at an abort %s', async (_reason, respond) => {
    const controller = new AbortController();
    const respondAndAbort: Responder = (...args) => {
      setTimeout(() => controller.abort(new Error('enough')), 60);
      respond(...args);
    };
    const call = read(respondAndAbort, 1, { signal: controller.signal, reconnectMs: 60_000 });
    await expect(call).rejects.toThrow('enough');
    expect(server.seen).toHaveLength(1);
  });
});

describe('one event', () => {
  test.each<[string, string, ReturnType<typeof parseEvent>]>([
    ['joins data lines', 'data: a\ndata:b\ndata\n\n', { data: 'a\nb\n' }],
    ['removes only one leading space', 'data:  a \n\n', { data: ' a ' }],
    ['allows colons in values', 'id: a:b\n\n', { id: 'a:b' }],
    ['uses the last id', 'id: a\nid\n\n', { id: '' }],
    ['ignores an id with NUL', 'id: a\0\n\n', {}],
    ['ignores an invalid retry', 'retry: soon\nretry: 1.5\n\n', {}],
    ['ignores unknown fields', 'event: x\nfoo: y\ndata: 1\n\n', { data: '1' }],
  ])('parseEvent %s', (_behaviour, text, fields) => {
    expect(parseEvent(text)).toEqual(fields);
  });

  test.each<[string, string, number]>([
    ['ends an event at a blank line', 'data: 1\n\ndata', 9],
    ['accepts carriage returns', 'data: 1\r\n\r\ndata', 11],
    ['waits after a carriage return that may be half of a line end', 'data: 1\r\n\r', 0],
    ['does not end an event at a line end', 'data: 1\n', 0],
  ])('findEnd %s', (_behaviour, text, end) => {
    expect(findEventEnd(text)).toBe(end);
    for (let searched = 0; searched < text.length; searched += 1) {
      // `searched` is valid only for a prefix without a complete event.
      if (findEventEnd(text.slice(0, searched)) === 0) expect(findEventEnd(text, searched)).toBe(end);
    }
  });
});
