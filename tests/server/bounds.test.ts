import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { requestBounds } from '../../src/server/bounds.js';
import { errorHandler } from '../../src/server/errors.js';
import { createLog } from '../../src/server/log.js';
import { requestContext } from '../../src/server/request-context.js';

const log = createLog({ level: 'silent' });

async function statusFor(host: string, onlyHost: string | undefined): Promise<number | undefined> {
  const app = express().use(requestContext({ log }), requestBounds({ onlyHost }));
  app.get('/', (_request, response) => void response.send('ok'));
  app.use(errorHandler({ log }));
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const sent = request({ host: '127.0.0.1', port, headers: { host }, agent: false }).end();
  const [response] = (await once(sent, 'response')) as [{ statusCode?: number; resume(): void }];
  response.resume();
  server.close();
  return response.statusCode;
}

test.each([
  ['localhost:4000', 'localhost', 200],
  ['127.0.0.1:4000', 'localhost', 200],
  ['[::1]:4000', 'localhost', 200],
  ['LOCALHOST', 'localhost', 200],
  ['trellis.example.org', 'trellis.example.org', 200],
  ['evil.example', 'localhost', 400],
  ['localhost.evil.example', 'localhost', 400],
  ['127.0.0.1.evil.example', 'localhost', 400],
  ['evil.example', undefined, 200],
])('a request to %s, where %s is served, is answered %i', async (host, onlyHost, status) => {
  expect(await statusFor(host, onlyHost)).toBe(status);
});
