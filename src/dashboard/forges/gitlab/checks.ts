import { ForgeError } from '../forge-error.js';
import type { Check, PullRequestTarget } from '../forge.js';
import type { JobNode, PipelineNode, TargetMergeRequestNode } from './nodes.js';
import { toRestId, toProjectPath } from './project-path.js';
import { READ_MERGE_REQUEST } from './queries.js';
import type { GitlabRequests } from './requests.js';

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
