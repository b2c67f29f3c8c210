/** Tests every rule for allowed actions that a forge can trigger, from the forge's response to the board row. */
import { toBoardRows } from '../../../src/dashboard/forges/board-rows.js';
import type { Forge } from '../../../src/dashboard/forges/forge.js';
import type { ForgeServer } from '../../forges/forge-server.js';
import { forgejoPullRequest, forgejoRepository, type ForgejoPullRequest } from '../../forges/forgejo-state.js';
import { githubPullRequest, githubRepository, githubRun, type GithubPullRequest } from '../../forges/github-state.js';
import { gitlabMergeRequest, gitlabProject, type GitlabMergeRequest } from '../../forges/gitlab-state.js';
import { openForgejo } from './forgejo/open-forgejo.js';
import { openGithub } from './github/open-github.js';
import { openGitlab } from './gitlab/open-gitlab.js';

/** Lists the actions of the second pull request with their block codes. It may be stacked on the first one. */
async function listOffered({ forge, server }: { readonly forge: Forge; readonly server: ForgeServer }) {
  const reading = await forge.readRepository('acme/shop');
  const { pullRequests } = toBoardRows(reading!, { forge: forge.name, username: 'mona', renovateAuthors: ['renewer'] });
  await server.close();
  const { allowedActions } = pullRequests.find(({ number }) => number === 2)!;
  return allowedActions.map(({ action, blocked }) => (blocked ? `${action}: ${blocked.code}` : action));
}

const failing = [githubRun({ conclusion: 'FAILURE' })];
const running = [githubRun({ status: 'IN_PROGRESS', conclusion: null })];
const conflicting = { mergeable: 'CONFLICTING', mergeStateStatus: 'DIRTY' };

test.each<[string, Partial<GithubPullRequest>, string[]]>([
  ['empty', { changedFiles: 0, baseRefName: 'change-1' }, ['merge: already_up_to_date', 'close']],
  ['stacked', { baseRefName: 'change-1', ...conflicting }, ['merge: stacked', 'close']],
  ['conflicting', { ...conflicting, isDraft: true }, ['merge: conflict', 'close']],
  ['a draft', { isDraft: true, mergeStateStatus: 'DRAFT' }, ['merge: not_mergeable', 'close', 'auto_merge']],
  ['unstable', { mergeStateStatus: 'UNSTABLE', checks: failing }, ['merge', 'close', 'auto_merge', 'rerun_checks']],
  ['mergeable with running checks', { checks: running }, ['merge: checks_pending', 'close', 'auto_merge']],
  ['behind', { mergeStateStatus: 'BEHIND' }, ['merge: behind', 'close', 'update_branch', 'auto_merge']],
  [
    'blocked and failing',
    { mergeStateStatus: 'BLOCKED', checks: failing },
    ['merge: checks_failing', 'close', 'auto_merge', 'rerun_checks'],
  ],
  ['blocked', { mergeStateStatus: 'BLOCKED' }, ['merge: blocked_by_protection', 'close', 'auto_merge']],
  ['of unknown mergeability', { mergeStateStatus: 'UNKNOWN' }, ['merge: not_mergeable', 'close', 'auto_merge']],
  ['clean', {}, ['merge', 'close']],
  [
    'blocked with auto-merge enabled',
    { mergeStateStatus: 'BLOCKED', autoMerge: 'MERGE' },
    ['merge: blocked_by_protection', 'close', 'cancel_auto_merge'],
  ],
  ['by Dependabot', { author: 'dependabot[bot]' }, ['merge', 'close', 'dependabot_rebase', 'dependabot_recreate']],
  ['by a configured Renovate account', { author: 'renewer' }, ['merge', 'close', 'renovate_rebase']],
])('GitHub: allowed actions of a pull request that is %s', async (_reason, change, offered) => {
  const pullRequests = [githubPullRequest(1), githubPullRequest(2, change)];
  expect(await listOffered(await openGithub([githubRepository('acme/shop', { pullRequests })]))).toEqual(offered);
});

