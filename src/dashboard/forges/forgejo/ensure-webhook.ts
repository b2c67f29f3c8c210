import type { Hook } from '../forge.js';
import { replaceHooks } from '../hooks.js';
import type { Rest } from '../http/rest.js';
import { pathOf } from '../paths.js';

/**
 * The first two stand for everything of their kind: labels, reviews, comments. That checks ended is a `status` at Gitea
 * and a run of Actions at Forgejo; a server leaves out what it doesn't know.
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

const NEEDS = 'an admin of the repository, by a token with the scope write:repository';

/** The plain kind of hook is called `gitea` on both. */
export async function ensureForgejoWebhook(rest: Rest, fullName: string, hook: Hook): Promise<void> {
  const place = { repository: pathOf(fullName), pages: 'limit=50', hook, needs: NEEDS };
  const config = { url: hook.url, content_type: 'json', secret: hook.secret };
  await replaceHooks(rest, place, { type: 'gitea', active: true, events: EVENTS, branch_filter: '*', config });
}
