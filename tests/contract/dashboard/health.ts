import type { Stage } from './stage.js';

export function healthTests(stage: () => Stage): void {
  test('getHealth answers anybody', async () => {
    expect((await stage().client().GET('/healthz')).data).toEqual({ status: 'ok' });
  });

  test('getReadiness answers while the database does', async () => {
    const { data } = await stage().client().GET('/readyz');
    expect(data).toMatchObject({ status: 'ok' });
    expect(data!.goroutines).toBeGreaterThan(0);
  });

  test('getVersion answers anybody', async () => {
    expect((await stage().client().GET('/api/version')).data).toEqual({ version: '1.2.3' });
  });
}
