import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { createHostCheck, createStartupListener, type HostRules, requestBounds } from '../../src/http/admission.js';
import { createLog, requestContext } from '../../src/http/request.js';
import { errorHandler } from '../../src/http/responses.js';

const log = createLog({ level: 'silent' });

async function statusFor(host: string, rules: HostRules, path = '/'): Promise<number | undefined> {
  const app = express().use(requestContext({ log }), requestBounds({ isAllowedHost: createHostCheck(rules) }));
  app.get('/*rest', (_request, response) => void response.send('ok'));
  app.get('/', (_request, response) => void response.send('ok'));
  app.use(errorHandler({ log }));
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const sent = request({ host: '127.0.0.1', port, path, headers: { host }, agent: false }).end();
  const [response] = (await once(sent, 'response')) as [{ statusCode?: number; resume(): void }];
  response.resume();
  server.close();
  return response.statusCode;
}

const local: HostRules = { isLoopback: true, publicUrl: undefined, allowedHosts: [] };
const open: HostRules = { isLoopback: false, publicUrl: undefined, allowedHosts: [] };
const named: HostRules = { ...open, publicUrl: 'https://trellis.example.org' };

describe('the host check', () => {
  test.each([
    ['a loopback name', 'localhost:4000', 200],
    ['a loopback address', '127.0.0.1:4000', 200],
    ['the IPv6 loopback address', '[::1]:4000', 200],
    ['capitals', 'LOCALHOST', 200],
    ['a foreign name', 'evil.example', 400],
    ['a name that begins with localhost', 'localhost.evil.example', 400],
    ['a name that begins with a loopback address', '127.0.0.1.evil.example', 400],
    ['an address of the network', '10.0.0.5:4000', 400],
    ['a name without a dot, which a hostile network may resolve', 'trellis:4000', 400],
  ])('on loopback: %s', async (_reason, host, status) => {
    expect(await statusFor(host, local)).toBe(status);
  });

  test('on loopback: accepts the name of PUBLIC_URL, as behind a proxy', async () => {
    expect(await statusFor('trellis.example.org', { ...named, isLoopback: true })).toBe(200);
  });

  test.each([
    ['its name', 'trellis.example.org', 200],
    ['its name with a port', 'trellis.example.org:8443', 200],
    ['a loopback name, as of a probe', 'localhost:4000', 200],
    ['an address, as of a load balancer', '10.0.0.5:4000', 200],
    ['an IPv6 address', '[2001:db8::1]:4000', 200],
    ['a name without a dot, as of a container', 'trellis:4000', 200],
    ['a foreign name', 'evil.example', 400],
    ['a name below its own', 'evil.trellis.example.org', 400],
    ['a name that begins with an address', '10.0.0.5.evil.example', 400],
    ['brackets around a name', '[evil.example]', 400],
  ])('on a network with PUBLIC_URL: %s', async (_reason, host, status) => {
    expect(await statusFor(host, named)).toBe(status);
  });

  test.each([
    ['/healthz', 200],
    ['/readyz', 200],
    ['/healthz/../graphql', 400],
    ['/graphql', 400],
  ])('on a network with PUBLIC_URL, the response to %s by an unknown name has status %i', async (path, status) => {
    expect(await statusFor('pod.internal.example', named, path)).toBe(status);
  });

  test('also accepts the names of TRELLIS_ALLOWED_HOSTS', async () => {
    const rules = { ...named, allowedHosts: ['trellis.internal.example'] };
    expect(await statusFor('Trellis.internal.example:4000', rules)).toBe(200);
    expect(await statusFor('trellis.example.org', rules)).toBe(200);
    expect(await statusFor('evil.example', rules)).toBe(400);
    expect(await statusFor('evil.example', { ...rules, publicUrl: undefined })).toBe(400);
  });

  test('on a network without a configured name, accepts every name', async () => {
    expect(await statusFor('evil.example', open)).toBe(200);
  });
});

test('startup listener: responds with 503 until the app is opened', async () => {
  const entrance = createStartupListener({ log });
  const server = createServer(entrance.listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const send = () =>
    fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`, { method: 'POST', body: 'x' });
  try {
    const early = await send();
    expect(early.status).toBe(503);
    expect(early.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(await early.json()).toEqual({
      error: 'The server is starting. Retry shortly.',
      code: 'unavailable',
      requestId: early.headers.get('x-request-id'),
    });
    entrance.open((_request, response) => response.end('inside'));
    await expect((await send()).text()).resolves.toBe('inside');
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
