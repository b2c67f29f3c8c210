import { forgejoPullRequest, forgejoRepository } from '../../forges/forgejo-state.js';
import { githubIssue, githubPullRequest, githubRepository } from '../../forges/github-state.js';
import { gitlabMergeRequest, gitlabProject } from '../../forges/gitlab-state.js';
import { openStage } from './stage.js';
import type { Stage } from './stage.js';

let stage: Stage;

beforeEach(async () => {
  stage = await openStage();
  const { github, forgejo, gitlab } = stage;
  const pullRequests = [githubPullRequest(1), githubPullRequest(2)];
  github.repositories.push(githubRepository('acme/shop', { pullRequests, issues: [githubIssue(3)] }));
  forgejo.repositories.push(forgejoRepository('acme/depot', { pullRequests: [forgejoPullRequest(4)] }));
  gitlab.projects.push(gitlabProject('acme/till', { mergeRequests: [gitlabMergeRequest(5)] }));
});
afterEach(() => stage.close());

test('reads all forges into one board', async () => {
  const board = await stage.refresh();
  const rows = board.pullRequests.map(({ forge, repo, number }) => `${forge} ${repo}#${number}`).sort();
  expect(rows).toEqual(['forgejo acme/depot#4', 'github acme/shop#1', 'github acme/shop#2', 'gitlab acme/till#5']);
  expect(board.issues.map(({ number }) => number)).toEqual([3]);
  expect(board.repos.map(({ fullName }) => fullName)).toEqual(['acme/shop', 'acme/depot', 'acme/till']);
  expect(board.forges.map(({ forge, reachable, repoCount }) => [forge, reachable, repoCount])).toEqual([
    ['github', true, 1],
    ['forgejo', true, 1],
    ['gitlab', true, 1],
  ]);
});
