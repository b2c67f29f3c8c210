import { createHmac, randomUUID } from 'node:crypto';
import { serveForge, type TestResponse, type ForgeServer, type RecordedRequest } from './forge-server.js';
import { toIssueNode, toPullRequestNode, toRepositoryNode, toReviewNodes } from './forgejo-nodes.js';
import type { ForgejoIssue, ForgejoPullRequest, ForgejoRepository } from './forgejo-state.js';
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

export const FORGEJO_TOKEN = 'forgejo-test';

export interface TestForgejo extends ForgeServer {
  /** The state of the forge. Tests may change it at any time. */
  readonly repositories: ForgejoRepository[];
  /** The format of job lists: a bare list, wrapped in an object, or none on servers without Actions in the API. */
  jobs: 'bare' | 'none' | 'wrapped';
  /** Whether the API can rerun checks, as recent releases of Gitea can. */
  reruns: boolean;
  /** Whether every page of a list is followed by the same page. */
  repeatsPages: boolean;
  /** The response to every search by person. */
  searchError: TestResponse | undefined;
  /** Whether the scopes of the token include webhooks. */
  mayWriteHooks: boolean;
  /** Whether the scopes of the token include organizations. */
  mayReadOrganizations: boolean;
  /** Delivers an event to the subscribed webhooks of a repository. Returns the statuses of their responses. */
  deliver(fullName: string, event: Partial<ForgeEvent>): Promise<number[]>;
}

/** Starts a test Forgejo with the operations that the client uses. Actions change its state. */
export async function startForgejo(repositories: readonly ForgejoRepository[] = []): Promise<TestForgejo> {
  const answer = (seen: RecordedRequest): TestResponse => {
    if (seen.headers.authorization !== `token ${FORGEJO_TOKEN}`) {
      return { status: 401, body: { message: 'user does not exist' } };
    }
    return answerForgejo(seen, forge);
  };
  const server = await serveForge({ forge: 'forgejo', answer, headersOf: () => ({}) });
  const forge: TestForgejo = Object.assign(server, {
    repositories: [...repositories],
    jobs: 'wrapped' as const,
    reruns: false,
    repeatsPages: false,
    searchError: undefined,
    mayWriteHooks: true,
    mayReadOrganizations: true,
    deliver: (fullName: string, { name = 'pull_request', payload, ...event }: Partial<ForgeEvent>) => {
      const repository = findRepository(forge, fullName);
      const about = { action: 'synchronized', repository: { full_name: repository?.fullName }, ...payload };
      return deliverTo(repository?.hooks ?? [], { ...event, name, payload: about }, forgejoDelivery);
    },
  });
  return forge;
}

const NOT_FOUND: TestResponse = { status: 404, body: { message: 'The target couldn’t be found.' } };

interface Found extends Matched {
  readonly seen: RecordedRequest;
  readonly forge: TestForgejo;
  readonly repository: ForgejoRepository;
}

const ROUTES: readonly Route<Found>[] = [
  ['GET', /^$/, ({ repository, forge }) => ({ body: toRepositoryNode(repository, forge.url) })],
  ['*', /^\/hooks()(\/\d+|)$/, hooks],
  ['GET', /^\/labels$/, ({ repository, seen, forge }) => unlinked(repository.labels, seen, forge)],
  ['GET', /^\/pulls$/, listPullRequests],
  ['GET', /^\/issues$/, listIssues],
  ['GET', /^\/pulls\/(\d+)$/, ofPullRequest((one, found) => ({ body: toNode(one, found) }))],
  [
    'GET',
    /^\/pulls\/(\d+)\/reviews$/,
    ofPullRequest((one, { seen, forge }) => unlinked(toReviewNodes(one), seen, forge)),
  ],
  ['GET', /^\/pulls\/(\d+)\/reviews(\/\d+)\/comments$/, ofPullRequest(listReviewComments)],
  ['GET', /^\/issues\/(\d+)\/comments$/, ofPullRequest(({ comments }) => ({ body: comments }))],
  ['GET', /^\/issues\/(\d+)\/timeline$/, ofPullRequest(listTimeline)],
  ['GET', /^\/commits\/(\w+)\/status$/, ofHead(combineStatuses)],
  ['GET', /^\/actions\/runs$/, listRuns],
  ['GET', /^\/actions\/runs\/(\d+)\/jobs$/, ofPullRequest(listJobs)],
  ['POST', /^\/actions\/runs\/(\d+)\/rerun-failed-jobs$/, ofPullRequest(rerun)],
  ['PATCH', /^\/pulls\/(\d+)$/, ofPullRequest(change)],
  ['POST', /^\/pulls\/(\d+)\/reviews$/, ofPullRequest(review)],
  ['POST', /^\/pulls\/(\d+)\/requested_reviewers$/, ofPullRequest(requestReviews)],
  ['DELETE', /^\/pulls\/(\d+)\/requested_reviewers$/, ofPullRequest(cancelRequests)],
  ['DELETE', /^\/issues\/(\d+)\/labels(\/\d+)$/, ofPullRequest(removeLabel)],
  ['POST', /^\/pulls\/(\d+)\/merge$/, ofPullRequest(merge)],
  ['POST', /^\/pulls\/(\d+)\/update$/, ofPullRequest(updateBranch)],
  ['POST', /^\/issues\/(\d+)\/labels$/, ofPullRequest(addLabels)],
];

