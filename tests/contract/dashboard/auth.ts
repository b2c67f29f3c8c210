import { ORIGIN } from '../contract-server.js';
import { Passkey } from '../passkey.js';
import { openStage, type Stage } from './fixtures.js';

/** Returns the session cookie as a browser would send it. */
const cookieOf = (response: Response): string => response.headers.get('set-cookie')?.split(';')[0] ?? '';

export function authTests(stage: () => Stage): void {
  let invited = 0;
  /** Creates an invitation for a new username, and a client without a credential. */
  const invite = async () => {
    const username = `invited-${(invited += 1)}`;
    const body = { username, displayName: 'Invited' };
    const { data } = await stage().client(stage().admin).POST('/api/admin/invites', { body });
    return { username, inviteToken: data!.token, client: stage().client() };
  };
  /** Begins a registration with an invitation. @returns a function that finishes it, among others. */
  const begin = async () => {
    const { username, inviteToken, client } = await invite();
    const body = { username, displayName: '-', inviteToken };
    const { data, response } = await client.POST('/api/auth/register/begin', { body });
    const passkey = new Passkey(ORIGIN);
    const init = { params: { query: { username } }, body: passkey.create(data!) };
    return {
      username,
      response,
      client,
      passkey,
      finish: (more = {}) => client.POST('/api/auth/register/finish', { ...init, ...more }),
    };
  };

  test('registration: the setup link creates the first account, which is an admin', async () => {
    const empty = await openStage({ isEmpty: true });
    try {
      const client = empty.client();
      expect((await client.GET('/api/auth/registration-status')).data).toEqual({ open: true });
      const inviteToken = await empty.server.accounts.setupLink.create();
      const body = { username: 'ada', displayName: 'Ada L.', inviteToken };
      const { data: options } = await client.POST('/api/auth/register/begin', { body });
      const finished = await client.POST('/api/auth/register/finish', {
        params: { query: { username: 'ada' } },
        body: new Passkey(ORIGIN).create(options!),
      });
      expect(finished.data).toEqual({ username: 'ada', displayName: 'Ada L.', isAdmin: true });
      const session = await empty.client({ cookie: cookieOf(finished.response) }).GET('/api/auth/session');
      expect(session.data).toEqual(finished.data);
      expect((await client.GET('/api/auth/registration-status')).data).toEqual({ open: false });
    } finally {
      await empty.server.close();
    }
  });

  test('registration: a user with an invitation registers, signs out, and signs in with the passkey', async () => {
    const { username, client, passkey, finish } = await begin();
    const { data: user, response } = await finish();
    expect(user).toEqual({ username, displayName: 'Invited', isAdmin: false });
    const signedIn = stage().client({ cookie: cookieOf(response) });
    const out = await signedIn.POST('/api/auth/logout');
    expect([out.response.status, cookieOf(out.response)]).toEqual([204, 'trellis_session=']);
    expect((await signedIn.GET('/api/auth/session')).response.status).toBe(401);
    const { data: options } = await client.POST('/api/auth/login/begin', { body: { username } });
    const login = await client.POST('/api/auth/login/finish', { body: passkey.get(options!) });
    expect(login.data).toEqual(user);
  });

  test('getSession: returns the user of a token', async () => {
    const { person } = await stage().addUser();
    const token = await stage().server.issueToken('personal', person, ['read']);
    const { data } = await stage().client({ token }).GET('/api/auth/session');
    expect(data).toEqual({ username: person.username, displayName: person.username, isAdmin: false });
  });

  test('logout: returns 204 for ended sessions and for tokens', async () => {
    for (const credential of [{}, { cookie: 'trellis_session=stale' }, { token: 'trl_x' }]) {
      expect((await stage().client(credential).POST('/api/auth/logout')).response.status).toBe(204);
    }
  });

  test('logoutEverywhere: ends all sessions, but no tokens', async () => {
    const { person, cookie } = await stage().addUser();
    const other = { cookie: `trellis_session=${await stage().server.accounts.sessions.start(person.id)}` };
    const token = await stage().server.issueToken('personal', person);
    const { response } = await stage().client({ cookie }).POST('/api/auth/logout-everywhere');
    expect(response.status).toBe(204);
    expect((await stage().client(other).GET('/api/auth/session')).response.status).toBe(401);
    expect((await stage().client({ token }).GET('/api/auth/session')).response.status).toBe(200);
  });

  const newSession = async (personId: string, userAgent?: string) => ({
    cookie: `trellis_session=${await stage().server.accounts.sessions.start(personId, userAgent)}`,
  });
  const statusOf = async (credential: { readonly cookie: string }) =>
    (await stage().client(credential).GET('/api/auth/session')).response.status;
  const end = (credential: { readonly cookie: string }, id: string) =>
    stage()
      .client(credential)
      .DELETE('/api/auth/sessions/{id}', { params: { path: { id } } });
  const list = async (credential: { readonly cookie: string }) =>
    (await stage().client(credential).GET('/api/auth/sessions')).data!;

  test('listSessions: returns the current session first, and no session of a different user', async () => {
    const { person, cookie } = await stage().addUser();
    await stage().addUser();
    await newSession(person.id, 'Mozilla/5.0 (X11; Linux x86_64; rv:142.0) Gecko/20100101 Firefox/142.0');
    const sessions = await list({ cookie });
    expect(sessions).toMatchObject([{ isCurrent: true }, { isCurrent: false, browser: 'Firefox on Linux' }]);
    expect(sessions[0]).not.toHaveProperty('browser');
    expect(Date.parse(sessions[1]!.lastUsedAt!)).toBe(Date.parse(sessions[1]!.createdAt));
  });

  test('finishRegistration and finishLogin: store a coarse name of the browser', async () => {
    const { client, finish, passkey } = await begin();
    const headers = { 'user-agent': `Mozilla/5.0 (Windows NT 10.0) Chrome/140.0.0.0 ${'x'.repeat(4_000)}<b>` };
    const cookie = cookieOf((await finish({ headers })).response);
    const { data: options } = await client.POST('/api/auth/login/begin');
    await client.POST('/api/auth/login/finish', { body: passkey.get(options!), headers });
    expect((await list({ cookie })).map(({ browser }) => browser)).toEqual(['Chrome on Windows', 'Chrome on Windows']);
  });

  test('endSession: ends one session at once, and returns 204 again', async () => {
    const { person, cookie } = await stage().addUser();
    const [lost, kept] = [await newSession(person.id), await newSession(person.id)];
    const { id } = (await list(lost)).find(({ isCurrent }) => isCurrent)!;
    expect((await end({ cookie }, id)).response.status).toBe(204);
    expect(await Promise.all([statusOf(lost), statusOf(kept), statusOf({ cookie })])).toEqual([401, 200, 200]);
    expect((await end({ cookie }, id)).response.status).toBe(204);
    expect(await list({ cookie })).toHaveLength(2);
  });

  test('endSession: does not end a session of a different user', async () => {
    const [own, other] = [await stage().addUser(), await stage().addUser()];
    const [session] = await list(other);
    expect((await end(own, session!.id)).response.status).toBe(204);
    expect(await statusOf(other)).toBe(200);
  });

  test('logoutOthers: ends all sessions of the caller but the current one, and none of a different user', async () => {
    const [{ person, cookie }, other] = [await stage().addUser(), await stage().addUser()];
    const ended = [await newSession(person.id), await newSession(person.id)];
    expect((await stage().client({ cookie }).POST('/api/auth/logout-others')).response.status).toBe(204);
    expect(await Promise.all(ended.map(statusOf))).toEqual([401, 401]);
    expect(await Promise.all([statusOf({ cookie }), statusOf(other)])).toEqual([200, 200]);
    expect(await list({ cookie })).toMatchObject([{ isCurrent: true }]);
  });

  test('sessions: tokens can neither list nor end them', async () => {
    const { person } = await stage().addUser();
    const client = stage().client({ token: await stage().server.issueToken('personal', person) });
    const path = { id: '0'.repeat(32) };
    const replies = [
      await client.GET('/api/auth/sessions'),
      await client.DELETE('/api/auth/sessions/{id}', { params: { path } }),
      await client.POST('/api/auth/logout-others'),
    ];
    expect(replies.map(({ error }) => error?.code)).toEqual(replies.map(() => 'session_required'));
  });

  test.each([
    ['no invitation', () => ({})],
    ['an unknown invitation', () => ({ inviteToken: 'x' })],
  ])('beginRegistration: returns 403 for %s, whether the username is taken or not', async (_reason, link) => {
    for (const username of ['root', 'nobody-yet']) {
      const body = { username, displayName: 'x', ...link() };
      const { error, response } = await stage().client().POST('/api/auth/register/begin', { body });
      expect([response.status, error?.code]).toEqual([403, 'forbidden']);
    }
  });

  test('beginRegistration: returns 403 for an invitation with a different username', async () => {
    const { inviteToken, client } = await invite();
    const body = { username: 'another', displayName: 'x', inviteToken };
    expect((await client.POST('/api/auth/register/begin', { body })).response.status).toBe(403);
  });

  test('beginRegistration: returns 409 if the username was taken after the invitation', async () => {
    const { username, inviteToken, client } = await invite();
    await stage().server.addPerson(username);
    const body = { username, displayName: 'x', inviteToken };
    const { error, response } = await client.POST('/api/auth/register/begin', { body });
    expect([response.status, error]).toMatchObject([409, { code: 'conflict', field: 'username' }]);
  });

  test('finishRegistration: returns 409 if the username was taken after the registration began', async () => {
    const { username, finish } = await begin();
    await stage().server.addPerson(username);
    const { error, response } = await finish();
    expect([response.status, error?.code]).toEqual([409, 'conflict']);
  });

  test('finishRegistration: returns 400 for the second attempt', async () => {
    const { finish } = await begin();
    expect((await finish()).response.status).toBe(200);
    const { error, response } = await finish();
    expect([response.status, error?.code]).toEqual([400, 'invalid_input']);
  });

  test('finishLogin: returns 400 for an unknown passkey', async () => {
    const client = stage().client();
    const { data: options } = await client.POST('/api/auth/login/begin');
    const { error, response } = await client.POST('/api/auth/login/finish', {
      body: new Passkey(ORIGIN).get(options!),
    });
    expect([response.status, error?.code]).toEqual([400, 'invalid_input']);
  });
}
