import { createAddressPolicy } from '../../../src/dashboard/forges/http/address-policy.js';
import { createAgent } from '../../../src/dashboard/forges/http/exchange.js';
import type { Forge } from '../../../src/dashboard/forges/forge.js';
import type { RequestsOptions } from '../../../src/dashboard/forges/http/requests.js';
import type { NewRequest } from '../../../src/dashboard/request-log.js';
import { LOOPBACK } from '../../forges/forge-server.js';
import type { ForgeServer } from '../../forges/forge-server.js';

/** Allows connections to loopback, where the test forges run. */
export const dispatcher = createAgent(createAddressPolicy({ allow: LOOPBACK }));

export interface OpenForge<Server> {
  readonly server: Server;
  readonly forge: Forge;
  readonly recorded: NewRequest[];
}

/** Creates a client for a test forge. The caller closes the server. */
export function openForge<Server extends ForgeServer>(
  server: Server,
  create: (options: RequestsOptions & { readonly baseUrl: string }) => Forge,
): OpenForge<Server> {
  const recorded: NewRequest[] = [];
  const record = async (request: NewRequest): Promise<void> => void recorded.push(request);
  return { server, forge: create({ dispatcher, baseUrl: server.url, account: 'mona', record }), recorded };
}
