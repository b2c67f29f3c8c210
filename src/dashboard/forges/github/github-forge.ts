import type { Forge } from '../forge.js';
import { guarded } from '../guarded.js';
import { actOnGithub, GITHUB_ACTIONS } from './actions.js';
import { readChecks } from './checks.js';
import { ensureGithubWebhook } from './ensure-webhook.js';
import { createGithubReader } from './reader.js';
import { createGithubRequests } from './requests.js';
import type { GithubOptions } from './requests.js';
import { verifyGithubDelivery } from './verify-delivery.js';

export interface GithubForgeOptions extends GithubOptions {
  readonly rebaseLabel?: string | undefined;
}

/** GitHub, or a server of its enterprise edition, with a person's token. */
export function createGithubForge({ rebaseLabel = 'rebase', ...options }: GithubForgeOptions): Forge {
  const requests = createGithubRequests(options);
  return guarded({
    name: 'github',
    actions: GITHUB_ACTIONS,
    budgets: requests.budgets,
    ...createGithubReader(requests),
    checks: (target) => readChecks(requests, target),
    act: (target, action) => actOnGithub({ requests, rebaseLabel }, target, action),
    ensureWebhook: (fullName, hook) => ensureGithubWebhook(requests, fullName, hook),
    verifyDelivery: verifyGithubDelivery,
  });
}
