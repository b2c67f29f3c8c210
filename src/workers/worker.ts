import cluster from 'node:cluster';
import { createGauges, type Gauges } from '@trellis/core/telemetry';
import { createCountExchange } from '@trellis/server/http/rate-limits';
import type { CompletedRequest } from '@trellis/server/http/request';
import type { Config } from '../config/config.js';
import { toStartupError } from '../config/startup-error.js';
import type { Run } from '../main.js';
import type { Services } from '../startup/services.js';
import { aborted, leave, start } from '../startup/start-server.js';
import { toScanOutput } from '../telemetry/log.js';
import { startConfiguredTracing } from '../telemetry/tracing/configured-tracing.js';
import { connectToPrimary, type PrimaryLink } from './primary-link.js';

/** Serves requests until the primary process, or a signal, stops this worker. */
export async function runWorker(config: Config, run: Run): Promise<void> {
  const primary = connectToPrimary();
  try {
    await serveRequests(await withKeyOfPrimary(config, primary), run, primary);
  } catch (error) {
    const reason = toStartupError(error, config);
    if (!(reason instanceof Error) || reason.name !== 'StartError') run.log.error({ err: error }, 'a worker failed');
    primary.send({ kind: 'failed', message: reason instanceof Error ? reason.message : String(reason) });
    process.exitCode = 1;
  } finally {
    run.log.flush();
    // Ends this process.
    if (process.connected) process.disconnect();
  }
}

/** Only the primary process runs the command that prints the key: it may need a person, or a service that is not always there. */
async function withKeyOfPrimary(config: Config, primary: PrimaryLink): Promise<Config> {
  if (config.serverKeyCommand === undefined) return config;
  const received = new Promise<string | undefined>((resolve) => primary.on('key', ({ key }) => resolve(key)));
  primary.send({ kind: 'key' });
  return { ...config, serverKey: await received };
}

async function serveRequests(config: Config, run: Run, primary: PrimaryLink): Promise<void> {
  const { log, version } = run;
  const stopped = new AbortController();
  const signal = AbortSignal.any([run.signal, stopped.signal]);
  const exchange = createCountExchange((counts) => primary.send({ kind: 'counts', counts }));
  primary.on('stop', () => stopped.abort());
  primary.on('level', ({ level }) => void (log.level = level));
  primary.on('counts', ({ counts }) => exchange.receive(counts));
  const started = new Promise<void>((resolve) => primary.on('started', () => resolve()));
  const gauges = createGauges();
  const metrics = config.metrics && (await openWorkerMetrics(primary, { gauges, log, version }));
  const tracing = await startConfiguredTracing(config, { log, version });
  const { onStatement, handler: trace } = tracing ?? {};
  try {
    const observed = { log, gauges, onStatement, onComplete: metrics?.onComplete, trace };
    const terminal = toScanOutput(log, run);
    const running = await start(config, { ...observed, version, signal, terminal, primary, exchange });
    const { services, origin } = running;
    try {
      await metrics?.show(services, config.services);
      services.readiness.waitFor(started);
      if (services.site) services.readiness.waitFor(services.site.firstAttempt);
      primary.send({ kind: 'listening' });
      primary.send({ kind: 'ready', origin });
      void services.site?.firstAttempt.catch(() => undefined).then(() => primary.send({ kind: 'site-settled' }));
      await aborted(signal);
      await leave(running, config, () => undefined);
    } finally {
      await running.close();
    }
  } finally {
    await tracing?.close().catch((err: unknown) => log.warn({ err }, 'failed to send traces'));
  }
}

type MetricsOptions = Pick<Run, 'log' | 'version'> & { readonly gauges: Gauges };

/** Counts requests, and sends the metrics of this worker when the primary process requests them. */
async function openWorkerMetrics(primary: PrimaryLink, { gauges, log, version }: MetricsOptions) {
  const { openMetrics } = await import('../telemetry/metrics/metrics.js');
  const report = (err: unknown): undefined => {
    log.error({ err }, 'failed to read a metric');
  };
  const metrics = await openMetrics({ version, gauges, report });
  primary.on('metrics', ({ id }) => {
    metrics.readValues().then(
      (values) => primary.send({ kind: 'metrics', id, worker: cluster.worker?.id ?? 0, metrics: values }),
      (err: unknown) => report(err),
    );
  });
  return {
    onComplete: (request: CompletedRequest) => metrics.onComplete(request),
    async show(services: Services, running: readonly string[]) {
      const { listWorkerGauges } = await import('../telemetry/metrics/service-gauges.js');
      gauges.register(...listWorkerGauges(services, running));
    },
  };
}
