import { ForgeError } from '../forge-error.js';
import type { Forge, Inspection, PullRequestOutcome, PullRequestTarget, WebhookConfig } from '../forge.js';
import type { RestClient } from '../http/rest.js';
import { findMissingPermissions, probeWebhookAccess } from '../permissions.js';
import { withForgeErrors } from '../sanitize.js';
import { replaceWebhooks } from '../webhooks.js';
import { actOnGitlab, GITLAB_ACTIONS } from './actions.js';
import { readGitlabChecks } from './checks.js';
import { readGitlabDetails } from './details.js';
import { readInvolvedMergeRequests } from './involved.js';
import { createGitlabReader } from './reader.js';
import { createGitlabRequests, type GitlabOptions, toProjectPath } from './requests.js';

export interface GitlabForgeOptions extends GitlabOptions {
  readonly rebaseLabel?: string;
}

/** Creates a client for gitlab.com or a self-managed GitLab. */
export function createGitlabForge({ rebaseLabel = 'rebase', ...options }: GitlabForgeOptions): Forge {
  const requests = createGitlabRequests(options);
  const reader = createGitlabReader(requests);
  const forge: Forge = {
    name: 'gitlab',
    actions: GITLAB_ACTIONS,
    quotas: requests.budgets,
    ...reader,
    readInvolved: (...args) => readInvolvedMergeRequests(requests, ...args),
    inspect: () => inspectGitlab(requests, reader.discover),
    readState: (target) => readMergeRequestState(requests, target),
    checks: (target) => readGitlabChecks(requests, target),
    details: (target) => readGitlabDetails(requests, target),
    act: (target, action) => actOnGitlab({ requests, rebaseLabel }, target, action),
    ensureWebhook: (fullName, hook) => ensureGitlabWebhook(requests, fullName, hook),
  };
  return withForgeErrors(forge, options.baseUrl);
}

/** @see Forge.readState */
async function readMergeRequestState(rest: RestClient, target: PullRequestTarget): Promise<PullRequestOutcome> {
  const path = `${toProjectPath(target.fullName)}/merge_requests/${target.number}`;
  const { state } = (await rest.get(path)) as { readonly state: string };
  if (state === 'merged') return 'merged';
  return state === 'closed' ? 'closed' : 'open';
}

const WRITE_PERMISSION = { permission: 'api', purpose: 'to act on merge requests and set up webhooks' };
const READ_PERMISSION = { permission: 'api', purpose: 'to list merge requests and issues and act on them' };

/** Finds the user of a token and its missing permissions. */
async function inspectGitlab(rest: RestClient, discover: Forge['discover']): Promise<Inspection> {
  const { scopes, expires_at = null } = await readToken(rest);
  const expiresAt = expires_at === null ? undefined : Date.parse(expires_at);
  const mayAct = scopes?.includes('api') ?? true;
  if (!mayAct && scopes?.includes('read_api') === false) return { repositories: undefined, missing: [READ_PERMISSION] };
  const { username } = (await rest.get('/user')) as { readonly username: string };
  const repositories = await discover();
  if (!mayAct) return { username, repositories, expiresAt, missing: [WRITE_PERMISSION] };
  const list = (fullName: string) => rest.get(`${toProjectPath(fullName)}/hooks?per_page=1`);
  return {
    username,
    repositories,
    expiresAt,
    missing: await findMissingPermissions(probeWebhookAccess(repositories, 'api', list)),
  };
}

interface TokenNode {
  readonly scopes?: readonly string[];
  /** A day, on which the token expires at midnight UTC. */
  readonly expires_at?: string | null;
}

/** Reads the token. Returns nothing if the server is too old, or the token is not a personal one. */
async function readToken(rest: RestClient): Promise<TokenNode> {
  try {
    return (await rest.get('/personal_access_tokens/self')) as TokenNode;
  } catch (error) {
    if (error instanceof ForgeError && [400, 403, 404].includes(error.status ?? 0)) return {};
    throw error;
  }
}

const NEEDS = 'a maintainer of the project, with a token with the scope api';

/** Creates the webhook with the events of a board. GitLab has one flag per event; `push_events` is on by default. */
async function ensureGitlabWebhook(rest: RestClient, fullName: string, hook: WebhookConfig): Promise<void> {
  const place = { repository: toProjectPath(fullName), pages: 'per_page=100', hook, needs: NEEDS };
  await replaceWebhooks(rest, place, {
    url: hook.url,
    token: hook.secret,
    enable_ssl_verification: true,
    push_events: true,
    merge_requests_events: true,
    note_events: true,
    issues_events: true,
    confidential_issues_events: true,
    pipeline_events: true,
  });
}
