import { once } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { createLog } from '../../src/http/request.js';
import { type ConnectionLimits, createHttpServer } from '../../src/http/server.js';

const MIB = 1024 * 1024;

/** Limits longer than any test, so that only the limit under test can end a connection. */
const NEVER_MS = 600_000;

let server: Server | undefined;
/** The server's side of each connection. */
let accepted: Socket[];
/** The client's side of each connection. */
let sockets: Socket[];

beforeEach(() => {
  accepted = [];
  sockets = [];
});
afterEach(() => {
  sockets.forEach((socket) => socket.destroy());
  server?.closeAllConnections();
  server?.close();
});

/** Responds at once to every request with a body, with a response longer than one packet. */
const refuse: RequestListener = (request, response) => {
  response.statusCode = request.method === 'GET' ? 200 : 413;
  response.end(`${'x'.repeat(9_999)}.`);
};

async function start(limits: Partial<ConnectionLimits> = {}, listener = refuse): Promise<number> {
  const patient = { lingerIdleMs: NEVER_MS, lingerMs: NEVER_MS, ...limits };
  server = createHttpServer(listener, { log: createLog({ level: 'silent' }), limits: patient });
  server.on('connection', (socket: Socket) => accepted.push(socket));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  await once(socket, 'connect');
  return socket;
}

const head = (length: number | 'chunked', more = ''): string =>
  `POST / HTTP/1.1\r\nHost: localhost\r\n${more}${
    length === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`
  }\r\n\r\n`;

const GET = 'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';

/** Returns all data until the server ends its side. Rejects for a connection reset. */
async function readAll(socket: Socket): Promise<string> {
  let text = '';
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) text += String(chunk);
  return text;
}

const WHOLE = /^HTTP\/1\.1 413 [\s\S]*\r\n\r\nx{9999}\.$/;

describe('lingering close', () => {
  test('sends a complete response to a client that sends slowly and reads only when it has sent everything', async () => {
    const socket = await open(await start());
    socket.pause().write(head(100 * 10_000 + 1));
    for (let piece = 0; piece < 100; piece += 1) {
      socket.write('x'.repeat(10_000));
      await pause(10);
    }
    const text = await readAll(socket);
    expect(text).toMatch(WHOLE);
    expect(text).toMatch(/^Connection: close\r$/m);
    expect(accepted[0]?.bytesRead).toBeGreaterThan(900_000);
  });

  test('sends a complete response to a client that sends 100 MiB, and reads only a part of the body', async () => {
    const port = await start({ lingerBytes: MIB, lingerIdleMs: 100 });
    const socket = await open(port);
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    // The client can't send the rest of the body after the server has closed the connection.
    socket.on('error', () => undefined).write(head(100 * MIB));
    socket.write(Buffer.alloc(100 * MIB));
    await closed;
    expect(text).toMatch(WHOLE);
    expect(accepted[0]?.bytesRead).toBeGreaterThan(MIB);
    expect(accepted[0]?.bytesRead).toBeLessThan(2 * MIB);
  });

  test.each([
    ['a body of unknown length', head('chunked')],
    ['a long body', head(300_000)],
    ['a short body, where the client asks for it', head(10, 'Connection: close\r\n')],
  ])('closes the connection after a response to %s', async (_what, text) => {
    const socket = await open(await start());
    socket.write(text);
    expect(await readAll(socket)).toMatch(/^Connection: close\r$/m);
  });

  test('keeps the connection after a response to a short body, which it reads to its end', async () => {
    const socket = await open(await start());
    socket.write(head(100_000));
    const [first] = (await once(socket, 'data')) as [Buffer];
    expect(String(first)).toMatch(/^Connection: keep-alive\r$/m);
    socket.write('x'.repeat(100_000) + GET);
    const text = String(first) + (await readAll(socket));
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200']);
    expect(accepted).toHaveLength(1);
  });

  test('keeps the connection when the body has been read before the response', async () => {
    const port = await start({}, (request, response) => request.resume().once('end', () => response.end('read')));
    const socket = await open(port);
    socket.write(`${head(MIB)}${'x'.repeat(MIB)}${GET}`);
    expect((await readAll(socket)).match(/read/g)).toHaveLength(2);
  });

  test.each([
    ['sends nothing more', { lingerIdleMs: 20 }, () => undefined],
    ['keeps sending', { lingerMs: 50 }, (socket: Socket) => void socket.write('x')],
  ])('closes the connection of a client that %s', async (_what, limits, send) => {
    const socket = await open(await start(limits));
    socket.on('error', () => undefined).write(head(300_000));
    const sending = setInterval(() => send(socket), 5);
    await once(socket.resume(), 'end');
    const [peer] = accepted;
    if (peer?.destroyed === false) await once(peer, 'close');
    clearInterval(sending);
  });

  test.each([
    ['text that is not HTTP', 'HELO\r\n\r\n', 400],
    ['headers that are too long', `GET / HTTP/1.1\r\nX: ${'x'.repeat(66_000)}`, 431],
    ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n', 405],
  ])('sends a complete response to %s, even if more data follows', async (_what, text, status) => {
    const socket = await open(await start());
    socket.pause().write(text);
    for (let piece = 0; piece < 50; piece += 1) {
      socket.write('x'.repeat(10_000));
      await pause(1);
    }
    const [, found, body = ''] = /^HTTP\/1\.1 (\d+) [\s\S]*\r\n\r\n(.*)$/.exec(await readAll(socket)) ?? [];
    expect(Number(found)).toBe(status);
    expect(accepted[0]?.bytesRead).toBeGreaterThan(400_000);
    expect(JSON.parse(body)).toHaveProperty('requestId');
  });
});
