import cluster from 'node:cluster';
import { setTimeout as delay } from 'node:timers/promises';
import { createGauges } from '@trellis/core/telemetry';
import { createCountHub } from '@trellis/server/http/rate-limits';
import type { RecordChange } from '@trellis/site/record-changes';
import type { Config } from '../config/config.js';
import { withServerKey } from '../config/server-key-command.js';
import { StartupError } from '../config/startup-error.js';
import type { Run } from '../main.js';
import type { SharingSiteService } from '../site-data/service.js';
import { openServices } from '../startup/open-services.js';
import { reportReady } from '../startup/report.js';
import type { Services } from '../startup/services.js';
import { aborted, checkOpenSite, DRAIN_MS } from '../startup/start-server.js';
import { announce, toScanOutput } from '../telemetry/log.js';
import type { OtherMetrics } from '../telemetry/metrics/metrics.js';
import { startMetrics } from '../telemetry/metrics/start-metrics.js';
import type { FromWorker, ToWorker } from './primary-link.js';
import { startWorkers, type WorkerPool } from './worker-pool.js';

/** The longest time that a worker may take beyond the drain time, to close its databases and its bucket. */
const CLOSE_MS = 10_000;

/** The longest time that workers may take to open the records of the site, which this process has scanned. */
const SETTLE_MS = 30_000;

/** How often the status of the cleanup, and problems of the site that came without a change, are sent. */
const STATUS_MS = 1_000;

/**
 * Starts the workers, which serve the requests. This process owns the state folder: it migrates the database, scans and
 * watches the site, and runs the schedules.
 */
export async function runPrimary(settings: Config, run: Run): Promise<void> {
  const config = await withServerKey(settings, { signal: run.signal });
  const { log, version, newDatabase, signal } = run;
  const gauges = createGauges();
  let pool: WorkerPool | undefined;
  const broadcast = (message: ToWorker): void => pool?.broadcast(message);
  const requests = createMetricsRequests((id) => broadcast({ kind: 'metrics', id }));
  const metrics =
    config.metrics &&
    (await startMetrics(config.metrics, { gauges, log, version, readOthers: () => requests.read(pool?.readyCount) }));
  let origin = config.publicUrl ?? '';
  let site: SharingSiteService | undefined;
  const services = await openServices(config, {
    ...{ log, gauges, version, newDatabase, signal, checkSite: checkOpenSite, origin: () => origin },
    terminal: toScanOutput(log, run),
    onSite: (opened) => (site = opened),
    onShared: (what, change) => site && broadcast(what === 'site' ? toSite(site) : toRecords(site, change)),
  });
  const stopStatus = sendStatus(services, () => site, broadcast);
  const onLevel = (): void => broadcast({ kind: 'level', level: log.level });
  process.on('SIGUSR2', onLevel);
  try {
    const { refresher, histories, notifications } = services.dashboard;
    const hasDashboard = config.services.includes('dashboard');
    if (hasDashboard) histories.start();
    const started = hasDashboard ? refresher.start() : Promise.resolve();
    if (hasDashboard) notifications.worker.start();
    let isStarted = false;
    void started.then(() => {
      isStarted = true;
      broadcast({ kind: 'started' });
    });
    const answer = createAnswers(services, () => site, {
      broadcast,
      onMetrics: (message) => requests.receive(message),
    });
    pool = startWorkers({
      count: config.workers,
      log,
      onMessage(message, reply) {
        answer(message);
        if (message.kind === 'key') reply({ kind: 'key', key: config.serverKey });
        if (message.kind !== 'listening') return;
        if (site) reply(toSite(site));
        reply({ kind: 'cleanup', status: services.cleanup.status });
        reply({ kind: 'level', level: log.level });
        if (isStarted) reply({ kind: 'started' });
      },
    });
    const { ready, siteSettled } = pool;
    gauges.register(...poolGauges(pool));
    try {
      await metrics?.show(services, config.services);
      const first = await Promise.race([ready.catch(throwStartupError), aborted(signal)]);
      if (first !== undefined) {
        origin = first;
        const endOffer = await reportReady(services, config, {
          ...{ log, origin, startedAt: run.startedAt, metricsUrl: metrics?.url },
          print: run.output.isTTY ? run.print : undefined,
          // The workers open the site after this process. A worker that can't has logged the reason.
          waitForOthers: () =>
            Promise.race([siteSettled, aborted(signal), delay(SETTLE_MS, undefined, { ref: false })]),
        });
        await aborted(signal);
        endOffer();
      }
      announce(log, 'Stopping: the workers complete their open requests.');
    } finally {
      await pool.stop(config.drainSeconds * 1000 + DRAIN_MS + CLOSE_MS);
    }
  } finally {
    process.off('SIGUSR2', onLevel);
    stopStatus();
    await services.close();
    metrics?.close();
  }
}

