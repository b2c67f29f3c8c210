import type { WebhookConfig } from '../forge.js';
import { replaceWebhooks } from '../webhooks.js';
import type { RestClient } from '../http/rest.js';
import { toProjectPath } from './project-path.js';

const NEEDS = 'a maintainer of the project, with a token with the scope api';

/** Creates the webhook with the events of a board. GitLab has one flag per event; `push_events` is on by default. */
export async function ensureGitlabWebhook(rest: RestClient, fullName: string, hook: WebhookConfig): Promise<void> {
  const place = { repository: toProjectPath(fullName), pages: 'per_page=100', hook, needs: NEEDS };
  await replaceWebhooks(rest, place, {
    url: hook.url,
    token: hook.secret,
    enable_ssl_verification: true,
    push_events: true,
    merge_requests_events: true,
    issues_events: true,
    confidential_issues_events: true,
    pipeline_events: true,
  });
}
