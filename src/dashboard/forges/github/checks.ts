import { ForgeError } from '../forge-error.js';
import type { Check, CiStatus, PullRequestTarget } from '../forge.js';
import { type ConnectionPage, FieldError, withoutNulls } from '../http/graphql-pages.js';
import { toOwnerAndName, toRepositoryPath } from '../read-repositories.js';
import type { CheckRunNode, LastCommit, StateCount, StatusContextNode } from './nodes.js';
import { READ_CHECKS } from './queries.js';
import type { GithubRequests } from './requests.js';

type ContextNode = CheckRunNode | StatusContextNode;

interface Contexts {
  readonly contexts: ConnectionPage<ContextNode>;
}

interface ChecksData {
  readonly repository: { readonly pullRequest: { readonly commits: LastCommit<Contexts> } | null } | null;
}

/** Fine-grained tokens can have access to commit statuses, but not to check runs. */
export const CHECKS_PERMISSION = 'a classic token, or a GitHub App with “Checks: read” and “Commit statuses: read”';

/** A page has 100 checks, so that a list has at most 1,000. */
const MAX_PAGES = 10;

/** Each explained failure costs two more requests. */
const MAX_EXPLAINED = 5;

const MAX_EXCERPT = 2_000;

/**
 * Reads the checks of a pull request's newest commit, and the failed step and end of the log for the first failures.
 */
export async function readChecks(requests: GithubRequests, target: PullRequestTarget): Promise<Check[]> {
  const contexts = await readContexts(requests, target);
  const explained = contexts.filter(isFailedJob).slice(0, MAX_EXPLAINED);
  return Promise.all(
    contexts.map(async (context) => {
      const check = toCheck(context);
      return isFailedJob(context) && explained.includes(context)
        ? { ...check, ...(await explain(requests, target, context)) }
        : check;
    }),
  );
}

/**
 * Finds the workflow runs with a failed, cancelled or timed-out job. GitHub reruns jobs only of those that are completed.
 */
export async function findFailedWorkflowRuns(
  requests: GithubRequests,
  target: PullRequestTarget,
): Promise<{ readonly completed: number[]; readonly isAnyRunning: boolean }> {
  const suites = (await readContexts(requests, target)).filter(isFailedJob).map(({ checkSuite }) => checkSuite);
  const completed = suites.filter((suite) => suite?.status === 'COMPLETED');
  return {
    completed: [...new Set(completed.flatMap((suite) => suite?.workflowRun?.databaseId ?? []))],
    isAnyRunning: completed.length < suites.length,
  };
}

async function readContexts(requests: GithubRequests, { fullName, number }: PullRequestTarget): Promise<ContextNode[]> {
  const { owner, name } = toOwnerAndName(fullName);
  const contexts: ContextNode[] = [];
  let after: string | null = null;
  for (let count = 0; count < MAX_PAGES; count += 1) {
    const { repository } = (await requests.graphql(READ_CHECKS, { owner, name, number, after })) as ChecksData;
    if (!repository?.pullRequest) throw new ForgeError('not_found');
    const page = findContexts(repository.pullRequest.commits);
    // The contract can't represent hidden checks, and a list without them would look complete.
    if (page?.nodes.some((node) => node instanceof FieldError)) throw refusedChecks();
    contexts.push(...withoutNulls(page?.nodes ?? []));
    if (!page?.pageInfo.hasNextPage) break;
    after = page.pageInfo.endCursor;
  }
  return contexts;
}

function findContexts({ nodes }: LastCommit<Contexts>): ConnectionPage<ContextNode> | undefined {
  const [last] = nodes;
  const rollup = last instanceof FieldError ? last : last?.commit.statusCheckRollup;
  if (rollup instanceof FieldError || rollup?.contexts.nodes instanceof FieldError) throw refusedChecks();
  return rollup?.contexts;
}

const refusedChecks = () => new ForgeError('unauthorized', { refusal: 'permission', needs: CHECKS_PERMISSION });

const STATE_BY_CONCLUSION: Readonly<Record<string, Check['state']>> = {
  SUCCESS: 'success',
  NEUTRAL: 'success',
  SKIPPED: 'skipped',
  STALE: 'cancelled',
  CANCELLED: 'cancelled',
  TIMED_OUT: 'timed_out',
};

const STATE_BY_STATUS: Readonly<Record<string, Check['state']>> = {
  SUCCESS: 'success',
  PENDING: 'running',
  EXPECTED: 'queued',
};

function toCheck(context: ContextNode): Check {
  const { isRequired: required } = context;
  if (context.__typename === 'StatusContext') {
    const { context: name, state, targetUrl } = context;
    return { name, url: targetUrl ?? '', state: STATE_BY_STATUS[state] ?? 'failure', required };
  }
  const { name, detailsUrl, url } = context;
  const durationSeconds = toSeconds(context.startedAt, context.completedAt);
  const duration = durationSeconds === undefined ? {} : { durationSeconds };
  return { name, url: detailsUrl ?? url, state: toRunState(context.status, context.conclusion), required, ...duration };
}

