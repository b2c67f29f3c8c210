import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StartError } from './start-error.js';

/** What is still under way after this is cut off; supervisors kill after some ten to thirty seconds. */
const DRAIN_MS = 8_000;

const SWEEP_MS = 50;

interface Place {
  readonly host: string;
  readonly port: number;
}

/** @throws StartError when the port is taken, or the address is not this machine's. */
export async function listen(server: Server, { host, port }: Place): Promise<AddressInfo> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw toStartError(error as NodeJS.ErrnoException, { host, port });
  }
  return server.address() as AddressInfo;
}

function toStartError(error: NodeJS.ErrnoException, { host, port }: Place): Error {
  const options = { cause: error };
  switch (error.code) {
    case 'EADDRINUSE':
      return new StartError(`PORT: expected a free port; ${port} at ${host} is taken by another process`, options);
    case 'EACCES':
      return new StartError(`PORT: expected a port that this user may open; ${port} is not`, options);
    case 'EADDRNOTAVAIL':
    case 'EAI_AGAIN':
    case 'ENOTFOUND':
      return new StartError(`HOST: expected an address of this machine; received "${host}"`, options);
    default:
      return error;
  }
}

/** Where a browser on this machine finds the server. */
export function localOrigin({ address, port, family }: AddressInfo): string {
  const isLocal = ['127.0.0.1', '::1', '0.0.0.0', '::'].includes(address);
  const name = family === 'IPv6' ? `[${address}]` : address;
  return `http://${isLocal ? 'localhost' : name}:${port}`;
}

/** Takes no new connection, and ends when the requests under way are answered, or after eight seconds. */
export async function drain(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  // A connection that falls idle after its answer would be kept open for the next request.
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
  const cutOff = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  await closed;
  clearInterval(sweep);
  clearTimeout(cutOff);
}
