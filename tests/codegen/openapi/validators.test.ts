import { readFile } from 'node:fs/promises';
import * as dashboard from '../../../src/generated/dashboard/validators.js';
import * as secrets from '../../../src/generated/secrets/validators.js';

const TOKEN = { label: 'nightly', expiresAt: '2026-08-01T08:00:00Z' };

test('validators fill in the defaults of bodies and queries', () => {
  const body: Record<string, unknown> = { ...TOKEN };
  expect(dashboard.createTokenBody(body)).toBe(true);
  expect(body.scopes).toEqual(['read']);
  const query: Record<string, unknown> = {};
  expect(secrets.listObjectsQuery(query)).toBe(true);
  expect(query).toEqual({ limit: 50, offset: 0 });
});

test('validators fill in the defaults of referenced schemas', () => {
  const body: Record<string, unknown> = { filter: {} };
  expect(dashboard.saveViewBody(body)).toBe(true);
  expect(body).toEqual({ filter: {}, sort: 'board', group: 'none' });
});

test('validators do not coerce types', () => {
  expect(secrets.listObjectsQuery({ limit: '50' })).toBe(false);
  expect(secrets.listObjectsQuery.errors).toMatchObject([{ instancePath: '/limit', keyword: 'type' }]);
});

test.each([
  ['a blank label', { ...TOKEN, label: ' ' }, '/label', 'pattern'],
  ['a label of 101 characters', { ...TOKEN, label: 'x'.repeat(101) }, '/label', 'maxLength'],
  ['an impossible date', { ...TOKEN, expiresAt: '2026-02-30T08:00:00Z' }, '/expiresAt', 'format'],
  ['no expiry', { label: 'nightly' }, '', 'required'],
  ['a misspelt field', { ...TOKEN, scope: ['read'] }, '', 'additionalProperties'],
  ['a duplicate scope', { ...TOKEN, scopes: ['read', 'read'] }, '/scopes', 'uniqueItems'],
  ['an unknown scope', { ...TOKEN, scopes: ['admin'] }, '/scopes/0', 'enum'],
  ['a list as body', [TOKEN], '', 'type'],
])('the validator of createToken rejects %s', (_reason, body, instancePath, keyword) => {
  expect(dashboard.createTokenBody(body)).toBe(false);
  expect(dashboard.createTokenBody.errors).toMatchObject([{ instancePath, keyword }]);
});

test('validators measure lengths in characters, not in UTF-16 code units', () => {
  expect(dashboard.createTokenBody({ ...TOKEN, label: '😀'.repeat(100) })).toBe(true);
});

test.each([
  ['a list of names', ['acme/shop'], true],
  ['a page', { consumers: [{ name: 'acme/shop', secret_count: 1 }], total: 1 }, true],
  ['a page without a total', { consumers: [] }, false],
  ['a list of numbers', [1], false],
])('the validator of the response of listConsumers handles %s', (_reason, body, want) => {
  expect(secrets.listConsumersResponse200(body)).toBe(want);
});

test('validators of responses change nothing and accept additional members', () => {
  const error = { error: 'No.', code: 'forbidden', requestId: 'r1', more: true };
  const text = JSON.stringify(error);
  expect(dashboard.errorSchema(error)).toBe(true);
  expect(JSON.stringify(error)).toBe(text);
  expect(dashboard.errorSchema({ ...error, code: 'teapot' })).toBe(false);
});

test.each([
  ['a description that is too long in a body without a value', { description: 'x'.repeat(1_001) }, false],
  ['too many consumers', { used_by: Array.from({ length: 101 }, (_, index) => `c${index}`) }, false],
  ['a rotation interval of eleven years', { rotate_after_days: 4_015 }, false],
  ['missing and malformed members', { slug: '-', rotate_after_days: 0, used_by: [''] }, true],
])('the limits validator of createObject checks sizes only: %s', (_reason, body, want) => {
  expect(secrets.createObjectLimits(body)).toBe(want);
});

test.each(['dashboard', 'secrets'])(
  'validators of %s import only the server, as a project may have no ajv',
  async (name) => {
    const text = await readFile(`src/generated/${name}/validators.js`, 'utf8');
    const modules = [...text.matchAll(/^import .* from '(.+)';$/gmu)].map(([, module]) => module);
    expect(modules).toEqual(['@trellis/server/rest/operation']);
  },
);
