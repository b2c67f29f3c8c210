import { randomBytes } from 'node:crypto';
import { createToken } from '../../src/accounts/token-format.js';
import { codeOf, inDays, openStage } from './stage.js';
import type { Stage } from './stage.js';

let stage: Stage;
beforeEach(async () => (stage = await openStage()));
afterEach(() => stage.server.close());

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const withToken = (token: string) => stage.visitor().send('GET', '/api/auth/session', undefined, bearer(token));
const withCookie = (cookie: string) => stage.visitor().send('GET', '/api/auth/session', undefined, { cookie });

describe('a token', () => {
  test.each<[string, () => Promise<string> | string]>([
    ['forged', () => createToken('personal')],
    ['truncated', async () => (await stage.makeToken(stage.ada)).token.slice(0, -1)],
    [
      'of one character changed',
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
      'of a person who was put out',
      async () => {
        const { token } = await stage.makeToken(stage.bob);
        await stage.ada.send('POST', '/api/admin/users/bob/revoke');
        return token;
      },
    ],
  ])('is refused alike when it is %s', async (_reason, makeBad) => {
    const reply = await withToken(await makeBad());
    expect(codeOf(reply)).toEqual([401, 'unauthenticated']);
    expect(reply.headers.get('www-authenticate')).toBe('Bearer');
    const { error } = reply.body as { error: string };
    expect(error).toBe('Expected a session or a bearer token that is still valid.');
  });

  test('counts alone where a stale cookie comes beside it', async () => {
    const { token } = await stage.makeToken(stage.ada);
    const stale = { cookie: `trellis_session=${randomBytes(32).toString('base64url')}` };
    expect(
      await stage.visitor().send('GET', '/api/auth/session', undefined, { ...bearer(token), ...stale }),
    ).toMatchObject({
      status: 200,
      body: { username: 'ada' },
    });
  });

  test('of another reaches nothing of mine', async () => {
    const { id, token } = await stage.makeToken(stage.ada);
    const other = await stage.makeToken(stage.bob);
    const list = await stage.visitor().send('GET', '/api/tokens', undefined, bearer(other.token));
    expect(list.body).toMatchObject([{ id: other.id }]);
    expect((await stage.bob.send('DELETE', `/api/tokens/${id}`)).status).toBe(204);
    expect((await withToken(token)).status).toBe(200);
    expect(codeOf(await stage.visitor().send('GET', '/api/admin/users', undefined, bearer(other.token)))[0]).toBe(403);
  });

  test.each([
    ['mint a token', 'POST', '/api/tokens', { label: 'x', expiresAt: inDays(1) }],
    ['revoke one', 'DELETE', '/api/tokens/x', undefined],
    ['list passkeys', 'GET', '/api/auth/credentials', undefined],
    ['add a passkey', 'POST', '/api/auth/credentials/begin', undefined],
    ['remove a passkey', 'DELETE', '/api/auth/credentials/x', undefined],
    ['sign its person out everywhere', 'POST', '/api/auth/logout-everywhere', undefined],
    ['invite', 'POST', '/api/admin/invites', { username: 'eve', displayName: 'Eve' }],
    ['put a person out', 'POST', '/api/admin/users/bob/revoke', undefined],
    ['remove a person', 'DELETE', '/api/admin/users/bob', undefined],
  ])('with every scope may not %s', async (_what, method, path, body) => {
    const person = (await stage.server.accounts.people.findByUsername('ada'))!;
    const token = await stage.server.issueToken('personal', person);
    expect(codeOf(await stage.visitor().send(method, path, body, bearer(token)))).toEqual([403, 'session_required']);
  });
});

describe('a session', () => {
  test.each<[string, () => Promise<string> | string]>([
    ['forged', () => `trellis_session=${randomBytes(32).toString('base64url')}`],
    ['truncated', () => stage.ada.cookie.slice(0, -1)],
    [
      'the hash that the database holds',
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
      'signed out from elsewhere',
      async () => {
        const { cookie } = stage.bob;
        await stage.bob.signIn();
        expect((await stage.bob.send('POST', '/api/auth/logout-everywhere')).status).toBe(204);
        return cookie;
      },
    ],
    [
      'of a person who was put out',
      async () => {
        await stage.ada.send('POST', '/api/admin/users/bob/revoke');
        return stage.bob.cookie;
      },
    ],
    [
      'of a person who was removed',
      async () => {
        await stage.ada.send('DELETE', '/api/admin/users/bob');
        return stage.bob.cookie;
      },
    ],
  ])('is refused when it is %s', async (_reason, makeBad) => {
    expect(codeOf(await withCookie(await makeBad()))).toEqual([401, 'unauthenticated']);
  });

  test('is kept from scripts and from other sites', async () => {
    const { headers } = await stage.bob.signIn();
    expect(headers.get('set-cookie')).toMatch(
      /^trellis_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=34560000$/,
    );
  });

  test('of another reaches nothing of mine', async () => {
    const { body } = await stage.ada.send('GET', '/api/auth/credentials');
    const [{ id }] = body as [{ id: string }];
    expect((await stage.bob.send('DELETE', `/api/auth/credentials/${id}`)).status).toBe(204);
    expect((await stage.ada.signIn()).status).toBe(200);
    expect(codeOf(await stage.bob.send('GET', '/api/admin/users'))).toEqual([403, 'forbidden']);
  });

  test.each([
    ['makes a token', '/api/tokens', { label: 'x', expiresAt: inDays(1) }],
    ['signs out', '/api/auth/logout', undefined],
    ['signs out everywhere', '/api/auth/logout-everywhere', undefined],
    ['adds a passkey', '/api/auth/credentials/begin', undefined],
  ])('is refused to another site that %s', async (_what, path, body) => {
    const origins: Record<string, string>[] = [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }];
    for (const headers of origins) {
      expect(codeOf(await stage.ada.send('POST', path, body, headers))).toEqual([403, 'cross_site']);
    }
    expect((await withCookie(stage.ada.cookie)).status).toBe(200);
  });
});
