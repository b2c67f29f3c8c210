import type { Caller } from '../../src/accounts/callers.js';
import { createAuditLog } from '../../src/secrets/audit.js';
import { appendAuditEntry, hashAuditEntry } from '../../src/secrets/audit-chain.js';
import { createSecretStore } from '../../src/secrets/secret-store.js';
import type { Database } from '../../src/storage/database.js';
import { ageValue } from './age-files.js';
import { openTestDatabase } from '../storage/engine.js';

const owner: Caller = {
  kind: 'token',
  tokenId: 't1',
  personId: 'p',
  username: 'ada',
  isAdmin: true,
  scopes: ['write'],
};
const guest: Caller = { ...owner, isAdmin: false };
const origin = { caller: owner, ip: '192.0.2.7', at: 1_795_000_000_000 };

let database: Database;

beforeEach(async () => {
  database = await openTestDatabase();
});
afterEach(() => database.destroy());

const entries = () => database.selectFrom('audit_log').selectAll().orderBy('id').execute();

test('appendAudit: chains each entry to the previous one', async () => {
  for (const slug of ['a', 'b', 'c'])
    await appendAuditEntry(database, { slug, variantId: 'v', action: 'read' }, origin);
  let previous = '';
  for (const { hash, ...row } of await entries()) {
    expect(hash).toBe(hashAuditEntry(previous, row));
    previous = hash;
  }
  expect((await entries()).map(({ id }) => id)).toEqual([1, 2, 3]);
});

test('hashEntry: depends on the column of each value', () => {
  const row = {
    id: 1,
    action: 'read',
    slug: 'a',
    subject_type: 'object',
    variant_id: 'v',
    version: null,
    subject_id: null,
    previous_name: null,
    at: 1,
    ip: '',
    caller: 'x',
    actor_type: null,
    actor_id: null,
  };
  expect(hashAuditEntry('', row)).not.toBe(hashAuditEntry('', { ...row, caller: null, subject_id: 'x' }));
});

test('create: stores nothing if the audit entry cannot be written', async () => {
  await database.schema.dropTable('audit_log').execute();
  const created = createSecretStore(database).create({ slug: 'a', value: ageValue() }, origin);
  await expect(created).rejects.toThrow(/audit_log/);
  expect(await database.selectFrom('secret_objects').select('id').execute()).toEqual([]);
});

test.each([
  ['a different user', guest, 'forbidden'],
  ['a request without a credential', undefined, 'unauthenticated'],
])('the audit log and the list of secrets reject %s', async (_reason, caller, code) => {
  await expect(createAuditLog(database).query(caller, {})).rejects.toMatchObject({ code });
  await expect(createSecretStore(database).list(caller, {})).rejects.toMatchObject({ code });
});
