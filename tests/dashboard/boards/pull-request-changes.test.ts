import { toPullRequestKey, updateLastChanged } from '../../../src/dashboard/boards/owner-state.js';
import { pullRequest } from '../pull-request.js';

type Row = ReturnType<typeof pullRequest>;

/** Returns the time of the last change of a pull request that had these states at the times 1, 2, and so on. */
function changedAt(...states: readonly Partial<Row>[]): number | undefined {
  let changes = {};
  for (const [index, state] of states.entries()) changes = updateLastChanged(changes, [pullRequest(state)], index + 1);
  return (changes as Record<string, { at: number }>)[toPullRequestKey(pullRequest())]?.at;
}

const decided = (decision: NonNullable<Row['review']>['decision']) => ({
  review: { decision, approvals: 0, requestedReviewers: 0 },
});

test.each<[string, ...Partial<Row>[]]>([
  ['it is updated', {}, { updatedAt: '2026-05-02T09:00:00Z' }],
  ['a commit is pushed', { headSha: 'a' }, { headSha: 'b' }],
  ['checks fail', { ci: 'success' }, { ci: 'failure' }],
  ['running checks complete', { ci: 'pending' }, { ci: 'success' }],
  ['a review is decided', decided('none'), decided('approved')],
  ['a conflict arises', { mergeStatus: 'mergeable' }, { mergeStatus: 'conflicting' }],
  ['a conflict is resolved', { mergeStatus: 'conflicting' }, { mergeStatus: 'blocked' }],
])('updates the time of the last change when %s', (_what, before, after) => {
  expect(changedAt(before, after)).toBe(2);
});

test.each<[string, ...Partial<Row>[]]>([
  ['nothing changes', {}, {}],
  ['its time is written differently', {}, { updatedAt: '2026-05-02T10:00:00+02:00' }],
  ['checks start', { ci: 'failure' }, { ci: 'pending' }],
  ['it was behind its base for a while', { behind: true }, { behind: false }],
  ['the forge does not report conflicts', { mergeStatus: 'conflicting' }, { mergeStatus: 'unknown' }],
  [
    'the forge reports the same conflict again after a gap',
    { mergeStatus: 'conflicting' },
    { mergeStatus: 'unknown' },
    { mergeStatus: 'conflicting' },
  ],
  ['the forge reports reviews for the first time', {}, decided('approved')],
  ['the forge does not report reviews for a while', decided('approved'), {}, decided('approved')],
  ['the newest commit is unknown for a while', { headSha: 'a' }, { headSha: '' }, { headSha: 'a' }],
])('keeps the time of the last change when %s', (_what, ...states) => {
  expect(changedAt(...states)).toBe(1);
});

test('updates the time of the last change when checks that ran again complete', () => {
  expect(changedAt({ ci: 'failure' }, { ci: 'pending' }, { ci: 'failure' })).toBe(3);
});

test('counts pull requests that appear on the board as changed, even if they were there before', () => {
  const first = updateLastChanged({}, [pullRequest()], 1);
  const empty = updateLastChanged(first, [], 2);
  expect(empty).toEqual({});
  expect(updateLastChanged(empty, [pullRequest()], 3)[toPullRequestKey(pullRequest())]?.at).toBe(3);
});
