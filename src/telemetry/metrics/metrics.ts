import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Gauge, Gauges } from '@trellis/core/telemetry';
import type { CompletedRequest } from '@trellis/server/http/request';
import type { Gauge as PrometheusGauge, Histogram, Registry } from 'prom-client';

/** The metrics of the process, in the text format of Prometheus. */
export interface Metrics {
  /** Counts a request. */
  onComplete(request: CompletedRequest): void;
  /** Reads all metrics, those of the parts of the server included. */
  read(): Promise<{ readonly type: string; readonly text: string }>;
  /** Reads all metrics as data, for the process that adds those of several. */
  readValues(): Promise<readonly object[]>;
}

/** The metrics of the other processes of a server. */
export interface OtherMetrics {
  /** The metrics of each process that has responded in time, by its id. */
  readonly received: ReadonlyMap<number, readonly object[]>;
  /** Whether a process may respond to a later request. */
  readonly isRunning: (id: number) => boolean;
}

interface MetricsOptions {
  readonly version: string;
  readonly gauges: Gauges;
  /** Receives the error of a gauge that can't be read. The others are shown. */
  readonly report: (error: unknown) => undefined;
  /** Reads the metrics of other processes, which are added to those of this one. */
  readonly readOthers?: () => Promise<OtherMetrics>;
}

/** From a response out of memory to the longest query that is allowed. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Gauges of the package with names of counters, which Prometheus warns about. The same values exist by type. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Loads the package that computes metrics, which servers without metrics do not need. */
export async function openMetrics({ version, gauges, report, readOthers }: MetricsOptions): Promise<Metrics> {
  const client = await import('./prom-client.js');
  const registry = new client.Registry();
  const registers = [registry];
  client.collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  const build = { name: 'trellis_build_info', help: 'The release that runs; always 1.', labelNames: ['version'] };
  new client.Gauge({ ...build, registers, aggregator: 'first' }).set({ version }, 1);
  const byOperation = ['operation', 'route'];
  const requests = new client.Counter({
    name: 'trellis_http_requests_total',
    help: 'Requests by operation, path template, method and status.',
    labelNames: [...byOperation, 'method', 'status'],
    registers,
  });
  const duration = new client.Histogram({
    name: 'trellis_http_request_duration_seconds',
    help: 'Time from the headers of a request to the end of its response, without event streams.',
    labelNames: byOperation,
    buckets: SECONDS,
    registers,
  });
  const bytes = new client.Counter({
    name: 'trellis_http_response_bytes_total',
    help: 'Bytes of responses, headers included.',
    labelNames: byOperation,
    registers,
  });
  const images = new client.Counter({
    name: 'trellis_image_requests_total',
    help: 'Requests for derived images, by where the image came from.',
    labelNames: ['source'],
    registers,
  });
  const queries = createQueryDurations(client.Histogram, registers);
  const addCounters = createCounterMemory((sums) => client.AggregatorRegistry.aggregate([...sums]).getMetricsAsJSON());
  const readGauges = createGaugeReader(client.Gauge, { gauges, report, registry });
  return {
    onComplete({ operation = 'other', route = 'other', isStream, queryName, imageFrom, ...request }) {
      const labels = { operation, route };
      const method = METHODS.includes(request.method) ? request.method : 'other';
      requests.inc({ ...labels, method, status: request.status });
      bytes.inc(labels, request.bytes);
      if (isStream !== true) duration.observe(labels, request.seconds);
      if (imageFrom !== undefined) images.inc({ source: imageFrom });
      if (operation === 'graphql') queries(queryName, request.seconds);
    },
    async read() {
      await readGauges();
      const others = await readOthers?.();
      const all = others
        ? client.AggregatorRegistry.aggregate([await registry.getMetricsAsJSON(), ...(await addCounters(others))])
        : registry;
      return { type: registry.contentType, text: await all.metrics() };
    },
    async readValues() {
      await readGauges();
      return registry.getMetricsAsJSON();
    },
  };
}

type ProcessMetrics = readonly object[];

/**
 * Returns the function that adds the counters of processes that have ended, or did not respond in time, to the metrics of the
 * others. Prometheus takes a sum that decreases for a restart, and counts all requests again.
 */
