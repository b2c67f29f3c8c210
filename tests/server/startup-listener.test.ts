import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createStartupListener } from '../../src/server/http/admission.js';

test('startup listener: responds with 503 until the app is opened', async () => {
  const entrance = createStartupListener();
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
