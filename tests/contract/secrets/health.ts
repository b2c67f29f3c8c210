import type { Stage } from './fixtures.js';

export function healthTests(stage: () => Stage): void {
  test('getHealth and getReadiness need no credential', async () => {
    const client = stage().client({});
    const { environment } = stage().server;
    expect((await client.GET('/healthz')).data).toEqual({ status: 'ok', version: '1.2.3', environment });
    expect((await client.GET('/readyz')).data).toEqual({ status: 'ok' });
  });
}
