import { once } from 'node:events';
import { createServer, IncomingMessage } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { AppError } from '@trellis/core/errors';
import { readBodyBytes } from '../../src/http/body.js';
import { readMultipart } from '../../src/rest/forms.js';
import type { HandlerRequest, HandlerResponse, OperationSpec } from '../../src/rest/operation.js';
import { contractRouter } from '../../src/rest/router.js';
import { serve, type TestServer } from '../serve.js';

/** More than is buffered before the body is requested. */
const MAX_BYTES = 200_000;

const OPERATION: OperationSpec = {
  id: 'importNotes',
  method: 'post',
  path: '/imports/{key}',
  security: [],
  parameters: [{ name: 'key', in: 'path', required: true, type: 'string', list: false, rest: false }],
  body: { required: true, contentTypes: ['application/json'], maxBytes: MAX_BYTES, isDeferred: true },
  responses: { 200: { contentTypes: ['application/json'] } },
  validate: {},
};

interface Import extends HandlerRequest {
  readonly params: { readonly key: string };
  readonly body: () => Promise<Buffer>;
}

let server: TestServer;
/** Delays the handler before it reads. */
let gate: Promise<unknown>;
let onOutcome: (outcome: string) => void;

/** Responds with the length of the body, unless the key is unknown. */
async function importNotes({ params, body }: Import): Promise<HandlerResponse> {
  await gate;
  if (params.key === 'unknown') throw new AppError('not_found', 'Expected a key that is known.');
  try {
    const read = `read ${(await body()).length}`;
    onOutcome(read);
    return { status: 200, body: read };
  } catch (error) {
    onOutcome((error as AppError).code);
    throw error;
  }
}

beforeAll(async () => {
  server = await serve(
    contractRouter({
      basePath: '/api',
      revision: 'r7',
      operations: [OPERATION],
      handlers: { importNotes },
      schemes: {},
      authenticate: () => Promise.resolve(undefined),
      replays: { answerOnce: (_request, answer) => answer() },
      validateResponses: false,
    }),
  );
});
afterAll(() => server.close());
beforeEach(() => {
  gate = Promise.resolve();
  onOutcome = () => undefined;
});

interface Sent {
  readonly status: number;
  readonly body: unknown;
}

async function send(key: string, body: BodyInit | null, headers: Record<string, string> = {}): Promise<Sent> {
  const init = { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers }, duplex: 'half' };
  const response = await fetch(`${server.url}/api/imports/${key}`, init);
  return { status: response.status, body: await response.json() };
}

const head = (key: string, headers: readonly string[]): string =>
  `POST /api/imports/${key} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${headers.join('\r\n')}\r\n\r\n`;

/** Returns all data until the socket ends, or until `until` is found. */
async function receive(socket: Socket, until?: string): Promise<string> {
  let text = '';
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    text += String(chunk);
    if (until !== undefined && text.includes(until)) break;
  }
  return text;
}

