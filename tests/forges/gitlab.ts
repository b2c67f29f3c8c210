import { serveForge } from './forge-server.js';
import type { Answer, ForgeServer, Seen } from './forge-server.js';
import { executeGitlab } from './gitlab-graphql.js';
import type { GitlabMergeRequest, GitlabProject } from './gitlab-state.js';

export const GITLAB_TOKEN = 'glpat-test';

export interface TestGitlab extends ForgeServer {
  /** Changed at will: what is asked next is answered from it. */
  readonly projects: GitlabProject[];
  /** Pages come again and again. */
  repeatsPages: boolean;
}

/** A GitLab that speaks what our client asks, with state that actions change. */
export async function startGitlab(projects: readonly GitlabProject[] = []): Promise<TestGitlab> {
  const answer = async (seen: Seen): Promise<Answer> => {
    if (seen.headers.authorization !== `Bearer ${GITLAB_TOKEN}`) {
      return { status: 401, body: { message: '401 Unauthorized' } };
    }
    return seen.path === '/api/graphql' ? { body: await executeGitlab(seen.body, forge) } : answerRest(seen, forge);
  };
  const reset = String(Math.ceil(Date.now() / 1000) + 60);
  const headersOf = () => ({ 'RateLimit-Limit': '2000', 'RateLimit-Remaining': '1999', 'RateLimit-Reset': reset });
  const server = await serveForge({ answer, headersOf });
  const forge: TestGitlab = Object.assign(server, { projects: [...projects], repeatsPages: false });
  return forge;
}

const NOT_FOUND: Answer = { status: 404, body: { message: '404 Not found' } };
const refuse = (status: number, message: string): Answer => ({ status, body: { message } });

type Route = readonly [method: string, path: RegExp, answer: (one: GitlabMergeRequest, seen: Seen) => Answer];

const ROUTES: readonly Route[] = [
  ['PUT', /^\/merge_requests\/(\d+)\/merge$/, merge],
  ['PUT', /^\/merge_requests\/(\d+)\/rebase$/, rebase],
  ['POST', /^\/merge_requests\/(\d+)\/cancel_merge_when_pipeline_succeeds$/, cancelAutoMerge],
  ['PUT', /^\/merge_requests\/(\d+)$/, update],
  ['GET', /^\/pipelines\/(\d+)\/jobs$/, listJobs],
  ['POST', /^\/pipelines\/(\d+)\/retry$/, retry],
];

function answerRest(seen: Seen, { projects }: TestGitlab): Answer {
  const [, name = '', path = ''] = /^\/api\/v4\/projects\/([^/]+)(\/.*)$/.exec(seen.path) ?? [];
  const project = projects.find(({ fullPath }) => fullPath === decodeURIComponent(name));
  for (const [method, pattern, answer] of ROUTES) {
    const [, iid] = pattern.exec(path) ?? [];
    const one = project?.mergeRequests.find((each) => String(each.iid) === iid);
    if (one && method === seen.method) return answer(one, seen);
  }
  return NOT_FOUND;
}

const bodyOf = ({ body }: Seen) => JSON.parse(body) as Record<string, unknown>;

function merge(one: GitlabMergeRequest, seen: Seen): Answer {
  const { sha, auto_merge: isAuto } = bodyOf(seen);
  if (one.state !== 'opened') return refuse(405, '405 Method Not Allowed');
  if (sha !== one.diffHeadSha) return refuse(409, 'SHA does not match HEAD of source branch');
  if (one.detailedMergeStatus === 'MERGEABLE') one.state = 'merged';
  else if (isAuto && one.detailedMergeStatus === 'CI_STILL_RUNNING') one.autoMergeEnabled = true;
  else return refuse(405, '405 Method Not Allowed');
  return { body: { iid: one.iid, state: one.state } };
}

function rebase(one: GitlabMergeRequest): Answer {
  if (one.conflicts) return refuse(409, 'Rebase failed');
  Object.assign(one, { divergedFromTargetBranch: false });
  return { status: 202, body: { rebase_in_progress: true } };
}

function cancelAutoMerge(one: GitlabMergeRequest): Answer {
  if (!one.autoMergeEnabled) return refuse(406, 'Not acceptable');
  one.autoMergeEnabled = false;
  return { status: 201, body: { iid: one.iid } };
}

function update(one: GitlabMergeRequest, seen: Seen): Answer {
  const { state_event, add_labels } = bodyOf(seen);
  if (state_event === 'close') one.state = 'closed';
  if (typeof add_labels === 'string') one.labels.push({ title: add_labels, color: '#428bca' });
  return { body: { iid: one.iid, state: one.state } };
}

function listJobs({ jobs }: GitlabMergeRequest): Answer {
  return { body: jobs.map((job) => ({ ...job, web_url: `https://gitlab.example/-/jobs/${job.id}` })) };
}

function retry(one: GitlabMergeRequest): Answer {
  if (one.pipeline !== 'FAILED') return refuse(403, '403 Forbidden');
  one.pipeline = 'RUNNING';
  return { status: 201, body: { id: one.iid, status: 'running' } };
}

/** What GitLab sends to a webhook: the secret itself. */
export function gitlabDelivery(secret: string, payload: object) {
  return { body: Buffer.from(JSON.stringify(payload)), headers: { 'x-gitlab-token': secret } };
}
