import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import express from 'express';
import { createLog, requestContext } from '../../src/http/request.js';
import { errorHandler, notFoundHandler } from '../../src/http/responses.js';

let server: Server;

beforeAll(async () => {
  const log = createLog({ level: 'error', destination: { write: () => undefined } });
  const app = express().use(requestContext({ log }));
  app.get('/pages/:name', (_request, response) => void response.end());
  app.use('/files', express.static(tmpdir(), { fallthrough: false }), notFoundHandler());
  server = app.use(errorHandler({ log })).listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterAll(() => void server.close());

describe('errorHandler', () => {
  test.each([
    ['a parameter of a page is not UTF-8', '/pages/%ff'],
    ['the name of a file is not UTF-8', '/files/%ff'],
    ['the name of a file has a NUL', '/files/%00'],
  ])('says how to write the path if %s', async (_reason, target) => {
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${target}`);
    expect([response.status, await response.json()]).toEqual([
      400,
      {
        error: 'Expected percent-encoded UTF-8 text without NUL in the path.',
        code: 'invalid_input',
        requestId: expect.any(String) as unknown,
      },
    ]);
  });
});