async function connected(): Promise<Socket> {
  const socket = connect(server.port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

describe('deferred body', () => {
  test('returns the bytes unchanged', async () => {
    expect(await send('known', 'not JSON')).toEqual({ status: 200, body: 'read 8' });
  });

  test('returns a body of the maximum size, which is more than is buffered in advance', async () => {
    expect(await send('known', 'x'.repeat(MAX_BYTES))).toEqual({ status: 200, body: `read ${MAX_BYTES}` });
  });

  test.each<[string, number, BodyInit | null, Record<string, string>, string]>([
    ['no body', 400, null, {}, 'malformed_body'],
    ['a different type', 415, 'x', { 'content-type': 'text/plain' }, 'unsupported_media_type'],
    ['a compressed body', 415, 'x', { 'content-encoding': 'gzip' }, 'unsupported_media_type'],
    ['a declared length above the limit', 413, 'x'.repeat(MAX_BYTES + 1), {}, 'too_large'],
  ])('rejects a body when it is read: %s', async (_reason, status, body, headers, code) => {
    expect(await send('known', body, headers)).toMatchObject({ status, body: { code } });
  });

  test('rejects chunks above the limit', async () => {
    const chunk = new TextEncoder().encode('x'.repeat(30_000));
    const body = new ReadableStream({ pull: (controller) => controller.enqueue(chunk) });
    expect(await send('known', body)).toMatchObject({ status: 413, body: { code: 'too_large' } });
  });

  test.each([
    ['a different type', 'x', { 'content-type': 'text/plain' }],
    ['above the limit', 'x'.repeat(MAX_BYTES + 1), {}],
    ['no body', null, {}],
  ])('lets a handler reject a request before the body is checked: %s', async (_reason, body, headers) => {
    expect(await send('unknown', body, headers)).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });

  test('serves the next request on a connection whose last body was not read', async () => {
    const socket = await connected();
    socket.write(`${head('unknown', [`Content-Length: ${MAX_BYTES}`])}${'x'.repeat(MAX_BYTES)}`);
    socket.write(`${head('known', ['Content-Length: 2', 'Connection: close'])}{}`);
    const text = await receive(socket);
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404', 'HTTP/1.1 200']);
  });

  test('rejects a request without waiting for its body', async () => {
    const socket = await connected();
    socket.write(head('unknown', ['Content-Length: 100']));
    expect(await receive(socket, 'not_found')).toContain('HTTP/1.1 404');
    socket.destroy();
  });

  test.each([
    ['a small body is available', 1_000, 1_000, 'read 1000'],
    ['a large body is still in the connection', MAX_BYTES, MAX_BYTES, `read ${MAX_BYTES}`],
    ['an incomplete body is rejected', 10, 1_000, 'malformed_body'],
  ])('after the client has disconnected before the body was read, %s', async (_reason, sent, declared, outcome) => {
    let open = (): void => undefined;
    gate = new Promise<void>((resolve) => (open = resolve));
    const found = new Promise((resolve) => (onOutcome = resolve));
    const socket = await connected();
    socket.end(`${head('known', [`Content-Length: ${declared}`])}${'x'.repeat(sent)}`);
    // The server ends its side when it notices; with a large body, only after it has been read.
    if (sent < MAX_BYTES) await once(socket.resume(), 'close');
    open();
    expect(await found).toBe(outcome);
    socket.destroy();
  });
});

describe('body of a client that has disconnected before it is read', () => {
  const spec = { required: true, contentTypes: ['multipart/form-data'], maxBytes: MAX_BYTES };
  const form = 'multipart/form-data; boundary=b';

  test.each<[string, (request: IncomingMessage) => Promise<unknown>, number]>([
    ['bytes', (request) => readBodyBytes(request, spec), 100],
    ['bytes that had arrived', (request) => readBodyBytes(request, spec), 2],
    ['a form', (request) => readMultipart(request, { fields: [], maxBytes: MAX_BYTES }), 100],
    ['a form that had arrived', (request) => readMultipart(request, { fields: [], maxBytes: MAX_BYTES }), 2],
  ])('is rejected at once: %s', async (_what, read, length) => {
    const closed = createServer();
    const received = new Promise<IncomingMessage>((resolve) => {
      closed.once('request', (request) => {
        request.on('error', () => undefined).once('close', () => resolve(request));
        socket.resetAndDestroy();
      });
    });
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
    const socket = connect((closed.address() as AddressInfo).port, '127.0.0.1');
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Type: ${form}\r\nContent-Length: ${length}\r\n\r\n{}`);
    const outcome = read(await received).catch((error: unknown) => (error as AppError).code);
    expect(await outcome).toBe('malformed_body');
    closed.close();
  });
});

test('a body in chunks of one byte takes little more memory than one chunk', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const request = new IncomingMessage(new Socket());
  request.headers = { 'content-type': 'text/plain', 'transfer-encoding': 'chunked' };
  const body = readBodyBytes(request, { required: true, contentTypes: ['text/plain'], maxBytes: MAX_BYTES });
  const received = Buffer.from('x');
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  for (let size = 0; size < MAX_BYTES; size += 1) request.emit('data', received.subarray());
  collectGarbage();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(10 * MAX_BYTES);
  request.emit('end');
  await expect(body).resolves.toEqual(Buffer.alloc(MAX_BYTES, 'x'));
});
