import { actOnce, done, queued } from '../acting.js';
import type { Outcome, Steps } from '../acting.js';
import type { ActionName } from '../facts.js';
import { ForgeError } from '../forge-error.js';
import type { RefusalCode } from '../forge-error.js';
import type { Target } from '../forge.js';
import type { Judged } from '../rules/allowed-actions.js';
import { pipelinePath, readMergeRequest } from './checks.js';
import type { TargetNode } from './nodes.js';
import { projectPath } from './project-path.js';
import type { GitlabRequests } from './requests.js';
import { toPullRequestFacts } from './to-facts.js';

export interface ActOptions {
  readonly requests: GitlabRequests;
  /** The label that makes Renovate rebase. */
  readonly rebaseLabel: string;
}

interface ActionContext extends ActOptions {
  readonly target: Target;
  /** The path of the merge request. */
  readonly path: string;
  readonly sha: string;
  readonly mergeRequest: TargetNode;
}

const REQUESTS: Steps<ActionContext> = {
  merge: ({ requests, path, sha }) => done(requests.send('PUT', `${path}/merge`, { sha })),
  // GitLab before 17.11 knows only the older name of the parameter.
  auto_merge: ({ requests, path, sha }) =>
    done(requests.send('PUT', `${path}/merge`, { sha, auto_merge: true, merge_when_pipeline_succeeds: true })),
  cancel_auto_merge: ({ requests, path }) => done(requests.send('POST', `${path}/cancel_merge_when_pipeline_succeeds`)),
  close: ({ requests, path }) => done(requests.send('PUT', path, { state_event: 'close' })),
  update_branch: ({ requests, path }) => queued(requests.send('PUT', `${path}/rebase`)),
  renovate_rebase: ({ requests, path, rebaseLabel }) => done(requests.send('PUT', path, { add_labels: rebaseLabel })),
  rerun_checks: (context) => queued(retryPipeline(context)),
};

export const GITLAB_ACTIONS = Object.keys(REQUESTS) as readonly ActionName[];

/** @see Forge.act */
export async function actOnGitlab(options: ActOptions, target: Target, action: ActionName): Promise<Outcome> {
  const path = `${projectPath(target.fullName)}/merge_requests/${target.number}`;
  const read = async (): Promise<ActionContext> => {
    const mergeRequest = await readMergeRequest(options.requests, target);
    return { ...options, target, path, sha: target.headSha ?? mergeRequest.diffHeadSha ?? '', mergeRequest };
  };
  return actOnce({ steps: REQUESTS, read, findClosed, judge }, action);
}

function findClosed({ mergeRequest: { state } }: ActionContext): RefusalCode | undefined {
  if (state === 'merged') return 'already_merged';
  return state === 'closed' ? 'already_closed' : undefined;
}

function judge({ mergeRequest, target }: ActionContext): Judged {
  const facts = toPullRequestFacts(mergeRequest, target.fullName);
  return { ...facts, forge: 'gitlab', stackedOn: null, bot: undefined };
}

async function retryPipeline({ requests, target, mergeRequest }: ActionContext): Promise<void> {
  const { headPipeline } = mergeRequest;
  if (headPipeline === null) throw new ForgeError('conflict', { refusal: 'unknown' });
  await requests.send('POST', `${pipelinePath(headPipeline, target)}/retry`);
}
