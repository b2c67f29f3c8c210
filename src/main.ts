import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createGauges } from '@trellis/core/gauges';
import type { Log } from '@trellis/server/http/request';
import { closeAfterResponses } from '@trellis/server/http/server';
import { type AppOptions, createApp } from './app.js';
import { type Config, readEnvironment } from './config/config.js';
import { StartupError, toStartupError } from './config/startup-error.js';
import { announce, INSTANCE, openLog, toggleDebug, toScanOutput } from './log.js';
import { startMetrics } from './metrics/start-metrics.js';
import { openServices, type Services, type ServicesOptions } from './services.js';
import { offerSetupLink } from './setup-link.js';
import type { OpenSite } from './site-service.js';
import type { Tracing } from './tracing/tracing.js';

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
    await run(config, { ...options, log, startedAt, signal: stopped.signal });
  } catch (error) {
    throw toStartupError(error, config);
  } finally {
    ignoreSignals().off('SIGUSR2', onToggle);
    log.flush();
  }
}

interface Run extends ServeOptions {
  readonly log: Log;
  readonly startedAt: number;
  readonly signal: AbortSignal;
}

async function run(config: Config, { startedAt, signal, print, ...options }: Run): Promise<void> {
  const { log, version, newDatabase } = options;
  const gauges = createGauges();
  const metrics = config.metrics && (await startMetrics(config.metrics, { gauges, log, version }));
  const tracing = isTracing(readEnvironment()) ? await openTracing(config, version) : undefined;
  const { onStatement, handler: trace } = tracing ?? {};
  try {
    const observed = { log, gauges, onStatement, onComplete: metrics?.onComplete, trace };
    const running = await start(config, {
      ...observed,
      version,
      newDatabase,
      signal,
      terminal: toScanOutput(log, options),
    });
    const { server, services, origin, close } = running;
    try {
      await metrics?.show(services, config.services);
      if (config.services.includes('dashboard')) services.readiness.waitFor(services.dashboard.refresher.start());
      const site = await waitForSite(services, config);
      const lines = describe({ ...services, site }, origin, performance.now() - startedAt);
      if (isOpenToNetwork(config)) lines.push(OPEN_TO_NETWORK(config.host));
      if (metrics) lines.push(`The metrics are at ${metrics.url}`);
      for (const line of lines) announce(log, line);
      const isTerminal = options.output.isTTY;
      const say = (line: string): void => (isTerminal ? print(line) : announce(log, line));
      const offer = { origin, state: config.state, isTerminal, print: say };
      const endOffer = config.hasAccounts ? await offerSetupLink(services.accounts, offer) : undefined;
      await aborted(signal);
      endOffer?.();
      await leave(server, services, { config, log });
    } finally {
      await close();
    }
  } finally {
    metrics?.close();
    // A collector that does not answer must not delay the end for longer than the exporter's timeout.
    await tracing?.close().catch((err: unknown) => log.warn({ err }, 'failed to send traces'));
  }
}

interface RunningServer {
  readonly server: Server;
  readonly services: Services;
  readonly origin: string;
  readonly close: () => Promise<void>;
}

type StartOptions = Omit<ServicesOptions, 'checkSite' | 'origin'> & Pick<AppOptions, 'onComplete' | 'trace'>;

/** Listens and opens the services. They are available while the site is scanned. */
export async function start(config: Config, { onComplete, trace, ...options }: StartOptions): Promise<RunningServer> {
  let origin = config.publicUrl ?? '';
  const app = createApp({ config, log: options.log, onComplete, trace, origin: () => origin });
  // Listens before the site is scanned, which may take a while, so that a port in use is reported at once.
  const address = await listen(app.server, config);
  origin = config.publicUrl ?? localOrigin(address);
  const disconnect = () => app.server.close().closeAllConnections();
  try {
    const services = await open(config, { ...options, checkSite, origin: () => origin });
    try {
      await app.open(services);
    } catch (error) {
      await services.close();
      throw error;
    }
    return { server: app.server, services, origin, close: () => services.close().finally(disconnect) };
  } catch (error) {
    disconnect();
    throw error;
  }
}

/** Announces the stop while requests are still served, and then completes the open ones. */
async function leave(
  server: Server,
  { readiness }: Services,
  { config: { drainSeconds }, log }: { readonly config: Config; readonly log: Log },
): Promise<void> {
  readiness.drain();
  closeAfterResponses(server);
  if (drainSeconds > 0) {
    announce(log, `Stopping: serving for ${count(drainSeconds, 'more second')}, so that load balancers notice.`);
    await sleep(drainSeconds * 1000);
  }
  announce(log, 'Stopping: waiting for open requests.');
  readiness.stop();
  await drain(server);
}

