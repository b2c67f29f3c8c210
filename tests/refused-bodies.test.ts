import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createStartupListener } from '@trellis/server/http/admission';
import { createLog } from '@trellis/server/http/request';
import { createHttpServer } from '@trellis/server/http/server';
import { startServer, type RunningServer } from './running-server.js';

const MIB = 1024 * 1024;

let server: RunningServer;
beforeAll(async () => (server = await startServer()));
afterAll(() => server.stop());

const head = (target: string, length: number, headers: readonly string[]): string =>
  `${target} HTTP/1.1\r\n${['Host: localhost', `Content-Length: ${length}`, ...headers].join('\r\n')}\r\n\r\n`;

async function open(origin: string): Promise<Socket> {
  const socket = connect(Number(new URL(origin).port), '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

/** Sends the whole body in pieces before it reads the response. A connection reset is an error. */
async function sendThenRead(origin: string, target: string, headers: readonly string[]): Promise<string> {
  const socket = await open(origin);
  socket.pause().write(head(target, 2 * MIB, headers));
  for (let piece = 0; piece < 32; piece += 1) {
    if (!socket.write(Buffer.alloc(2 ** 16))) await once(socket, 'drain');
  }
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  return text;
}

/** Sends more than the server reads, and reads the response at the same time. */
async function sendAndRead(origin: string, target: string, headers: readonly string[]): Promise<string> {
  const socket = await open(origin);
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const ended = new Promise((resolve) => socket.once('end', resolve));
  socket.on('error', () => undefined).write(head(target, 100 * MIB, headers));
  socket.write(Buffer.alloc(100 * MIB));
  await ended;
  socket.destroy();
  return text;
}

const JSON_TYPE = 'Content-Type: application/json';

const REFUSED: readonly (readonly [string, number, readonly string[]])[] = [
  ['POST /api/tokens', 401, [JSON_TYPE]],
  ['POST /api/nothing', 404, [JSON_TYPE]],
  ['POST /api/dashboard', 405, [JSON_TYPE]],
  ['POST /api/auth/login/finish', 413, [JSON_TYPE]],
  ['POST /api/auth/login/finish', 415, ['Content-Type: text/plain']],
  ['POST /api/auth/login/finish', 406, [JSON_TYPE, 'Accept: text/html']],
  ['POST /api/webhooks/github/xxxxxxxxxxxxxxxxxxxxxx', 404, [JSON_TYPE]],
  ['POST /secrets/objects', 401, [JSON_TYPE]],
  ['POST /secrets/auth/login/finish', 413, [JSON_TYPE]],
  ['POST /secrets/mcp', 401, [JSON_TYPE]],
  ['POST /graphql', 413, [JSON_TYPE]],
  ['PUT /graphql', 405, [JSON_TYPE]],
  ['POST /', 405, []],
  ['POST /docs', 405, []],
  ['POST /static/a.png', 404, []],
  ['POST /nothing', 404, []],
  ['POST ftp://localhost/', 400, []],
  ['POST /', 400, ['Host: evil.example']],
];

function expectWhole(text: string, status: number): void {
  const [top = '', body = ''] = text.split('\r\n\r\n');
  expect(top.split(' ')[1]).toBe(String(status));
  expect(top).toMatch(/^Connection: close\r?$/m);
  expect(Buffer.byteLength(body)).toBe(Number(/^content-length: (\d+)/im.exec(top)?.[1]));
}

test.each(REFUSED)(
  '%s: gets a complete %i response in a client that reads after it sent',
  async (target, status, headers) => {
    expectWhole(await sendThenRead(server.origin, target, headers), status);
  },
);

test.each(REFUSED)(
  '%s: gets a complete %i response in a client that sends 100 MiB',
  async (target, status, headers) => {
    expectWhole(await sendAndRead(server.origin, target, headers), status);
  },
);

test('a request before the server is ready gets a complete 503 response', async () => {
  const log = createLog({ level: 'silent' });
  const starting = createHttpServer(createStartupListener({ log }).listener, { log });
  await once(starting.listen(0, '127.0.0.1'), 'listening');
  const address = starting.address();
  const origin = `http://localhost:${typeof address === 'object' ? address?.port : ''}`;
  expectWhole(await sendThenRead(origin, 'POST /graphql', [JSON_TYPE]), 503);
  expectWhole(await sendAndRead(origin, 'POST /graphql', [JSON_TYPE]), 503);
  starting.close().closeAllConnections();
});

test('a request over the limit of its caller gets a complete 429 response', async () => {
  const limited = await startServer([], { TRELLIS_RATE_LIMIT: '1' });
  const headers = [JSON_TYPE, 'Authorization: Bearer x'];
  for (let text = ''; !text.includes(' 429 ');) {
    text = await sendThenRead(limited.origin, 'GET /api/version', headers);
    expectWhole(text, Number(text.split(' ')[1]));
  }
  expectWhole(await sendAndRead(limited.origin, 'GET /api/version', headers), 429);
  await limited.stop();
});
