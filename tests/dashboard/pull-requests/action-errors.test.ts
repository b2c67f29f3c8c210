import { toBoardRows } from '../../../src/dashboard/forges/board-rows.js';
import {
  type ActionErrorCode,
  FORGE_ERROR_MESSAGES,
  ForgeError,
  type ForgeErrorKind,
} from '../../../src/dashboard/forges/forge-error.js';
import type { ActionName, ForgeName, ForgePullRequest } from '../../../src/dashboard/forges/forge.js';
import { assertActionAllowed, toActionError, toReadError } from '../../../src/dashboard/pull-requests/action-errors.js';
import { forgePullRequest } from '../forges/model-fixtures.js';

const AT = Date.parse('2026-05-02T08:00:00Z');

test.each<[ActionErrorCode, ForgeErrorKind, number]>([
  ['already_merged', 'conflict', 409],
  ['already_closed', 'conflict', 409],
  ['already_up_to_date', 'conflict', 409],
  ['auto_merge_not_allowed', 'conflict', 409],
  ['behind', 'conflict', 409],
  ['blocked_by_protection', 'conflict', 409],
  ['checks_failing', 'conflict', 409],
  ['checks_pending', 'conflict', 409],
  ['conflict', 'conflict', 409],
  ['not_mergeable', 'conflict', 409],
  ['ready_to_merge', 'conflict', 409],
  ['stacked', 'conflict', 409],
  ['label_missing', 'not_found', 404],
  ['permission', 'unauthorized', 403],
  ['rate_limited', 'rate_limited', 429],
  ['unknown', 'conflict', 409],
  ['unknown', 'not_found', 404],
  ['unknown', 'unreachable', 502],
  ['unknown', 'unknown', 502],
])('toActionError: maps the reason %s with kind %s to status %i', (refusal, kind, status) => {
  const cause = new Error('The forge answered 500: user 4711 of acme');
  const error = toActionError(new ForgeError(kind, { refusal, cause }), AT);
  expect([error.status, error.details?.code]).toEqual([status, refusal]);
  expect(error.message).toMatch(/^[A-Z][^0-9]+\.$/);
});

test.each<[ForgeErrorKind, string, number]>([
  ['unauthorized', 'permission', 403],
  ['not_found', 'unknown', 404],
  ['rate_limited', 'rate_limited', 429],
  ['unreachable', 'unknown', 502],
  ['unknown', 'unknown', 502],
])('toActionError: maps the kind %s without a reason to %s', (kind, code, status) => {
  const refusal = toActionError(new ForgeError(kind), AT);
  expect([refusal.status, refusal.details, refusal.message]).toEqual([
    status,
    { message: FORGE_ERROR_MESSAGES[kind], code },
    FORGE_ERROR_MESSAGES[kind],
  ]);
});

test('toActionError: reports the end of a rate limit in the details and as Retry-After', () => {
  const { details, headers } = toActionError(new ForgeError('rate_limited', { resetsAt: AT + 90_500 }), AT);
  expect(details).toMatchObject({ code: 'rate_limited', resetsAt: '2026-05-02T08:01:30.500Z' });
  expect(headers).toEqual({ 'Retry-After': '91' });
});

test('toActionError: names the missing permission, if it is known', () => {
  const error = new ForgeError('unauthorized', { refusal: 'permission', needs: 'a token with the scope repo' });
  expect(toActionError(error, AT).message).toMatch(/ Required: a token with the scope repo\.$/);
});

test.each<[ForgeErrorKind, number]>([
  ['unauthorized', 403],
  ['not_found', 404],
  ['rate_limited', 429],
  ['conflict', 502],
  ['unreachable', 502],
  ['unknown', 502],
])('toReadError: maps the kind %s to status %i, without action details', (kind, status) => {
  const refusal = toReadError(new ForgeError(kind), AT);
  expect([refusal.status, refusal.details]).toEqual([status, undefined]);
});

/** Returns the row of a pull request, next to one that it can be stacked on. */
function rowOf(change: Partial<ForgePullRequest>, forge: ForgeName = 'github') {
  const pullRequests = [forgePullRequest(change), forgePullRequest({ number: 1, headBranch: 'parent' })];
  const reader = { forge, username: '', renovateAuthors: [] };
  return toBoardRows({ pullRequests, issues: [] }, reader).pullRequests[0]!;
}

test.each<[string, ActionName, Partial<ForgePullRequest>]>([
  ['already_up_to_date', 'merge', { empty: true }],
  ['stacked', 'merge', { baseBranch: 'parent' }],
  ['conflict', 'merge', { mergeStatus: 'conflicting' }],
  ['not_mergeable', 'merge', { draft: true }],
  ['checks_pending', 'merge', { ci: 'pending' }],
  ['behind', 'merge', { mergeStatus: 'blocked', behind: true }],
  ['checks_failing', 'merge', { mergeStatus: 'blocked', ci: 'failure' }],
  ['blocked_by_protection', 'merge', { mergeStatus: 'blocked' }],
  ['not_mergeable', 'merge', { mergeStatus: 'unknown' }],
  ['conflict', 'update_branch', { behind: true, mergeStatus: 'conflicting' }],
  ['already_up_to_date', 'update_branch', {}],
  ['already_up_to_date', 'update_branch', { behind: true, empty: true }],
  ['unknown', 'update_branch', { behind: true, author: 'renovate[bot]' }],
  ['auto_merge_not_allowed', 'auto_merge', { ci: 'pending', autoMergeAllowed: false }],
  ['already_up_to_date', 'auto_merge', { empty: true }],
  ['conflict', 'auto_merge', { mergeStatus: 'conflicting' }],
  ['stacked', 'auto_merge', { baseBranch: 'parent' }],
  ['ready_to_merge', 'auto_merge', {}],
  ['unknown', 'cancel_auto_merge', {}],
  ['checks_pending', 'rerun_checks', { ci: 'pending' }],
  ['unknown', 'rerun_checks', {}],
  ['unknown', 'dependabot_rebase', {}],
  ['unknown', 'dependabot_recreate', {}],
  ['unknown', 'renovate_rebase', {}],
])('assertActionAllowed: throws %s for %s', (code, action, change) => {
  const { message, ...refused } = catchError(() => assertActionAllowed(rowOf(change), action));
  expect(refused).toMatchObject({ code: 'conflict', details: { code } });
  expect(message).toMatch(/^[A-Z].+\.$/);
});

test('assertActionAllowed: rejects auto-merge by Trellis for drafts', () => {
  const refused = catchError(() => assertActionAllowed(rowOf({ draft: true, ci: 'pending' }, 'forgejo'), 'auto_merge'));
  expect(refused).toMatchObject({ details: { code: 'not_mergeable' } });
});

test('assertActionAllowed: accepts allowed actions', () => {
  expect(() => {
    assertActionAllowed(rowOf({}), 'merge');
    assertActionAllowed(rowOf({ draft: true }), 'close');
    assertActionAllowed(rowOf({ ci: 'failure' }), 'rerun_checks');
  }).not.toThrow();
});

function catchError(run: () => void): Error {
  try {
    run();
  } catch (error) {
    return error as Error;
  }
  throw new Error('No error was thrown.');
}
