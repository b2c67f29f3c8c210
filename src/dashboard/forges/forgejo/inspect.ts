import { findMissing, probeHooks } from '../inspection.js';
import type { Inspection, Probe } from '../inspection.js';
import type { Forge } from '../forge.js';
import type { Rest } from '../http/rest.js';
import { pathOf } from '../paths.js';

/** A token's scopes are told by nobody; of each, what it reads is asked for. */
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
    { permission: 'read:user', purpose: 'to know whose repositories there are', ask: () => rest.get('/user') },
    {
      permission: 'write:repository',
      purpose: 'to list pull requests and merge them',
      ask: () => rest.get('/user/repos?limit=1'),
    },
    {
      permission: 'write:issue',
      purpose: 'to list issues, and to label and comment',
      ask: () => rest.get('/repos/issues/search?limit=1'),
    },
  ];
}
