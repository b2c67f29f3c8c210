import { ForgeError } from '../forge-error.js';
import type { Check, Target } from '../forge.js';
import type { Rest } from '../http/rest.js';
import { pathOf } from '../paths.js';
import type { CombinedStatusNode, JobNode, PullRequestNode, StatusNode } from './nodes.js';

/** The runs of one commit; each takes a request. */
const MAX_RUNS = 10;

/** Reads the jobs that ran for a pull request's newest commit, or where there are none its statuses. */
export async function readForgejoChecks(rest: Rest, { fullName, number }: Target): Promise<Check[]> {
  const path = pathOf(fullName);
  const { head } = (await rest.get(`${path}/pulls/${number}`)) as PullRequestNode;
  const jobs = await readJobs(rest, { path, sha: head.sha });
  if (jobs.length > 0) return jobs.map(jobToCheck);
  const status = (await rest.get(`${path}/commits/${encodeURIComponent(head.sha)}/status`)) as CombinedStatusNode;
  return (status.statuses ?? []).map(statusToCheck);
}

async function readJobs(
  rest: Rest,
  { path, sha }: { readonly path: string; readonly sha: string },
): Promise<readonly JobNode[]> {
  try {
    const answer = await rest.get(`${path}/actions/runs?head_sha=${encodeURIComponent(sha)}&limit=${MAX_RUNS}`);
    const runs = unwrap(answer, 'workflow_runs').slice(0, MAX_RUNS) as readonly { readonly id: number }[];
    const jobs = await Promise.all(runs.map(({ id }) => rest.get(`${path}/actions/runs/${id}/jobs`)));
    return jobs.flatMap((one) => unwrap(one, 'jobs')) as readonly JobNode[];
  } catch (error) {
    // Servers before that release, or without Actions.
    if (error instanceof ForgeError && error.kind === 'not_found') return [];
    throw error;
  }
}

/** Some servers answer with a list, others with an object that has it. */
function unwrap(answer: unknown, name: string): readonly unknown[] {
  const list: unknown = Array.isArray(answer) ? answer : (answer as Readonly<Record<string, unknown>> | null)?.[name];
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

function jobToCheck({ name, html_url, status, conclusion, started_at, completed_at }: JobNode): Check {
  const said = conclusion === null || conclusion === undefined || conclusion === '' ? status : conclusion;
  const duration = Math.round((Date.parse(completed_at ?? '') - Date.parse(started_at ?? '')) / 1000);
  const known = Number.isNaN(duration) || duration < 0 ? {} : { durationSeconds: duration };
  return { name, url: html_url ?? '', state: STATES[said] ?? 'failure', ...known };
}

function statusToCheck({ context, status, target_url }: StatusNode): Check {
  return { name: context, url: target_url, state: STATES[status] ?? 'failure' };
}
