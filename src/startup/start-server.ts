import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { closeAfterResponses } from '@trellis/server/http/server';
import type { Config } from '../config/config.js';
import { StartupError, toStartupError } from '../config/startup-error.js';
import type { OpenSite } from '../site-data/service.js';
import { type AppOptions, createApp } from './app.js';
import { openServices, type ServicesOptions } from './open-services.js';
import type { Services } from './services.js';

export interface RunningServer {
  readonly server: Server;
  readonly services: Services;
  readonly origin: string;
  readonly close: () => Promise<void>;
}

type StartOptions = Omit<ServicesOptions, 'checkSite' | 'origin'> &
  Pick<AppOptions, 'exchange' | 'onComplete' | 'trace'>;

/** Listens and opens the services. They are available while the site is scanned. */
export async function start(
  config: Config,
  { exchange, onComplete, trace, ...options }: StartOptions,
): Promise<RunningServer> {
  let origin = config.publicUrl ?? '';
  const app = createApp({ config, log: options.log, exchange, onComplete, trace, origin: () => origin });
  // Listens before the site is scanned, which may take a while, so that a port in use is reported at once.
  const address = await listen(app.server, config);
  origin = config.publicUrl ?? localOrigin(address);
  const disconnect = () => app.server.close().closeAllConnections();
  try {
    const services = await open(config, { ...options, checkSite: checkOpenSite, origin: () => origin });
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

/**
 * Announces the stop while requests are still served, and then completes the open ones.
 *
 * @param say Receives a line at each step.
 */
export async function leave(
  { server, services: { readiness } }: Pick<RunningServer, 'server' | 'services'>,
  { drainSeconds }: Pick<Config, 'drainSeconds'>,
  say: (line: string) => void,
): Promise<void> {
  readiness.drain();
  closeAfterResponses(server);
  if (drainSeconds > 0) {
    const time = `${drainSeconds} more second${drainSeconds === 1 ? '' : 's'}`;
    say(`Stopping: serving for ${time}, so that load balancers notice.`);
    await sleep(drainSeconds * 1000);
  }
  say('Stopping: waiting for open requests.');
  readiness.stop();
  await drain(server);
}

/** Reads the module that the application loads for a site as well. */
export async function checkOpenSite(open: OpenSite): Promise<void> {
  const { checkStoredQueries } = await import('../site-data/requests.js');
  checkStoredQueries(open);
}

async function open(config: Config, options: ServicesOptions): Promise<Services> {
  try {
    return await openServices(config, options);
  } catch (error) {
    throw toStartupError(error, config);
  }
}

/** Resolves when the signal aborts. */
export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

/** Open requests are aborted after this time. Supervisors kill a process after some 10 to 30 seconds. */
export const DRAIN_MS = 8_000;

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
