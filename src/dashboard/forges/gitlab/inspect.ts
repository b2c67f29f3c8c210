import { ForgeError } from '../forge-error.js';
import type { Forge } from '../forge.js';
import { findMissing, probeHooks } from '../inspection.js';
import type { Inspection } from '../inspection.js';
import type { Rest } from '../http/rest.js';
import { projectPath } from './project-path.js';

const ACTING = { permission: 'api', purpose: 'to merge, to close, and to set up webhooks' };
const READING = { permission: 'api', purpose: 'to list merge requests and issues, and to act on them' };

export async function inspectGitlab(rest: Rest, discover: Forge['discover']): Promise<Inspection> {
  const scopes = await readScopes(rest);
  const mayAct = scopes?.includes('api') ?? true;
  if (!mayAct && scopes?.includes('read_api') === false) return { repositories: undefined, missing: [READING] };
  const { username } = (await rest.get('/user')) as { readonly username: string };
  const repositories = await discover();
  if (!mayAct) return { username, repositories, missing: [ACTING] };
  const list = (fullName: string) => rest.get(`${projectPath(fullName)}/hooks?per_page=1`);
  return { username, repositories, missing: await findMissing(probeHooks(repositories, 'api', list)) };
}

/** `undefined` where the server is too old to tell, or the token is none of a person's own. */
async function readScopes(rest: Rest): Promise<readonly string[] | undefined> {
  try {
    return ((await rest.get('/personal_access_tokens/self')) as { readonly scopes: readonly string[] }).scopes;
  } catch (error) {
    if (error instanceof ForgeError && [400, 403, 404].includes(error.status ?? 0)) return undefined;
    throw error;
  }
}
