import { findMissingPermissions, probeWebhookAccess } from '../inspection.js';
import type { Inspection, PermissionProbe } from '../inspection.js';
import type { Forge } from '../forge.js';
import type { RestClient } from '../http/rest.js';
import { toRepositoryPath } from '../repository-path.js';

/**
 * Finds the user of a token and its missing permissions, with one read request per scope: the API can't list scopes.
 */
export async function inspectForgejo(rest: RestClient, discover: Forge['discover']): Promise<Inspection> {
  const missing = await findMissingPermissions(toProbes(rest));
  if (missing.length > 0) return { repositories: undefined, missing };
  const { login } = (await rest.get('/user')) as { readonly login: string };
  const repositories = await discover();
  const list = (fullName: string) => rest.get(`${toRepositoryPath(fullName)}/hooks?limit=1`);
  const hooks = await findMissingPermissions(probeWebhookAccess(repositories, 'write:repository', list));
  return { username: login, repositories, missing: hooks };
}

function toProbes(rest: RestClient): PermissionProbe[] {
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
