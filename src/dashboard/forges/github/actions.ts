import { actOnce, done } from '../acting.js';
import type { Outcome, Steps } from '../acting.js';
import type { ActionName } from '../facts.js';
import { ForgeError } from '../forge-error.js';
import type { RefusalCode } from '../forge-error.js';
import type { Target } from '../forge.js';
import { findBot } from '../rules/bots.js';
import type { Judged } from '../rules/allowed-actions.js';
import { findFailedWorkflowRuns } from './checks.js';
import type { ActionRepositoryNode } from './nodes.js';
import { pathOf } from '../paths.js';
import { toLink } from '../sound.js';
import { ENABLE_AUTO_MERGE, READ_PULL_REQUEST } from './queries.js';
import type { GithubRequests } from './requests.js';
import { toPullRequestFacts } from './to-facts.js';

type PullRequest = NonNullable<ActionRepositoryNode['pullRequest']>;

interface ActionContext extends ActOptions {
  readonly target: Target;
  readonly repository: ActionRepositoryNode;
  readonly pullRequest: PullRequest;
}

const REQUESTS: Steps<ActionContext> = {
  merge,
  auto_merge: enableAutoMerge,
  update_branch: updateBranch,
  close: async ({ requests, target }) => done(requests.send('PATCH', pullPath(target), { state: 'closed' })),
  dependabot_rebase: async (context) => comment(context, '@dependabot rebase'),
  dependabot_recreate: async (context) => comment(context, '@dependabot recreate'),
  renovate_rebase: async ({ requests, target, rebaseLabel }) =>
    done(requests.send('POST', `${issuePath(target)}/labels`, { labels: [rebaseLabel] })),
  rerun_checks: rerunChecks,
};

export const GITHUB_ACTIONS = Object.keys(REQUESTS) as readonly ActionName[];

export interface ActOptions {
  readonly requests: GithubRequests;
  /** The label that makes Renovate rebase. Renovate's default is `rebase`. */
  readonly rebaseLabel: string;
}

/** @see Forge.act */
export async function actOnGithub(options: ActOptions, target: Target, action: ActionName): Promise<Outcome> {
  const read = async (): Promise<ActionContext> => ({
    ...options,
    target,
    ...(await readTarget(options.requests, target)),
  });
  return actOnce({ steps: REQUESTS, read, findClosed, judge }, action);
}

async function readTarget(requests: GithubRequests, { fullName, number }: Target) {
  const [owner, name] = fullName.split('/');
  const data = await requests.graphql(READ_PULL_REQUEST, { owner, name, number });
  const { repository } = data as { readonly repository: ActionRepositoryNode | null };
  if (!repository?.pullRequest) throw new ForgeError('not_found');
  return { repository, pullRequest: repository.pullRequest };
}

function findClosed({ pullRequest: { state } }: ActionContext): RefusalCode | undefined {
  if (state === 'MERGED') return 'already_merged';
  return state === 'CLOSED' ? 'already_closed' : undefined;
}

function judge({ pullRequest, repository }: ActionContext): Judged {
  const facts = toPullRequestFacts(pullRequest, repository);
  return { ...facts, forge: 'github', stackedOn: null, bot: findBot(facts.author, []) };
}

async function merge({ requests, target, repository, pullRequest }: ActionContext): Promise<Outcome> {
  const merge_method = methodOf(repository, pullRequest).toLowerCase();
  const sha = target.headSha ?? pullRequest.headRefOid;
  return done(requests.send('PUT', `${pullPath(target)}/merge`, { merge_method, sha }));
}

async function enableAutoMerge({ requests, target, repository, pullRequest }: ActionContext): Promise<Outcome> {
  const { id, headRefOid } = pullRequest;
  const variables = { id, method: methodOf(repository, pullRequest), headSha: target.headSha ?? headRefOid };
  return done(requests.graphqlWhole(ENABLE_AUTO_MERGE, variables));
}

/** Prefers merge to squash and squash to rebase, as far as the repository allows. A linear history excludes merges. */
function methodOf(
  { mergeCommitAllowed, squashMergeAllowed, rebaseMergeAllowed }: ActionRepositoryNode,
  { baseRef }: PullRequest,
): 'MERGE' | 'REBASE' | 'SQUASH' {
  const isLinear = baseRef?.branchProtectionRule?.requiresLinearHistory === true;
  if (mergeCommitAllowed && !isLinear) return 'MERGE';
  if (squashMergeAllowed) return 'SQUASH';
  return rebaseMergeAllowed ? 'REBASE' : 'MERGE';
}

async function updateBranch({ requests, target, pullRequest }: ActionContext): Promise<Outcome> {
  const expected_head_sha = target.headSha ?? pullRequest.headRefOid;
  const status = await requests.send('PUT', `${pullPath(target)}/update-branch`, { expected_head_sha });
  return status === 202 ? 'queued' : 'done';
}

interface CommentResponse {
  readonly node_id: string;
  readonly html_url: string;
}

async function comment({ requests, target }: ActionContext, body: string): Promise<Outcome> {
  const created = await requests.post(`${issuePath(target)}/comments`, { body });
  const { node_id: commentId, html_url } = created as CommentResponse;
  return { commentId, commentUrl: toLink(html_url) };
}

/** Reruns the failed jobs of workflows. Checks of other apps can't be rerun here. */
async function rerunChecks({ requests, target }: ActionContext): Promise<Outcome> {
  const runs = await findFailedWorkflowRuns(requests, target);
  if (runs.length === 0) throw new ForgeError('conflict', { refusal: 'unknown' });
  for (const run of runs) {
    await requests.send('POST', `${pathOf(target.fullName)}/actions/runs/${run}/rerun-failed-jobs`);
  }
  return 'queued';
}

const pullPath = ({ fullName, number }: Target): string => `${pathOf(fullName)}/pulls/${number}`;
const issuePath = ({ fullName, number }: Target): string => `${pathOf(fullName)}/issues/${number}`;
