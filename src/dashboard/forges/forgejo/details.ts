import { ForgeError } from '../forge-error.js';
import type { PullRequestDetails, PullRequestTarget, Check, CiStatus } from '../forge.js';
import type { RestClient } from '../http/requests.js';
import { toRepositoryPath } from '../read-repositories.js';
import type {
  ForgejoCommentNode,
  PullRequestNode,
  ReviewCommentNode,
  ReviewNode,
  CombinedStatusNode,
  JobNode,
  RunNode,
  StatusNode,
} from './parse.js';

/** The most reviews that are read of a pull request. */
const MAX_REVIEWS = 200;

/** The most reviews whose comments are read. Each costs a request. */
const MAX_COMMENTED_REVIEWS = 10;

/** The longest excerpt of a comment. */
const MAX_EXCERPT = 500;

type Details = PullRequestDetails;

/** Reads the size, the reviews, the unresolved threads of the newest reviews, and the comments of a pull request. */
export async function readForgejoDetails(rest: RestClient, { fullName, number }: PullRequestTarget): Promise<Details> {
  const path = toRepositoryPath(fullName);
  const [pull, reviews, comments] = await Promise.all([
    rest.get(`${path}/pulls/${number}`) as Promise<PullRequestNode>,
    rest.list<ReviewNode>(`${path}/pulls/${number}/reviews?limit=50`, MAX_REVIEWS),
    rest.get(`${path}/issues/${number}/comments`) as Promise<readonly ForgejoCommentNode[]>,
  ]);
  const commented = reviews.filter((one) => (one.comments_count ?? 0) > 0).slice(-MAX_COMMENTED_REVIEWS);
  const threads = await Promise.all(
    commented.map(
      ({ id }) => rest.get(`${path}/pulls/${number}/reviews/${id}/comments`) as Promise<readonly ReviewCommentNode[]>,
    ),
  );
  const { additions, deletions, changed_files, assignees, milestone } = pull;
  return {
    ...(typeof additions === 'number' && { additions }),
    ...(typeof deletions === 'number' && { deletions }),
    ...(typeof changed_files === 'number' && { changedFiles: changed_files }),
    assignees: (assignees ?? []).map(({ login }) => login),
    ...(milestone && { milestone: milestone.title }),
    reviews: reviews.flatMap(toReview),
    threads: firstOfEachLine(threads.flat().filter(({ resolver }) => !resolver)).map((one) => ({
      ...toExcerpt(one),
      path: one.path,
      ...(typeof one.position === 'number' && one.position > 0 && { line: one.position }),
    })),
    comments: comments.map(toExcerpt),
  };
}

const REVIEW_STATES: Readonly<Record<string, Details['reviews'][number]['state']>> = {
  APPROVED: 'approved',
  REQUEST_CHANGES: 'changes_requested',
  COMMENT: 'commented',
};

/** Converts a submitted review. Requests for a review are in the same list. */
function toReview({ user, state, dismissed, submitted_at }: ReviewNode): Details['reviews'] {
  const known = REVIEW_STATES[state];
  if (known === undefined) return [];
  const time = submitted_at === undefined ? {} : { submittedAt: submitted_at };
  return [{ author: user?.login ?? 'ghost', state: dismissed ? 'dismissed' : known, ...time }];
}

/** All comments of a thread are on the same line; the API has no threads. */
function firstOfEachLine(comments: readonly ReviewCommentNode[]): ReviewCommentNode[] {
  const first = new Map<string, ReviewCommentNode>();
  for (const comment of comments) {
    const line = `${comment.path}\n${comment.position ?? 0}`;
    if (!first.has(line)) first.set(line, comment);
  }
  return [...first.values()];
}

function toExcerpt({ user, body, html_url: url, created_at }: ForgejoCommentNode): Details['comments'][number] {
  return { author: user?.login ?? 'ghost', excerpt: body.slice(0, MAX_EXCERPT), url, createdAt: created_at };
}

/** The most workflow runs that are read of one commit. Each costs a request. */
const MAX_RUNS = 10;

/** Reads the jobs and the commit statuses of a pull request's newest commit. */
export async function readForgejoChecks(rest: RestClient, { fullName, number }: PullRequestTarget): Promise<Check[]> {
  const path = toRepositoryPath(fullName);
  const { head, html_url } = (await rest.get(`${path}/pulls/${number}`)) as PullRequestNode;
  const jobs = await readJobs(rest, { path, sha: head.sha });
  const pages = await readStatusPages(rest, { path, sha: head.sha });
  const statuses = pages.flatMap((page) => page.statuses ?? []);
  const others = jobs.length === 0 ? statuses : statuses.filter(({ target_url }) => !JOB_PAGE.test(target_url ?? ''));
  return [...jobs.map(jobToCheck), ...others.map((one) => statusToCheck(one, html_url))];
}

/** The page of a job, which has a status too. */
const JOB_PAGE = /\/actions\/runs\/\d+\/jobs\/\d+(?:\/attempt\/\d+)?$/;

interface Commit {
  /** The path of the repository. */
  readonly path: string;
  readonly sha: string;
}

/** Finds the Actions runs of a commit that failed, timed out or were cancelled. */
export async function findFailedRuns(rest: RestClient, commit: Commit): Promise<number[]> {
  const failed = (await readRuns(rest, commit)).filter((run) => FAILED.has(stateOf(run)));
  return failed.map(({ id }) => id);
}

