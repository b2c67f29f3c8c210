import type { ActionName } from '../facts.js';
import { ForgeError } from '../forge-error.js';
import type { RefusalCode } from '../forge-error.js';
import type { Forge, Target } from '../forge.js';
import { explainRefusal } from '../rules/refusals.js';
import { readMergeRequest } from './checks.js';
import type { MergeRequestNode } from './nodes.js';
import { numberOf, projectPath } from './project-path.js';
import type { GitlabRequests } from './requests.js';
import { toPullRequestFacts } from './to-facts.js';

type Outcome = Awaited<ReturnType<Forge['act']>>;

export interface ActOptions {
  readonly requests: GitlabRequests;
  /** The label by which Renovate is asked. */
  readonly rebaseLabel: string;
}

interface Doing extends ActOptions {
  readonly project: string;
  /** The path of the merge request. */
  readonly path: string;
  readonly sha: string;
  readonly mergeRequest: MergeRequestNode;
}

const STEPS: Readonly<Partial<Record<ActionName, (doing: Doing) => Promise<unknown>>>> = {
  merge: ({ requests, path, sha }) => requests.send('PUT', `${path}/merge`, { sha }),
  // The older name of the same thing is the one that servers before 17.11 know.
  auto_merge: ({ requests, path, sha }) =>
    requests.send('PUT', `${path}/merge`, { sha, auto_merge: true, merge_when_pipeline_succeeds: true }),
  cancel_auto_merge: ({ requests, path }) => requests.send('POST', `${path}/cancel_merge_when_pipeline_succeeds`),
  close: ({ requests, path }) => requests.send('PUT', path, { state_event: 'close' }),
  update_branch: ({ requests, path }) => requests.send('PUT', `${path}/rebase`),
  renovate_rebase: ({ requests, path, rebaseLabel }) => requests.send('PUT', path, { add_labels: rebaseLabel }),
  rerun_checks: retryPipeline,
};

export const GITLAB_ACTIONS = Object.keys(STEPS) as readonly ActionName[];

/** Those that GitLab does after it answered. */
const QUEUED: ReadonlySet<ActionName> = new Set(['rerun_checks', 'update_branch']);

/** @see Forge.act */
export async function actOnGitlab(
  { requests, rebaseLabel }: ActOptions,
  target: Target,
  action: ActionName,
): Promise<Outcome> {
  const step = STEPS[action];
  if (step === undefined) throw new ForgeError('unknown', { refusal: 'unknown' });
  const mergeRequest = await readMergeRequest(requests, target);
  const closed = closedCode(mergeRequest);
  if (closed !== undefined) throw new ForgeError('conflict', { refusal: closed });
  const project = projectPath(target.fullName);
  const path = `${project}/merge_requests/${target.number}`;
  const sha = target.headSha ?? mergeRequest.diffHeadSha ?? '';
  try {
    await step({ requests, rebaseLabel, project, path, sha, mergeRequest });
    return QUEUED.has(action) ? 'queued' : 'done';
  } catch (error) {
    if (!(error instanceof ForgeError) || error.refusal !== undefined) throw error;
    const { kind, status, resetsAt, cause } = error;
    const refusal = await findRefusal(requests, { target, action, kind });
    throw new ForgeError(kind, { status, resetsAt, cause, refusal });
  }
}

function closedCode({ state }: MergeRequestNode): RefusalCode | undefined {
  if (state === 'merged') return 'already_merged';
  return state === 'closed' ? 'already_closed' : undefined;
}

interface Refused {
  readonly target: Target;
  readonly action: ActionName;
  readonly kind: ForgeError['kind'];
}

/** The reason is read off the merge request as it is now, not off the forge's words. */
async function findRefusal(requests: GitlabRequests, { target, action, kind }: Refused): Promise<RefusalCode> {
  if (kind === 'rate_limited') return 'rate_limited';
  if (kind === 'unauthorized') return 'permission';
  if (kind !== 'conflict') return 'unknown';
  try {
    const node = await readMergeRequest(requests, target);
    const facts = toPullRequestFacts(node, target.fullName);
    const judged = { ...facts, forge: 'gitlab', stackedOn: null, bot: undefined } as const;
    return closedCode(node) ?? explainRefusal(action, judged);
  } catch {
    return 'unknown';
  }
}

async function retryPipeline({ requests, project, mergeRequest }: Doing): Promise<void> {
  const { headPipeline } = mergeRequest;
  if (headPipeline === null) throw new ForgeError('conflict', { refusal: 'unknown' });
  await requests.send('POST', `${project}/pipelines/${numberOf(headPipeline.id)}/retry`);
}
