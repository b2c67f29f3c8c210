import { ForgeError } from '../forge-error.js';
import type { Forge } from '../forge.js';
import { findMissingPermissions, probeWebhookAccess } from '../inspection.js';
import type { Inspection } from '../inspection.js';
import type { RestClient } from '../http/rest.js';
import { toProjectPath } from './project-path.js';

const WRITE_PERMISSION = { permission: 'api', purpose: 'to act on merge requests and set up webhooks' };
const READ_PERMISSION = { permission: 'api', purpose: 'to list merge requests and issues and act on them' };

/** Finds the user of a token and its missing permissions. */
export async function inspectGitlab(rest: RestClient, discover: Forge['discover']): Promise<Inspection> {
  const scopes = await readScopes(rest);
  const mayAct = scopes?.includes('api') ?? true;
  if (!mayAct && scopes?.includes('read_api') === false) return { repositories: undefined, missing: [READ_PERMISSION] };
  const { username } = (await rest.get('/user')) as { readonly username: string };
  const repositories = await discover();
  if (!mayAct) return { username, repositories, missing: [WRITE_PERMISSION] };
  const list = (fullName: string) => rest.get(`${toProjectPath(fullName)}/hooks?per_page=1`);
  return {
    username,
    repositories,
    missing: await findMissingPermissions(probeWebhookAccess(repositories, 'api', list)),
  };
}

/** Reads the scopes of the token. Returns `undefined` if the server is too old, or the token is not a personal one. */
async function readScopes(rest: RestClient): Promise<readonly string[] | undefined> {
  try {
    return ((await rest.get('/personal_access_tokens/self')) as { readonly scopes: readonly string[] }).scopes;
  } catch (error) {
    if (error instanceof ForgeError && [400, 403, 404].includes(error.status ?? 0)) return undefined;
    throw error;
  }
}