const FAILED: ReadonlySet<Check['state']> = new Set(['cancelled', 'failure', 'timed_out']);

async function readRuns(rest: RestClient, { path, sha }: Commit): Promise<readonly RunNode[]> {
  const response = await rest.get(`${path}/actions/runs?head_sha=${encodeURIComponent(sha)}&limit=${MAX_RUNS}`);
  return unwrap(response, 'workflow_runs').slice(0, MAX_RUNS) as readonly RunNode[];
}

async function readJobs(rest: RestClient, commit: Commit): Promise<readonly JobNode[]> {
  try {
    const runs = await readRuns(rest, commit);
    const readRun = ({ id }: RunNode) =>
      readNumberedPages(rest, `${commit.path}/actions/runs/${id}/jobs`, (page) => toJobs(page).length);
    return (await Promise.all(runs.map(readRun))).flat().flatMap(toJobs);
  } catch (error) {
    // The server is too old for this operation or has no Actions.
    if (error instanceof ForgeError && error.kind === 'not_found') return [];
    throw error;
  }
}

const toJobs = (json: unknown) => unwrap(json, 'jobs') as readonly JobNode[];

/** The size of pages that servers have by default; their limit is rarely smaller. A page with fewer items is the last. */
const LEAST_PAGE_SIZE = 30;

/** Reads 500 items. */
const MAX_PAGES = 10;

/**
 * Reads the pages of a list whose responses have no usable link to the next page.
 *
 * @param sizeOf Returns the number of items that the server has counted for a page, also if it has left some out.
 */
export async function readNumberedPages<Page>(
  rest: RestClient,
  path: string,
  sizeOf: (page: Page) => number,
): Promise<Page[]> {
  const pages: Page[] = [];
  let before = '';
  for (let number = 1; number <= MAX_PAGES; number += 1) {
    // The caller chooses the type, as in a list of the client.
    const page = (await rest.get(`${path}?limit=50&page=${number}`)) as Page;
    const text = JSON.stringify(page);
    // A server without pages returns the whole list again.
    if (text === before) break;
    pages.push(page);
    before = text;
    if (sizeOf(page) < LEAST_PAGE_SIZE) break;
  }
  return pages;
}

/** Reads the statuses of a commit, the newest first. The state of each page combines only the statuses of the page. */
async function readStatusPages(rest: RestClient, { path, sha }: Commit): Promise<CombinedStatusNode[]> {
  const list = `${path}/commits/${encodeURIComponent(sha)}/status`;
  return readNumberedPages<CombinedStatusNode>(rest, list, ({ statuses }) => (statuses ?? []).length);
}

/** Reads the CI status of a commit. @returns `undefined` for an unknown state. */
export async function readCombinedCi(rest: RestClient, commit: Commit): Promise<CiStatus | undefined> {
  const states = (await readStatusPages(rest, commit)).map(({ state }) => ciFromCombinedStatus(state));
  return CI_BY_PRECEDENCE.find((ci) => states.includes(ci));
}

/** The state of a page that is known to be a failure decides, whatever the others are. */
const CI_BY_PRECEDENCE: readonly (CiStatus | undefined)[] = ['failure', undefined, 'pending', 'success', 'none'];

/** Returns the list in a response: some servers return a list, others an object that contains it. */
function unwrap(json: unknown, name: string): readonly unknown[] {
  const list: unknown = Array.isArray(json) ? json : (json as Readonly<Record<string, unknown>> | null)?.[name];
  return Array.isArray(list) ? list : [];
}

const CHECK_STATES: Readonly<Record<string, Check['state']>> = {
  success: 'success',
  failure: 'failure',
  error: 'failure',
  cancelled: 'cancelled',
  skipped: 'skipped',
  running: 'running',
  in_progress: 'running',
  pending: 'running',
  warning: 'running',
  waiting: 'queued',
  queued: 'queued',
  blocked: 'queued',
};

function stateOf({ status, conclusion }: RunNode | JobNode): Check['state'] {
  const state = conclusion === null || conclusion === undefined || conclusion === '' ? status : conclusion;
  return CHECK_STATES[state] ?? 'failure';
}

function jobToCheck(job: JobNode): Check {
  const { name, html_url, started_at, completed_at } = job;
  const duration = Math.round((Date.parse(completed_at ?? '') - Date.parse(started_at ?? '')) / 1000);
  const known = Number.isNaN(duration) || duration < 0 ? {} : { durationSeconds: duration };
  return { name, url: html_url ?? '', state: stateOf(job), ...known };
}

/** @param page A page of the forge. The addresses of jobs are relative to it. */
function statusToCheck({ context, status, target_url }: StatusNode, page: string): Check {
  const target = target_url ?? '';
  const url = target.startsWith('/') && URL.canParse(page) ? new URL(target, page).href : target;
  return { name: context, url, state: CHECK_STATES[status] ?? 'failure' };
}

const CI_BY_STATE: Readonly<Record<string, CiStatus>> = {
  success: 'success',
  failure: 'failure',
  error: 'failure',
  pending: 'pending',
  warning: 'pending',
  // Some releases of Gitea report it if all jobs were skipped, others report success.
  skipped: 'success',
};

/**
 * Computes the CI status from the combined status of a commit, which is empty without any statuses.
 *
 * @returns `undefined` for an unknown state.
 */
export function ciFromCombinedStatus(state: string | undefined): CiStatus | undefined {
  return state === '' ? 'none' : CI_BY_STATE[state ?? 'unknown'];
}
