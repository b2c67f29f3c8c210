import { randomBytes } from 'node:crypto';
import { createConsumerStore } from '../../src/secrets/consumers.js';
import { findResealReason } from '../../src/secrets/secret-records.js';
import { ageKey, ageValue } from './age-files.js';
import { openFixtures, owner } from './fixtures.js';

const web = { name: 'web', publicKey: 'age1web' };
const db = { name: 'db', publicKey: 'age1db' };
const keyless = { name: 'new', publicKey: undefined };

describe('findReseal with recorded public keys', () => {
  test.each([
    ['exactly the keys of the consumers', [web, db], ['age1web', 'age1db'], undefined],
    ['also the key of the owner', [web], ['age1web', 'age1owner'], undefined],
    ['only the key of the owner, without consumers', [], ['age1owner'], undefined],
    ['a missing key', [web, db], ['age1web'], { missing: ['db'], stale: [] }],
    ['a changed key', [web], ['age1old'], { missing: ['web'], stale: ['age1old'] }],
    ['a removed consumer', [web], ['age1web', 'age1db'], { missing: [], stale: ['age1db'] }],
    ['also a key that was chosen explicitly', [web], ['age1web', 'age1chosen'], undefined],
    ['only a key that was chosen explicitly', [], ['age1chosen'], undefined],
    ['all consumers removed', [], ['age1web', 'age1owner'], { missing: [], stale: ['age1web'] }],
    [
      'an unknown key that may belong to a consumer without a registered key',
      [web, keyless],
      ['age1web', 'age1new'],
      undefined,
    ],
    [
      'a missing key and a consumer without a registered key',
      [web, keyless],
      ['age1new'],
      { missing: ['web'], stale: [] },
    ],
  ])('%s', (_reason, consumers, recipients, want) => {
    const found = findResealReason({
      ...{ consumers, ownerKey: 'age1owner', recipients, recipientCount: recipients.length },
      explicitRecipients: recipients.filter((key) => key === 'age1chosen'),
    });
    expect(found).toEqual(want && { reason: 'recipients', ...want });
  });
});

describe('findReseal without recorded public keys', () => {
  const host = { name: 'host', publicKey: 'age1web' };
  test.each([
    ['as many recipients as keys', [web, db], 2, false],
    ['one more recipient, which may be the owner', [web, db], 3, false],
    ['two more recipients', [web, db], 4, true],
    ['one recipient less', [web, db], 1, true],
    ['two consumers with one key', [web, host], 1, false],
    ['more recipients than keys, with a consumer without a registered key', [web, keyless], 9, false],
    ['fewer recipients than keys, with a consumer without a registered key', [web, db, keyless], 1, true],
    ['no consumers', [], 3, false],
  ])('%s', (_reason, consumers, recipientCount, isNeeded) => {
    const found = findResealReason({
      consumers,
      ownerKey: 'age1owner',
      recipients: [],
      explicitRecipients: [],
      recipientCount,
    });
    expect(found?.reason).toBe(isNeeded ? 'count' : undefined);
  });
});

test('list: finds the secrets to reseal after a key change and after a replacement', async () => {
  const stage = await openFixtures();
  const { database, objects } = stage;
  const consumers = createConsumerStore(database);
  const setKey = (name: string, publicKey: string) => consumers.update(stage.from(), name, { publicKey });
  const find = async (needsReseal: boolean, rest = {}) => {
    const page = await objects.list(owner, { needsReseal, ...rest });
    return [page.secrets.map(({ slug }) => slug), page.total, page.next !== undefined];
  };
  const [webKey, newKey] = [ageKey('web'), ageKey('new')];
  await setKey('web', webKey);
  for (const slug of ['a', 'b', 'c']) await stage.add({ slug, usedBy: ['web'], recipients: [webKey] });
  expect([await find(true), await find(false)]).toEqual([
    [[], 0, false],
    [['a', 'b', 'c'], 3, false],
  ]);
  await setKey('web', newKey);
  expect(await find(true, { limit: 2, offset: 0 })).toEqual([['a', 'b'], 3, true]);
  expect((await objects.list(owner, { slug: 'a' })).secrets[0]?.reseal).toEqual({
    reason: 'recipients',
    missing: ['web'],
    stale: [webKey],
  });
  await objects.update({ slug: 'b' }, { value: ageValue(), recipients: [newKey] }, stage.from());
  expect(await find(true)).toEqual([['a', 'c'], 2, false]);
  await database.destroy();
});

test('list: a recipient that was chosen explicitly stays, and a key of a former consumer is stale', async () => {
  const stage = await openFixtures();
  const { database, objects, versions } = stage;
  const consumers = createConsumerStore(database);
  const [webKey, chosen] = [ageKey('web'), ageKey('chosen')];
  await consumers.update(stage.from(), 'web', { publicKey: webKey });
  await stage.add({ slug: 'alone', recipients: [chosen] });
  const value = ageValue({ recipients: 2 });
  await stage.add({ slug: 'both', value, usedBy: ['web'], recipients: [webKey, chosen] });
  const findStale = async () => {
    const { secrets } = await objects.list(owner, { needsReseal: true });
    return secrets.map(({ slug, reseal }) => [slug, reseal?.stale]);
  };
  expect(await findStale()).toEqual([]);
  await consumers.remove(stage.from(), 'web');
  expect(await findStale()).toEqual([['both', [webKey]]]);
  await objects.update({ slug: 'both' }, { value, recipients: [chosen] }, stage.from());
  expect(await findStale()).toEqual([]);
  await versions.restore({ slug: 'both', version: 1 }, stage.from());
  expect(await findStale()).toEqual([['both', [webKey]]]);
  await database.destroy();
});

test('create: records public keys of 4096 characters', async () => {
  const stage = await openFixtures();
  const recipients = ['a', 'b'].map((end) => `age1${randomBytes(4091).toString('hex').slice(0, 4091)}${end}`);
  const stored = await stage.add({ value: ageValue({ recipients: 2 }), recipients });
  expect(stored.recipients).toEqual(recipients.toSorted());
  await stage.database.destroy();
});

test('create: records at most as many recipients as the age header has', async () => {
  const stage = await openFixtures();
  const rejected = stage.add({ recipients: ['age1x', 'age1y'] });
  await expect(rejected).rejects.toMatchObject({ code: 'unprocessable', field: 'recipients' });
  expect(await stage.add({ recipients: ['age1x', 'age1x'] })).toMatchObject({ recipients: ['age1x'] });
  await stage.database.destroy();
});
