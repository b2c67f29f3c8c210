import { toActionError, toReadError } from '../../../src/dashboard/actions/action-errors.js';
import { FORGE_ERROR_MESSAGES, ForgeError } from '../../../src/dashboard/forges/forge-error.js';
import type { ForgeErrorKind, ActionErrorCode } from '../../../src/dashboard/forges/forge-error.js';

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
