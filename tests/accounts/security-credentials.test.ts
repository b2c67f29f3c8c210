import { randomBytes } from 'node:crypto';
import { createToken } from '../../src/accounts/bearer-tokens.js';
import { ORIGIN } from '../contract/contract-server.js';
import { Passkey } from '../contract/passkey.js';
import { assertRegistered, toStatusAndCode, inDays, openStage, type Stage } from './fixtures.js';

let stage: Stage;
beforeEach(async () => (stage = await openStage()));
afterEach(() => stage.server.close());

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const withToken = (token: string) => stage.visitor().send('GET', '/api/auth/session', undefined, bearer(token));
const withCookie = (cookie: string) => stage.visitor().send('GET', '/api/auth/session', undefined, { cookie });

describe('An API token', () => {
  test.each<[string, () => Promise<string> | string]>([
    ['forged', () => createToken('personal')],
    ['truncated', async () => (await stage.makeToken(stage.ada)).token.slice(0, -1)],
    [
      'altered in one character',
      async () => (await stage.makeToken(stage.ada)).token.replace(/.$/, (last) => (last === 'x' ? 'y' : 'x')),
    ],
    ['without its prefix', async () => (await stage.makeToken(stage.ada)).token.slice(4)],
    [
      'expired',
      async () => {
        const { token } = await stage.makeToken(stage.ada);
        await stage.expire('tokens');
        return token;
      },
    ],
    [
      'revoked',
      async () => {
        const { id, token } = await stage.makeToken(stage.ada);
        await stage.ada.send('DELETE', `/api/tokens/${id}`);
        return token;
      },
    ],
    [
      'of a user whose access was revoked',
      async () => {
        const { token } = await stage.makeToken(stage.bob);
        await stage.ada.send('POST', '/api/admin/users/bob/revoke');
        return token;
      },
    ],
  ])('gets the same error when it is %s', async (_reason, createInvalid) => {
    const reply = await withToken(await createInvalid());
    expect(toStatusAndCode(reply)).toEqual([401, 'unauthenticated']);
    expect(reply.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"');
    const { error } = reply.body as { error: string };
    expect(error).toBe('The session or token is invalid, expired or revoked.');
  });

  test('takes precedence over an expired cookie', async () => {
    const { token } = await stage.makeToken(stage.ada);
    const stale = { cookie: `trellis_session=${randomBytes(32).toString('base64url')}` };
    expect(
      await stage.visitor().send('GET', '/api/auth/session', undefined, { ...bearer(token), ...stale }),
    ).toMatchObject({
      status: 200,
      body: { username: 'ada' },
    });
  });

  test('gives no access to the tokens of a different user', async () => {
    const { id, token } = await stage.makeToken(stage.ada);
    const other = await stage.makeToken(stage.bob);
    const list = await stage.visitor().send('GET', '/api/tokens', undefined, bearer(other.token));
    expect(list.body).toMatchObject([{ id: other.id }]);
    expect((await stage.bob.send('DELETE', `/api/tokens/${id}`)).status).toBe(204);
    expect((await withToken(token)).status).toBe(200);
    expect(
      toStatusAndCode(await stage.visitor().send('GET', '/api/admin/users', undefined, bearer(other.token)))[0],
    ).toBe(403);
  });

  test.each([
    ['create a token', 'POST', '/api/tokens', { label: 'x', expiresAt: inDays(1) }],
    ['revoke a token', 'DELETE', '/api/tokens/x', undefined],
    ['list passkeys', 'GET', '/api/auth/credentials', undefined],
    ['add a passkey', 'POST', '/api/auth/credentials/begin', undefined],
    ['remove a passkey', 'DELETE', '/api/auth/credentials/x', undefined],
    ['sign its user out everywhere', 'POST', '/api/auth/logout-everywhere', undefined],
    ['create an invitation', 'POST', '/api/admin/invites', { username: 'eve', displayName: 'Eve' }],
    ["revoke a user's access", 'POST', '/api/admin/users/bob/revoke', undefined],
    ['remove a user', 'DELETE', '/api/admin/users/bob', undefined],
  ])('with all scopes cannot %s', async (_operation, method, path, body) => {
    const person = (await stage.server.accounts.users.findByUsername('ada'))!;
    const token = await stage.server.issueToken('personal', person);
    expect(toStatusAndCode(await stage.visitor().send(method, path, body, bearer(token)))).toEqual([
      403,
      'session_required',
    ]);
  });
});

describe('A session', () => {
  test.each<[string, () => Promise<string> | string]>([
    ['forged', () => `trellis_session=${randomBytes(32).toString('base64url')}`],
    ['truncated', () => stage.ada.cookie.slice(0, -1)],
    [
      'the hash from the database',
      async () => {
        const { id_hash } = await stage.server.database
          .selectFrom('sessions')
          .select('id_hash')
          .executeTakeFirstOrThrow();
        return `trellis_session=${id_hash}`;
      },
    ],
    [
      'expired',
      async () => {
        await stage.expire('sessions');
        return stage.ada.cookie;
      },
    ],
    [
      'signed out',
      async () => {
        const { cookie } = stage.bob;
        expect((await stage.bob.send('POST', '/api/auth/logout')).status).toBe(204);
        expect(stage.bob.cookie).toBe('');
        return cookie;
      },
    ],
    [
      'signed out from a different session',
      async () => {
        const { cookie } = stage.bob;
        // Another browser.
        stage.bob.cookie = '';
        await stage.bob.signIn();
        expect((await stage.bob.send('POST', '/api/auth/logout-everywhere')).status).toBe(204);
        return cookie;
      },
    ],
    [
      'replaced by a sign-in in the same browser',
      async () => {
        const { cookie } = stage.bob;
        expect((await stage.bob.signIn()).status).toBe(200);
        return cookie;
      },
    ],
    [
      'replaced by an invitation in the same browser',
      async () => {
        const eve = stage.visitor();
        eve.cookie = stage.bob.cookie;
        await assertRegistered(eve.register('eve', await stage.invite('eve')));
        return stage.bob.cookie;
      },
    ],
    [
      'of a user whose access was revoked',
      async () => {
        await stage.ada.send('POST', '/api/admin/users/bob/revoke');
        return stage.bob.cookie;
      },
    ],
    [
      'of a removed user',
      async () => {
        await stage.ada.send('DELETE', '/api/admin/users/bob');
        return stage.bob.cookie;
      },
    ],
  ])('is rejected when it is %s', async (_reason, createInvalid) => {
    expect(toStatusAndCode(await withCookie(await createInvalid()))).toEqual([401, 'unauthenticated']);
  });

  test('has a cookie that scripts and other sites cannot use', async () => {
    const { headers } = await stage.bob.signIn();
    expect(headers.get('set-cookie')).toMatch(
      /^trellis_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=34560000$/,
    );
  });

  test('gives no access to the passkeys of a different user, nor to admin operations', async () => {
    const { body } = await stage.ada.send('GET', '/api/auth/credentials');
    const [{ id }] = body as [{ id: string }];
    expect((await stage.bob.send('DELETE', `/api/auth/credentials/${id}`)).status).toBe(204);
    expect((await stage.ada.signIn()).status).toBe(200);
    expect(toStatusAndCode(await stage.bob.send('GET', '/api/admin/users'))).toEqual([403, 'forbidden']);
  });

  test.each([
    ['creating a token', '/api/tokens', { label: 'x', expiresAt: inDays(1) }],
    ['signing out', '/api/auth/logout', undefined],
    ['signing out everywhere', '/api/auth/logout-everywhere', undefined],
    ['adding a passkey', '/api/auth/credentials/begin', undefined],
  ])('rejects a request from a different site: %s', async (_operation, path, body) => {
    const origins: Record<string, string>[] = [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }];
    for (const headers of origins) {
      expect(toStatusAndCode(await stage.ada.send('POST', path, body, headers))).toEqual([403, 'cross_site']);
    }
    expect((await withCookie(stage.ada.cookie)).status).toBe(200);
  });

  test('that ends during a request gives no lasting access', async () => {
    const { accounts, database } = stage.server;
    const bob = await accounts.sessions.findCaller(stage.bob.cookie.split('=')[1]!);
    const begun = await stage.bob.send('POST', '/api/auth/credentials/begin');
    const credential = new Passkey(ORIGIN).create(begun.body as never);
    await database.deleteFrom('sessions').where('person_id', '=', bob!.personId).execute();
    const ended = { code: 'unauthenticated' };
    await expect(accounts.passkeys.finish(bob, { credential }, '192.0.2.7')).rejects.toMatchObject(ended);
    const token = { label: 'x', expiresAt: new Date(inDays(1)) };
    await expect(accounts.tokens.create(bob, token, '192.0.2.7')).rejects.toMatchObject(ended);
  });

  // Two requests that change the same data on PostgreSQL, of which one waits for the other or is repeated.
  test('creates no token while the access of its user is revoked', async () => {
    const making = Array.from({ length: 6 }, () => stage.makeToken(stage.bob).catch(() => undefined));
    await stage.ada.send('POST', '/api/admin/users/bob/revoke');
    const made = (await Promise.all(making)).flatMap((one) => one?.token ?? []);
    expect(await Promise.all(made.map(async (token) => (await withToken(token)).status))).toEqual(made.map(() => 401));
  });

  // Browsers send no SameSite cookie with a form of a different site, but accept the cookie of the response.
  test('keeps its cookie when a different site sends a request without it', async () => {
    const { cookie } = stage.ada;
    const sites: Record<string, string>[] = [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'null' },
    ];
    for (const site of sites) {
      const reply = await stage.visitor().send('POST', '/api/auth/logout', undefined, site);
      expect(toStatusAndCode(reply)).toEqual([403, 'cross_site']);
      expect(reply.headers.getSetCookie()).toEqual([]);
    }
    expect((await stage.visitor().send('POST', '/api/auth/logout')).status).toBe(204);
    expect((await withCookie(cookie)).status).toBe(200);
  });
});
