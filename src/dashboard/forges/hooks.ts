/** What forges have in common where webhooks are set up. */
import { ForgeError, orGone } from './forge-error.js';
import type { Hook } from './forge.js';
import type { Rest } from './http/rest.js';

/** GitLab takes 100 of a project, GitHub 20 for each event. */
const MAX_HOOKS = 200;

/** GitHub and Forgejo have the address in a part of its own. */
export interface HookNode {
  readonly id: number;
  readonly url?: string;
  readonly config?: { readonly url?: string };
}

export interface HookPlace {
  /** Of the repository in the REST API. */
  readonly repository: string;
  /** The query for pages as long as the forge gives them. */
  readonly pages: string;
  readonly hook: Hook;
  /** What the credential must be allowed, for people. */
  readonly needs: string;
}

/**
 * Finds the hooks that have the path of the one that is wanted, or a former one, by whichever host they know this
 * server. Those with the path of now come first.
 */
export async function findHooks(rest: Rest, place: HookPlace): Promise<HookNode[]> {
  const { url, formerUrls = [] } = place.hook;
  const paths = [url, ...formerUrls].map(pathnameOf);
  const hooks = await permitted(rest, place, () =>
    rest.list<HookNode>(`${place.repository}/hooks?${place.pages}`, MAX_HOOKS),
  );
  const pathOf = ({ config, url: own }: HookNode) => pathnameOf(config?.url ?? own ?? '');
  return paths.flatMap((path) => hooks.filter((hook) => pathOf(hook) === path));
}

/**
 * Makes a new hook, then deletes the old ones. Where editing leaves things as they were (older servers of Forgejo and
 * Gitea keep the secret and drop events, GitLab keeps a hook switched off that failed too often), this corrects all.
 */
export async function replaceHooks(rest: Rest, place: HookPlace, body: object): Promise<void> {
  const old = await findHooks(rest, place);
  await permitted(rest, place, () => rest.send('POST', `${place.repository}/hooks`, body));
  await deleteHooks(rest, place, old);
}

export async function deleteHooks(
  rest: Rest,
  { repository }: Pick<HookPlace, 'repository'>,
  hooks: readonly HookNode[],
): Promise<void> {
  for (const { id } of hooks) {
    // Somebody else may have deleted it meanwhile.
    await rest.send('DELETE', `${repository}/hooks/${id}`).catch(orGone);
  }
}

/** Forges refuse with 403, or hide hooks of a repository that they show. */
export async function permitted<T>(
  rest: Rest,
  { repository, needs }: Pick<HookPlace, 'needs' | 'repository'>,
  ask: () => Promise<T>,
): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ForgeError) || !['not_found', 'unauthorized'].includes(error.kind)) throw error;
    if (error.kind === 'not_found') await rest.get(repository);
    const { status, cause } = error;
    throw new ForgeError('unauthorized', { status, cause, refusal: 'permission', needs });
  }
}

function pathnameOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).pathname : undefined;
}
