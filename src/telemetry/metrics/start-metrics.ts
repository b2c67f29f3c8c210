import type { Gauges } from '@trellis/core/telemetry';
import type { Log } from '@trellis/server/http/request';
import { StartupError } from '../../config/startup-error.js';
import type { Services } from '../../startup/services.js';
import type { MetricsServer, Metrics, OtherMetrics } from './metrics.js';

interface RunningMetrics extends MetricsServer, Pick<Metrics, 'onComplete'> {
  /** Adds the gauges of the services. */
  show(services: Services, running: readonly string[]): Promise<void>;
}

interface StartMetricsOptions {
  readonly gauges: Gauges;
  readonly log: Log;
  readonly version: string;
  /** Reads the metrics of other processes, which are added to those of this one. */
  readonly readOthers?: () => Promise<OtherMetrics>;
}

interface Address {
  readonly host: string;
  readonly port: number;
}

/**
 * Starts to count requests, and to serve the metrics. The modules are loaded here, because only a server with metrics
 * needs them.
 *
 * @throws StartupError when the address can't be used.
 */
export async function startMetrics(
  address: Address,
  { gauges, log, version, readOthers }: StartMetricsOptions,
): Promise<RunningMetrics> {
  const { openMetrics, startMetricsServer } = await import('./metrics.js');
  const report = (err: unknown): undefined => {
    log.error({ err }, 'failed to read a metric');
  };
  const metrics = await openMetrics({ version, gauges, report, readOthers });
  const server = await startMetricsServer(address, metrics).catch((error: unknown) => {
    throw toStartupError(error as NodeJS.ErrnoException, address);
  });
  return {
    ...server,
    onComplete: (request) => metrics.onComplete(request),
    async show(services, running) {
      const { listServiceGauges } = await import('./service-gauges.js');
      gauges.register(...listServiceGauges(services, running));
    },
  };
}

const toStartupError = (cause: NodeJS.ErrnoException, { host, port }: Address): StartupError =>
  new StartupError(`TRELLIS_METRICS: can't listen on ${host}:${port}: ${cause.code ?? cause.message}`, { cause });
