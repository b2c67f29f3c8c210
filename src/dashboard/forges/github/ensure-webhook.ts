import type { WebhookConfig } from '../forge.js';
import { deleteWebhooks, listMatchingWebhooks, withPermissionError } from '../webhooks.js';
import type { RestClient } from '../http/rest.js';
import { toRepositoryPath } from '../repository-path.js';

const EVENTS = ['check_run', 'issues', 'pull_request', 'pull_request_review', 'status'];

const NEEDS =
  'an admin of the repository, with a token with the scope admin:repo_hook, or a token or App that can write webhooks';

/** Creates the webhook or edits the existing one, as GitHub rejects a second webhook with the same URL. */
export async function ensureGithubWebhook(rest: RestClient, fullName: string, hook: WebhookConfig): Promise<void> {
  const place = { repository: toRepositoryPath(fullName), pages: 'per_page=100', hook, needs: NEEDS };
  const config = { url: hook.url, content_type: 'json', secret: hook.secret, insecure_ssl: '0' };
  const wanted = { active: true, events: EVENTS, config };
  const [found, ...others] = await listMatchingWebhooks(rest, place);
  await withPermissionError(rest, place, () =>
    found === undefined
      ? rest.send('POST', `${place.repository}/hooks`, { name: 'web', ...wanted })
      : rest.send('PATCH', `${place.repository}/hooks/${found.id}`, wanted),
  );
  await deleteWebhooks(rest, place, others);
}
