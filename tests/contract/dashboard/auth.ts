import { ORIGIN } from '../contract-server.js';
import { Passkey } from '../passkey.js';
import { openStage } from './stage.js';
import type { Stage } from './stage.js';

/** The cookie as a browser sends it back. */
const cookieOf = (response: Response): string => response.headers.get('set-cookie')?.split(';')[0] ?? '';

export function authTests(stage: () => Stage): void {
  let invited = 0;
  /** An invitation of the admin for a new name, and a client that shows no credential. */
  const invite = async () => {
    const username = `invited-${(invited += 1)}`;
    const body = { username, displayName: 'Invited' };
    const { data } = await stage().client(stage().admin).POST('/api/admin/invites', { body });
    return { username, inviteToken: data!.token, client: stage().client() };
  };
  /** Begins with an invitation, and gives what finishes it. */
  const begin = async () => {
    const { username, inviteToken, client } = await invite();
    const body = { username, displayName: '-', inviteToken };
    const { data, response } = await client.POST('/api/auth/register/begin', { body });
    const passkey = new Passkey(ORIGIN);
    const init = { params: { query: { username } }, body: passkey.create(data!) };
    return { username, response, client, passkey, finish: () => client.POST('/api/auth/register/finish', init) };
  };

  test('the first account comes by the setup link, and is an admin', async () => {
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

  test('a later account comes by invitation, signs out, and in again by its passkey', async () => {
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

  test('getSession says for a token whom it speaks for', async () => {
    const { person } = await stage().newPerson();
    const token = await stage().server.issueToken('personal', person, ['read']);
    const { data } = await stage().client({ token }).GET('/api/auth/session');
    expect(data).toEqual({ username: person.username, displayName: person.username, isAdmin: false });
  });

  test('logout minds neither a session that has ended nor a token', async () => {
    for (const credential of [{}, { cookie: 'trellis_session=stale' }, { token: 'trl_x' }]) {
      expect((await stage().client(credential).POST('/api/auth/logout')).response.status).toBe(204);
    }
  });

  test('logoutEverywhere ends the other sessions too, and leaves tokens alone', async () => {
    const { person, cookie } = await stage().newPerson();
    const other = { cookie: `trellis_session=${await stage().server.accounts.sessions.start(person.id)}` };
    const token = await stage().server.issueToken('personal', person);
    const { response } = await stage().client({ cookie }).POST('/api/auth/logout-everywhere');
    expect(response.status).toBe(204);
    expect((await stage().client(other).GET('/api/auth/session')).response.status).toBe(401);
    expect((await stage().client({ token }).GET('/api/auth/session')).response.status).toBe(200);
  });

  test.each([
    ['no link', () => ({})],
    ['a link that nobody made', () => ({ inviteToken: 'x' })],
  ])('beginRegistration is refused with %s, whether the name is taken or not', async (_reason, link) => {
    for (const username of ['root', 'nobody-yet']) {
      const body = { username, displayName: 'x', ...link() };
      const { error, response } = await stage().client().POST('/api/auth/register/begin', { body });
      expect([response.status, error?.code]).toEqual([403, 'forbidden']);
    }
  });

  test('beginRegistration is refused with an invitation for another name', async () => {
    const { inviteToken, client } = await invite();
    const body = { username: 'another', displayName: 'x', inviteToken };
    expect((await client.POST('/api/auth/register/begin', { body })).response.status).toBe(403);
  });

  test('beginRegistration is refused when the name was taken since the invitation', async () => {
    const { username, inviteToken, client } = await invite();
    await stage().server.addPerson(username);
    const body = { username, displayName: 'x', inviteToken };
    const { error, response } = await client.POST('/api/auth/register/begin', { body });
    expect([response.status, error]).toMatchObject([409, { code: 'conflict', field: 'username' }]);
  });

  test('finishRegistration is refused when the name was taken since it began', async () => {
    const { username, finish } = await begin();
    await stage().server.addPerson(username);
    const { error, response } = await finish();
    expect([response.status, error?.code]).toEqual([409, 'conflict']);
  });

  test('finishRegistration is refused the second time', async () => {
    const { finish } = await begin();
    expect((await finish()).response.status).toBe(200);
    const { error, response } = await finish();
    expect([response.status, error?.code]).toEqual([400, 'invalid_input']);
  });

  test('finishLogin is refused to a passkey that nobody has', async () => {
    const client = stage().client();
    const { data: options } = await client.POST('/api/auth/login/begin');
    const { error, response } = await client.POST('/api/auth/login/finish', {
      body: new Passkey(ORIGIN).get(options!),
    });
    expect([response.status, error?.code]).toEqual([400, 'invalid_input']);
  });
}
