import { ForgeError } from '../forge-error.js';
import type { Check, Forge, PullRequestTarget } from '../forge.js';
import { withForgeErrors } from '../with-forge-errors.js';
import { createForgeRequests } from '../http/requests.js';
import type { ForgeRequestsOptions } from '../http/requests.js';
import { createRestClient } from '../http/rest.js';
import type { RestClient } from '../http/rest.js';
import { toRepositoryPath } from '../repository-path.js';
import { toRunState, toSeconds } from './checks.js';
import type { PublicCheckRunNode, PublicPullRequestNode } from './anonymous-nodes.js';
import { createAnonymousReader, readCheckRuns } from './anonymous-reader.js';
import { GITHUB_API, toGithubProtocol } from './requests.js';
import { toGithubWebUrl } from './api-url.js';
import { verifyGithubDelivery } from './verify-delivery.js';

export interface AnonymousForgeOptions extends ForgeRequestsOptions {
  readonly baseUrl?: string | undefined;
  /** The owner of the public repositories. */
  readonly username: string;
}

const TOKEN_PERMISSION = {
  permission: 'a token',
  purpose: 'to read reviews and private repositories and act on pull requests',
};

/** Creates a read-only client for GitHub that sends requests without a credential. */
export function createAnonymousGithubForge({
  baseUrl = GITHUB_API,
  username,
  ...options
}: AnonymousForgeOptions): Forge {
  const requests = createForgeRequests(toGithubProtocol(), options);
  const rest = createRestClient(requests, baseUrl);
  const reader = createAnonymousReader(rest, username);
  const forge: Forge = {
    name: 'github',
    actions: [],
    quotas: requests.budgets,
    ...reader,
    inspect: async () => ({ repositories: await reader.discover(), missing: [TOKEN_PERMISSION] }),
    checks: (target) => readPublicChecks(rest, target),
    act: rejectWithoutToken,
    ensureWebhook: rejectWithoutToken,
    verifyDelivery: verifyGithubDelivery,
  };
  return withForgeErrors(forge, toGithubWebUrl(baseUrl));
}

async function readPublicChecks(rest: RestClient, { fullName, number }: PullRequestTarget): Promise<Check[]> {
  const { head } = (await rest.get(`${toRepositoryPath(fullName)}/pulls/${number}`)) as PublicPullRequestNode;
  return (await readCheckRuns(rest, fullName, head.sha)).map(toCheck);
}

function toCheck(node: PublicCheckRunNode): Check {
  const { name, html_url, details_url, status, conclusion, started_at, completed_at } = node;
  const durationSeconds = toSeconds(started_at, completed_at);
  const duration = durationSeconds === undefined ? {} : { durationSeconds };
  const state = toRunState(status.toUpperCase(), conclusion?.toUpperCase());
  return { name, url: details_url ?? html_url ?? '', state, ...duration };
}

async function rejectWithoutToken(): Promise<never> {
  const needs = "a GitHub token in the settings, or an installation of this server's GitHub App";
  return Promise.reject(new ForgeError('unauthorized', { refusal: 'permission', needs }));
}
