import { ForgeError } from '../forge-error.js';
import type { Check, CiStatus, PullRequestTarget } from '../forge.js';
import type { RestClient } from '../http/rest.js';
import { toRepositoryPath } from '../read-repositories.js';
import type { CombinedStatusNode, JobNode, PullRequestNode, RunNode, StatusNode } from './parse.js';

/** The most workflow runs that are read of one commit. Each costs a request. */
const MAX_RUNS = 10;

/** Reads the jobs of a pull request's newest commit, or its commit statuses if there are no jobs. */
export async function readForgejoChecks(rest: RestClient, { fullName, number }: PullRequestTarget): Promise<Check[]> {
  const path = toRepositoryPath(fullName);
  const { head } = (await rest.get(`${path}/pulls/${number}`)) as PullRequestNode;
  const jobs = await readJobs(rest, { path, sha: head.sha });
  if (jobs.length > 0) return jobs.map(jobToCheck);
  const status = (await rest.get(`${path}/commits/${encodeURIComponent(head.sha)}/status`)) as CombinedStatusNode;
  return (status.statuses ?? []).map(statusToCheck);
}

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
    const jobs = await Promise.all(runs.map(({ id }) => rest.get(`${commit.path}/actions/runs/${id}/jobs`)));
    return jobs.flatMap((one) => unwrap(one, 'jobs')) as readonly JobNode[];
  } catch (error) {
    // The server is too old for this operation or has no Actions.
    if (error instanceof ForgeError && error.kind === 'not_found') return [];
    throw error;
  }
}

/** Returns the list in a response: some servers return a list, others an object that contains it. */
function unwrap(json: unknown, name: string): readonly unknown[] {
  const list: unknown = Array.isArray(json) ? json : (json as Readonly<Record<string, unknown>> | null)?.[name];
  return Array.isArray(list) ? list : [];
}

const STATES: Readonly<Record<string, Check['state']>> = {
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
  return STATES[state] ?? 'failure';
}

function jobToCheck(job: JobNode): Check {
  const { name, html_url, started_at, completed_at } = job;
  const duration = Math.round((Date.parse(completed_at ?? '') - Date.parse(started_at ?? '')) / 1000);
  const known = Number.isNaN(duration) || duration < 0 ? {} : { durationSeconds: duration };
  return { name, url: html_url ?? '', state: stateOf(job), ...known };
}

function statusToCheck({ context, status, target_url }: StatusNode): Check {
  return { name: context, url: target_url, state: STATES[status] ?? 'failure' };
}

const CI_BY_STATE: Readonly<Record<string, CiStatus>> = {
  success: 'success',
  failure: 'failure',
  error: 'failure',
  pending: 'pending',
  warning: 'pending',
};

/**
 * Computes the CI status from the combined status of a commit, which is empty without any statuses.
 *
 * @returns `undefined` for an unknown state.
 */
export function ciFromCombinedStatus(state: string | undefined): CiStatus | undefined {
  return state === '' ? 'none' : CI_BY_STATE[state ?? 'unknown'];
}
