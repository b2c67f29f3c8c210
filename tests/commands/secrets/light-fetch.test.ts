import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { lightFetch, LightHeaders, LightRequest, LightResponse } from '../../../src/commands/secrets/light-fetch.js';
import { CLOSED_PORT } from '../../closed-port.js';

let server: Server;
let origin: string;

/** Responds with the request as JSON, or as the path says. */
async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method, url, headers } = request;
  if (url === '/redirect') return void response.writeHead(302, { location: 'https://elsewhere.example/' }).end();
  if (url === '/none') return void response.writeHead(204).end();
  if (url === '/silent') return;
  if (url === '/cut') {
    response.writeHead(200, { 'content-length': '100' });
    response.write('short', () => request.socket.destroy());
    return;
  }
  const { authorization, 'content-length': length, 'x-list': list } = headers;
  const body = (await buffer(request)).toString();
  response.writeHead(url === '/missing' ? 404 : 200, { 'content-type': 'application/json', 'X-List': ['a', 'b'] });
  response.end(JSON.stringify({ method, url, authorization, length, list, body }));
}

beforeAll(async () => {
  server = createServer((request, response) => void respond(request, response));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

type Fetch = typeof fetch;

/** Both are called in the same way; the types of the small one are narrower. */
const FETCHES = [
  ['lightFetch', lightFetch as unknown as Fetch, LightHeaders as unknown as typeof Headers],
  ['fetch of the platform', fetch, Headers],
] as const;

describe.each(FETCHES)('%s', (_name, call, AnyHeaders) => {
  test('sends method, headers and body, and returns status, headers and body', async () => {
    const headers = new AnyHeaders({ Authorization: 'Bearer x', 'X-List': 'one' });
    headers.append('x-list', 'two');
    const response = await call(`${origin}/a?b=c%20d`, { method: 'POST', headers, body: 'été' });
    expect([response.status, response.ok, response.headers.get('X-List')]).toEqual([200, true, 'a, b']);
    expect(await response.json()).toEqual({
      ...{ method: 'POST', url: '/a?b=c%20d', authorization: 'Bearer x', length: '5', list: 'one, two' },
      body: 'été',
    });
  });

  test('returns an error response, and one without a body', async () => {
    const missing = await call(`${origin}/missing`);
    expect([missing.status, missing.ok, missing.statusText]).toEqual([404, false, 'Not Found']);
    const none = await call(`${origin}/none`);
    expect([none.status, await none.text()]).toEqual([204, '']);
  });

  test('rejects with a TypeError and a cause when the server cannot be reached', async () => {
    const error: unknown = await call(CLOSED_PORT).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(TypeError);
    expect((error as Error).cause).toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('rejects when the body is cut, and with the reason of the signal', async () => {
    const cut = call(`${origin}/cut`).then((response) => response.arrayBuffer());
    await expect(cut).rejects.toThrow(TypeError);
    const reason = new Error('stop');
    const controller = new AbortController();
    const silent = call(`${origin}/silent`, { signal: controller.signal });
    controller.abort(reason);
    await expect(silent).rejects.toBe(reason);
  });
});

test('lightFetch follows no redirect, so that a token goes nowhere else', async () => {
  const error: unknown = await lightFetch(`${origin}/redirect`).catch((reason: unknown) => reason);
  expect((error as Error).cause).toMatchObject({
    message: 'it redirects to https://elsewhere.example/; use that address',
  });
});

test('a request keeps its body when it is repeated with another signal', async () => {
  const first = new LightRequest(`${origin}/a`, { method: 'PUT', body: '{}', headers: { a: 'b' } });
  const body = await first.arrayBuffer();
  expect([first.bodyUsed, first.headers.get('A')]).toEqual([true, 'b']);
  const second = new LightRequest(first, { body });
  expect(await (await lightFetch(second)).json()).toMatchObject({ method: 'PUT', body: '{}', length: '2' });
});

test('a response reads a stream, which the age library passes to it', async () => {
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const text of ['a', 'b']) controller.enqueue(Buffer.from(text));
      controller.close();
    },
  });
  expect(Buffer.from(await new LightResponse(stream).arrayBuffer()).toString()).toBe('ab');
});
