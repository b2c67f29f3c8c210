import {
  createForgejoForge,
  type ForgejoForgeOptions,
} from '../../../../src/dashboard/forges/forgejo/forgejo-forge.js';
import type { ForgejoRepository } from '../../../forges/forgejo-state.js';
import { FORGEJO_TOKEN, startForgejo, type TestForgejo } from '../../../forges/forgejo.js';
import { openForge, type OpenForge } from '../open-forge.js';

export type OpenForgejo = OpenForge<TestForgejo>;

export async function openForgejo(
  repositories: readonly ForgejoRepository[] = [],
  options: Partial<ForgejoForgeOptions> = {},
): Promise<OpenForgejo> {
  const server = await startForgejo(repositories);
  return openForge(server, (shared) => createForgejoForge({ ...shared, token: FORGEJO_TOKEN, ...options }));
}
