import { type Caller, type TokenAccess, isAddressAllowed, parseAddresses } from '../../src/accounts/callers.js';
import { createConsumerStore } from '../../src/secrets/consumers.js';
import { ageValue } from './age-files.js';
import { consumer, openFixtures, script, type SecretsFixtures } from './fixtures.js';

let stage: SecretsFixtures;

beforeEach(async () => {
  stage = await openFixtures();
  await stage.add({ slug: 'shop-db', tags: ['prod', 'db'], usedBy: ['acme/shop'] });
  await stage.add({ slug: 'shop-shared', tags: ['prod', 'shared'], usedBy: ['acme/shop', 'acme/billing'] });
  await stage.add({ slug: 'billing-db', tags: ['db'], usedBy: ['acme/billing'] });
  await stage.add({ slug: 'shopping', tags: ['test'] });
});
afterEach(() => stage.database.destroy());

const limited = (access: TokenAccess): Caller => ({ ...script, access }) as Caller;

const list = async (caller: Caller) => (await stage.objects.list(caller, {})).secrets.map(({ slug }) => slug);

const NOT_FOUND = { code: 'not_found', message: 'unknown object' };

describe.each<[string, TokenAccess, visible: readonly string[], writable: readonly string[]]>([
  ['a name prefix', { namePrefix: 'shop-' }, ['shop-db', 'shop-shared'], ['shop-db', 'shop-shared']],
  ['a tag', { tags: ['db', 'absent'] }, ['billing-db', 'shop-db'], ['billing-db', 'shop-db']],
  // A secret that another consumer uses too can be read, but not replaced for both.
  ['a consumer', { consumers: ['acme/shop'] }, ['shop-db', 'shop-shared'], ['shop-db']],
  ['all three', { namePrefix: 'shop', tags: ['prod'], consumers: ['acme/billing'] }, ['shop-shared'], []],
])('a token that is limited by %s', (_by, access, visible, writable) => {
  const all = ['billing-db', 'shop-db', 'shop-shared', 'shopping'];

  test('lists only its own secrets, also in pages', async () => {
    const caller = limited(access);
    expect(await list(caller)).toEqual(visible);
    const first = await stage.objects.list(caller, { limit: 1 });
    expect([first.total, first.secrets[0]?.slug]).toEqual([visible.length, visible[0]]);
    expect((await stage.objects.list(caller, { slug: 'shopping' })).secrets).toEqual([]);
  });

  test.each(all)('reads %s only if it may', async (slug) => {
    const origin = stage.from(limited(access));
    const ref = { slug };
    await stage.objects.update(ref, { value: ageValue() }, stage.from());
    const results = await Promise.allSettled([
      stage.objects.read(ref, origin),
      stage.objects.listUsedBy(origin.caller, ref),
      stage.versions.list(origin.caller, ref),
      stage.versions.read({ slug, version: 1 }, origin),
    ]);
    const expected = visible.includes(slug) ? { status: 'fulfilled' } : { status: 'rejected', reason: NOT_FOUND };
    for (const result of results) expect(result).toMatchObject(expected);
  });

  test.each(all)('changes %s only if it may', async (slug) => {
    const origin = stage.from(limited(access));
    await stage.objects.update({ slug }, { value: ageValue() }, stage.from());
    const before = await stage.listActions();
    const results = await Promise.allSettled([
      stage.objects.update({ slug }, { value: ageValue() }, origin),
      stage.objects.patch({ slug }, { description: 'changed' }, origin),
      stage.versions.restore({ slug, version: 1 }, origin),
    ]);
    if (writable.includes(slug)) {
      for (const result of results) expect(result.status).toBe('fulfilled');
      await stage.objects.remove({ slug }, origin);
      return;
    }
    const reason = visible.includes(slug) ? { code: 'forbidden', field: 'used_by' } : NOT_FOUND;
    for (const result of results) expect(result).toMatchObject({ status: 'rejected', reason });
    await expect(stage.objects.remove({ slug }, origin)).rejects.toMatchObject(reason);
    expect(await stage.listActions()).toEqual(before);
  });

  test('has no access to consumers and the audit log', async () => {
    const consumers = createConsumerStore(stage.database);
    const origin = stage.from(limited(access));
    const forbidden = { code: 'forbidden' };
    await expect(consumers.add(origin, { name: 'new' })).rejects.toMatchObject(forbidden);
    await expect(consumers.update(origin, 'acme/shop', { name: 'new' })).rejects.toMatchObject(forbidden);
    await expect(consumers.remove(origin, 'acme/shop')).rejects.toMatchObject(forbidden);
    const names = await consumers.listNames(origin.caller);
    expect(names).toEqual(access.consumers ?? ['acme/billing', 'acme/shop']);
  });
});

