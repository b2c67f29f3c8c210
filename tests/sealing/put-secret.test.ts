import {
  ApiError,
  createSecretsClient,
  decodeError,
  generateIdentity,
  open,
  toRecipients,
} from '../../src/sealing/secrets.js';
import type { SecretsClient } from '../../src/sealing/secrets.js';
import { putSecret, replaceSecret } from '../../src/sealing/put-secret.js';
import { startContractServer } from '../contract/contract-server.js';
import type { ContractServer } from '../contract/contract-server.js';

let server: ContractServer;
let client: SecretsClient;
let keepOwnerKey: (publicKey: string) => Promise<unknown>;

beforeEach(async () => {
  server = await startContractServer();
  const { person, cookie } = await server.addPerson('ada');
  const token = await server.issueToken('write', person);
  client = createSecretsClient(`${server.url}/secrets`, { token, retry: { maxRetries: 0 } });
  const caller = await server.accounts.sessions.findCaller(cookie.split('=')[1]!);
  keepOwnerKey = (publicKey) => server.owner.keepIdentity({ caller, ip: '192.0.2.7', at: Date.now() }, { publicKey });
});
afterEach(() => server.close());

async function makeKeys() {
  const identity = await generateIdentity();
  const [recipient = ''] = await toRecipients(identity);
  return { identity, recipient };
}

/** A consumer with keys of its own. */
async function addConsumer(name: string) {
  const keys = await makeKeys();
  await client.PATCH('/consumers/{name}', { params: { path: { name } }, body: { public_key: keys.recipient } });
  return keys;
}

async function read(slug: string, identity: string): Promise<string> {
  const params = { path: { slug } };
  const { data, error, response } = await client.GET('/objects/{slug}', { params, parseAs: 'arrayBuffer' });
  if (!data) throw decodeError(response, error) ?? new Error('There is nothing.');
  return new TextDecoder().decode(await open(data, identity));
}

const list = async () => (await client.GET('/objects')).data ?? [];

test('a value is sealed to its consumers, to the owner and to others, and their keys are recorded', async () => {
  const [shop, web, owner, other] = [
    await addConsumer('acme/shop'),
    await addConsumer('web'),
    await makeKeys(),
    await makeKeys(),
  ];
  await keepOwnerKey(owner.recipient);
  const secret = { slug: 'db-password', value: 'hunter2', usedBy: ['acme/shop', 'web', 'web'], keepReadableCopy: true };
  const stored = await putSecret(client, {
    ...secret,
    recipients: [other.recipient],
    tags: ['prod'],
    description: 'x',
  });
  expect(stored).toMatchObject({ slug: 'db-password', used_by: ['acme/shop', 'web'], keep_readable_copy: true });
  const keys = [shop, web, owner, other];
  for (const { identity } of keys) expect(await read('db-password', identity)).toBe('hunter2');
  expect(stored.recipient_count).toBe(4);
  expect([...(stored.recipients ?? [])].sort()).toEqual(keys.map(({ recipient }) => recipient).sort());
  // The others are nobody whom the service knows of.
  expect((await list())[0]?.reseal).toEqual({ reason: 'recipients', stale: [other.recipient] });
});

test('a value is replaced for the keys that its consumers have now', async () => {
  const before = await addConsumer('acme/shop');
  const { id } = await putSecret(client, { slug: 'a', value: 'one', usedBy: ['acme/shop'], rotateAfterDays: 30 });
  const after = await addConsumer('acme/shop');
  expect((await list())[0]?.reseal).toMatchObject({ missing: ['acme/shop'], stale: [before.recipient] });
  await replaceSecret(client, { slug: 'a', id, value: 'two' });
  expect(await read('a', after.identity)).toBe('two');
  await expect(read('a', before.identity)).rejects.toMatchObject({ code: 'no_match' });
  expect((await list())[0]).toMatchObject({ used_by: ['acme/shop'], rotate_after_days: 30 });
  expect((await list())[0]).not.toHaveProperty('reseal');
});

test('consumers are replaced with a value where they are named', async () => {
  const [shop, web] = [await addConsumer('acme/shop'), await addConsumer('web')];
  await putSecret(client, { slug: 'a', value: 'one', usedBy: ['acme/shop'] });
  await replaceSecret(client, { slug: 'a', value: 'two', usedBy: ['web'], rotateAfterDays: null });
  expect(await read('a', web.identity)).toBe('two');
  await expect(read('a', shop.identity)).rejects.toMatchObject({ code: 'no_match' });
  expect((await list())[0]?.used_by).toEqual(['web']);
});

test.each<[string, object, string]>([
  ['consumers without a key', { usedBy: ['acme/shop', 'none', 'nobody'] }, 'there is none of none, nobody.'],
  ['a name in another case', { usedBy: ['ACME/SHOP'] }, 'there is none of ACME/SHOP.'],
  ['a key of another kind', { usedBy: ['ssh'] }, 'public key of ssh to be one of age'],
  ['an owner without a key', { keepReadableCopy: true }, "the owner's public key, for a readable copy"],
  ['nobody to seal to', {}, 'Choose at least one recipient'],
])('nothing is stored for %s', async (_reason, readers, message) => {
  await addConsumer('acme/shop');
  await client.POST('/consumers', { body: { name: 'none' } });
  await server.database
    .insertInto('secret_consumers')
    .values({ name: 'ssh', public_key: 'ssh-ed25519 AAAA' })
    .execute();
  await expect(putSecret(client, { slug: 'a', value: 'x', ...readers })).rejects.toMatchObject({
    code: 'no_key',
    message: expect.stringContaining(message) as string,
  });
  expect(await list()).toEqual([]);
});

test('a value that somebody else replaced meanwhile is left as it is', async () => {
  const { identity, recipient } = await makeKeys();
  const secret = { slug: 'a', recipients: [recipient] };
  const { etag } = await putSecret(client, { ...secret, value: 'one' });
  const theirs = await replaceSecret(client, { ...secret, value: 'two', etag });
  const late = replaceSecret(client, { ...secret, value: 'one', etag });
  await expect(late).rejects.toMatchObject({ statusCode: 412, code: 'precondition_failed' });
  expect(await read('a', identity)).toBe('two');
  await replaceSecret(client, { ...secret, value: 'three', etag: theirs.etag });
  expect(await read('a', identity)).toBe('three');
});

test('what the service refuses is thrown as it says it', async () => {
  const { recipient } = await makeKeys();
  const secret = { slug: 'a', value: 'x', recipients: [recipient] };
  await expect(replaceSecret(client, secret)).rejects.toMatchObject({ statusCode: 404, code: 'not_found' });
  await putSecret(client, secret);
  const refused = putSecret(client, secret);
  await expect(refused).rejects.toBeInstanceOf(ApiError);
  await expect(refused).rejects.toMatchObject({ statusCode: 409, message: 'object already exists' });
});