function answerForgejo(seen: RecordedRequest, forge: TestForgejo): TestResponse {
  const { repositories, url } = forge;
  const path = seen.path.replace('/api/v1', '');
  if (path === '/user') return { body: { id: 1, login: 'mona' } };
  if (path === '/user/repos') {
    return paged(
      repositories.filter(({ isMember }) => isMember).map((one) => toRepositoryNode(one, url)),
      seen,
      forge,
    );
  }
  if (path === '/repos/issues/search' && seen.query.has('type') && forge.searchError) return forge.searchError;
  if (path === '/repos/issues/search') return paged(search(seen, forge), seen, forge);
  const [, organization] = /^\/orgs\/([^/]+)\/labels$/.exec(path) ?? [];
  if (organization !== undefined) return listOrganizationLabels(organization, seen, forge);
  const [, fullName = '', rest = ''] = /^\/repos\/([^/]+\/[^/]+)(.*)$/.exec(path) ?? [];
  const repository = findRepository(forge, fullName);
  if (!repository) return NOT_FOUND;
  const { method } = seen;
  return (
    handleRoute(ROUTES, { method, path: rest }, (matched) => ({ seen, forge, repository, ...matched })) ?? NOT_FOUND
  );
}

function listOrganizationLabels(name: string, seen: RecordedRequest, forge: TestForgejo): TestResponse {
  const scope = 'token does not have at least one of required scope(s): [read:organization]';
  if (!forge.mayReadOrganizations) return refuse(403, scope);
  const owned = forge.repositories.find(({ fullName }) => fullName.startsWith(`${name}/`));
  return owned === undefined ? NOT_FOUND : unlinked(owned.organizationLabels, seen, forge);
}

/** Finds a repository by its current or a former name. */
function findRepository({ repositories }: TestForgejo, fullName: string): ForgejoRepository | undefined {
  const known = ({ fullName: name, formerNames }: ForgejoRepository) =>
    name === fullName || formerNames.includes(fullName);
  return repositories.find(known);
}

function paged(items: readonly unknown[], seen: RecordedRequest, { repeatsPages, url }: TestForgejo): TestResponse {
  return toPage(items, seen, { url, size: 'limit', most: 50, repeatsPages });
}

/** Returns a page of the lists for which the server sends no `Link` header. */
function unlinked(items: readonly unknown[], seen: RecordedRequest, { url }: TestForgejo): TestResponse {
  return toPage(items, seen, { url, size: 'limit', most: 50, hasNoLinks: true });
}

const refuse = (status: number, message: string): TestResponse => ({ status, body: { message, url: '/api/swagger' } });

