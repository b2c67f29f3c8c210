import { keyOf, noteChanges } from '../../src/dashboard/pull-request-changes.js';
import { pullRequest } from './pull-request.js';

type Row = ReturnType<typeof pullRequest>;

/** When a pull request is said to have changed last that was in these states, one after the other, at 1, 2, and so on. */
function changedAt(...states: readonly Partial<Row>[]): number | undefined {
  let changes = {};
  for (const [index, state] of states.entries()) changes = noteChanges(changes, [pullRequest(state)], index + 1);
  return (changes as Record<string, { at: number }>)[keyOf(pullRequest())]?.at;
}

const decided = (decision: NonNullable<Row['review']>['decision']) => ({
  review: { decision, approvals: 0, requestedReviewers: 0 },
});

test.each<[string, ...Partial<Row>[]]>([
  ['something happened', {}, { updatedAt: '2026-05-02T09:00:00Z' }],
  ['a commit came', { headSha: 'a' }, { headSha: 'b' }],
  ['checks failed', { ci: 'success' }, { ci: 'failure' }],
  ['checks that ran are through', { ci: 'pending' }, { ci: 'success' }],
  ['a review was decided', decided('none'), decided('approved')],
  ['it came into conflict', { mergeStatus: 'mergeable' }, { mergeStatus: 'conflicting' }],
  ['it came out of conflict', { mergeStatus: 'conflicting' }, { mergeStatus: 'blocked' }],
])('changed when %s', (_what, before, after) => {
  expect(changedAt(before, after)).toBe(2);
});

test.each<[string, ...Partial<Row>[]]>([
  ['nothing did', {}, {}],
  ['its time was written otherwise', {}, { updatedAt: '2026-05-02T10:00:00+02:00' }],
  ['checks began', { ci: 'failure' }, { ci: 'pending' }],
  ['it was behind for a while', { behind: true }, { behind: false }],
  ['the forge does not tell of conflicts', { mergeStatus: 'conflicting' }, { mergeStatus: 'unknown' }],
  [
    'the forge tells again what it told before',
    { mergeStatus: 'conflicting' },
    { mergeStatus: 'unknown' },
    { mergeStatus: 'conflicting' },
  ],
  ['the forge tells of reviews for the first time', {}, decided('approved')],
  ['the forge does not tell of reviews for a while', decided('approved'), {}, decided('approved')],
  ['the newest commit is not known for a while', { headSha: 'a' }, { headSha: '' }, { headSha: 'a' }],
])('did not change when %s', (_what, ...states) => {
  expect(changedAt(...states)).toBe(1);
});

test('checks that ran again are through again', () => {
  expect(changedAt({ ci: 'failure' }, { ci: 'pending' }, { ci: 'failure' })).toBe(3);
});

test('what comes to the board has changed, also when it was there long before', () => {
  const first = noteChanges({}, [pullRequest()], 1);
  const gone = noteChanges(first, [], 2);
  expect(gone).toEqual({});
  expect(noteChanges(gone, [pullRequest()], 3)[keyOf(pullRequest())]?.at).toBe(3);
});
