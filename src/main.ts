import cluster from 'node:cluster';
import { createGauges } from '@trellis/core/telemetry';
import type { Log } from '@trellis/server/http/request';
import type { Config } from './config/config.js';
import { toStartupError } from './config/startup-error.js';
import { reportReady } from './startup/report.js';
import { aborted, leave, start } from './startup/start-server.js';
import { announce, openLog, toggleDebug, toScanOutput } from './telemetry/log.js';
import { startMetrics } from './telemetry/metrics/start-metrics.js';
import { startConfiguredTracing } from './telemetry/tracing/configured-tracing.js';

export interface ServeOptions {
  readonly version: string;
  /** Whether an empty database is expected although the state folder was used before. */
  readonly newDatabase?: boolean;
  /** Prints the link that creates the first account on a terminal. */
  readonly print: (line: string) => void;
  /** Receives the log: as text if it is a terminal, else as lines of JSON. */
  readonly output: NodeJS.WriteStream;
  /** Shows the progress of a long scan, if the log goes to a terminal. */
  readonly terminal: NodeJS.WriteStream;
}

/**
 * Serves until SIGTERM or SIGINT, then completes the open requests and returns. A second signal ends the process at
 * once.
 *
 * @throws StartError when the site or the state folder can't be used, or the port is in use.
 */
export async function serve(config: Config, options: ServeOptions): Promise<void> {
  const startedAt = performance.now();
  const stopped = new AbortController();
  const log = openLog(config, options);
  const onToggle = () => toggleDebug(log, config.logLevel);
  const ignoreSignals = () => process.off('SIGTERM', onSignal).off('SIGINT', onSignal);
  const onSignal = () => {
    // The system's reaction to the next signal, whichever it is, is to end the process.
    ignoreSignals();
    stopped.abort();
  };
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal).on('SIGUSR2', onToggle);
  try {
    const run = await findRun(config);
    await run(config, { ...options, log, startedAt, signal: stopped.signal });
  } catch (error) {
    throw toStartupError(error, config);
  } finally {
    ignoreSignals().off('SIGUSR2', onToggle);
    log.flush();
  }
}

/** The start of a server, until a signal aborts it. */
export interface Run extends ServeOptions {
  readonly log: Log;
  /** When the process started, on the clock of `performance.now()`. */
  readonly startedAt: number;
  readonly signal: AbortSignal;
}

/** Returns the function that runs this process: alone, as one of several workers, or as the process that starts them. */
async function findRun({ workers }: Config): Promise<(config: Config, run: Run) => Promise<void>> {
  if (workers === 1) return runAlone;
  // Loaded late, as most servers have no workers.
  return cluster.isPrimary
    ? (await import('./workers/primary.js')).runPrimary
    : (await import('./workers/worker.js')).runWorker;
}

async function runAlone(config: Config, { startedAt, signal, print, ...options }: Run): Promise<void> {
  const { log, version, newDatabase } = options;
  const gauges = createGauges();
  const metrics = config.metrics && (await startMetrics(config.metrics, { gauges, log, version }));
  const tracing = await startConfiguredTracing(config, { log, version });
  const { onStatement, handler: trace } = tracing ?? {};
  try {
    const observed = { log, gauges, onStatement, onComplete: metrics?.onComplete, trace };
    const terminal = toScanOutput(log, options);
    const running = await start(config, { ...observed, version, newDatabase, signal, terminal });
    const { services, origin } = running;
    try {
      await metrics?.show(services, config.services);
      if (config.services.includes('dashboard')) {
        services.dashboard.histories.start();
        services.readiness.waitFor(services.dashboard.refresher.start());
        services.dashboard.notifications.worker.start();
      }
      const endOffer = await reportReady(services, config, {
        ...{ log, origin, startedAt, metricsUrl: metrics?.url },
        print: options.output.isTTY ? print : undefined,
      });
      await aborted(signal);
      endOffer();
      await leave(running, config, (line) => announce(log, line));
    } finally {
      await running.close();
    }
  } finally {
    metrics?.close();
    await tracing?.close().catch((err: unknown) => log.warn({ err }, 'failed to send traces'));
  }
}