function hooks({ seen, forge, repository, rest }: Found): TestResponse {
  const forbidden = repository.admin ? undefined : refuse(403, 'user should be an owner or a collaborator with admin');
  const scope = refuse(403, 'token does not have at least one of required scope(s): [write:repository]');
  return handleWebhookRequest(seen, rest, {
    refuse: forge.mayWriteHooks ? forbidden : scope,
    hooks: repository.hooks,
    toNode: toHookNode,
    page: (nodes) => unlinked(nodes, seen, forge),
    readChange: readHookChange,
    // Forgejo ignores a changed secret.
    edit: (hook, change) => Object.assign(hook, change, { secret: hook.secret }),
  });
}

/** Returns the webhook without its secret. `pull_request` includes all sub-events. */
function toHookNode({ id, url, events, contentType, active }: TestHook) {
  const of = (kind: string, more: readonly string[]) => (events.includes(kind) ? more : []);
  const all = [...events, ...of('pull_request', ['pull_request_review', 'pull_request_sync'])];
  return { id, type: 'gitea', branch_filter: '*', config: { url, content_type: contentType }, events: all, active };
}

function readHookChange({ active, events, config }: Record<string, unknown>): HookChange {
  const { url, content_type, secret } = (config ?? {}) as Record<string, string | undefined>;
  return {
    ...(typeof active === 'boolean' && { active }),
    ...(Array.isArray(events) && { events: events as string[] }),
    ...(url !== undefined && { url }),
    ...(content_type !== undefined && { contentType: content_type }),
    ...(secret !== undefined && { secret }),
  };
}

/** The filters of the search, which the server combines with "and". */
const FILTERS: Readonly<Record<string, (one: ForgejoIssue) => boolean>> = {
  created: ({ author }) => author === 'mona',
  assigned: (one) => 'assignees' in one && (one as ForgejoPullRequest).assignees.includes('mona'),
  mentioned: (one) => 'mentions' in one && (one as ForgejoPullRequest).mentions.includes('mona'),
  review_requested: (one) => 'requested' in one && (one as ForgejoPullRequest).requested.includes('mona'),
};

const SEARCH_PARAMETERS = new Set(['limit', 'owner', 'page', 'state', 'type', ...Object.keys(FILTERS)]);

/** Searches all repositories that the user can read, not only those where the user is a member. */
function search({ query }: RecordedRequest, { repositories, url }: TestForgejo) {
  for (const name of query.keys()) {
    if (!SEARCH_PARAMETERS.has(name)) throw new Error(`This search parameter is not supported: ${name}`);
  }
  const filters = Object.entries(FILTERS).filter(([name]) => query.get(name) === 'true');
  const owned = repositories.filter(({ fullName }) =>
    fullName.startsWith(query.has('owner') ? `${query.get('owner')}/` : ''),
  );
  return owned.flatMap((repository) => {
    const all = [...repository.pullRequests, ...(query.get('type') === 'pulls' ? [] : repository.issues)];
    const open = all.filter((one) => one.state === 'open' && filters.every(([, filter]) => filter(one)));
    return open.map((one) => toIssueNode(one, repository, url));
  });
}

function toNode(one: ForgejoPullRequest, { repository, forge }: Found) {
  return toPullRequestNode(one, repository, forge.url);
}

function listPullRequests(found: Found): TestResponse {
  const { query } = found.seen;
  const asked = found.repository.pullRequests.filter(
    ({ state }) => query.get('state') === 'all' || state === (query.get('state') ?? 'open'),
  );
  const isByUpdate = query.get('sort') === 'recentupdate';
  const sorted = isByUpdate ? asked.toSorted((a, b) => b.updatedAt.localeCompare(a.updatedAt)) : asked;
  return paged(
    sorted.map((one) => toNode(one, found)),
    found.seen,
    found.forge,
  );
}

function listIssues({ repository, seen, forge }: Found): TestResponse {
  const all = [...repository.issues, ...(seen.query.get('type') === 'issues' ? [] : repository.pullRequests)];
  const open = all.filter(({ state }) => state === 'open');
  return paged(
    open.map((one) => toIssueNode(one, repository, forge.url)),
    seen,
    forge,
  );
}

function ofPullRequest(answer: (one: ForgejoPullRequest, found: Found) => TestResponse) {
  return (found: Found): TestResponse => {
    const one = found.repository.pullRequests.find(({ number }) => number === Number(found.id));
    return one ? answer(one, found) : NOT_FOUND;
  };
}

