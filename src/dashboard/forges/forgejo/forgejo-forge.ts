import type { Forge, Inspection, WebhookConfig } from '../forge.js';
import type { ForgeResponse } from '../http/fetch-response.js';
import { createForgeRequests, type ForgeRequestsOptions, type LimitScope, readRetryAfter } from '../http/requests.js';
import { createRestClient, type RestClient } from '../http/rest.js';
import { findMissingPermissions, type PermissionProbe, probeWebhookAccess } from '../permissions.js';
import { toRepositoryPath } from '../read-repositories.js';
import { readPullRequestState } from '../read-state.js';
import { withForgeErrors } from '../sanitize.js';
import { replaceWebhooks } from '../webhooks.js';
import { actOnForgejo, FORGEJO_ACTIONS } from './actions.js';
import { readForgejoChecks } from './checks.js';
import { readForgejoDetails } from './details.js';
import { createForgejoReader } from './reader.js';

export interface ForgejoForgeOptions extends ForgejoOptions {
  readonly rebaseLabel?: string;
}

/** Creates a client for Forgejo or Gitea. */
export function createForgejoForge({ rebaseLabel = 'rebase', ...options }: ForgejoForgeOptions): Forge {
  const rest = createForgejoRequests(options);
  const reader = createForgejoReader(rest, options.baseUrl);
  const forge: Forge = {
    name: 'forgejo',
    actions: FORGEJO_ACTIONS,
    quotas: {},
    ...reader,
    inspect: () => inspectForgejo(rest, reader.discover),
    readState: (target) => readPullRequestState(rest, target),
    checks: (target) => readForgejoChecks(rest, target),
    details: (target) => readForgejoDetails(rest, target),
    act: (target, action) => actOnForgejo({ rest, rebaseLabel }, target, action),
    ensureWebhook: (fullName, hook) => ensureForgejoWebhook(rest, fullName, hook),
  };
  return withForgeErrors(forge, options.baseUrl);
}

interface ForgejoOptions extends ForgeRequestsOptions {
  /** The URL of the forge's pages. The API is below it. */
  readonly baseUrl: string;
  readonly token: string;
}

/** The pause after a rate limit error without a reset time, from Forgejo or a proxy. */
const DEFAULT_PAUSE_MS = 60_000;

function createForgejoRequests({ baseUrl, token, ...options }: ForgejoOptions): RestClient {
  const headers = {
    Authorization: `token ${token}`,
    Accept: 'application/json',
    'Content-Type': 'application/json',
    'User-Agent': 'trellis',
  };
  // Forgejo reports no API quotas.
  const dialect = { forge: 'forgejo', headers, readBudget: () => undefined, findLimit } as const;
  return createRestClient(createForgeRequests(dialect, options), `${baseUrl}/api/v1`);
}

function findLimit({ status, headers }: ForgeResponse, at: number): LimitScope | undefined {
  if (status !== 429) return undefined;
  return { of: 'all', until: readRetryAfter(headers, at) ?? at + DEFAULT_PAUSE_MS };
}

/**
 * Finds the user of a token and its missing permissions, with one read request per scope: the API can't list scopes.
 */
async function inspectForgejo(rest: RestClient, discover: Forge['discover']): Promise<Inspection> {
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

/**
 * The first two include all events of their kind, such as labels, reviews and comments. Finished checks are `status`
 * events at Gitea and `action_run_*` events at Forgejo. A server ignores events that it doesn't know.
 */
const EVENTS = [
  'issues',
  'pull_request',
  'push',
  'status',
  'action_run_failure',
  'action_run_recover',
  'action_run_success',
];

const NEEDS = 'an admin of the repository, with a token with the scope write:repository';

/** Creates the webhook with the events of a board. Its generic type is called `gitea` at Forgejo too. */
async function ensureForgejoWebhook(rest: RestClient, fullName: string, hook: WebhookConfig): Promise<void> {
  const place = { repository: toRepositoryPath(fullName), pages: 'limit=50', hook, needs: NEEDS };
  const config = { url: hook.url, content_type: 'json', secret: hook.secret };
  await replaceWebhooks(rest, place, { type: 'gitea', active: true, events: EVENTS, branch_filter: '*', config });
}
