import { randomUUID } from 'node:crypto';
import { serveForge, type TestResponse, type ForgeServer, type RecordedRequest } from './forge-server.js';
import { executeGitlab } from './gitlab-graphql.js';
import type { GitlabMergeRequest, GitlabProject } from './gitlab-state.js';
import {
  handleWebhookRequest,
  deliverTo,
  type DeliveryMetadata,
  type ForgeEvent,
  type HookChange,
  type SignedDelivery,
  type TestHook,
} from './hooks.js';
import { toPage } from './paged.js';
import { handleRoute, type Matched, type Route } from './routes.js';

export const GITLAB_TOKEN = 'glpat-test';

export interface TestGitlab extends ForgeServer {
  /** The state of the forge. Tests may change it at any time. */
  readonly projects: GitlabProject[];
  /** Whether every page of a list is followed by the same page. */
  repeatsPages: boolean;
  /** Fields that an older server doesn't have, such as `Project.isForked`. */
  lacks: string[];
  /** The error of every search by person. */
  searchError: string | undefined;
  /** The scopes of the token. GitLab before 15.5 doesn't report them. */
  scopes: readonly string[] | undefined;
  /** Whether the scopes of the token include webhooks. */
  mayWriteHooks: boolean;
  /** Delivers an event to the subscribed webhooks of a project. Returns the statuses of their responses. */
  deliver(fullName: string, event: Partial<ForgeEvent>): Promise<number[]>;
}

/** Starts a test GitLab with the operations that the client uses. Actions change its state. */
export async function startGitlab(projects: readonly GitlabProject[] = []): Promise<TestGitlab> {
  const answer = async (seen: RecordedRequest): Promise<TestResponse> => {
    if (seen.headers.authorization !== `Bearer ${GITLAB_TOKEN}`) {
      return { status: 401, body: { message: '401 Unauthorized' } };
    }
    return seen.path === '/api/graphql' ? { body: await executeGitlab(seen.body, forge) } : answerRest(seen, forge);
  };
  const reset = String(Math.ceil(Date.now() / 1000) + 60);
  const headersOf = () => ({ 'RateLimit-Limit': '2000', 'RateLimit-Remaining': '1999', 'RateLimit-Reset': reset });
  const server = await serveForge({ forge: 'gitlab', answer, headersOf });
  const forge: TestGitlab = Object.assign(server, {
    projects: [...projects],
    repeatsPages: false,
    lacks: [] as string[],
    searchError: undefined,
    scopes: ['api'] as readonly string[] | undefined,
    mayWriteHooks: true,
    deliver: (fullName: string, { name = 'merge_requests', payload, ...event }: Partial<ForgeEvent>) => {
      const project = forge.projects.find(({ fullPath }) => fullPath === fullName);
      const about = { object_kind: name, project: { path_with_namespace: project?.fullPath }, ...payload };
      return deliverTo(project?.hooks ?? [], { ...event, name, payload: about }, gitlabDelivery);
    },
  });
  return forge;
}

const NOT_FOUND: TestResponse = { status: 404, body: { message: '404 Not found' } };
const refuse = (status: number, message: string): TestResponse => ({ status, body: { message } });

interface Asked {
  readonly seen: RecordedRequest;
  readonly one: GitlabMergeRequest | undefined;
}

const of = (answer: (one: GitlabMergeRequest, seen: RecordedRequest) => TestResponse) => {
  return ({ one, seen }: Asked): TestResponse => (one ? answer(one, seen) : NOT_FOUND);
};

const ROUTES: readonly Route<Asked>[] = [
  ['PUT', /^\/merge_requests\/(\d+)\/merge$/, of(merge)],
  ['PUT', /^\/merge_requests\/(\d+)\/rebase$/, of(rebase)],
  ['POST', /^\/merge_requests\/(\d+)\/cancel_merge_when_pipeline_succeeds$/, of(cancelAutoMerge)],
  ['GET', /^\/merge_requests\/(\d+)$/, of((one) => ({ body: toNode(one) }))],
  ['POST', /^\/merge_requests\/(\d+)\/approve$/, of(approve)],
  ['GET', /^\/merge_requests\/(\d+)\/approvals$/, of(toApprovals)],
  ['POST', /^\/merge_requests\/(\d+)\/notes$/, of(addNote)],
  [
    'GET',
    /^\/merge_requests\/(\d+)\/discussions$/,
    of(({ discussions }, seen) => toPage(discussions, seen, { url: '', size: 'per_page' })),
  ],
  ['PUT', /^\/merge_requests\/(\d+)$/, of(update)],
  ['GET', /^\/pipelines\/(\d+)\/jobs$/, of(listJobs)],
  ['GET', /^\/repository\/commits\/(\w+)\/statuses$/, of(listStatuses)],
  ['POST', /^\/pipelines\/(\d+)\/retry$/, of(retry)],
];

