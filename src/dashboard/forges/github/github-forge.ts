import type { Forge } from '../forge.js';
import { guarded } from '../guarded.js';
import { actOnGithub, GITHUB_ACTIONS } from './actions.js';
import { readChecks } from './checks.js';
import { ensureGithubWebhook } from './ensure-webhook.js';
import { inspectInstallation, inspectToken } from './inspect.js';
import { toGithubApiUrl, toGithubWebUrl } from './api-url.js';
import { openInstallation } from './app.js';
import type { Installation, InstallationOptions } from './app.js';
import { PERSONAL_REACH, toReach } from './discovery.js';
import { createGithubReader } from './reader.js';
import { readReplies } from './replies.js';
import { createGithubRequests, GITHUB_API } from './requests.js';
import type { GithubOptions } from './requests.js';
import { verifyGithubDelivery } from './verify-delivery.js';

export interface GithubForgeOptions extends GithubOptions {
  readonly rebaseLabel?: string | undefined;
  /** Whose tokens they are, if no person's. */
  readonly installation?: Installation | undefined;
}

/** GitHub as an App sees it that is installed there. */
export function createInstalledForge(options: InstallationOptions & Pick<GithubForgeOptions, 'rebaseLabel'>): Forge {
  const installation = openInstallation(options);
  const baseUrl = toGithubApiUrl(options.app.url);
  return createGithubForge({ ...options, baseUrl, installation, token: installation.token });
}

/** GitHub, or a server of its enterprise edition, with a person's token. */
export function createGithubForge({ rebaseLabel = 'rebase', installation, ...options }: GithubForgeOptions): Forge {
  const requests = createGithubRequests(options);
  const reach = installation === undefined ? PERSONAL_REACH : toReach(installation, requests);
  const reader = createGithubReader(requests, reach);
  const forge: Forge = {
    name: 'github',
    actions: GITHUB_ACTIONS,
    budgets: requests.budgets,
    ...reader,
    inspect: () =>
      installation === undefined
        ? inspectToken(requests, reader.discover)
        : inspectInstallation(installation, { requests, discover: reader.discover }),
    checks: (target) => readChecks(requests, target),
    act: (target, action) => actOnGithub({ requests, rebaseLabel }, target, action),
    readReplies: (comments) => readReplies(requests, comments),
    ensureWebhook: (fullName, hook) => ensureGithubWebhook(requests, fullName, hook),
    verifyDelivery: verifyGithubDelivery,
  };
  return guarded(forge, toGithubWebUrl(options.baseUrl ?? GITHUB_API));
}