function createCounterMemory(
  sum: (metrics: readonly ProcessMetrics[]) => Promise<ProcessMetrics>,
): (others: OtherMetrics) => Promise<ProcessMetrics[]> {
  const latest = new Map<number, ProcessMetrics>();
  let ended: Promise<ProcessMetrics> = Promise.resolve([]);
  return async ({ received, isRunning }) => {
    for (const [id, metrics] of received) latest.set(id, metrics.filter(isCounter));
    const missing = [...latest].filter(([id]) => !received.has(id));
    const lost = missing.filter(([id]) => !isRunning(id));
    for (const [id] of lost) latest.delete(id);
    const waiting = missing.filter(([id]) => latest.has(id));
    if (lost.length > 0) ended = ended.then((sums) => sum([sums, ...lost.map(([, metrics]) => metrics)]));
    return [...received.values(), ...waiting.map(([, metrics]) => metrics), await ended];
  };
}

const isCounter = (metric: object): boolean =>
  ['counter', 'histogram'].includes(String((metric as { readonly type?: unknown }).type));

/** Clients choose the names of their operations. Further names count together. */
const MAX_QUERY_NAMES = 100;

/** Returns the function that counts the duration of a GraphQL operation by its name. */
function createQueryDurations(
  Duration: typeof Histogram,
  registers: Registry[],
): (name: string | undefined, seconds: number) => void {
  const names = new Set<string>();
  const duration = new Duration({
    name: 'trellis_graphql_operation_duration_seconds',
    help: `Duration of GraphQL requests by the name of their operation: the first ${MAX_QUERY_NAMES} names, "other", and "none".`,
    labelNames: ['name'],
    buckets: SECONDS,
    registers,
  });
  return (name = 'none', seconds) => {
    if (names.size < MAX_QUERY_NAMES) names.add(name);
    duration.observe({ name: names.has(name) ? name : 'other' }, seconds);
  };
}

/** Returns the function that reads the values of all registered gauges. */
function createGaugeReader(
  ValueGauge: typeof PrometheusGauge,
  { gauges, report, registry }: Pick<MetricsOptions, 'gauges' | 'report'> & { readonly registry: Registry },
): () => Promise<void> {
  const shown = new Map<string, PrometheusGauge>();
  const clear = ({ name, help, label }: Gauge): PrometheusGauge => {
    const labelNames = label === undefined ? [] : [label];
    const gauge = shown.get(name) ?? new ValueGauge({ name, help, labelNames, registers: [registry] });
    shown.set(name, gauge);
    gauge.reset();
    // A gauge without labels is reset to 0 instead of being removed.
    if (label === undefined) gauge.remove();
    return gauge;
  };
  const show = async (gauge: Gauge): Promise<void> => {
    const value = await Promise.resolve(gauge.read()).catch(report);
    const cleared = clear(gauge);
    if (typeof value === 'number') cleared.set(value);
    else for (const [key, one] of Object.entries(value ?? {})) cleared.set({ [gauge.label ?? 'name']: key }, one);
  };
  return async () => {
    await Promise.all(gauges.list().map(show));
  };
}

export interface MetricsServer {
  /** The address that it listens on. */
  readonly url: string;
  close(): void;
}

/**
 * Serves metrics at `/metrics` of an address of their own, so that the public port never shows them.
 *
 * @throws the error of the socket when the address can't be used.
 */
export async function startMetricsServer(
  { host, port }: { readonly host: string; readonly port: number },
  metrics: Pick<Metrics, 'read'>,
): Promise<MetricsServer> {
  const server = createServer({ requestTimeout: 10_000 }, (request, response) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (!isRead || request.url?.split('?')[0] !== '/metrics') {
      response.writeHead(404, { 'Content-Type': 'text/plain' }).end('The metrics are at /metrics.\n');
      return;
    }
    metrics.read().then(
      ({ type, text }) => response.writeHead(200, { 'Content-Type': type, 'Cache-Control': 'no-store' }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  server.listen(port, host);
  await once(server, 'listening');
  // The process ends with the public server.
  server.unref();
  const address = server.address();
  const listening = typeof address === 'object' && address !== null ? address.port : port;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${listening}/metrics`,
    close: () => server.close().closeAllConnections(),
  };
}
