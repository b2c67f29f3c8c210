import { generateHybridIdentity } from 'age-encryption';
import { putSecret, replaceSecret } from '../../src/sealing/put-secret.js';
import {
  ApiError,
  createSecretsClient,
  decodeError,
  generateIdentity,
  open,
  toRecipients,
  type SecretsClient,
} from '../../src/sealing/secrets.js';
import { ORIGIN, startContractServer, type ContractServer } from '../contract/contract-server.js';

let server: ContractServer;
let client: SecretsClient;
/** A client with the session of the owner, which can replace public keys. */
let ownerClient: SecretsClient;
let saveOwnerKey: (publicKey: string) => Promise<unknown>;

beforeEach(async () => {
  server = await startContractServer();
  const { person, cookie } = await server.addPerson('ada');
  const token = await server.issueToken('write', person);
  client = createSecretsClient(`${server.url}/secrets`, { token, retry: { maxRetries: 0 } });
  ownerClient = createSecretsClient(`${server.url}/secrets`, {
    token: '',
    fetch: (request) => {
      request.headers.set('cookie', cookie);
      request.headers.set('origin', ORIGIN);
      return fetch(request);
    },
  });
  const caller = await server.accounts.sessions.findCaller(cookie.split('=')[1]!);
  saveOwnerKey = (publicKey) => server.owner.saveIdentity({ caller, ip: '192.0.2.7', at: Date.now() }, { publicKey });
});
afterEach(() => server.close());

async function createKeys() {
  const identity = await generateIdentity();
  const [recipient = ''] = await toRecipients(identity);
  return { identity, recipient };
}

/** Adds a consumer with a new key pair, or replaces the key of an existing one. */
async function addConsumer(name: string) {
  const keys = await createKeys();
  await ownerClient.PATCH('/consumers/{name}', { params: { path: { name } }, body: { public_key: keys.recipient } });
  return keys;
}

async function read(slug: string, identity: string): Promise<string> {
  const params = { path: { slug } };
  const { data, error, response } = await client.GET('/objects/{slug}', { params, parseAs: 'arrayBuffer' });
  if (!data) throw decodeError(response, error) ?? new Error('The response has no body.');
  return new TextDecoder().decode(await open(data, identity));
}

const list = async () => (await client.GET('/objects')).data ?? [];

test('putSecret seals to consumers, the owner and other recipients, and records their keys', async () => {
  const [shop, web, owner, other] = [
    await addConsumer('acme/shop'),
    await addConsumer('web'),
    await createKeys(),
    await createKeys(),
  ];
  await saveOwnerKey(owner.recipient);
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
  expect((await list())[0]).not.toHaveProperty('reseal');
});

test('putSecret seals to consumers with post-quantum keys', async () => {
  const identity = await generateHybridIdentity();
  const [publicKey = ''] = await toRecipients(identity);
  expect(publicKey).toHaveLength(1959);
  const named = { params: { path: { name: 'quantum' } }, body: { public_key: publicKey } };
  expect((await client.PATCH('/consumers/{name}', named)).data?.public_key).toBe(publicKey);
  await saveOwnerKey(publicKey);
  const stored = await putSecret(client, { slug: 'a', value: 'x', usedBy: ['quantum'], recipients: [publicKey] });
  expect(stored.recipients).toEqual([publicKey]);
  expect(await read('a', identity)).toBe('x');
  expect((await list())[0]).not.toHaveProperty('reseal');
});

test('replaceSecret seals to the current keys of the consumers', async () => {
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

test('replaceSecret replaces the consumers when usedBy is given', async () => {
  const [shop, web] = [await addConsumer('acme/shop'), await addConsumer('web')];
  await putSecret(client, { slug: 'a', value: 'one', usedBy: ['acme/shop'] });
  await replaceSecret(client, { slug: 'a', value: 'two', usedBy: ['web'], rotateAfterDays: null });
  expect(await read('a', web.identity)).toBe('two');
  await expect(read('a', shop.identity)).rejects.toMatchObject({ code: 'no_match' });
  expect((await list())[0]?.used_by).toEqual(['web']);
});

test.each<[reason: string, selection: object, message: string]>([
  ['consumers without a key', { usedBy: ['acme/shop', 'none', 'unknown'] }, 'have no public key: none, unknown.'],
  ['a name in a different case', { usedBy: ['ACME/SHOP'] }, 'have no public key: ACME/SHOP.'],
  ['a key that is not an age key', { usedBy: ['ssh'] }, 'Expected an age public key (age1…) for ssh'],
  ['an owner without a key', { keepReadableCopy: true }, 'The owner has no public key'],
  ['an empty selection', {}, 'Choose at least one recipient'],
])('putSecret stores nothing for %s', async (_reason, selection, message) => {
  await addConsumer('acme/shop');
  await client.POST('/consumers', { body: { name: 'none' } });
  await server.database
    .insertInto('secret_consumers')
    .values({ name: 'ssh', public_key: 'ssh-ed25519 AAAA' })
    .execute();
  await expect(putSecret(client, { slug: 'a', value: 'x', ...selection })).rejects.toMatchObject({
    code: 'no_key',
    message: expect.stringContaining(message) as string,
  });
  expect(await list()).toEqual([]);
});

test('replaceSecret fails when the etag is outdated, and keeps the current value', async () => {
  const { identity, recipient } = await createKeys();
  const secret = { slug: 'a', recipients: [recipient] };
  const { etag } = await putSecret(client, { ...secret, value: 'one' });
  const second = await replaceSecret(client, { ...secret, value: 'two', etag });
  const late = replaceSecret(client, { ...secret, value: 'one', etag });
  await expect(late).rejects.toMatchObject({ statusCode: 412, code: 'precondition_failed' });
  expect(await read('a', identity)).toBe('two');
  await replaceSecret(client, { ...secret, value: 'three', etag: second.etag });
  expect(await read('a', identity)).toBe('three');
});

test('putSecret and replaceSecret throw error responses as ApiError', async () => {
  const { recipient } = await createKeys();
  const secret = { slug: 'a', value: 'x', recipients: [recipient] };
  await expect(replaceSecret(client, secret)).rejects.toMatchObject({ statusCode: 404, code: 'not_found' });
  await putSecret(client, secret);
  const duplicate = putSecret(client, secret);
  await expect(duplicate).rejects.toBeInstanceOf(ApiError);
  await expect(duplicate).rejects.toMatchObject({ statusCode: 409, message: 'object already exists' });
});
