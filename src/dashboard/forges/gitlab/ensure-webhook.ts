import type { Hook } from '../forge.js';
import { replaceHooks } from '../hooks.js';
import type { Rest } from '../http/rest.js';
import { projectPath } from './project-path.js';

const NEEDS = 'a maintainer of the project, with a token with the scope api';

/** Creates the webhook with the events of a board. GitLab has one flag per event; `push_events` is on by default. */
export async function ensureGitlabWebhook(rest: Rest, fullName: string, hook: Hook): Promise<void> {
  const place = { repository: projectPath(fullName), pages: 'per_page=100', hook, needs: NEEDS };
  await replaceHooks(rest, place, {
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
