import type { Stage } from './stage.js';

export function healthTests(stage: () => Stage): void {
  test('getHealth and getReadiness answer anybody', async () => {
    const anybody = stage().client({});
    expect((await anybody.GET('/healthz')).data).toEqual({ status: 'ok', version: '1.2.3', environment: 'test' });
    expect((await anybody.GET('/readyz')).data).toEqual({ status: 'ok' });
  });
}
