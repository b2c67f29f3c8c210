import { findMissing, probeHooks } from '../inspection.js';
import type { Inspection, Probe } from '../inspection.js';
import type { Forge } from '../forge.js';
import type { Rest } from '../http/rest.js';
import { pathOf } from '../paths.js';

/**
 * Finds the user of a token and its missing permissions, with one read request per scope: the API can't list scopes.
 */
export async function inspectForgejo(rest: Rest, discover: Forge['discover']): Promise<Inspection> {
  const missing = await findMissing(toProbes(rest));
  if (missing.length > 0) return { repositories: undefined, missing };
  const { login } = (await rest.get('/user')) as { readonly login: string };
  const repositories = await discover();
  const list = (fullName: string) => rest.get(`${pathOf(fullName)}/hooks?limit=1`);
  const hooks = await findMissing(probeHooks(repositories, 'write:repository', list));
  return { username: login, repositories, missing: hooks };
}

function toProbes(rest: Rest): Probe[] {
  return [
    { permission: 'read:user', purpose: 'to identify the user', ask: () => rest.get('/user') },
    {
      permission: 'write:repository',
      purpose: 'to list and merge pull requests',
      ask: () => rest.get('/user/repos?limit=1'),
    },
    {
      permission: 'write:issue',
      purpose: 'to list issues, set labels and comment',
      ask: () => rest.get('/repos/issues/search?limit=1'),
    },
  ];
}