/** Lists the merge requests whose pipelines run in a project, which may be a fork without further state. */
function listPipelines({ projects }: TestGitlab, name: string): GitlabMergeRequest[] {
  return projects.flatMap(({ fullPath, mergeRequests }) =>
    mergeRequests.filter(({ pipelineProject }) => (pipelineProject ?? fullPath) === name),
  );
}

function answerRest(seen: RecordedRequest, forge: TestGitlab): TestResponse {
  if (seen.path === '/api/v4/users')
    return { body: PEOPLE.filter(({ username }) => username === seen.query.get('username')) };
  if (seen.path === '/api/v4/user') return { body: { username: 'mona' } };
  if (seen.path === '/api/v4/personal_access_tokens/self' && forge.scopes) return { body: { scopes: forge.scopes } };
  const [, name = '', path = ''] = /^\/api\/v4\/projects\/([^/]+)(\/.*)?$/.exec(seen.path) ?? [];
  const project = forge.projects.find(({ fullPath }) => fullPath === decodeURIComponent(name));
  if (project && path === '') return { body: { id: project.id, path_with_namespace: project.fullPath } };
  const [, hook] = /^\/hooks(\/\d+|)$/.exec(path) ?? [];
  if (project && hook !== undefined) return handleWebhookRequest(seen, hook, toHookDialect({ seen, forge, project }));
  const isOfPipeline = /^\/(pipelines|repository)\//.test(path);
  const all = isOfPipeline ? listPipelines(forge, decodeURIComponent(name)) : project?.mergeRequests;
  const { method } = seen;
  const find = ({ id }: Matched): Asked => ({
    seen,
    one: all?.find(({ iid, diffHeadSha }) => [String(iid), diffHeadSha].includes(id)),
  });
  return handleRoute(ROUTES, { method, path }, find) ?? NOT_FOUND;
}

interface AboutHooks {
  readonly seen: RecordedRequest;
  readonly forge: TestGitlab;
  readonly project: GitlabProject;
}

const SCOPE = refuse(403, 'insufficient_scope: The request requires higher privileges than provided.');

function toHookDialect({ seen, forge, project }: AboutHooks) {
  const forbidden = project.adminProject ? undefined : refuse(403, '403 Forbidden');
  return {
    refuse: forge.mayWriteHooks ? forbidden : SCOPE,
    hooks: project.hooks,
    toNode: toHookNode,
    page: (nodes: readonly object[]) => toPage(nodes, seen, { url: forge.url, size: 'per_page' }),
    readChange: readHookChange,
    // Editing does not enable a webhook that GitLab disabled after too many failures.
    edit: (hook: TestHook, change: HookChange) => Object.assign(hook, change, { active: hook.active }),
  };
}

/** Returns the webhook without its secret token. */
function toHookNode({ id, url, events, active }: TestHook) {
  const flags = Object.fromEntries(events.map((name) => [`${name}_events`, true]));
  return { id, url, enable_ssl_verification: true, alert_status: active ? 'executable' : 'disabled', ...flags };
}

function readHookChange({ url, token, ...flags }: Record<string, unknown>): HookChange {
  const names = Object.keys(flags).filter((name) => name.endsWith('_events') && flags[name] === true);
  const events = names.map((name) => name.replace(/_events$/, ''));
  return { url: String(url), secret: String(token), events, contentType: 'json', active: true };
}

const bodyOf = ({ body }: RecordedRequest) => JSON.parse(body) as Record<string, unknown>;

function merge(one: GitlabMergeRequest, seen: RecordedRequest): TestResponse {
  const { sha, auto_merge: isAuto } = bodyOf(seen);
  if (one.state !== 'opened') return refuse(405, '405 Method Not Allowed');
  if (sha !== one.diffHeadSha) return refuse(409, 'SHA does not match HEAD of source branch');
  if (one.detailedMergeStatus === 'MERGEABLE') one.state = 'merged';
  else if (isAuto && one.detailedMergeStatus === 'CI_STILL_RUNNING') one.autoMergeEnabled = true;
  else return refuse(405, '405 Method Not Allowed');
  return { body: { iid: one.iid, state: one.state } };
}

