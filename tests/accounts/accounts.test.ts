import { createAccounts, type Accounts } from '../../src/accounts/accounts.js';
import { createAuthenticator, type CredentialSource } from '../../src/accounts/authentication.js';
import { createToken, findTokenKind } from '../../src/accounts/bearer-tokens.js';
import type { Caller } from '../../src/accounts/callers.js';
import type { Database } from '../../src/storage/database.js';
import { openTestDatabase } from '../storage/engine.js';

const DAY = 86_400_000;
/** The address of the caller. */
const FROM = '203.0.113.7';
const START = Date.parse('2026-05-01T08:00:00Z');

let at: number;
let database: Database;
let accounts: Accounts;
let session: string;
let ada: Caller;

const now = (): number => at;
const inDays = (days: number): Date => new Date(at + days * DAY);

function authenticator(
  publicUrl = 'http://localhost:4000',
): (request: CredentialSource) => Promise<Caller | undefined> {
  return createAuthenticator({ database, sessions: accounts.sessions, publicUrl, tokens: ['personal'], now });
}

beforeEach(async () => {
  at = START;
  database = await openTestDatabase();
  accounts = createAccounts(database, { origin: () => 'http://localhost:4000', now });
  const person = await accounts.users.add({ username: 'Ada', displayName: 'Ada L.' });
  session = await accounts.sessions.start(person.id);
  ada = (await accounts.sessions.findCaller(session))!;
});
afterEach(() => database.destroy());

describe('Users', () => {
  test('are found by username regardless of case', async () => {
    expect(await accounts.users.findByUsername('aDA')).toMatchObject({ username: 'Ada', isAdmin: true });
    expect(await accounts.users.findByUsername('bob')).toBeUndefined();
  });

  test('after the first one are not admins', async () => {
    expect(await accounts.users.add({ username: 'Bob', displayName: 'Bob' })).toMatchObject({ isAdmin: false });
  });

  test('cannot have usernames that differ only in case', async () => {
    const again = accounts.users.add({ username: 'ADA', displayName: 'Another' });
    await expect(again).rejects.toMatchObject({ code: 'conflict', field: 'username' });
  });
});

describe('Sessions', () => {
  test('are stored hashed', async () => {
    const rows = await database.selectFrom('sessions').selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain(session);
  });

  test('expire 30 days after their last use', async () => {
    at += 29 * DAY;
    expect(await accounts.sessions.findCaller(session)).toMatchObject({ kind: 'session', username: 'Ada' });
    at += 29 * DAY;
    expect(await accounts.sessions.findCaller(session)).toBeDefined();
    at += 30 * DAY;
    expect(await accounts.sessions.findCaller(session)).toBeUndefined();
  });

  test('end immediately on sign-out', async () => {
    await accounts.sessions.signOut(ada, FROM);
    expect(await accounts.sessions.findCaller(session)).toBeUndefined();
  });
});

describe('The token format', () => {
  test.each(['personal', 'write', 'consumer'] as const)('identifies a %s token', (kind) => {
    expect(findTokenKind(createToken(kind))).toBe(kind);
  });

  test('is trl_, 43 characters of base64url and 6 of base62', () => {
    expect(createToken('personal')).toMatch(/^trl_[\w-]{43}[0-9A-Za-z]{6}$/);
  });

  test('has a checksum, verified with a known token', () => {
    expect(findTokenKind(`trl_${'A'.repeat(43)}${'0'.repeat(6)}`)).toBeUndefined();
    expect(findTokenKind(`trl_${'A'.repeat(43)}1GWj2c`)).toBe('personal');
  });

  test('detects a typo at any position', () => {
    const token = createToken('personal');
    for (let index = 4; index < token.length; index++) {
      const other = token[index] === 'x' ? 'y' : 'x';
      expect(findTokenKind(token.slice(0, index) + other + token.slice(index + 1))).toBeUndefined();
    }
  });
});

