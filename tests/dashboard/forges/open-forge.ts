import type { Forge } from '../../../src/dashboard/forges/forge.js';
import { createAddressPolicy, createAgent } from '../../../src/dashboard/forges/http/fetch-response.js';
import type { ForgeRequestsOptions } from '../../../src/dashboard/forges/http/requests.js';
import type { NewRequestLogEntry } from '../../../src/dashboard/request-log.js';
import { LOOPBACK, type ForgeServer } from '../../forges/forge-server.js';

/** Allows connections to loopback, where the test forges run. */
export const agent = createAgent(createAddressPolicy({ allow: LOOPBACK }));

export interface OpenForge<Server> {
  readonly server: Server;
  readonly forge: Forge;
  readonly recorded: NewRequestLogEntry[];
}

/** Creates a client for a test forge. The caller closes the server. */
export function openForge<Server extends ForgeServer>(
  server: Server,
  create: (options: ForgeRequestsOptions & { readonly baseUrl: string }) => Forge,
): OpenForge<Server> {
  const recorded: NewRequestLogEntry[] = [];
  const record = async (request: NewRequestLogEntry): Promise<void> => void recorded.push(request);
  return { server, forge: create({ agent, baseUrl: server.url, account: 'mona', record }), recorded };
}
