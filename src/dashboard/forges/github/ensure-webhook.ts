import type { Hook } from '../forge.js';
import { deleteHooks, findHooks, permitted } from '../hooks.js';
import type { Rest } from '../http/rest.js';
import { pathOf } from '../paths.js';

const EVENTS = ['check_run', 'issues', 'pull_request', 'pull_request_review', 'status'];

const NEEDS =
  'an admin of the repository, with a token with the scope admin:repo_hook, or a token or App that can write webhooks';

/** Creates the webhook or edits the existing one, as GitHub rejects a second webhook with the same URL. */
export async function ensureGithubWebhook(rest: Rest, fullName: string, hook: Hook): Promise<void> {
  const place = { repository: pathOf(fullName), pages: 'per_page=100', hook, needs: NEEDS };
  const config = { url: hook.url, content_type: 'json', secret: hook.secret, insecure_ssl: '0' };
  const wanted = { active: true, events: EVENTS, config };
  const [found, ...others] = await findHooks(rest, place);
  await permitted(rest, place, () =>
    found === undefined
      ? rest.send('POST', `${place.repository}/hooks`, { name: 'web', ...wanted })
      : rest.send('PATCH', `${place.repository}/hooks/${found.id}`, wanted),
  );
  await deleteHooks(rest, place, others);
}
