import type { Forge } from '../forge.js';
import { withForgeErrors } from '../with-forge-errors.js';
import { actOnGithub, GITHUB_ACTIONS } from './actions.js';
import { readChecks } from './checks.js';
import { ensureGithubWebhook } from './ensure-webhook.js';
import { inspectInstallation, inspectToken } from './inspect.js';
import { toGithubApiUrl, toGithubWebUrl } from './api-url.js';
import { openInstallation } from './app.js';
import type { Installation, InstallationOptions } from './app.js';
import { USER_ACCESS, toRepositoryAccess } from './repository-access.js';
import { createGithubReader } from './reader.js';
import { readBotReplies } from './bot-replies.js';
import { createGithubRequests, GITHUB_API } from './requests.js';
import type { GithubOptions } from './requests.js';
import { verifyGithubDelivery } from './verify-delivery.js';

export interface GithubForgeOptions extends GithubOptions {
  readonly rebaseLabel?: string | undefined;
  /** The App installation that issues the tokens, unless it is a user's token. */
  readonly installation?: Installation | undefined;
}

/** Creates a client for the repositories of an App installation. */
export function createInstallationForge(options: InstallationOptions & Pick<GithubForgeOptions, 'rebaseLabel'>): Forge {
  const installation = openInstallation(options);
  const baseUrl = toGithubApiUrl(options.app.url);
  return createGithubForge({ ...options, baseUrl, installation, token: installation.token });
}

/** Creates a client for GitHub or GitHub Enterprise Server. */
export function createGithubForge({ rebaseLabel = 'rebase', installation, ...options }: GithubForgeOptions): Forge {
  const requests = createGithubRequests(options);
  const reach = installation === undefined ? USER_ACCESS : toRepositoryAccess(installation, requests);
  const reader = createGithubReader(requests, reach);
  const forge: Forge = {
    name: 'github',
    actions: GITHUB_ACTIONS,
    quotas: requests.budgets,
    ...reader,
    inspect: () =>
      installation === undefined
        ? inspectToken(requests, reader.discover)
        : inspectInstallation(installation, { requests, discover: reader.discover }),
    checks: (target) => readChecks(requests, target),
    act: (target, action) => actOnGithub({ requests, rebaseLabel }, target, action),
    readReplies: (comments) => readBotReplies(requests, comments),
    ensureWebhook: (fullName, hook) => ensureGithubWebhook(requests, fullName, hook),
    verifyDelivery: verifyGithubDelivery,
  };
  return withForgeErrors(forge, toGithubWebUrl(options.baseUrl ?? GITHUB_API));
}
