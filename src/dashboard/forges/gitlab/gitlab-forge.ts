import type { Forge } from '../forge.js';
import { withForgeErrors } from '../with-forge-errors.js';
import { actOnGitlab, GITLAB_ACTIONS } from './actions.js';
import { readGitlabChecks } from './checks.js';
import { ensureGitlabWebhook } from './ensure-webhook.js';
import { inspectGitlab } from './inspect.js';
import { createGitlabReader } from './reader.js';
import { createGitlabRequests } from './requests.js';
import type { GitlabOptions } from './requests.js';
import { verifyGitlabDelivery } from './verify-delivery.js';

export interface GitlabForgeOptions extends GitlabOptions {
  readonly rebaseLabel?: string | undefined;
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
    inspect: () => inspectGitlab(requests, reader.discover),
    checks: (target) => readGitlabChecks(requests, target),
    act: (target, action) => actOnGitlab({ requests, rebaseLabel }, target, action),
    ensureWebhook: (fullName, hook) => ensureGitlabWebhook(requests, fullName, hook),
    verifyDelivery: verifyGitlabDelivery,
  };
  return withForgeErrors(forge, options.baseUrl);
}
