import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StartupError } from './startup-error.js';

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
export async function listen(server: Server, { host, port }: ListenAddress): Promise<AddressInfo> {
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
export function localOrigin({ address, port, family }: AddressInfo): string {
  const isLocal = ['127.0.0.1', '::1', '0.0.0.0', '::'].includes(address);
  const name = family === 'IPv6' ? `[${address}]` : address;
  return `http://${isLocal ? 'localhost' : name}:${port}`;
}

/** Stops accepting connections, and resolves when all open requests have their response, or after 8 seconds. */
export async function drain(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  // A connection becomes idle after its response, and keep-alive would hold it open for the next request.
  const idleCheck = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
  const cutOff = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  await closed;
  clearInterval(idleCheck);
  clearTimeout(cutOff);
}