/** Returns whether the standard variables of OpenTelemetry name a collector. */
const isTracing = (env: Readonly<Record<string, string | undefined>>): boolean =>
  env.OTEL_SDK_DISABLED !== 'true' &&
  env.OTEL_TRACES_EXPORTER !== 'none' &&
  Boolean(env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? env.OTEL_EXPORTER_OTLP_ENDPOINT);

/** Loads the module only if it is used. */
async function openTracing({ trustProxy }: Config, version: string): Promise<Tracing> {
  const { startTracing } = await import('./tracing/tracing.js');
  return startTracing({ version, instance: INSTANCE, trustsParents: trustProxy > 0 });
}

/** Reads the module that the application loads for a site as well. */
async function checkSite(open: OpenSite): Promise<void> {
  const { checkStoredQueries } = await import('./site-requests.js');
  checkStoredQueries(open);
}

async function open(config: Config, options: ServicesOptions): Promise<Services> {
  try {
    return await openServices(config, options);
  } catch (error) {
    throw toStartupError(error, config);
  }
}

/** Waits for the first attempt to open the site. A failure ends the startup only if no other service runs. */
async function waitForSite({ site, readiness }: Services, config: Config): Promise<OpenSite | undefined> {
  if (site === undefined) return undefined;
  readiness.waitFor(site.firstAttempt);
  return site.firstAttempt.catch((error: unknown) => {
    if (config.services.length === 1) throw toStartupError(error, config);
    return undefined;
  });
}

interface Started {
  readonly version: string;
  readonly site: OpenSite | undefined;
}

const isOpenToNetwork = ({ services, siteAccess, isLoopback }: Config): boolean =>
  services.includes('site') && siteAccess.kind === 'public' && !isLoopback;

const OPEN_TO_NETWORK = (host: string): string =>
  `Anyone who can reach ${host} can read the site. TRELLIS_SITE_ACCESS=people or token restricts this.`;

function describe({ version, site: open }: Started, origin: string, milliseconds: number): string[] {
  const ready = `Trellis ${version} ready at ${origin}`;
  if (!open) return [`${ready} - started in ${toTime(milliseconds)}.`];
  const { files, directories, images, privateLeftOut, late, milliseconds: scan } = open.site.summary;
  const counts = `${count(files, 'file')} in ${count(directories, 'folder')}, ${count(images, 'image')}`;
  const leftOut = `${count(privateLeftOut, 'private name')} left out (docs/site-data.md, "What visitors can see").`;
  return [
    `${ready} - ${counts}, scanned in ${toTime(scan)}, started in ${toTime(milliseconds)}.`,
    `Explore the site's data at ${origin}/graphql`,
    ...(privateLeftOut > 0 ? [`Site: ${leftOut}`] : []),
    ...(late > 0 ? [`Site: ${count(late, 'large file')} still being read; added to the site afterwards.`] : []),
  ];
}

const count = (number: number, noun: string) => `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;

const toTime = (milliseconds: number) =>
  milliseconds < 100 ? `${Math.ceil(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

/** Open requests are aborted after this time. Supervisors kill a process after some 10 to 30 seconds. */
const DRAIN_MS = 8_000;

const IDLE_CHECK_MS = 50;

interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * Starts to listen.
 *
 * @throws StartError when the port is in use or not permitted, or the address does not belong to this machine.
 */
async function listen(server: Server, { host, port }: ListenAddress): Promise<AddressInfo> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw toStartError(error as NodeJS.ErrnoException, { host, port });
  }
  return server.address() as AddressInfo;
}

function toStartError(error: NodeJS.ErrnoException, { host, port }: ListenAddress): Error {
  const options = { cause: error };
  switch (error.code) {
    case 'EADDRINUSE':
      return new StartupError(`PORT: port ${port} on ${host} is already in use`, options);
    case 'EACCES':
      return new StartupError(`PORT: this user has no permission to open port ${port}`, options);
    case 'EADDRNOTAVAIL':
    case 'EAI_AGAIN':
    case 'ENOTFOUND':
      return new StartupError(`HOST: expected an address of this machine; received "${host}"`, options);
    default:
      return error;
  }
}

/** Returns the origin at which a browser on this machine reaches the server. */
function localOrigin({ address, port, family }: AddressInfo): string {
  const isLocal = ['127.0.0.1', '::1', '0.0.0.0', '::'].includes(address);
  const name = family === 'IPv6' ? `[${address}]` : address;
  return `http://${isLocal ? 'localhost' : name}:${port}`;
}

/** Stops accepting connections, and resolves when all open requests have their response, or after 8 seconds. */
async function drain(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  // A connection becomes idle after its response, and keep-alive would hold it open for the next request.
  const idleCheck = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
  const cutOff = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  await closed;
  clearInterval(idleCheck);
  clearTimeout(cutOff);
}
