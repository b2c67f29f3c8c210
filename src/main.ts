import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { closeAfterResponses } from '@trellis/server/http/server';
import { createApp } from './app.js';
import type { Config } from './config/config.js';
import { StartupError, toStartupError } from './config/startup-error.js';
import { openServices, type Services, type ServicesOptions } from './services.js';
import { offerSetupLink } from './setup-link.js';
import type { OpenSite } from './site-service.js';

export interface ServeOptions {
  readonly version: string;
  /** Whether an empty database is expected although the state folder was used before. */
  readonly newDatabase?: boolean;
  /** Prints a line when the server is ready and when it stops. */
  readonly print: (line: string) => void;
  /** Whether `print` writes to a terminal; otherwise no secret is printed. */
  readonly isTerminal?: boolean;
  /** The terminal that shows the progress of a long scan. */
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
  const ignoreSignals = () => process.off('SIGTERM', onSignal).off('SIGINT', onSignal);
  const onSignal = () => {
    // The system's reaction to the next signal, whichever it is, is to end the process.
    ignoreSignals();
    stopped.abort();
  };
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  try {
    await run(config, { ...options, startedAt, signal: stopped.signal });
  } catch (error) {
    throw toStartupError(error, config);
  } finally {
    ignoreSignals();
  }
}

interface Run extends ServeOptions {
  readonly startedAt: number;
  readonly signal: AbortSignal;
}

async function run(config: Config, { startedAt, signal, print, isTerminal = false, ...options }: Run): Promise<void> {
  let origin = config.publicUrl ?? '';
  const app = createApp({ config, origin: () => origin });
  // Listens before the site is scanned, which may take a while, so that a port in use is reported at once.
  const address = await listen(app.server, config);
  origin = config.publicUrl ?? localOrigin(address);
  try {
    const services = await open(config, { ...options, signal, checkSite, origin: () => origin });
    try {
      // The other services are available while the site is scanned.
      await app.open(services);
      const { services: running } = config;
      if (running.includes('dashboard')) services.readiness.waitFor(services.dashboard.refresher.start());
      const site = await waitForSite(services, config);
      print(describe({ ...services, site }, origin, performance.now() - startedAt).join('\n'));
      if (isOpenToNetwork(config)) print(OPEN_TO_NETWORK(config.host));
      const offer = { origin, state: config.state, isTerminal, print };
      const endOffer = config.hasAccounts ? await offerSetupLink(services.accounts, offer) : undefined;
      await aborted(signal);
      endOffer?.();
      await leave(app.server, services, { config, print });
    } finally {
      await services.close();
    }
  } finally {
    app.server.close().closeAllConnections();
  }
}

/** Announces the stop while requests are still served, and then completes the open ones. */
async function leave(
  server: Server,
  { readiness }: Services,
  { config: { drainSeconds }, print }: Pick<ServeOptions, 'print'> & { readonly config: Config },
): Promise<void> {
  readiness.drain();
  closeAfterResponses(server);
  if (drainSeconds > 0) {
    print(`Stopping: serving for ${count(drainSeconds, 'more second')}, so that load balancers notice.`);
    await sleep(drainSeconds * 1000);
  }
  print('Stopping: waiting for open requests.');
  readiness.stop();
  await drain(server);
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
