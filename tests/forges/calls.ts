/** The REST calls that Trellis sends to forges. `docs/forge-calls.md` lists them with the documents that have them. */
import type { ForgeName } from '../../src/dashboard/forges/forge.js';

/** A call: the method, the path as the document of the forge writes it, and what it is for. */
export type Call = readonly [method: string, template: string, purpose: string];

const repository = (rest: string): string => `/repos/{owner}/{repo}${rest}`;
const project = (rest: string): string => `/projects/{id}${rest}`;

export const CALLS: Readonly<Record<ForgeName, readonly Call[]>> = {
  github: [
    ['GET', '/user', 'find the user of a token and its scopes'],
    ['POST', '/app/installations/{installation_id}/access_tokens', 'get a token of an App installation'],
    ['GET', '/issues', 'find the repositories with changed pull requests and issues'],
    ['GET', '/installation/repositories', 'list the repositories of an App installation'],
    ['GET', '/users/{username}/repos', 'list repositories without a token'],
    ['GET', '/search/issues', 'find changes without a token'],
    ['GET', repository(''), 'read a repository without a token, check access to it'],
    ['GET', repository('/issues'), 'list issues without a token, check access to them'],
    ['GET', repository('/pulls'), 'list pull requests without a token, check access to them'],
    ['GET', repository('/pulls/{pull_number}'), 'read the state of a pull request'],
    ['GET', repository('/commits/{ref}/check-runs'), 'read checks without a token'],
    ['GET', repository('/actions/jobs/{job_id}'), 'find the failed step of a check'],
    ['GET', repository('/actions/jobs/{job_id}/logs'), 'read the end of a log'],
    ['POST', repository('/actions/runs/{run_id}/rerun-failed-jobs'), 'rerun failed checks'],
    ['GET', repository('/rules/branches/{branch}'), 'find the merge methods that rulesets allow'],
    ['PUT', repository('/pulls/{pull_number}/merge'), 'merge'],
    ['PUT', repository('/pulls/{pull_number}/update-branch'), 'update a branch'],
    ['PATCH', repository('/pulls/{pull_number}'), 'close'],
    ['POST', repository('/pulls/{pull_number}/reviews'), 'submit a review'],
    ['POST', repository('/pulls/{pull_number}/requested_reviewers'), 'request reviews'],
    ['DELETE', repository('/pulls/{pull_number}/requested_reviewers'), 'cancel requests for reviews'],
    ['POST', repository('/issues/{issue_number}/assignees'), 'assign'],
    ['DELETE', repository('/issues/{issue_number}/assignees'), 'remove assignees'],
    ['POST', repository('/issues/{issue_number}/comments'), 'send a command to Dependabot'],
    ['POST', repository('/issues/{issue_number}/labels'), 'add labels, ask Renovate to rebase'],
    ['DELETE', repository('/issues/{issue_number}/labels/{name}'), 'remove a label'],
    ['GET', repository('/hooks'), 'find the webhook, check access to webhooks'],
    ['POST', repository('/hooks'), 'create the webhook'],
    ['PATCH', repository('/hooks/{hook_id}'), 'correct the webhook'],
    ['DELETE', repository('/hooks/{hook_id}'), 'delete a webhook with a former address'],
  ],
  forgejo: [
    ['GET', '/user', 'find the user of a token'],
    ['GET', '/user/repos', 'list repositories'],
    ['GET', '/repos/issues/search', 'find changes, and pull requests of the user elsewhere'],
    ['GET', repository(''), 'read a repository'],
    ['GET', repository('/issues'), 'list issues'],
    ['GET', repository('/pulls'), 'list pull requests'],
    ['GET', repository('/pulls/{index}'), 'read a pull request'],
    ['GET', repository('/pulls/{index}/reviews'), 'read reviews'],
    ['GET', repository('/pulls/{index}/reviews/{id}/comments'), 'read threads'],
    ['GET', repository('/issues/{index}/comments'), 'read comments'],
    ['GET', repository('/issues/{index}/timeline'), 'read review history'],
    ['GET', repository('/commits/{ref}/status'), 'read the CI status'],
    ['GET', repository('/actions/runs'), 'find the workflow runs of a commit'],
    ['GET', repository('/actions/runs/{run}/jobs'), 'read the jobs of a workflow run'],
    ['POST', repository('/actions/runs/{run}/rerun-failed-jobs'), 'rerun failed checks'],
    ['GET', repository('/labels'), 'find labels'],
    ['GET', '/orgs/{org}/labels', 'find labels of the organization'],
    ['POST', repository('/issues/{index}/labels'), 'add labels, ask Renovate to rebase'],
    ['DELETE', repository('/issues/{index}/labels/{id}'), 'remove a label'],
    ['POST', repository('/pulls/{index}/reviews'), 'submit a review'],
    ['POST', repository('/pulls/{index}/requested_reviewers'), 'request reviews'],
    ['DELETE', repository('/pulls/{index}/requested_reviewers'), 'cancel requests for reviews'],
    ['POST', repository('/pulls/{index}/merge'), 'merge'],
    ['POST', repository('/pulls/{index}/update'), 'update a branch'],
    ['PATCH', repository('/pulls/{index}'), 'close, change assignees'],
    ['GET', repository('/hooks'), 'find the webhook, check access to webhooks'],
    ['POST', repository('/hooks'), 'create the webhook'],
    ['DELETE', repository('/hooks/{id}'), 'delete a previous webhook'],
  ],
  gitlab: [
    ['GET', '/user', 'find the user of a token'],
    ['GET', '/personal_access_tokens/self', 'read the scopes and the expiry of a token'],
    ['GET', project(''), 'check access to a project'],
    ['GET', project('/merge_requests/{iid}'), 'read the state and the people of a merge request'],
    ['GET', project('/merge_requests/{iid}/discussions'), 'read threads and comments'],
    ['GET', project('/pipelines/{pipeline_id}/jobs'), 'read checks'],
    ['GET', project('/repository/commits/{sha}/statuses'), 'read the statuses of a pipeline that are not jobs'],
    ['POST', project('/pipelines/{pipeline_id}/retry'), 'rerun failed checks'],
    ['PUT', project('/merge_requests/{iid}/merge'), 'merge, merge automatically'],
    ['POST', project('/merge_requests/{iid}/cancel_merge_when_pipeline_succeeds'), 'cancel auto-merge'],
    ['PUT', project('/merge_requests/{iid}/rebase'), 'update a branch'],
    ['PUT', project('/merge_requests/{iid}'), 'close, change people and labels, ask Renovate to rebase'],
    ['POST', project('/merge_requests/{iid}/approve'), 'approve'],
    ['GET', project('/merge_requests/{iid}/approvals'), 'find out whether the user has approved'],
    ['POST', project('/merge_requests/{iid}/notes'), 'comment'],
    ['GET', '/users', 'find a reviewer or an assignee'],
    ['GET', project('/hooks'), 'find the webhook, check access to webhooks'],
    ['POST', project('/hooks'), 'create the webhook'],
    ['DELETE', project('/hooks/{hook_id}'), 'delete a previous webhook'],
  ],
};

/** Returns the call of a request; `undefined` if none of the listed ones matches. */
export function findCall(forge: ForgeName, method: string, path: string): Call | undefined {
  const own = path.replace(/^(\/[^/]+)?\/api(\/v\d)?(?=\/)/, '');
  return CALLS[forge].find((call) => call[0] === method && toPattern(call[1]).test(own));
}

const toPattern = (template: string): RegExp => new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
