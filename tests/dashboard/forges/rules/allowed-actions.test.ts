import {
  findMergeBlock,
  listAllowedActions,
  type ActionCandidate,
} from '../../../../src/dashboard/forges/forge-action.js';
import { forgePullRequest } from '../model-fixtures.js';

const judged = (change: Partial<ActionCandidate> = {}): ActionCandidate => ({
  ...forgePullRequest(change),
  stackedOn: null,
  forge: 'github',
  bot: undefined,
  ...change,
});
const stackedOn = { number: 16, url: 'https://github.com/acme/shop/pull/16' };

test.each<[string, Partial<ActionCandidate>, string | undefined]>([
  ['the pull request is mergeable', {}, undefined],
  ['merging would change nothing', { empty: true, stackedOn, mergeStatus: 'conflicting' }, 'already_up_to_date'],
  ['it is stacked', { stackedOn, mergeStatus: 'conflicting' }, 'stacked'],
  ['it conflicts and is a draft', { mergeStatus: 'conflicting', draft: true }, 'conflict'],
  ['it is a draft and unstable', { draft: true, mergeStatus: 'unstable' }, 'not_mergeable'],
  ['only optional checks fail', { mergeStatus: 'unstable', ci: 'failure' }, undefined],
  ['only optional checks run', { mergeStatus: 'unstable', ci: 'pending', behind: true }, undefined],
  ['checks run, but the forge allows merging', { ci: 'pending' }, 'checks_pending'],
  ['checks run and it is behind', { ci: 'pending', behind: true, mergeStatus: 'blocked' }, 'checks_pending'],
  ['it is behind and blocked with failing checks', { behind: true, mergeStatus: 'blocked', ci: 'failure' }, 'behind'],
  ['it is behind, but the forge allows merging', { behind: true }, undefined],
  ['it is blocked and checks fail', { mergeStatus: 'blocked', ci: 'failure' }, 'checks_failing'],
  ['it is blocked with passed checks', { mergeStatus: 'blocked' }, 'blocked_by_protection'],
  ['it is blocked without checks', { mergeStatus: 'blocked', ci: 'none' }, 'blocked_by_protection'],
  ['its mergeability is unknown', { mergeStatus: 'unknown' }, 'not_mergeable'],
  ['checks fail, but the forge allows merging', { ci: 'failure' }, undefined],
])('findMergeBlock: returns the expected code when %s', (_reason, change, code) => {
  expect(findMergeBlock(judged(change))).toBe(code);
});

const offered = (change: Partial<ActionCandidate>): string[] =>
  listAllowedActions(judged(change)).map(({ action, blocked }) => (blocked ? `${action}: ${blocked.code}` : action));

const clean = ['merge', 'close'];
const waiting = { mergeStatus: 'blocked', ci: 'success' } as const;
const blocked = 'merge: blocked_by_protection';
const queued = 'merge: merge_queue';

test.each<[string, Partial<ActionCandidate>, string[]]>([
  ['always merge and close', {}, clean],
  ['update_branch when behind', { behind: true }, ['merge', 'close', 'update_branch', 'auto_merge']],
  ['no update_branch when empty', { behind: true, empty: true }, ['merge: already_up_to_date', 'close']],
  [
    'update_branch for a release bot',
    { behind: true, author: 'release-please[bot]', labels: [{ name: 'autorelease: pending', color: 'ededed' }] },
    ['merge', 'close', 'update_branch', 'auto_merge'],
  ],
  [
    'a blocked update_branch when conflicting',
    { behind: true, mergeStatus: 'conflicting' },
    ['merge: conflict', 'close', 'update_branch: conflict'],
  ],
  ['auto_merge when blocked', waiting, [blocked, 'close', 'auto_merge']],
  ['auto_merge when checks run', { ci: 'pending' }, ['merge: checks_pending', 'close', 'auto_merge']],
  ['auto_merge without checks', { ci: 'none' }, ['merge', 'close', 'auto_merge']],
  ['no auto_merge when it is enabled', { ...waiting, autoMergeEnabled: true }, [blocked, 'close', 'cancel_auto_merge']],
  ['auto_merge when it is disabled', { ...waiting, autoMergeEnabled: false }, [blocked, 'close', 'auto_merge']],
  ['no auto_merge when the repository disallows it', { ...waiting, autoMergeAllowed: false }, [blocked, 'close']],
  ['no auto_merge when empty', { ...waiting, empty: true }, ['merge: already_up_to_date', 'close']],
  ['no auto_merge when conflicting', { mergeStatus: 'conflicting' }, ['merge: conflict', 'close']],
  ['no auto_merge when stacked', { ...waiting, stackedOn }, ['merge: stacked', 'close']],
  ['auto_merge for drafts on GitHub', { draft: true, ci: 'none' }, ['merge: not_mergeable', 'close', 'auto_merge']],
  [
    'no auto_merge for drafts on Forgejo',
    { draft: true, ci: 'none', forge: 'forgejo' },
    ['merge: not_mergeable', 'close'],
  ],
  [
    'cancel_auto_merge on Forgejo when enabled',
    { ...waiting, forge: 'forgejo', autoMergeEnabled: true },
    [blocked, 'close', 'cancel_auto_merge'],
  ],
  [
    'cancel_auto_merge on GitLab when enabled',
    { ...waiting, forge: 'gitlab', autoMergeEnabled: true },
    [blocked, 'close', 'cancel_auto_merge'],
  ],
  ['Dependabot commands on GitHub', { bot: 'dependabot' }, [...clean, 'dependabot_rebase', 'dependabot_recreate']],
  ['no Dependabot commands on other forges', { bot: 'dependabot', forge: 'forgejo' }, clean],
  ['no update_branch for Dependabot', { bot: 'dependabot', behind: true, forge: 'forgejo' }, [...clean, 'auto_merge']],
  ['renovate_rebase on any forge', { bot: 'renovate', forge: 'forgejo' }, [...clean, 'renovate_rebase']],
  ['no update_branch for Renovate', { bot: 'renovate', behind: true }, [...clean, 'auto_merge', 'renovate_rebase']],
  [
    'enqueue when only reviews are missing',
    { ...waiting, mergeQueueRequired: true },
    [queued, 'close', 'auto_merge', 'enqueue'],
  ],
  [
    'no enqueue when checks fail',
    { ...waiting, ci: 'failure', mergeQueueRequired: true },
    [queued, 'close', 'auto_merge', 'rerun_checks'],
  ],
  ['rerun_checks when they fail', { ci: 'failure' }, [...clean, 'auto_merge', 'rerun_checks']],
])('listAllowedActions: returns %s', (_reason, change, actions) => {
  expect(offered(change)).toEqual(actions);
});

test('listAllowedActions: explains why merging is blocked and the next step', () => {
  expect(listAllowedActions(judged({ stackedOn }))[0]).toEqual({
    action: 'merge',
    blocked: {
      code: 'stacked',
      message: 'It is stacked on another open pull request.',
      next: 'Merge that pull request first.',
    },
  });
});