function throwStartupError(error: Error): never {
  throw new StartupError(error.message, { cause: error });
}

const toSite = (site: SharingSiteService): ToWorker => ({ kind: 'site', site: site.share() });

function toRecords(site: SharingSiteService, change?: RecordChange): ToWorker {
  const shared = site.share();
  if (shared.status !== 'open') return { kind: 'site', site: shared };
  return { kind: 'records', changedAt: shared.changedAt, problems: shared.problems, ...(change && { change }) };
}

interface AnswerOptions {
  readonly broadcast: (message: ToWorker) => void;
  readonly onMetrics: (message: FromWorker & { readonly kind: 'metrics' }) => void;
}

/** Returns the function that handles the requests of workers to this process. */
function createAnswers(
  services: Pick<Services, 'cleanup'>,
  findSite: () => SharingSiteService | undefined,
  { broadcast, onMetrics }: AnswerOptions,
): (message: FromWorker) => void {
  const addCounts = createCountHub((counts) => broadcast({ kind: 'counts', counts }));
  return (message) => {
    switch (message.kind) {
      case 'cleanup':
        services.cleanup.runNow();
        break;
      case 'counts':
        addCounts(message.counts);
        break;
      case 'damage':
        findSite()?.replaceDamaged(message.reason);
        break;
      case 'digest':
        findSite()?.readDigest(message.pending);
        break;
      case 'index':
        findSite()?.makeIndex(message.key);
        break;
      case 'metrics':
        onMetrics(message);
        break;
      case 'failed':
      case 'key':
      case 'listening':
      case 'ready':
      case 'site-settled':
    }
  };
}

/** Sends what changes without an event, if it differs. @returns the function that stops. */
function sendStatus(
  { cleanup }: Pick<Services, 'cleanup'>,
  findSite: () => SharingSiteService | undefined,
  broadcast: (message: ToWorker) => void,
): () => void {
  const last = new Map<string, string>();
  const sendChanged = (message: ToWorker): void => {
    const text = JSON.stringify(message);
    if (last.get(message.kind) === text) return;
    last.set(message.kind, text);
    broadcast(message);
  };
  const timer = setInterval(() => {
    const site = findSite();
    sendChanged({ kind: 'cleanup', status: cleanup.status });
    if (site?.share().status === 'open') sendChanged(toRecords(site));
  }, STATUS_MS).unref();
  return () => clearInterval(timer);
}

const poolGauges = (pool: WorkerPool) => [
  { name: 'trellis_workers', help: 'Workers that serve requests.', read: () => pool.readyCount },
  {
    name: 'trellis_worker_failures',
    help: 'Workers that have ended unexpectedly since the start.',
    read: () => pool.failures,
  },
];

/** Counters of a worker that takes longer are those of its previous response, and its other values are left out. */
const TIMEOUT_MS = 2_000;

interface PendingRead {
  readonly received: Map<number, readonly object[]>;
  readonly expected: number;
  readonly end: () => void;
}

/** Requests the metrics of the workers. */
export function createMetricsRequests(request: (id: number) => void) {
  const pending = new Map<number, PendingRead>();
  let last = 0;
  return {
    /** Returns the metrics of each worker that responds in time. */
    async read(expected = 0): Promise<OtherMetrics> {
      last += 1;
      const id = last;
      const received = new Map<number, readonly object[]>();
      const others = { received, isRunning: (worker: number) => cluster.workers?.[worker] !== undefined };
      if (expected === 0) return others;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, TIMEOUT_MS);
        const end = (): void => {
          clearTimeout(timer);
          resolve();
        };
        pending.set(id, { received, expected, end });
        request(id);
      });
      pending.delete(id);
      return others;
    },
    receive({ id, worker, metrics }: FromWorker & { readonly kind: 'metrics' }): void {
      const read = pending.get(id);
      if (read === undefined) return;
      read.received.set(worker, metrics);
      if (read.received.size === read.expected) read.end();
    },
  };
}