function ofHead(answer: (one: ForgejoPullRequest, found: Found) => TestResponse) {
  return (found: Found): TestResponse => {
    const one = found.repository.pullRequests.find(({ headSha }) => headSha === found.id);
    return one ? answer(one, found) : NOT_FOUND;
  };
}

const WORST_FIRST = ['error', 'failure', 'warning', 'pending', 'success'];

/** Combines the statuses of one page only, of which there is no link to the next, as Gitea and Forgejo do. */
function combineStatuses({ status, statuses }: ForgejoPullRequest, { seen, forge }: Found): TestResponse {
  const { body, headers } = unlinked(statuses, seen, forge);
  const page = body as typeof statuses;
  const state = WORST_FIRST.find((one) => page.some(({ status: own }) => own === one)) ?? '';
  return { body: { state: statuses.length === 0 ? status : state, statuses: page, total_count: page.length }, headers };
}

/** Lists the workflow runs of a commit. Each run has the number of its pull request as id. */
function listRuns({ repository, seen, forge }: Found): TestResponse {
  if (forge.jobs === 'none') return NOT_FOUND;
  const { pullRequests } = repository;
  const ran = pullRequests.filter(({ headSha, jobs }) => headSha === seen.query.get('head_sha') && jobs.length > 0);
  return { body: { total_count: ran.length, workflow_runs: ran.map(toRunNode) } };
}

/** Returns a run in Forgejo's format, with the result in `status`: a failure if any job failed. */
function toRunNode({ number: id, jobs }: ForgejoPullRequest) {
  const states = jobs.map(({ status, conclusion }) => conclusion ?? status);
  return { id, status: states.includes('failure') ? 'failure' : (states[0] ?? 'success') };
}

function rerun(one: ForgejoPullRequest, { forge }: Found): TestResponse {
  if (!forge.reruns) return { status: 404, body: { message: 'Not found.' } };
  one.jobs = one.jobs.map((job) => (job.conclusion === 'failure' ? { name: job.name, status: 'waiting' } : job));
  return { status: 201, body: { id: one.number } };
}

function listJobs({ jobs }: ForgejoPullRequest, { forge, seen }: Found): TestResponse {
  // A server with bare lists has no pages.
  if (forge.jobs === 'bare') return { body: jobs };
  return { body: { total_count: jobs.length, jobs: unlinked(jobs, seen, forge).body } };
}

/** Leaves comments on lines out of each page, and counts only the rest of the page. A page after the last is null. */
function listTimeline({ timeline }: ForgejoPullRequest, { seen, forge }: Found): TestResponse {
  const page = unlinked(timeline, seen, forge).body as readonly { readonly type?: string }[];
  const shown = page.filter(({ type }) => type !== 'code');
  const body = shown.length === 0 && seen.query.get('page') !== '1' ? 'null' : shown;
  return { body, headers: { 'X-Total-Count': String(shown.length) } };
}

function listReviewComments({ reviews }: ForgejoPullRequest, { rest }: Found): TestResponse {
  const review = reviews[Number(rest.slice(1)) - 1];
  return review ? { body: review.comments ?? [] } : NOT_FOUND;
}

const bodyOf = ({ seen }: Found) => JSON.parse(seen.body) as Record<string, unknown>;

function change(one: ForgejoPullRequest, found: Found): TestResponse {
  const { state, assignees } = bodyOf(found);
  const unknown = ((assignees ?? []) as string[]).find((login) => !PEOPLE.includes(login));
  if (unknown !== undefined) return refuse(422, `Assignee does not exist: [name: ${unknown}]`);
  if (state !== undefined && state !== 'closed') return refuse(422, 'No.');
  if (state === 'closed') one.state = 'closed';
  if (Array.isArray(assignees)) one.assignees = assignees as string[];
  return { status: 201, body: toNode(one, found) };
}

const PEOPLE = ['mona', 'lisa'];

const REVIEW_STATES: Readonly<Record<string, string>> = {
  APPROVED: 'APPROVED',
  REQUEST_CHANGES: 'REQUEST_CHANGES',
  COMMENT: 'COMMENT',
};

