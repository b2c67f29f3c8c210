import type { Hook } from '../forge.js';
import { replaceHooks } from '../hooks.js';
import type { Rest } from '../http/rest.js';
import { pathOf } from '../paths.js';

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
export async function ensureForgejoWebhook(rest: Rest, fullName: string, hook: Hook): Promise<void> {
  const place = { repository: pathOf(fullName), pages: 'limit=50', hook, needs: NEEDS };
  const config = { url: hook.url, content_type: 'json', secret: hook.secret };
  await replaceHooks(rest, place, { type: 'gitea', active: true, events: EVENTS, branch_filter: '*', config });
}
