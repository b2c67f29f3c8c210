import { AppError, type ErrorCode } from '@trellis/core/errors';
import type { Caller } from '../../src/accounts/callers.js';
import { createDenialLog, type DenialLog, type FailedRequest } from '../../src/secrets/audit/denials.js';
import { sequenceAuditEntries } from '../../src/secrets/audit/sequence.js';
import { verifyAuditChain } from '../../src/secrets/audit/verify-chain.js';
import { eventually } from '../eventually.js';
import { consumer, openFixtures, owner, script, type SecretsFixtures } from './fixtures.js';

let stage: SecretsFixtures;
let denials: DenialLog;
const errors: unknown[] = [];

beforeEach(async () => {
  stage = await openFixtures();
  denials = createDenialLog(stage.database, { report: (error) => void errors.push(error), now: () => stage.now() });
});
afterEach(async () => {
  await denials.close();
  await stage.database.destroy();
  expect(errors.splice(0)).toEqual([]);
});

const deny = (code: ErrorCode, request: Partial<FailedRequest> = {}): void =>
  denials.record({
    operation: 'getObject',
    caller: undefined,
    hasCredential: true,
    address: '192.0.2.7',
    error: new AppError(code, 'denied'),
    ...request,
  });

async function listEntries() {
  await sequenceAuditEntries(stage.database);
  const rows = await stage.database.selectFrom('audit_log').selectAll().orderBy('id').execute();
  return rows.map(({ action, subject_id: operation, ip, actor_id: actor, detail }) => ({
    ...{ action, operation, ip, actor },
    ...(JSON.parse(detail ?? '{}') as { reason: string; count: number; names?: string[] }),
  }));
}

test('the first denial is recorded at once, and further ones together', async () => {
  const token = consumer('acme/shop');
  for (const slug of ['db', 'admin', 'db', 'root']) deny('not_found', { caller: token, slug });
  const first = {
    action: 'denied',
    operation: 'getObject',
    ip: '192.0.2.7',
    actor: 'c-acme/shop',
    reason: 'not_found',
  };
  await eventually(async () => expect(await listEntries()).toEqual([{ ...first, count: 1, names: ['db'] }]));
  await denials.flush();
  const further = { ...first, count: 3, names: ['admin', 'db', 'root'] };
  expect((await listEntries()).slice(1)).toEqual([further]);
  // A new window.
  deny('not_found', { caller: token });
  await denials.flush();
  expect(await listEntries()).toHaveLength(3);
  expect((await verifyAuditChain(stage.database)).broken).toBeUndefined();
});

test('denials are recorded at the end of their window', async () => {
  await denials.close();
  denials = createDenialLog(stage.database, { report: (error) => void errors.push(error), windowMs: 20 });
  deny('unauthenticated');
  deny('unauthenticated');
  await eventually(async () => expect((await listEntries()).map(({ count }) => count)).toEqual([1, 1]));
});

test.each<[isRecorded: boolean, code: ErrorCode, caller: Caller | undefined, hasCredential: boolean, reason: string]>([
  [true, 'unauthenticated', undefined, true, 'an invalid token'],
  [true, 'forbidden', script, true, 'a token without the permission'],
  [true, 'session_required', script, true, 'a token for an operation of sessions'],
  [true, 'cross_site', undefined, true, 'a request from another site'],
  [true, 'not_found', consumer('web'), true, 'a consumer that looks for secrets of others'],
  [true, 'not_found', { ...script, access: { namePrefix: 'a' } } as Caller, true, 'a limited token that does'],
  [false, 'not_found', owner, true, 'an unknown name of the owner'],
  [false, 'not_found', script, true, 'an unknown name of a token without limits'],
  [false, 'unauthenticated', undefined, false, 'a missing credential, such as of a page before the sign-in'],
  [false, 'conflict', script, true, 'an error that is not a denial'],
])('is recorded (%s) for %s of a caller: %#', async (isRecorded, code, caller, hasCredential) => {
  deny(code, { caller, hasCredential });
  await denials.flush();
  expect(await listEntries()).toHaveLength(isRecorded ? 1 : 0);
});

test('a flood adds few entries, whose counts add up', async () => {
  const total = 20_000;
  for (let index = 0; index < total; index += 1) {
    deny('unauthenticated', { address: `10.0.${Math.floor(index / 200) % 200}.${index % 200}`, slug: `s${index}` });
  }
  for (let index = 0; index < 100; index += 1)
    deny('forbidden', { operation: `operation${index}`, address: '10.0.0.0' });
  await denials.flush();
  const entries = await listEntries();
  expect(entries.length).toBeLessThan(2 * (200 + 11) + 2);
  expect(entries.reduce((sum, { count }) => sum + count, 0)).toBe(total + 100);
  // Beyond the limits, denials share an entry without their source, or of their source without the operation.
  expect(entries.filter(({ ip }) => ip === '')).toHaveLength(2);
  const others = entries.filter(({ ip, operation }) => ip === '10.0.0.0' && operation === 'other');
  expect(others.map(({ reason }) => reason)).toEqual(['other', 'other']);
  for (const { names = [] } of entries) expect(names.length).toBeLessThanOrEqual(10);
});

test('a flood of invalid credentials does not hide the source of a denial with a valid one', async () => {
  for (let index = 0; index < 300; index += 1) deny('unauthenticated', { address: `2001:db8:${index}::1` });
  deny('forbidden', { caller: consumer('acme/shop'), address: '198.51.100.9' });
  await denials.flush();
  const found = (await listEntries()).filter(({ reason }) => reason === 'forbidden');
  expect(found).toEqual([
    expect.objectContaining({ ip: '198.51.100.9', actor: 'c-acme/shop', operation: 'getObject' }),
  ]);
});

test('a failed write is reported', async () => {
  const reported: unknown[] = [];
  const broken = createDenialLog(stage.database, { report: (error) => void reported.push(error) });
  await stage.database.schema.alterTable('audit_head').renameTo('hidden').execute();
  await stage.database.schema.alterTable('audit_pending').renameTo('hidden_pending').execute();
  broken.record({
    ...{ operation: 'getObject', caller: undefined, hasCredential: true, address: '192.0.2.7' },
    error: new AppError('forbidden', 'denied'),
  });
  await broken.close();
  expect(reported).toHaveLength(1);
});
