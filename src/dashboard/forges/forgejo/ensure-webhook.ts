import type { WebhookConfig } from '../forge.js';
import { replaceWebhooks } from '../webhooks.js';
import type { RestClient } from '../http/rest.js';
import { toRepositoryPath } from '../repository-path.js';

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
export async function ensureForgejoWebhook(rest: RestClient, fullName: string, hook: WebhookConfig): Promise<void> {
  const place = { repository: toRepositoryPath(fullName), pages: 'limit=50', hook, needs: NEEDS };
  const config = { url: hook.url, content_type: 'json', secret: hook.secret };
  await replaceWebhooks(rest, place, { type: 'gitea', active: true, events: EVENTS, branch_filter: '*', config });
}