export function toRunState(status: string, conclusion: string | null | undefined): Check['state'] {
  if (status === 'COMPLETED') return STATE_BY_CONCLUSION[conclusion ?? ''] ?? 'failure';
  return status === 'IN_PROGRESS' ? 'running' : 'queued';
}

export function toSeconds(startedAt: string | null, completedAt: string | null): number | undefined {
  if (startedAt === null || completedAt === null) return undefined;
  return Math.max(Math.round((Date.parse(completedAt) - Date.parse(startedAt)) / 1000), 0);
}

function isFailedJob(context: ContextNode): context is CheckRunNode {
  if (context.__typename !== 'CheckRun' || !context.checkSuite?.workflowRun) return false;
  return ['failure', 'timed_out', 'cancelled'].includes(toRunState(context.status, context.conclusion));
}

interface JobResponse {
  readonly steps?: readonly { readonly name: string; readonly conclusion: string | null }[];
}

/** Reads the job of a GitHub Actions check run, which has the same id. Omits data that can't be read. */
async function explain(
  requests: GithubRequests,
  { fullName }: PullRequestTarget,
  { databaseId }: CheckRunNode,
): Promise<Pick<Check, 'excerpt' | 'failedStep'>> {
  const path = `${toRepositoryPath(fullName)}/actions/jobs/${databaseId}`;
  const job = (await requests.get(path).catch(ignoreForgeError)) as JobResponse | undefined;
  const log = await requests.getText(`${path}/logs`).catch(ignoreForgeError);
  const step = job?.steps?.find(({ conclusion }) => conclusion === 'failure');
  return { ...(step && { failedStep: step.name }), ...(log && { excerpt: toExcerpt(log) }) };
}

function ignoreForgeError(error: unknown): undefined {
  if (!(error instanceof ForgeError)) throw error;
}

/** Returns the end of a log without terminal colour codes and the timestamps that Actions adds to each line. */
function toExcerpt(log: string): string {
  // oxlint-disable-next-line no-control-regex -- The pattern matches a control character on purpose.
  const plain = log.slice(-4 * MAX_EXCERPT).replace(/\u001b\[[\d;]*[A-Za-z]/g, '');
  const lines = plain.split(/\r?\n/).map((line) => line.replace(/^\d{4}-\d\d-\d\dT[\d:.]+Z /, ''));
  return lines.join('\n').trim().slice(-MAX_EXCERPT);
}

export interface Rollup {
  readonly state: string;
  /** Null or missing on servers that are too old to count checks. */
  readonly checkRuns?: readonly StateCount[] | null;
  readonly statuses?: readonly StateCount[] | null;
}

const CI_BY_STATE: Readonly<Record<string, CiStatus>> = {
  SUCCESS: 'success',
  ERROR: 'failure',
  FAILURE: 'failure',
  PENDING: 'pending',
  EXPECTED: 'pending',
};

const FAILED_RUNS = new Set(['FAILURE', 'TIMED_OUT', 'ACTION_REQUIRED', 'STARTUP_FAILURE']);
const FAILED_STATUSES = new Set(['FAILURE', 'ERROR']);
const RUNNING = new Set(['QUEUED', 'IN_PROGRESS', 'PENDING', 'REQUESTED', 'WAITING']);

/**
 * Computes the CI status from GraphQL's rollup of a commit. A rollup that fails only because of a cancelled run is
 * pending while other checks are running.
 *
 * @returns `undefined` for an unknown state.
 */
export function ciFromRollup(rollup: Rollup | null | undefined): CiStatus | undefined {
  const ci = rollup ? CI_BY_STATE[rollup.state] : 'none';
  if (ci !== 'failure' || !rollup?.checkRuns || !rollup.statuses) return ci;
  const { checkRuns, statuses } = rollup;
  if (hasAny(checkRuns, FAILED_RUNS) || hasAny(statuses, FAILED_STATUSES)) return 'failure';
  return hasAny([...checkRuns, ...statuses], RUNNING) ? 'pending' : 'failure';
}

function hasAny(counts: readonly StateCount[], states: ReadonlySet<string>): boolean {
  return counts.some(({ state, count }) => count > 0 && states.has(state));
}

export interface CheckRun {
  readonly status: string;
  readonly conclusion: string | null;
}

/**
 * Computes the CI status from REST's check runs. Failed runs take precedence over running ones, and those over
 * cancelled.
 */
export function ciFromCheckRuns(runs: readonly CheckRun[]): CiStatus {
  if (runs.length === 0) return 'none';
  if (runs.some(({ conclusion }) => FAILED_RUNS.has((conclusion ?? '').toUpperCase()))) return 'failure';
  if (runs.some(({ status }) => status !== 'completed')) return 'pending';
  return runs.some(({ conclusion }) => conclusion === 'cancelled') ? 'failure' : 'success';
}