const LIMITED: readonly (readonly [string, TokenAccess])[] = [
  ['a name prefix', { namePrefix: 'shop-' }],
  ['a tag', { tags: ['db'] }],
  ['a consumer', { consumers: ['acme/shop'] }],
];

test.each(LIMITED)('a token that is limited by %s sees and changes only its own secrets', async (_by, access) => {
  const origin = stage.from(limited(access));
  const create = (object: object) =>
    stage.add({ slug: 'shop-new', tags: ['db'], usedBy: ['acme/shop'], ...object }, origin.caller);
  const outside = {
    namePrefix: { slug: 'other' },
    tags: { tags: ['prod'] },
    consumers: { usedBy: ['acme/shop', 'web'] },
  };
  const [restriction] = Object.keys(access) as [keyof typeof outside];
  await expect(create(outside[restriction])).rejects.toMatchObject({ code: 'forbidden' });
  await create({});
  // A change must not move the secret to other consumers, tags or names either.
  await expect(stage.objects.patch({ slug: 'shop-new' }, outside[restriction], origin)).rejects.toMatchObject({
    code: 'forbidden',
  });
  const value = ageValue();
  const { slug: _slug, ...labels } = { slug: '', ...outside[restriction] };
  if (restriction !== 'namePrefix') {
    const changed = stage.objects.update({ slug: 'shop-new' }, { value, ...labels }, origin);
    await expect(changed).rejects.toMatchObject({ code: 'forbidden' });
  }
  await stage.objects.patch({ slug: 'shop-new' }, { slug: 'shop-newer', tags: ['db'] }, origin);
  expect(await list(origin.caller!)).toContain('shop-newer');
});

test('a token that is limited by a tag keeps the other tags of a secret, and can remove them', async () => {
  const origin = stage.from(limited({ tags: ['db'] }));
  await stage.objects.patch({ slug: 'shop-db' }, { tags: ['db', 'prod'] }, origin);
  await stage.objects.patch({ slug: 'shop-db' }, { tags: ['db'] }, origin);
  const added = stage.objects.patch({ slug: 'shop-db' }, { tags: ['db', 'prod'] }, origin);
  await expect(added).rejects.toMatchObject({ code: 'forbidden', field: 'tags' });
});

test('a token that is limited by a consumer cannot leave a secret without one', async () => {
  const origin = stage.from(limited({ consumers: ['acme/shop'] }));
  const changed = stage.objects.patch({ slug: 'shop-db' }, { usedBy: [] }, origin);
  await expect(changed).rejects.toMatchObject({ code: 'forbidden', field: 'used_by' });
});

test('a consumer token lists its own secrets, without other consumers and their keys', async () => {
  const { secrets, total } = await stage.objects.list(consumer('acme/shop'), {});
  expect([total, secrets.map(({ slug, usedBy, recipients }) => [slug, usedBy, recipients])]).toEqual([
    2,
    [
      ['shop-db', ['acme/shop'], []],
      ['shop-shared', ['acme/shop'], []],
    ],
  ]);
  const others = await stage.objects.list(consumer('acme/shop'), { usedBy: 'acme/billing' });
  expect(others.secrets).toEqual([]);
  expect((await stage.objects.list(consumer('nobody'), {})).secrets).toEqual([]);
});

describe('address ranges', () => {
  test.each<[addresses: readonly string[], address: string, isAllowed: boolean]>([
    [['10.0.0.0/8'], '10.255.0.1', true],
    [['10.0.0.0/8'], '11.0.0.1', false],
    [['192.0.2.7'], '192.0.2.7', true],
    [['192.0.2.7'], '192.0.2.8', false],
    [['0.0.0.0/0'], '2001:db8::1', false],
    [['10.0.0.0/8', '2001:db8::/32'], '2001:db8:1::1', true],
    [['2001:db8::/32'], '2001:db9::1', false],
    // A disconnected client, and a request without a socket.
    [['0.0.0.0/0'], '', false],
  ])('%j with %s: %s', (addresses, address, isAllowed) => {
    expect(isAddressAllowed({ addresses }, address)).toBe(isAllowed);
  });

  test.each(['10.0.0.0/33', '10.0.0', 'localhost', '::/129', '10.0.0.0/', ''])('rejects %j', (text) => {
    expect(() => parseAddresses([text])).toThrow('Expected an IP address or range');
  });
});
