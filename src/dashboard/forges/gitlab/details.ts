import { ForgeError } from '../forge-error.js';
import type { PullRequestDetails, PullRequestTarget, Check, CiStatus } from '../forge.js';
import { withoutNulls } from '../http/graphql-pages.js';
import {
  type DetailsNode,
  type DiscussionNode,
  type NoteNode,
  READ_MERGE_REQUEST_DETAILS,
  type CommitStatusNode,
  type JobNode,
  type PipelineNode,
  READ_MERGE_REQUEST,
  type TargetMergeRequestNode,
} from './queries.js';
import { type GitlabRequests, toProjectPath, toRestId } from './requests.js';

/** The most discussions that are read of a merge request, the oldest first. Each event, such as a push, is one too. */
const MAX_DISCUSSIONS = 2_000;

/** The longest excerpt of a comment. */
const MAX_EXCERPT = 500;

/** Reads the size, the approvals, the unresolved threads and the comments of a merge request. */
export async function readGitlabDetails(
  requests: GitlabRequests,
  { fullName, number }: PullRequestTarget,
): Promise<PullRequestDetails> {
  const data = await requests.graphql(READ_MERGE_REQUEST_DETAILS, { path: fullName, iid: String(number) });
  const node = (data as { readonly project: { readonly mergeRequest: DetailsNode | null } | null }).project
    ?.mergeRequest;
  if (!node) throw new ForgeError('not_found');
  const path = `${toProjectPath(fullName)}/merge_requests/${number}/discussions?per_page=100`;
  const discussions = await requests.list<DiscussionNode>(path, MAX_DISCUSSIONS);
  const first = discussions.flatMap(({ notes }) => notes?.slice(0, 1) ?? []).filter(({ system }) => !system);
  const toComment = (note: NoteNode) => toExcerpt(note, node.webUrl);
  return {
    ...toSize(node),
    reviews: toReviews(node),
    threads: first.filter(({ resolvable, resolved }) => resolvable && resolved !== true).map(toComment),
    comments: first.filter(({ resolvable }) => !resolvable).map(toComment),
  };
}

function toSize({ commitCount, diffStatsSummary }: DetailsNode): Partial<PullRequestDetails> {
  return {
    ...(commitCount !== null && { commits: commitCount }),
    ...(diffStatsSummary && {
      additions: diffStatsSummary.additions,
      deletions: diffStatsSummary.deletions,
      changedFiles: diffStatsSummary.fileCount,
    }),
  };
}

const REVIEW_STATES: Readonly<Record<string, PullRequestDetails['reviews'][number]['state']>> = {
  REQUESTED_CHANGES: 'changes_requested',
  REVIEWED: 'commented',
};

/** GitLab reports no times of reviews here. Every user with access can approve, not only the reviewers. */
function toReviews({ approvedBy, reviewers }: DetailsNode): PullRequestDetails['reviews'] {
  const approvals = withoutNulls(approvedBy?.nodes ?? []);
  const others = withoutNulls(reviewers?.nodes ?? []).flatMap(({ username, mergeRequestInteraction }) => {
    const state = REVIEW_STATES[mergeRequestInteraction?.reviewState ?? ''];
    return state === undefined ? [] : [{ author: username, state }];
  });
  return [...others, ...approvals.map(({ username }) => ({ author: username, state: 'approved' as const }))];
}

function toExcerpt(
  { id, body, author, created_at, position }: NoteNode,
  webUrl: string,
): PullRequestDetails['comments'][number] {
  return {
    author: author?.username ?? 'ghost',
    excerpt: body.slice(0, MAX_EXCERPT),
    url: `${webUrl}#note_${id}`,
    ...(position?.new_path && { path: position.new_path }),
    ...(position?.new_line && { line: position.new_line }),
    createdAt: created_at,
  };
}

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

/** Reads the jobs and the external statuses of a merge request's head pipeline. */
export async function readGitlabChecks(requests: GitlabRequests, target: PullRequestTarget): Promise<Check[]> {
  const { headPipeline } = await readMergeRequest(requests, target);
  if (headPipeline === null) return [];
  const path = `${pipelinePath(headPipeline, target)}/jobs?per_page=100`;
  const jobs = await requests.list<JobNode>(path, MAX_JOBS);
  const known = new Set(jobs.map(({ id }) => id));
  const others = (await readStatuses(requests, headPipeline, target)).filter(({ id }) => !known.has(id));
  return [...jobs.map(toCheck), ...others.map(toStatusCheck)];
}

/** Reads the statuses of a pipeline. GitLab lists some only here: external ones, and jobs that trigger pipelines. */
async function readStatuses(
  requests: GitlabRequests,
  { id, sha, project }: PipelineNode,
  { fullName }: PullRequestTarget,
): Promise<CommitStatusNode[]> {
  if (sha === null) return [];
  const pipeline = Number(toRestId(id));
  const path = `${toProjectPath(project?.fullPath ?? fullName)}/repository/commits/${encodeURIComponent(sha)}/statuses`;
  const query = `?pipeline_id=${pipeline}&per_page=100`;
  const read = await requests.list<CommitStatusNode>(path + query, MAX_JOBS).catch((error: unknown) => {
    // The commit of a merge may be gone. The jobs are shown without the other statuses.
    if (error instanceof ForgeError && ['not_found', 'unauthorized'].includes(error.kind)) return [];
    throw error;
  });
  // Older servers list the statuses of all pipelines of the commit.
  return read.filter(({ pipeline_id }) => (pipeline_id ?? pipeline) === pipeline);
}

export function pipelinePath({ id, project }: PipelineNode, { fullName }: PullRequestTarget): string {
  return `${toProjectPath(project?.fullPath ?? fullName)}/pipelines/${toRestId(id)}`;
}

const CHECK_STATES: Readonly<Record<string, Check['state']>> = {
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
  return { name, url, state: isTimeout ? 'timed_out' : (CHECK_STATES[status] ?? 'failure'), ...known };
}

function toStatusCheck({ name, status, target_url: url, started_at: from, finished_at: to }: CommitStatusNode): Check {
  const milliseconds = from === null || to === null ? NaN : Date.parse(to) - Date.parse(from);
  const known = Number.isNaN(milliseconds) ? {} : { durationSeconds: Math.max(Math.round(milliseconds / 1000), 0) };
  return { name, url: url ?? '', state: CHECK_STATES[status] ?? 'failure', ...known };
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
