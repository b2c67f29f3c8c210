/** Shared steps for setting up webhooks at a forge. */
import { ForgeError, undefinedIfNotFound } from './forge-error.js';
import type { WebhookConfig, ForgeRepository, MissingPermission } from './forge.js';
import type { RestClient } from './http/requests.js';

/** Above the limits of the forges: GitLab allows 100 per project, GitHub 20 per event. */
const MAX_HOOKS = 200;

/** A webhook in a response. GitHub and Forgejo nest its URL in `config`. */
interface WebhookNode {
  readonly id: number;
  readonly url?: string;
  readonly config?: { readonly url?: string };
}

interface WebhookRequest {
  /** The path of the repository in the REST API. */
  readonly repository: string;
  /** The query parameter for the largest page size that the forge allows. */
  readonly pages: string;
  readonly hook: WebhookConfig;
  /** The required permission, for users. */
  readonly needs: string;
}

/**
 * Finds the webhooks with the path of the given hook or of one of its former URLs, on any host. Webhooks with the
 * current path come first.
 */
export async function listMatchingWebhooks(rest: RestClient, place: WebhookRequest): Promise<WebhookNode[]> {
  const { url, formerUrls = [] } = place.hook;
  const paths = [url, ...formerUrls].map(pathnameOf);
  const hooks = await withPermissionError(rest, place, () =>
    rest.list<WebhookNode>(`${place.repository}/hooks?${place.pages}`, MAX_HOOKS),
  );
  const pathOf = ({ config, url: own }: WebhookNode) => pathnameOf(config?.url ?? own ?? '');
  return paths.flatMap((path) => hooks.filter((hook) => pathOf(hook) === path));
}

/**
 * Creates a new webhook, then deletes the old ones. Editing would not correct every fault: older releases of Forgejo
 * and Gitea keep the secret and drop events, and GitLab leaves a webhook disabled that failed too often.
 */
export async function replaceWebhooks(rest: RestClient, place: WebhookRequest, body: object): Promise<void> {
  const old = await listMatchingWebhooks(rest, place);
  await withPermissionError(rest, place, () => rest.send('POST', `${place.repository}/hooks`, body));
  await deleteWebhooks(rest, place, old);
}

export async function deleteWebhooks(
  rest: RestClient,
  { repository }: Pick<WebhookRequest, 'repository'>,
  hooks: readonly WebhookNode[],
): Promise<void> {
  for (const { id } of hooks) {
    // Another client may have deleted it since.
    await rest.send('DELETE', `${repository}/hooks/${id}`).catch(undefinedIfNotFound);
  }
}

/**
 * Converts a permission error to one that names the permission. Forges respond with 403, or with 404 to hide webhooks.
 */
export async function withPermissionError<T>(
  rest: RestClient,
  { repository, needs }: Pick<WebhookRequest, 'needs' | 'repository'>,
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

/** A read request that shows whether the credential has a permission. */
export interface PermissionProbe extends MissingPermission {
  readonly ask: () => Promise<unknown>;
}

/** Sends the request of each probe and returns the permissions of those that the forge rejected. */
export async function findMissingPermissions(probes: readonly PermissionProbe[]): Promise<MissingPermission[]> {
  const missing: MissingPermission[] = [];
  for (const { ask, permission, purpose } of probes) {
    if (await isRefused(ask)) missing.push({ permission, purpose });
  }
  return missing;
}

/** Some forges respond with 404 to a missing permission. 401 means that the credential itself is invalid. */
async function isRefused(ask: PermissionProbe['ask']): Promise<boolean> {
  try {
    await ask();
    return false;
  } catch (error) {
    if (error instanceof ForgeError && /^(not_found|unauthorized)$/.test(error.kind) && error.status !== 401)
      return true;
    throw error;
  }
}

/** Returns a probe that lists the webhooks of one repository where the user can manage them, or an empty list. */
export function probeWebhookAccess(
  repositories: readonly ForgeRepository[],
  permission: string,
  list: (fullName: string) => Promise<unknown>,
): PermissionProbe[] {
  const one = repositories.find(({ canManageWebhooks }) => canManageWebhooks);
  if (one === undefined) return [];
  return [{ permission, purpose: 'to set up webhooks', ask: () => list(one.fullName) }];
}
