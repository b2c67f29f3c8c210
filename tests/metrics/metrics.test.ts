import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createGauges } from '@trellis/core/telemetry';
import { openMetrics } from '../../src/telemetry/metrics/metrics.js';
import { eventually } from '../eventually.js';
import { type RunningServer, startServer } from '../running-server.js';

const QUERY = 'query Files { allFile { totalCount } }';

/** Returns the value of a sample, such as `up` or `up{job="a"}`; `undefined` if the text has no such sample. */
const findSample = (text: string, sample: string): number | undefined => {
  const line = text.split('\n').find((one) => one.startsWith(`${sample} `));
  return line === undefined ? undefined : Number(line.slice(sample.length));
};

describe('the metrics of a server', () => {
  let server: RunningServer;
  let url: string;
  beforeAll(async () => {
    server = await startServer(['--metrics', '0']);
    await server.printed('The metrics are at');
    url = /http:\S+\/metrics/.exec(server.output())?.[0] ?? '';
  });
  afterAll(() => server.stop());

  const read = async (): Promise<string> => (await fetch(url)).text();

  test('count requests by operation and path template, and never name a path', async () => {
    await fetch(`${server.origin}/graphql?query=${encodeURIComponent(QUERY)}`);
    await fetch(`${server.origin}/api/shared/some-name/dashboard`);
    await fetch(`${server.origin}/nothing/at-all`);
    const text = await read();
    const graphql = 'operation="graphql",route="/graphql"';
    expect(findSample(text, `trellis_http_requests_total{${graphql},method="GET",status="200"}`)).toBe(1);
    expect(findSample(text, `trellis_http_request_duration_seconds_count{${graphql}}`)).toBe(1);
    expect(findSample(text, 'trellis_graphql_operation_duration_seconds_count{name="Files"}')).toBe(1);
    expect(findSample(text, 'trellis_http_response_bytes_total{operation="graphql",route="/graphql"}')).toBeGreaterThan(
      100,
    );
    expect(text).not.toMatch(/some-name|at-all/);
  });

  test('show the process, the site, the boards and the images', async () => {
    const text = await read();
    expect(findSample(text, 'trellis_site_records{type="File"}')).toBe(29);
    expect(findSample(text, 'trellis_board_refreshes{state="due"}')).toBe(0);
    expect(findSample(text, 'trellis_image_jobs{state="waiting"}')).toBe(0);
    expect(findSample(text, 'trellis_audit_lag_seconds')).toBe(0);
    expect(findSample(text, 'nodejs_eventloop_lag_p99_seconds')).toBeGreaterThan(0);
    expect(findSample(text, 'process_resident_memory_bytes')).toBeGreaterThan(1e6);
  });

  test('are at their own address only, which serves nothing else', async () => {
    expect((await fetch(`${server.origin}/metrics`)).status).toBe(404);
    expect((await fetch(url.replace('/metrics', '/healthz'))).status).toBe(404);
    expect((await fetch(url, { method: 'POST' })).status).toBe(404);
  });
});

test('the metrics show the time of the newest scheduled backup, and their interval', async () => {
  const place = await mkdtemp(path.join(tmpdir(), 'trellis-backups-'));
  const server = await startServer([
    '--metrics',
    '0',
    '--services',
    'secrets',
    '--backup',
    place,
    '--backup-hours',
    '12',
  ]);
  try {
    await server.printed('The metrics are at');
    const url = /http:\S+\/metrics/.exec(server.output())?.[0] ?? '';
    const read = async (name: string) => findSample(await (await fetch(url)).text(), `trellis_backup_${name}_seconds`);
    await eventually(async () => expect(await readdir(place)).toEqual([expect.stringMatching(/\.backup$/)]));
    await eventually(async () =>
      expect(Math.abs(Date.now() / 1000 - Number(await read('last_timestamp')))).toBeLessThan(600),
    );
    expect(await read('interval')).toBe(43_200);
  } finally {
    await server.stop();
    await rm(place, { recursive: true });
  }
});

test('TRELLIS_METRICS: a taken port stops the start', async () => {
  const first = await startServer(['--metrics', '0', '--services', 'secrets']);
  try {
    await first.printed('The metrics are at');
    const port = /:(\d+)\/metrics/.exec(first.output())?.[1] ?? '';
    const second = startServer(['--metrics', port, '--services', 'secrets']);
    await expect(second).rejects.toThrow(`TRELLIS_METRICS: can't listen on 127.0.0.1:${port}: EADDRINUSE`);
  } finally {
    await first.stop();
  }
});

describe('openMetrics', () => {
  const request = { requestId: '', method: 'GET', status: 200, seconds: 1, bytes: 1, operation: 'graphql' };

  test('counts GraphQL operations above the first 100 names together', async () => {
    const metrics = await openMetrics({ version: '1.0.0', gauges: createGauges(), report: () => undefined });
    for (let index = 0; index < 150; index += 1) metrics.onComplete({ ...request, queryName: `Q${index}` });
    const { text } = await metrics.read();
    expect(findSample(text, 'trellis_graphql_operation_duration_seconds_count{name="Q99"}')).toBe(1);
    expect(findSample(text, 'trellis_graphql_operation_duration_seconds_count{name="other"}')).toBe(50);
    expect(text).not.toContain('Q100');
  });

  test('reports a gauge that fails, and shows the current values of the others', async () => {
    const gauges = createGauges();
    let values: Record<string, number> = { a: 1, b: 2 };
    const failure = new Error('no database');
    gauges.register(
      { name: 'test_values', help: 'Values.', label: 'of', read: () => values },
      { name: 'test_failing', help: 'Fails.', read: () => Promise.reject(failure) },
    );
    const reported: unknown[] = [];
    const report = (error: unknown): undefined => void reported.push(error);
    const metrics = await openMetrics({ version: '1.0.0', gauges, report });
    expect(findSample((await metrics.read()).text, 'test_values{of="b"}')).toBe(2);
    values = { a: 3 };
    const { text } = await metrics.read();
    expect(findSample(text, 'test_values{of="a"}')).toBe(3);
    expect(text).not.toMatch(/of="b"|^test_failing /m);
    expect(reported).toEqual([failure, failure]);
  });
});
