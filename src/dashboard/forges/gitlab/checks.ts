import { ForgeError } from '../forge-error.js';
import type { Check, CiStatus, PullRequestTarget } from '../forge.js';
import { type JobNode, type PipelineNode, READ_MERGE_REQUEST, type TargetMergeRequestNode } from './queries.js';
import { type GitlabRequests, toProjectPath, toRestId } from './requests.js';

/** The most jobs in a list of checks. */
const MAX_JOBS = 1_000;

/** Reads a merge request. @throws ForgeError `not_found` when it does not exist. */
export async function readMergeRequest(
  requests: GitlabRequests,
  { fullName, number }: PullRequestTarget,
): Promise<TargetMergeRequestNode> {
  const data = await requests.graphql(READ_MERGE_REQUEST, { path: fullName, iid: String(number) });
  const { project } = data as { readonly project: { readonly mergeRequest: TargetMergeRequestNode | null } | null };
  if (!project?.mergeRequest) throw new ForgeError('not_found');
  return project.mergeRequest;
}

/** Reads the jobs of a merge request's head pipeline. */
export async function readGitlabChecks(requests: GitlabRequests, target: PullRequestTarget): Promise<Check[]> {
  const { headPipeline } = await readMergeRequest(requests, target);
  if (headPipeline === null) return [];
  const path = `${pipelinePath(headPipeline, target)}/jobs?per_page=100`;
  return (await requests.list<JobNode>(path, MAX_JOBS)).map(toCheck);
}

export function pipelinePath({ id, project }: PipelineNode, { fullName }: PullRequestTarget): string {
  return `${toProjectPath(project?.fullPath ?? fullName)}/pipelines/${toRestId(id)}`;
}

const STATES: Readonly<Record<string, Check['state']>> = {
  success: 'success',
  failed: 'failure',
  canceled: 'cancelled',
  canceling: 'running',
  skipped: 'skipped',
  running: 'running',
  created: 'queued',
  pending: 'queued',
  preparing: 'queued',
  waiting_for_resource: 'queued',
  waiting_for_callback: 'queued',
  manual: 'queued',
  scheduled: 'queued',
};

function toCheck({ name, web_url: url, status, duration, failure_reason }: JobNode): Check {
  const isTimeout = failure_reason === 'job_execution_timeout';
  const known = duration === null ? {} : { durationSeconds: Math.max(Math.round(duration), 0) };
  return { name, url, state: isTimeout ? 'timed_out' : (STATES[status] ?? 'failure'), ...known };
}

/**
 * Follows the rules for GitHub: a cancelled pipeline is a failure, and a pipeline that waits for anything, even for a
 * manual job, is pending. A skipped pipeline has no result.
 */
const CI_BY_STATUS: Readonly<Record<string, CiStatus>> = {
  success: 'success',
  failed: 'failure',
  canceled: 'failure',
  canceling: 'pending',
  created: 'pending',
  waiting_for_resource: 'pending',
  waiting_for_callback: 'pending',
  preparing: 'pending',
  pending: 'pending',
  running: 'pending',
  manual: 'pending',
  scheduled: 'pending',
  skipped: 'none',
};

/**
 * Computes the CI status from the status of a head pipeline, in upper or lower case.
 *
 * @returns `undefined` if unknown.
 */
export function ciFromPipeline(status: string | null | undefined): CiStatus | undefined {
  return status === null || status === undefined ? 'none' : CI_BY_STATUS[status.toLowerCase()];
}
