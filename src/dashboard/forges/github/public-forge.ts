import { ForgeError } from '../forge-error.js';
import type { Check, Forge, Target } from '../forge.js';
import { guarded } from '../guarded.js';
import { createRequests } from '../http/requests.js';
import type { RequestsOptions } from '../http/requests.js';
import { createRest } from '../http/rest.js';
import type { Rest } from '../http/rest.js';
import { pathOf } from '../paths.js';
import { toRunState, toSeconds } from './checks.js';
import type { PublicCheckRunNode, PublicPullRequestNode } from './public-nodes.js';
import { createPublicReader, readCheckRuns } from './public-reader.js';
import { GITHUB_API, toDialect } from './requests.js';
import { toGithubWebUrl } from './api-url.js';
import { verifyGithubDelivery } from './verify-delivery.js';

export interface PublicForgeOptions extends RequestsOptions {
  readonly baseUrl?: string | undefined;
  /** The owner of the public repositories. */
  readonly username: string;
}

const TOKEN_PERMISSION = {
  permission: 'a token',
  purpose: 'to read reviews and private repositories and act on pull requests',
};

/** Creates a read-only client for GitHub that sends requests without a credential. */
export function createGithubPublicForge({ baseUrl = GITHUB_API, username, ...options }: PublicForgeOptions): Forge {
  const requests = createRequests(toDialect(), options);
  const rest = createRest(requests, baseUrl);
  const reader = createPublicReader(rest, username);
  const forge: Forge = {
    name: 'github',
    actions: [],
    budgets: requests.budgets,
    ...reader,
    inspect: async () => ({ repositories: await reader.discover(), missing: [TOKEN_PERMISSION] }),
    checks: (target) => readPublicChecks(rest, target),
    act: rejectWithoutToken,
    ensureWebhook: rejectWithoutToken,
    verifyDelivery: verifyGithubDelivery,
  };
  return guarded(forge, toGithubWebUrl(baseUrl));
}

async function readPublicChecks(rest: Rest, { fullName, number }: Target): Promise<Check[]> {
  const { head } = (await rest.get(`${pathOf(fullName)}/pulls/${number}`)) as PublicPullRequestNode;
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