function rebase(one: GitlabMergeRequest): TestResponse {
  if (one.conflicts) return refuse(409, 'Rebase failed');
  Object.assign(one, { divergedFromTargetBranch: false });
  return { status: 202, body: { rebase_in_progress: true } };
}

function cancelAutoMerge(one: GitlabMergeRequest): TestResponse {
  if (!one.autoMergeEnabled) return refuse(406, 'Not acceptable');
  one.autoMergeEnabled = false;
  return { status: 201, body: { iid: one.iid } };
}

function update(one: GitlabMergeRequest, seen: RecordedRequest): TestResponse {
  const { state_event, add_labels, remove_labels, reviewer_ids, assignee_ids } = bodyOf(seen);
  if (state_event === 'close') one.state = 'closed';
  for (const title of toNames(add_labels)) one.labels.push({ title, color: '#428bca' });
  one.labels = one.labels.filter(({ title }) => !toNames(remove_labels).includes(title));
  if (Array.isArray(reviewer_ids)) one.reviewers = toUsernames(reviewer_ids);
  if (Array.isArray(assignee_ids)) one.assignees = toUsernames(assignee_ids);
  return { body: toNode(one) };
}

const toNames = (list: unknown): string[] => (typeof list === 'string' ? list.split(',') : []);

const PEOPLE = [
  { id: 1, username: 'mona' },
  { id: 2, username: 'lisa' },
  { id: 3, username: 'ada' },
];

const toUsernames = (ids: readonly unknown[]): string[] =>
  PEOPLE.filter(({ id }) => ids.includes(id)).map(({ username }) => username);

function toNode({ iid, state, reviewers, assignees }: GitlabMergeRequest) {
  const among = (names: readonly string[]) => PEOPLE.filter(({ username }) => names.includes(username));
  return { iid, state, reviewers: among(reviewers), assignees: among(assignees) };
}

/** GitLab rejects a second approval, and that of a commit that is not the newest, with 401 and 409. */
function approve(one: GitlabMergeRequest, seen: RecordedRequest): TestResponse {
  if (bodyOf(seen).sha !== one.diffHeadSha) return refuse(409, 'SHA does not match HEAD of source branch');
  if (one.approvedBy.includes('mona')) return refuse(401, '401 Unauthorized');
  one.approvedBy.push('mona');
  return { status: 201, body: { iid: one.iid } };
}

function toApprovals({ approvedBy }: GitlabMergeRequest): TestResponse {
  const approved_by = approvedBy.map((username) => ({ user: { username } }));
  return { body: { user_has_approved: approvedBy.includes('mona'), approved_by } };
}

function addNote(one: GitlabMergeRequest, seen: RecordedRequest): TestResponse {
  const note = { system: false, body: String(bodyOf(seen).body), createdAt: '2026-05-03T08:00:00Z', username: 'mona' };
  one.notes.push(note);
  return { status: 201, body: { id: one.notes.length, body: note.body } };
}

function listJobs({ jobs }: GitlabMergeRequest): TestResponse {
  return { body: jobs.map((job) => ({ ...job, web_url: `https://gitlab.example/-/jobs/${job.id}` })) };
}

/** Includes the jobs. Older servers ignore `pipeline_id`. */
function listStatuses({ iid, jobs, statuses }: GitlabMergeRequest): TestResponse {
  const times = { target_url: null, started_at: null, finished_at: null };
  const ofJobs = jobs.map(({ id, name, status }) => ({ id, name, status, ...times, pipeline_id: iid }));
  return { body: [...ofJobs, ...statuses] };
}

function retry(one: GitlabMergeRequest): TestResponse {
  if (one.pipeline !== 'FAILED') return refuse(403, '403 Forbidden');
  one.pipeline = 'RUNNING';
  return { status: 201, body: { id: one.iid, status: 'running' } };
}

/** Creates a webhook delivery of GitLab, which contains the secret itself. */
export function gitlabDelivery(
  secret: string,
  payload: object,
  { event = 'Merge Request Hook', delivery = randomUUID() }: DeliveryMetadata = {},
) {
  const headers = { 'x-gitlab-event': event, 'idempotency-key': delivery, 'x-gitlab-token': secret };
  return { body: Buffer.from(JSON.stringify(payload)), headers } satisfies SignedDelivery;
}
