import type { ActionName, PullRequest } from '../../../src/dashboard/forges/forge.js';
import type { ActionTarget } from '../../../src/dashboard/pull-requests/actions.js';
import { createAutomation } from '../../../src/dashboard/pull-requests/automation.js';
import { createAttempts } from '../../../src/dashboard/pull-requests/send-action-once.js';
import { forgejoPullRequest, forgejoRepository, type ForgejoPullRequest } from '../../forges/forgejo-state.js';
import { githubPullRequest, githubRepository, type GithubPullRequest } from '../../forges/github-state.js';
import { gitlabMergeRequest, gitlabProject, type GitlabMergeRequest } from '../../forges/gitlab-state.js';
import { openStage, type Stage } from '../refresh/fixtures.js';

export const onGithub = { forge: 'github', fullName: 'acme/shop', number: 1 } as const;
export const onForgejo = { forge: 'forgejo', fullName: 'acme/depot', number: 1 } as const;
export const onGitlab = { forge: 'gitlab', fullName: 'acme/till', number: 1 } as const;

/** The three test forges, each with a mergeable pull request, and a user who acts on them. */
export interface ActionStage extends Stage {
  /** The pull request with number 1 of each forge. GitHub has a second one. */
  readonly one: {
    readonly github: GithubPullRequest;
    readonly forgejo: ForgejoPullRequest;
    readonly gitlab: GitlabMergeRequest;
  };
  act(target: ActionTarget, action: ActionName, dashboard?: Stage['dashboard']): Promise<'done' | 'queued'>;
  findRow(target: ActionTarget): Promise<PullRequest | undefined>;
  /** Runs the automation, as after a refresh of the whole board. */
  runAutomation(): Promise<void>;
  /** Lists the write requests to all forges. */
  writes(): string[];
}

export async function openActionStage(): Promise<ActionStage> {
  let ahead = 0;
  const stage = await openStage();
  const one = { github: githubPullRequest(1), forgejo: forgejoPullRequest(1), gitlab: gitlabMergeRequest(1) };
  const labels = [{ id: 7, name: 'rebase' }];
  stage.github.repositories.push(githubRepository('acme/shop', { pullRequests: [one.github, githubPullRequest(2)] }));
  stage.forgejo.repositories.push(forgejoRepository('acme/depot', { pullRequests: [one.forgejo], labels }));
  stage.gitlab.projects.push(gitlabProject('acme/till', { mergeRequests: [one.gitlab] }));
  return {
    ...stage,
    one,
    wait(milliseconds) {
      ahead += milliseconds;
      stage.wait(milliseconds);
    },
    act: (target, action, dashboard = stage.dashboard) => dashboard.actions.perform(stage.ada, target, action),
    async findRow({ forge, number }) {
      const { pullRequests } = await stage.board();
      return pullRequests.find((row) => row.forge === forge && row.number === number);
    },
    async runAutomation() {
      const { database, dashboard, ada } = stage;
      const [now, { forges, refresher }] = [() => Date.now() + ahead, dashboard];
      const followUps = createAutomation({ database, refresher, attempts: createAttempts(database, now), now });
      await followUps(ada.personId, await forges.of(ada.personId), (await stage.board()).pullRequests);
    },
    writes: () =>
      [stage.github, stage.forgejo, stage.gitlab]
        .flatMap(({ seen }) => seen)
        .filter(
          ({ method, path, body }) => method !== 'GET' && (!path.endsWith('graphql') || body.includes('mutation')),
        )
        .map(({ method, path }) => `${method} ${path}`),
  };
}

export const actionError = (code: string, error = 'conflict') => ({ code: error, details: { code } });

/** Waits for the effect of background work. */
export async function until(isSo: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 5));
}
