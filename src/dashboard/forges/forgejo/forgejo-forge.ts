import type { Forge } from '../forge.js';
import { withForgeErrors } from '../with-forge-errors.js';
import { actOnForgejo, FORGEJO_ACTIONS } from './actions.js';
import { readForgejoChecks } from './checks.js';
import { ensureForgejoWebhook } from './ensure-webhook.js';
import { inspectForgejo } from './inspect.js';
import { createForgejoReader } from './reader.js';
import { createForgejoRequests } from './requests.js';
import type { ForgejoOptions } from './requests.js';
import { verifyForgejoDelivery } from './verify-delivery.js';

export interface ForgejoForgeOptions extends ForgejoOptions {
  readonly rebaseLabel?: string | undefined;
}

/** Creates a client for Forgejo or Gitea. */
export function createForgejoForge({ rebaseLabel = 'rebase', ...options }: ForgejoForgeOptions): Forge {
  const rest = createForgejoRequests(options);
  const reader = createForgejoReader(rest);
  const forge: Forge = {
    name: 'forgejo',
    actions: FORGEJO_ACTIONS,
    quotas: {},
    ...reader,
    inspect: () => inspectForgejo(rest, reader.discover),
    checks: (target) => readForgejoChecks(rest, target),
    act: (target, action) => actOnForgejo({ rest, rebaseLabel }, target, action),
    ensureWebhook: (fullName, hook) => ensureForgejoWebhook(rest, fullName, hook),
    verifyDelivery: verifyForgejoDelivery,
  };
  return withForgeErrors(forge, options.baseUrl);
}