function review(one: ForgejoPullRequest, found: Found): TestResponse {
  const { event, body, commit_id } = bodyOf(found);
  const state = REVIEW_STATES[String(event)];
  if (state === undefined || commit_id !== one.headSha) return refuse(422, 'invalid review');
  if (one.author === 'mona' && state === 'APPROVED') return refuse(422, 'approve your own pull is not allowed');
  if (one.author === 'mona' && state !== 'COMMENT') return refuse(422, 'reject your own pull is not allowed');
  if (state !== 'APPROVED' && body === '') return refuse(422, 'review event COMMENT requires a body or a comment');
  one.reviews.push({ login: 'mona', state, submittedAt: '2026-05-03T08:00:00Z' });
  return { body: toReviewNodes(one).at(-1) };
}

function requestReviews(one: ForgejoPullRequest, found: Found): TestResponse {
  const { reviewers, team_reviewers } = bodyOf(found) as Record<string, string[]>;
  const unknown = (reviewers ?? []).find((login) => !PEOPLE.includes(login));
  if (unknown !== undefined) return refuse(404, `User '${unknown}' not exist`);
  if (reviewers?.includes(one.author ?? '')) return refuse(422, 'poster of pr can’t be reviewer');
  one.requested = [...new Set([...one.requested, ...(reviewers ?? [])])];
  one.teams = [...new Set([...one.teams, ...(team_reviewers ?? [])])];
  return { status: 201, body: [] };
}

function cancelRequests(one: ForgejoPullRequest, found: Found): TestResponse {
  const { reviewers = [], team_reviewers = [] } = bodyOf(found) as Record<string, string[]>;
  one.requested = one.requested.filter((login) => !reviewers.includes(login));
  one.teams = one.teams.filter((name) => !team_reviewers.includes(name));
  return { status: 204, body: '' };
}

const labelsOf = ({ labels, organizationLabels }: ForgejoRepository) => [...labels, ...organizationLabels];

function removeLabel(one: ForgejoPullRequest, { repository, rest }: Found): TestResponse {
  const label = labelsOf(repository).find(({ id }) => `/${id}` === rest);
  if (label === undefined) return NOT_FOUND;
  one.labels = one.labels.filter(({ name }) => name !== label.name);
  return { status: 204, body: '' };
}

function merge(one: ForgejoPullRequest, found: Found): TestResponse {
  const { Do, head_commit_id } = bodyOf(found);
  const { merge: byMerge, squash, rebase, rebaseMerge, fastForward } = found.repository;
  const others = { 'rebase-merge': rebaseMerge, 'fast-forward-only': fastForward };
  const allowed: Record<string, boolean> = { merge: byMerge, squash, rebase, ...others };
  if (head_commit_id !== one.headSha) return { status: 409, body: { message: 'head out of date' } };
  if (one.state !== 'open' || !one.mergeable || one.draft || !allowed[String(Do)])
    return { status: 405, body: { message: 'Please try again later' } };
  Object.assign(one, { merged: true, state: 'closed', mergedBy: Do });
  return { body: '' };
}

function updateBranch(one: ForgejoPullRequest): TestResponse {
  if (one.baseSha === one.mergeBase) return { status: 409, body: { message: 'nothing to update' } };
  one.mergeBase = one.baseSha;
  return { body: '' };
}

function addLabels(one: ForgejoPullRequest, found: Found): TestResponse {
  const ids = bodyOf(found).labels as number[];
  const chosen = labelsOf(found.repository).filter(({ id }) => ids.includes(id));
  one.labels.push(...chosen.map(({ name }) => ({ name, color: 'ededed' })));
  return { body: one.labels };
}

/** Creates a signed webhook delivery of Forgejo or Gitea. */
export function forgejoDelivery(
  secret: string,
  payload: object,
  { event = 'pull_request', delivery = randomUUID(), server = 'forgejo' }: DeliveryMetadata & { server?: string } = {},
) {
  const body = Buffer.from(JSON.stringify(payload));
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  const headers = {
    [`x-${server}-delivery`]: delivery,
    [`x-${server}-event`]: event,
    [`x-${server}-signature`]: signature,
  };
  return { body, headers } satisfies SignedDelivery;
}