test('GitHub: auto-merge is not an allowed action if the repository disables it', async () => {
  const pullRequests = [githubPullRequest(2, { mergeStateStatus: 'BLOCKED' })];
  const repository = githubRepository('acme/shop', { pullRequests, autoMergeAllowed: false });
  expect(await listOffered(await openGithub([repository]))).toEqual(['merge: blocked_by_protection', 'close']);
});

const old = { mergeBase: 'c'.repeat(40) };

test.each<[string, Partial<ForgejoPullRequest>, string[]]>([
  ['empty', { changedFiles: 0, baseRef: 'change-1' }, ['merge: already_up_to_date', 'close']],
  ['stacked', { baseRef: 'change-1', mergeable: false }, ['merge: stacked', 'close']],
  ['a draft', { draft: true }, ['merge: not_mergeable', 'close']],
  ['mergeable with running checks', { status: 'pending' }, ['merge: checks_pending', 'close', 'auto_merge']],
  ['behind', { ...old, mergeable: false }, ['merge: behind', 'close', 'update_branch', 'auto_merge']],
  ['behind, but mergeable', old, ['merge', 'close', 'update_branch', 'auto_merge']],
  [
    'blocked and failing',
    { mergeable: false, status: 'failure' },
    ['merge: checks_failing', 'close', 'auto_merge', 'rerun_checks'],
  ],
  ['blocked', { mergeable: false }, ['merge: blocked_by_protection', 'close', 'auto_merge']],
  ['clean', {}, ['merge', 'close']],
  ['by Dependabot', { ...old, author: 'dependabot[bot]' }, ['merge', 'close', 'auto_merge']],
  ['by Renovate', { author: 'renovate' }, ['merge', 'close', 'renovate_rebase']],
])('Forgejo: allowed actions of a pull request that is %s', async (_reason, change, offered) => {
  const pullRequests = [forgejoPullRequest(1), forgejoPullRequest(2, change)];
  expect(await listOffered(await openForgejo([forgejoRepository('acme/shop', { pullRequests })]))).toEqual(offered);
});

const conflicts = { conflicts: true, detailedMergeStatus: 'CONFLICT' };
const pending = { detailedMergeStatus: 'CI_STILL_RUNNING', pipeline: 'RUNNING' };

test.each<[string, Partial<GitlabMergeRequest>, string[]]>([
  ['empty', { fileCount: 0, targetBranch: 'change-1' }, ['merge: already_up_to_date', 'close']],
  ['stacked', { targetBranch: 'change-1', ...conflicts }, ['merge: stacked', 'close']],
  ['conflicting', { ...conflicts, draft: true }, ['merge: conflict', 'close']],
  ['a draft', { draft: true, detailedMergeStatus: 'DRAFT_STATUS' }, ['merge: not_mergeable', 'close', 'auto_merge']],
  ['still running checks', pending, ['merge: checks_pending', 'close', 'auto_merge']],
  ['behind', { detailedMergeStatus: 'NEED_REBASE' }, ['merge: behind', 'close', 'update_branch', 'auto_merge']],
  [
    'blocked and failing',
    { detailedMergeStatus: 'CI_MUST_PASS', pipeline: 'FAILED' },
    ['merge: checks_failing', 'close', 'auto_merge', 'rerun_checks'],
  ],
  ['blocked', { detailedMergeStatus: 'NOT_APPROVED' }, ['merge: blocked_by_protection', 'close', 'auto_merge']],
  ['of unknown mergeability', { detailedMergeStatus: 'CHECKING' }, ['merge: not_mergeable', 'close', 'auto_merge']],
  ['clean', {}, ['merge', 'close']],
  [
    'still running checks with auto-merge enabled',
    { ...pending, autoMergeEnabled: true },
    ['merge: checks_pending', 'close', 'cancel_auto_merge'],
  ],
  ['by Renovate', { username: 'renovate' }, ['merge', 'close', 'renovate_rebase']],
])('GitLab: allowed actions of a merge request that is %s', async (_reason, change, offered) => {
  const mergeRequests = [gitlabMergeRequest(1), gitlabMergeRequest(2, change)];
  expect(await listOffered(await openGitlab([gitlabProject('acme/shop', { mergeRequests })]))).toEqual(offered);
});
