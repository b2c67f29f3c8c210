import { forgejoPullRequest, forgejoRepository } from '../../forges/forgejo-state.js';
import { startForgejo, type TestForgejo } from '../../forges/forgejo.js';
import { githubIssue, githubPullRequest, githubRepository, githubRun } from '../../forges/github-state.js';
import { startGithub, type TestGithub } from '../../forges/github.js';
import { gitlabMergeRequest, gitlabProject } from '../../forges/gitlab-state.js';
import { startGitlab, type TestGitlab } from '../../forges/gitlab.js';

export interface BoardForges {
  readonly github: TestGithub;
  readonly forgejo: TestForgejo;
  readonly gitlab: TestGitlab;
  close(): Promise<void>;
}

const billing = { name: 'billing', color: '0e8a16' };
const bug = { name: 'bug', color: 'd73a4a' };
const day = (number: number): string => `2026-05-${String(number).padStart(2, '0')}T08:00:00Z`;

const failingRun = githubRun({
  databaseId: 2,
  name: 'unit tests',
  conclusion: 'FAILURE',
  steps: [{ name: 'Run npm test', conclusion: 'failure' }],
  log: 'Expected 3, received 4\n',
});

const shop = () =>
  githubRepository('acme/shop', {
    viewerPermission: 'ADMIN',
    pullRequests: [
      githubPullRequest(1, { title: 'Send receipts as PDF', labels: [billing], updatedAt: day(20) }),
      githubPullRequest(2, { title: 'Round taxes', checks: [failingRun], labels: [bug], updatedAt: day(19) }),
      githubPullRequest(3, { title: 'Keep sessions', mergeStateStatus: 'BEHIND', updatedAt: day(18) }),
      githubPullRequest(4, { title: 'Try another search', isDraft: true, updatedAt: day(17) }),
      githubPullRequest(5, { title: 'Bump lodash to 4.17.21', author: 'dependabot', updatedAt: day(16) }),
      githubPullRequest(6, { title: 'Name the columns', author: 'lisa', requested: ['mona'], updatedAt: day(15) }),
      githubPullRequest(7, { title: 'Drop an old flag', updatedAt: day(14) }),
      githubPullRequest(8, { title: 'Try one more thing', updatedAt: day(13) }),
    ],
    issues: [
      githubIssue(20, { title: 'Receipts miss the tax number', labels: [bug], author: 'lisa' }),
      githubIssue(21, { title: 'Search forgets umlauts' }),
    ],
  });

/** Starts one test forge of each kind, with pull requests and issues in the states that a board distinguishes. */
export async function startBoardForges(): Promise<BoardForges> {
  const github = await startGithub([shop()]);
  const forgejo = await startForgejo([
    forgejoRepository('mona/tools', { pullRequests: [forgejoPullRequest(1, { title: 'Sharpen the saw' })] }),
  ]);
  const gitlab = await startGitlab([
    gitlabProject('mona/site', { mergeRequests: [gitlabMergeRequest(1, { title: 'Show the way' })] }),
  ]);
  return {
    ...{ github, forgejo, gitlab },
    async close() {
      await Promise.all([github.close(), forgejo.close(), gitlab.close()]);
    },
  };
}
