import * as dashboard from '../../../src/generated/dashboard/validators.js';
import * as secrets from '../../../src/generated/secrets/validators.js';

const TOKEN = { label: 'nightly', expiresAt: '2026-08-01T08:00:00Z' };

test('defaults are filled in, in bodies and in queries', () => {
  const body: Record<string, unknown> = { ...TOKEN };
  expect(dashboard.createTokenBody(body)).toBe(true);
  expect(body.scopes).toEqual(['read']);
  const query: Record<string, unknown> = {};
  expect(secrets.listObjectsQuery(query)).toBe(true);
  expect(query).toEqual({ limit: 50, offset: 0 });
});

test('defaults that a reference leads to are filled in too', () => {
  const body: Record<string, unknown> = { filter: {} };
  expect(dashboard.saveViewBody(body)).toBe(true);
  expect(body).toEqual({ filter: {}, sort: 'board', group: 'none' });
});

test('nothing is coerced', () => {
  expect(secrets.listObjectsQuery({ limit: '50' })).toBe(false);
  expect(secrets.listObjectsQuery.errors).toMatchObject([{ instancePath: '/limit', keyword: 'type' }]);
});

test.each([
  ['a blank label', { ...TOKEN, label: ' ' }, '/label', 'pattern'],
  ['a label of 101 characters', { ...TOKEN, label: 'x'.repeat(101) }, '/label', 'maxLength'],
  ['a day that is not in the calendar', { ...TOKEN, expiresAt: '2026-02-30T08:00:00Z' }, '/expiresAt', 'format'],
  ['no expiry', { label: 'nightly' }, '', 'required'],
  ['a misspelt field', { ...TOKEN, scope: ['read'] }, '', 'additionalProperties'],
  ['a scope twice', { ...TOKEN, scopes: ['read', 'read'] }, '/scopes', 'uniqueItems'],
  ['a scope that is not known', { ...TOKEN, scopes: ['admin'] }, '/scopes/0', 'enum'],
  ['a list', [TOKEN], '', 'type'],
])('a token request with %s is refused', (_reason, body, instancePath, keyword) => {
  expect(dashboard.createTokenBody(body)).toBe(false);
  expect(dashboard.createTokenBody.errors).toMatchObject([{ instancePath, keyword }]);
});

test('lengths count characters, not units of UTF-16', () => {
  expect(dashboard.createTokenBody({ ...TOKEN, label: '😀'.repeat(100) })).toBe(true);
});

test.each([
  ['a list of names', ['acme/shop'], true],
  ['a page', { consumers: [{ name: 'acme/shop', secret_count: 1 }], total: 1 }, true],
  ['a page without a total', { consumers: [] }, false],
  ['a list of numbers', [1], false],
])('of the consumers, %s is held to the contract', (_reason, body, want) => {
  expect(secrets.listConsumersResponse200(body)).toBe(want);
});

test('an answer is left as it is, and may say more than the contract', () => {
  const error = { error: 'No.', code: 'forbidden', requestId: 'r1', more: true };
  const text = JSON.stringify(error);
  expect(dashboard.errorSchema(error)).toBe(true);
  expect(JSON.stringify(error)).toBe(text);
  expect(dashboard.errorSchema({ ...error, code: 'teapot' })).toBe(false);
});

test.each([
  ['a description that is too long, though the value is missing', { description: 'x'.repeat(1_001) }, false],
  ['too many consumers', { used_by: Array.from({ length: 101 }, (_, index) => `c${index}`) }, false],
  ['a rotation after eleven years', { rotate_after_days: 4_015 }, false],
  ['what is missing or malformed', { slug: '-', rotate_after_days: 0, used_by: [''] }, true],
])('the limits of a body are held before anything else: %s', (_reason, body, want) => {
  expect(secrets.createObjectLimits(body)).toBe(want);
});
