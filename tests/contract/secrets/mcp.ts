import type { Stage } from './fixtures.js';

export function mcpTests(stage: () => Stage): void {
  // The protocol defines the content of messages, not the contract.
  const call = (message: object) =>
    stage()
      .client()
      .POST('/mcp', { body: { jsonrpc: '2.0', ...message } });

  test('callMcp returns JSON for a request', async () => {
    const { data, response } = await call({ id: 1, method: 'tools/list' });
    expect([response.status, data]).toMatchObject([
      200,
      { jsonrpc: '2.0', id: 1, result: { tools: expect.any(Array) as object } },
    ]);
  });

  test('callMcp: returns 202 for a notification', async () => {
    expect((await call({ method: 'notifications/initialized' })).response.status).toBe(202);
  });

  test('callMcp: returns 405 for methods other than POST', async () => {
    const response = await fetch(`${stage().server.url}/secrets/mcp`, {
      headers: { authorization: `Bearer ${stage().token}`, accept: 'text/event-stream' },
    });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
  });
}
