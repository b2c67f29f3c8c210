import { signValue } from '../../src/sealing/authentic-values.js';
import { generateSigningKey, parseSigningKey } from '../../src/sealing/signing-key.js';
import { sequenceAuditEntries } from '../../src/secrets/audit/sequence.js';
import { verifyValues } from '../../src/secrets/audit/verify-values.js';
import { ageKey, ageValue } from './age-files.js';
import { openFixtures, type SecretsFixtures } from './fixtures.js';

let stage: SecretsFixtures;
let id: string;

const [FIRST, SECOND, THIRD] = ['first', 'second', 'third'].map((payload) => ageValue({ payload }));
const KEY = ageKey('consumer');

/** Two values of a secret, as an attacker with write access to the database finds them. */
beforeEach(async () => {
  stage = await openFixtures();
  ({ id } = await stage.add({ slug: 'db', value: FIRST, recipients: [KEY] }));
  await stage.objects.update({ slug: 'db' }, { value: SECOND!, recipients: [KEY] }, stage.from());
  await stage.add({ slug: 'other', value: THIRD });
  await sequenceAuditEntries(stage.database);
});
afterEach(() => stage.database.destroy());

const verify = (full = false) => verifyValues(stage.database, { full });
const bytes = (value = '') => Buffer.from(value, 'base64');

const setValue = (version: number, value: string | undefined) =>
  stage.database
    .updateTable('secret_object_values')
    .set({ sealed: bytes(value) })
    .where('object_id', '=', id)
    .where('version', '=', version)
    .execute();

test('verifyValues: accepts stored, restored and renamed values', async () => {
  expect(await verify()).toEqual({ verified: 2, unrecorded: 0, altered: [] });
  await stage.objects.patch({ slug: 'db' }, { slug: 'renamed', tags: ['prod'] }, stage.from());
  await stage.versions.restore({ slug: 'renamed', version: 1 }, stage.from());
  expect(await verify(true)).toEqual({ verified: 4, unrecorded: 0, altered: [] });
});

test.each<[reason: string, attack: () => Promise<unknown>]>([
  ['value', () => setValue(2, THIRD)],
  // An older value in place of the current one.
  ['value', () => setValue(2, FIRST)],
  ['version', () => stage.database.updateTable('secret_objects').set({ version: 1 }).where('id', '=', id).execute()],
  [
    'recipients',
    () =>
      stage.database
        .updateTable('secret_object_recipients')
        .set({ recipient: ageKey('attacker') })
        .execute(),
  ],
  ['recipients', () => stage.database.deleteFrom('secret_object_recipients').execute()],
  ['missing', () => stage.database.deleteFrom('secret_object_values').where('object_id', '=', id).execute()],
  // A secret that no server has stored.
  [
    'unknown',
    () => stage.database.updateTable('audit_log').set({ variant_id: null }).where('slug', '=', 'db').execute(),
  ],
])('verifyValues: finds an altered value and reports %s', async (reason, attack) => {
  await attack();
  const { altered, verified } = await verify();
  expect(verified).toBe(1);
  expect(altered).toEqual([{ slug: 'db', variantId: id, version: expect.any(Number) as number, reason }]);
});

describe('verifyValues, with a signed value', () => {
  const [ada, mallory] = [parseSigningKey(generateSigningKey()), parseSigningKey(generateSigningKey())];
  const sign = (signer = ada, change = {}) =>
    signValue(signer, { slug: 'db', id, version: 2, sealed: bytes(SECOND), recipients: [KEY], ...change });

  /** The second value was stored without a signature, and is signed afterwards. */
  beforeEach(async () => {
    await stage.objects.patch({ slug: 'db' }, { signature: await sign() }, stage.from());
    await sequenceAuditEntries(stage.database);
  });

  const setSignature = async (signature: Promise<string> | string | null) =>
    stage.database
      .updateTable('secret_object_values')
      .set({ signature: await signature })
      .where('object_id', '=', id)
      .where('version', '=', 2)
      .execute();

  test('accepts it, also as a previous value, signed again, and after a rename', async () => {
    expect(await verify()).toEqual({ verified: 2, unrecorded: 0, altered: [] });
    await stage.objects.patch({ slug: 'db' }, { signature: await sign(mallory) }, stage.from());
    await stage.objects.update({ slug: 'db' }, { value: THIRD! }, stage.from());
    await stage.objects.patch({ slug: 'db' }, { slug: 'renamed' }, stage.from());
    expect(await verify(true)).toEqual({ verified: 4, unrecorded: 0, altered: [] });
  });

  test.each<[attack: string, signature: () => Promise<string> | string | null]>([
    ['removes the signature', () => null],
    ['damages the signature', async () => (await sign()).replace(/^time: 20/m, 'time: 19')],
    ['signs with a different key', () => sign(mallory)],
    ['adds a signature of a different number', () => sign(ada, { version: 1 })],
    ['adds a signature of a different secret', () => sign(ada, { id: '6f1b2a0c-3d0e-4f9b-9a51-0d1c2b3a4e5f' })],
    ['adds a signature of a different value', () => sign(ada, { sealed: bytes(THIRD) })],
  ])('finds an attacker who %s', async (_attack, signature) => {
    await setSignature(signature());
    expect((await verify()).altered).toEqual([{ slug: 'db', variantId: id, version: 2, reason: 'signature' }]);
  });

  test('finds a signature that was removed from a previous value, or added to one, in a full verification', async () => {
    await stage.objects.update({ slug: 'db' }, { value: THIRD! }, stage.from());
    await setSignature(null);
    await stage.database
      .updateTable('secret_object_values')
      .set({ signature: await sign(ada, { version: 1, sealed: bytes(FIRST) }) })
      .where('object_id', '=', id)
      .where('version', '=', 1)
      .execute();
    expect((await verify()).altered).toEqual([]);
    expect((await verify(true)).altered.map(({ version, reason }) => [version, reason])).toEqual([
      [1, 'signature'],
      [2, 'signature'],
    ]);
  });
});

test('verifyValues: finds an altered previous value in a full verification', async () => {
  await setValue(1, THIRD);
  expect((await verify()).altered).toEqual([]);
  expect((await verify(true)).altered).toEqual([{ slug: 'db', variantId: id, version: 1, reason: 'value' }]);
});

test('verifyValues: counts values of releases that recorded no digest', async () => {
  await stage.database.updateTable('audit_log').set({ detail: null }).execute();
  expect(await verify()).toEqual({ verified: 0, unrecorded: 2, altered: [] });
});

test('verifyValues: reports nothing while values are replaced', async () => {
  let isDone = false;
  const replace = async (): Promise<void> => {
    while (!isDone) await stage.objects.update({ slug: 'db' }, { value: THIRD! }, stage.from());
  };
  const replacing = replace();
  for (let round = 0; round < 10; round += 1) expect((await verify(true)).altered).toEqual([]);
  isDone = true;
  await replacing;
});
