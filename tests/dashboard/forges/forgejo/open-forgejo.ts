import type { Forge } from '../../../../src/dashboard/forges/forge.js';
import { createForgejoForge } from '../../../../src/dashboard/forges/forgejo/forgejo-forge.js';
import type { ForgejoForgeOptions } from '../../../../src/dashboard/forges/forgejo/forgejo-forge.js';
import type { NewRequest } from '../../../../src/dashboard/request-log.js';
import { FORGEJO_TOKEN, startForgejo } from '../../../forges/forgejo.js';
import type { TestForgejo } from '../../../forges/forgejo.js';
import type { ForgejoRepository } from '../../../forges/forgejo-state.js';

export interface OpenForgejo {
  readonly server: TestForgejo;
  readonly forge: Forge;
  readonly recorded: NewRequest[];
}

/** A client, and the forge that it asks. The caller closes the server. */
export async function openForgejo(
  repositories: readonly ForgejoRepository[] = [],
  options: Partial<ForgejoForgeOptions> = {},
): Promise<OpenForgejo> {
  const server = await startForgejo(repositories);
  const recorded: NewRequest[] = [];
  const record = async (request: NewRequest): Promise<void> => void recorded.push(request);
  const forge = createForgejoForge({ baseUrl: server.url, token: FORGEJO_TOKEN, account: 'mona', record, ...options });
  return { server, forge, recorded };
}
