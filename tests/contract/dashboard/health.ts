import type { Stage } from './fixtures.js';

export function healthTests(stage: () => Stage): void {
  test('getHealth: requires no credential', async () => {
    expect((await stage().client().GET('/healthz')).data).toEqual({ status: 'ok' });
  });

  test('getReadiness: returns 200 while the database is available', async () => {
    const { data } = await stage().client().GET('/readyz');
    expect(data).toMatchObject({ status: 'ok' });
    expect(data!.goroutines).toBeGreaterThan(0);
  });

  test('getVersion: requires no credential', async () => {
    expect((await stage().client().GET('/api/version')).data).toEqual({ version: '1.2.3' });
  });
}
