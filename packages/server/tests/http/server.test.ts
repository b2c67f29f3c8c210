import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import express from 'express';
import { createHostCheck, requestBounds } from '../../src/http/admission.js';
import { createLog, requestContext } from '../../src/http/request.js';
import { errorHandler } from '../../src/http/responses.js';
import { type ConnectionLimits, createHttpServer } from '../../src/http/server.js';

let lines: Readonly<Record<string, unknown>>[];
const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
let server: Server;
let sockets: Socket[];

beforeEach(() => {
  lines = [];
  sockets = [];
});
afterEach(() => {
  sockets.forEach((socket) => socket.destroy());
  server.closeAllConnections();
  server.close();
});

const isAllowedHost = createHostCheck({ isLoopback: true, publicUrl: 'http://trellis.example', allowedHosts: [] });

/** Responds with URL, host and number of headers of each request that passes the Host check. */
async function start(limits: Partial<ConnectionLimits> = {}, processes = 1): Promise<number> {
  const log = createLog({ level: 'info', destination });
  const app = express().use(requestContext({ log }), requestBounds({ isAllowedHost }));
  app.use(({ url, headers }: IncomingMessage, response: ServerResponse) => {
    response.end(JSON.stringify({ url, host: headers.host, headers: Object.keys(headers).length }));
  });
  app.use(errorHandler({ log }));
  server = createHttpServer(app, { log, limits, processes });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  await once(socket, 'connect');
  return socket;
}

/** Returns all data until the server ends its side. */
async function readAll(socket: Socket): Promise<string> {
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  return text;
}

const statusesIn = (text: string): number[] => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, code]) => Number(code));

async function ask(port: number, target: string, headers: readonly string[]) {
  const socket = await open(port);
  socket.write(`GET ${target} HTTP/1.1\r\n${[...headers, 'Connection: close'].join('\r\n')}\r\n\r\n`);
  const text = await readAll(socket);
  const [, body = ''] = text.split('\r\n\r\n');
  return { status: statusesIn(text)[0], body: JSON.parse(body) as Record<string, unknown> };
}

describe('HTTP server', () => {
  describe('time limits', () => {
    const SHORT = { headersMs: 30, requestMs: 60, checkMs: 5 };

    test.each([
      ['the headers do not end', 'GET / HTTP/1.1\r\nHost: localhost\r\n'],
      ['the body does not end', 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nx'],
      ['no data arrives', ''],
    ])('end a connection on which %s', async (_what, text) => {
      const port = await start(SHORT);
      // The handler responds only after the whole body has arrived.
      server.removeAllListeners('request').on('request', (request: IncomingMessage) => request.resume());
      const socket = await open(port);
      socket.write(text);
      expect(statusesIn(await readAll(socket))).toEqual([408]);
    });

    test('let a connection be idle for longer than headers may take', async () => {
      // Long enough for a process that has to wait for the processor.
      const port = await start({ headersMs: 500, requestMs: 1_000, checkMs: 5, keepAliveMs: 600_000 });
      const socket = await open(port);
      const request = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';
      socket.write(request);
      await once(socket, 'data');
      // This connection was opened later. Its end by the time limit for headers shows that this time has passed.
      await readAll(await open(port));
      socket.write(request);
      expect(statusesIn(String((await once(socket, 'data'))[0]))).toEqual([200]);
    });

    test('end a connection that is idle for too long', async () => {
      const socket = await open(await start({ keepAliveMs: 20 }));
      socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
      expect(statusesIn(await readAll(socket))).toEqual([200]);
    });

    test('end a connection whose client does not read, and no other response that takes longer', async () => {
      const port = await start({ stalledMs: 100 });
      // More than both kernels buffer.
      const large = Buffer.alloc(32 * 1024 * 1024);
      server.removeAllListeners('request').on('request', ({ url }: IncomingMessage, response: ServerResponse) => {
        if (url === '/large') response.end(large);
        else setTimeout(() => response.end('late'), 300);
      });
      const [stalled, patient] = [await open(port), await open(port)];
      stalled.pause().write('GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n');
      patient.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
      expect(await readAll(patient)).toMatch(/late$/);
      const ended = once(
        stalled.on('error', () => undefined),
        'close',
      );
      stalled.resume();
      await ended;
      expect(stalled.bytesRead).toBeLessThan(large.length);
    });

    test('are 10 and 30 seconds, checked every second, 65 seconds between requests, and 60 without progress', async () => {
      await start();
      const { headersTimeout, requestTimeout, keepAliveTimeout, timeout } = server;
      expect([headersTimeout, requestTimeout, keepAliveTimeout, timeout]).toEqual([10_000, 30_000, 65_000, 60_000]);
    });
  });

  describe('headers', () => {
    const many = (count: number): string[] => [
      'Host: localhost',
      ...Array.from({ length: count - 2 }, (_, index) => `X-${index}: 1`),
    ];

    test('are accepted up to their limit', async () => {
      expect(await ask(await start(), '/', many(200))).toMatchObject({ status: 200, body: { headers: 200 } });
    });

    test.each([201, 3_000])('are rejected above their limit: %i', async (count) => {
      const answer = await ask(await start(), '/', many(count));
      expect(answer).toMatchObject({
        status: 431,
        body: { code: 'too_large', error: 'Expected at most 200 headers with at most 65536 bytes; received more.' },
      });
      expect(lines.at(-1)).toMatchObject({ status: 431, requestId: answer.body.requestId });
    });
  });

  describe('a target in absolute form', () => {
    test.each([
      ['http://trellis.example/a?b=c', 'evil.example', '/a?b=c', 'trellis.example'],
      ['HTTP://localhost:4000', 'localhost', '/', 'localhost:4000'],
      ['https://[::1]:4000/', 'evil.example', '/', '[::1]:4000'],
      ['http://localhost?a', 'localhost', '/?a', 'localhost'],
      ['/a', 'localhost', '/a', 'localhost'],
    ])('%s replaces Host: %s by its authority', async (target, host, url, seen) => {
      const answer = await ask(await start(), target, [`Host: ${host}`]);
      expect(answer).toMatchObject({ status: 200, body: { url, host: seen } });
    });

    test.each([
      ['a foreign authority, even with a valid Host', 'http://evil.example/', ['Host: localhost']],
      ['a user', 'http://localhost@evil.example/', ['Host: localhost']],
      ['no authority', 'http:///a', ['Host: localhost']],
      ['a different scheme', 'ftp://localhost/', ['Host: localhost']],
      ['no Host header', 'http://localhost/', []],
      ['two Host headers', 'http://localhost/', ['Host: localhost', 'Host: localhost']],
    ])('is rejected with %s', async (_what, target, headers) => {
      const answer = await ask(await start(), target, headers);
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_input' } });
    });
  });

  test.each([
    ['their limit', 2, 1],
    ['the share of one of two processes', 4, 2],
  ])('connections above %s are dropped, which is logged once', async (_what, connections, processes) => {
    const port = await start({ connections }, processes);
    const first = await open(port);
    await open(port);
    expect(await readAll(await open(port))).toBe('');
    expect(await readAll(await open(port))).toBe('');
    expect(lines).toEqual([expect.objectContaining({ level: 40, connections: 2 })]);
    first.end();
    await once(first, 'close');
    expect(await ask(port, '/', ['Host: localhost'])).toMatchObject({ status: 200 });
  });
});