describe('API tokens', () => {
  test('are returned once, and only their hash is stored', async () => {
    const created = await accounts.tokens.create(ada, { label: 'nightly', expiresAt: inDays(90) }, FROM);
    expect(created).toMatchObject({
      label: 'nightly',
      scopes: ['read'],
      createdAt: new Date(at),
      lastUsedAt: undefined,
    });
    const rows = await database.selectFrom('tokens').selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain(created.token);
    expect(JSON.stringify(await accounts.tokens.list(ada))).not.toContain(created.token);
  });

  test.each([
    ['the past', -1],
    ['this moment', 0],
    ['more than 366 days', 367],
    ['an invalid time', NaN],
  ])('cannot expire in %s', async (_reason, days) => {
    const created = accounts.tokens.create(ada, { label: 'x', expiresAt: inDays(days) }, FROM);
    await expect(created).rejects.toMatchObject({ code: 'invalid_input', field: 'expiresAt' });
  });

  test('can expire in exactly 366 days', async () => {
    expect(await accounts.tokens.create(ada, { label: 'x', expiresAt: inDays(366) }, FROM)).toBeDefined();
  });

  test('are limited to 100 per user', async () => {
    for (let count = 0; count < 100; count++) {
      await accounts.tokens.create(ada, { label: String(count), expiresAt: inDays(1) }, FROM);
    }
    const next = accounts.tokens.create(ada, { label: 'one more', expiresAt: inDays(1) }, FROM);
    await expect(next).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('are listed oldest first, and only for their owner', async () => {
    await accounts.tokens.create(ada, { label: 'first', expiresAt: inDays(1) }, FROM);
    at += 1_000;
    await accounts.tokens.create(ada, { label: 'second', expiresAt: inDays(1) }, FROM);
    at += 2 * DAY;
    expect((await accounts.tokens.list(ada)).map(({ label }) => label)).toEqual(['first', 'second']);
    const bob = await accounts.users.add({ username: 'bob', displayName: 'Bob' });
    const caller = await accounts.sessions.findCaller(await accounts.sessions.start(bob.id));
    expect(await accounts.tokens.list(caller)).toEqual([]);
  });

  test('can only be revoked by their owner', async () => {
    const { id, token } = await accounts.tokens.create(ada, { label: 'x', expiresAt: inDays(1) }, FROM);
    const bob = await accounts.users.add({ username: 'bob', displayName: 'Bob' });
    const other = await accounts.sessions.findCaller(await accounts.sessions.start(bob.id));
    await accounts.tokens.revoke(other, id, FROM);
    const request = { method: 'GET', headers: { authorization: `Bearer ${token}` } };
    expect(await authenticator()(request)).toMatchObject({ kind: 'token', tokenId: id });
    await accounts.tokens.revoke(ada, id, FROM);
    await expect(authenticator()(request)).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  test('cannot create tokens', async () => {
    const caller: Caller = {
      kind: 'token',
      tokenId: 't',
      personId: 'p',
      username: 'ada',
      isAdmin: true,
      scopes: ['write'],
    };
    const created = accounts.tokens.create(caller, { label: 'x', expiresAt: inDays(1) }, FROM);
    await expect(created).rejects.toMatchObject({ code: 'session_required' });
  });
});

describe('Authentication of a request', () => {
  const get = (headers: CredentialSource['headers']) => authenticator()({ method: 'GET', headers });
  const post = (headers: CredentialSource['headers']) => authenticator()({ method: 'POST', headers });
  const cookie = () => `theme=dark; trellis_session=${session}`;

  test('finds no caller without a credential', async () => {
    expect(await get({ cookie: 'theme=dark' })).toBeUndefined();
  });

  test('finds the caller by the session cookie', async () => {
    expect(await get({ cookie: cookie() })).toEqual(ada);
  });

  test('finds the caller of each token in concurrent requests, also for a repeated token', async () => {
    const create = (label: string) => accounts.tokens.create(ada, { label, expiresAt: inDays(1) }, FROM);
    const [first, second, revoked] = [await create('a'), await create('b'), await create('c')];
    await accounts.tokens.revoke(ada, revoked.id, FROM);
    const sent = [first, revoked, second, first].map(({ token }) => ({ authorization: `Bearer ${token}` }));
    const authenticate = authenticator();
    const found = await Promise.allSettled(sent.map((headers) => authenticate({ method: 'GET', headers })));
    expect(found).toMatchObject([
      { value: { tokenId: first.id } },
      { reason: { code: 'unauthenticated' } },
      { value: { tokenId: second.id } },
      { value: { tokenId: first.id } },
    ]);
  });

  test('finds the caller by token, and records its use once a minute', async () => {
    const { token } = await accounts.tokens.create(
      ada,
      {
        label: 'x',
        expiresAt: inDays(1),
        scopes: ['read', 'write'],
      },
      FROM,
    );
    const use = () => get({ authorization: `bearer ${token}` });
    const lastUsed = async () => (await accounts.tokens.list(ada))[0]?.lastUsedAt?.getTime();
    expect(await use()).toMatchObject({ kind: 'token', username: 'Ada', isAdmin: true, scopes: ['read', 'write'] });
    at += 59_999;
    await use();
    expect(await lastUsed()).toBe(START);
    at += 1;
    await use();
    expect(await lastUsed()).toBe(START + 60_000);
    at += DAY;
    await expect(use()).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  test.each([
    ['a different scheme', () => 'Basic YTpi'],
    ['no token', () => 'Bearer '],
    ['an unknown token', () => `Bearer ${createToken('personal')}`],
    ['a token of a different service', () => `Bearer ${createToken('write')}`],
    ['an empty header', () => ''],
  ])('fails for an Authorization header with %s, despite a valid cookie', async (_reason, authorization) => {
    const caller = get({ authorization: authorization(), cookie: cookie() });
    await expect(caller).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  test('fails for an invalid cookie', async () => {
    await expect(get({ cookie: 'trellis_session=stale' })).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  test('requires the prefixed cookie over https', async () => {
    const secure = authenticator('https://trellis.example');
    expect(await secure({ method: 'GET', headers: { cookie: cookie() } })).toBeUndefined();
    expect(await secure({ method: 'GET', headers: { cookie: `__Host-trellis_session=${session}` } })).toEqual(ada);
  });

  test.each([
    ['Sec-Fetch-Site: same-origin', { 'sec-fetch-site': 'same-origin' }],
    ['the own Origin, without Sec-Fetch-Site', { origin: 'http://localhost:4000' }],
  ])('accepts an unsafe method with %s', async (_reason, headers) => {
    expect(await post({ cookie: cookie(), ...headers })).toEqual(ada);
  });

  test.each([
    ['Sec-Fetch-Site: cross-site', { 'sec-fetch-site': 'cross-site' }],
    ['Sec-Fetch-Site: same-site, from a sibling host', { 'sec-fetch-site': 'same-site' }],
    ['the own Origin but cross-site', { 'sec-fetch-site': 'cross-site', origin: 'http://localhost:4000' }],
    ['a different Origin', { origin: 'http://localhost:4001' }],
    ['the Origin of a sandbox', { origin: 'null' }],
    ['neither header', {}],
  ])('rejects an unsafe method with a cookie and %s', async (_reason, headers) => {
    await expect(post({ cookie: cookie(), ...headers })).rejects.toMatchObject({ code: 'cross_site' });
  });

  test('accepts a token from any site', async () => {
    const { token } = await accounts.tokens.create(ada, { label: 'x', expiresAt: inDays(1) }, FROM);
    expect(await post({ authorization: `Bearer ${token}`, 'sec-fetch-site': 'cross-site' })).toBeDefined();
  });
});
