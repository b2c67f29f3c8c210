import type { components } from '../../../src/generated/secrets/types.js';
import { ORIGIN } from '../contract-server.js';
import { Passkey } from '../passkey.js';
import { openStage, type Credential, type Stage } from './fixtures.js';

type Schemas = components['schemas'];
type CreationOptions = Parameters<Passkey['create']>[0];

const KEY = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p';
const OTHER_KEY = 'age1lggyhqrw2nlhcxprm67z43rta597azn8gknawjehu9d9dl0jq3yqqvfafg';

/** Each test uses a separate server without an account. */
export function authTests(): void {
  let stage: Stage;
  let passkey: Passkey;
  beforeEach(async () => {
    stage = await openStage({ isEmpty: true });
    passkey = new Passkey(ORIGIN);
  });
  afterEach(() => stage.server.close());

  const setupToken = async () => (await stage.server.accounts.setupLink.create())!;

  async function begin(body?: Schemas['RegistrationBeginRequest'], by: Credential = {}) {
    return stage.client(by).POST('/auth/register/begin', body === undefined ? {} : { body });
  }

  /** Registers a passkey. @returns the response and its cookie. */
  async function register(
    kept: Partial<Schemas['RegistrationFinishRequest']> = {},
    { by = {}, own = passkey }: { by?: Credential; own?: Passkey } = {},
  ) {
    const start = by.cookie === undefined ? { setup_token: await setupToken() } : undefined;
    const { data } = await begin(start, by);
    const credential = own.create(data!.publicKey as unknown as CreationOptions) as never;
    const { response, ...answer } = await stage
      .client(by)
      .POST('/auth/register/finish', { body: { credential, ...kept } });
    return { ...answer, response, cookie: response.headers.getSetCookie()[0]?.split(';')[0] };
  }

  async function signIn(own = passkey) {
    const { data } = await stage.client({}).POST('/auth/login/begin');
    const credential = own.get(data!.publicKey) as never;
    return stage.client({}).POST('/auth/login/finish', { body: { credential } });
  }

  const identity = async (by: Credential) => (await stage.client(by).GET('/auth/identity')).data;
  const listEntries = async (cookie: string) => {
    const { data } = await stage.client({ cookie }).GET('/audit-log');
    return data!.map(({ action, subject_type, actor_id }) => `${action} ${subject_type} by ${actor_id}`);
  };

  test('finishRegistration: creates the owner with the setup link, signs them in and stores their keys', async () => {
    expect((await stage.client({}).GET('/auth/status')).data).toEqual({ bootstrapped: false });
    const kept = { public_key: KEY, wrapped_identity: 'by passkey', recovery_wrapped_identity: 'by phrase' };
    const { data, cookie } = await register({ nickname: 'laptop', ...kept });
    expect(data).toMatchObject({ id: passkey.id, nickname: 'laptop', wrapped_identity: 'by passkey' });
    expect((await stage.client({}).GET('/auth/status')).data).toEqual({ bootstrapped: true });
    expect(await identity({ cookie: cookie! })).toEqual({
      public_key: KEY,
      recovery_wrapped_identity: 'by phrase',
      wrapped_by: [passkey.id],
    });
    expect(await listEntries(cookie!)).toEqual(['create passkey by admin', 'create identity by admin']);
    expect((await stage.server.accounts.users.findByUsername('owner'))?.isAdmin).toBe(true);
  });

  test.each([
    ['without the setup link', undefined],
    ['with a wrong setup link', { setup_token: 'x' }],
  ])('beginRegistration: returns 403 %s', async (_how, body) => {
    await setupToken();
    const { response, error } = await begin(body);
    expect([response.status, error?.code]).toEqual([403, 'forbidden']);
  });

  test('Registration requires the session of the owner once an owner exists', async () => {
    const { cookie } = await register();
    expect((await begin({ setup_token: 'x' })).response.status).toBe(401);
    const { data } = await begin(undefined, { cookie: cookie! });
    const credential = new Passkey(ORIGIN).create(data!.publicKey as unknown as CreationOptions) as never;
    const { response } = await stage.client({}).POST('/auth/register/finish', { body: { credential } });
    expect(response.status).toBe(401);
    const stranger = await stage.addStranger();
    expect((await begin(undefined, stranger)).response.status).toBe(403);
  });

  test('finishRegistration: does not create an invited account', async () => {
    const { cookie } = await register();
    const owner = await stage.server.accounts.sessions.findCaller(cookie!.split('=')[1]!);
    const { token } = await stage.server.accounts.invitations.create(
      owner,
      { username: 'bob', displayName: 'Bob' },
      'x',
    );
    const options = await stage.server.accounts.registration.begin({
      username: 'bob',
      displayName: 'Bob',
      inviteToken: token,
    });
    const credential = new Passkey(ORIGIN).create(options) as never;
    const body = { credential, username: 'bob' };
    expect((await stage.client({}).POST('/auth/register/finish', { body })).response.status).toBe(401);
  });

  test('An additional passkey of the owner gets its own copy of the identity, and no new session', async () => {
    const { cookie = '' } = await register({ public_key: KEY, wrapped_identity: 'first' });
    const own = new Passkey(ORIGIN);
    const added = await register({ wrapped_identity: 'second' }, { by: { cookie }, own });
    expect([added.data, added.cookie]).toEqual([expect.objectContaining({ nickname: 'passkey 2' }), undefined]);
    const { data } = await stage.client({ cookie }).GET('/credentials');
    expect(data!.map(({ wrapped_identity }) => wrapped_identity)).toEqual(['first', 'second']);
    expect((await signIn(own)).response.status).toBe(204);
  });

  test.each([
    ['a different public key changes nothing', { public_key: OTHER_KEY, recovery_wrapped_identity: 'x' }, undefined],
    ['a recovery copy is added together with its public key', { public_key: KEY, recovery_wrapped_identity: 'x' }, 'x'],
    ['a recovery copy alone changes nothing', { recovery_wrapped_identity: 'x' }, undefined],
  ])('Later registrations: %s', async (_what, kept, recovery) => {
    const { cookie = '' } = await register({ public_key: KEY });
    await register(kept, { by: { cookie }, own: new Passkey(ORIGIN) });
    expect(await identity({ cookie })).toEqual({
      public_key: KEY,
      ...(recovery !== undefined && { recovery_wrapped_identity: recovery }),
    });
    await register({ public_key: KEY, recovery_wrapped_identity: 'y' }, { by: { cookie }, own: new Passkey(ORIGIN) });
    expect((await identity({ cookie }))?.recovery_wrapped_identity).toBe(recovery ?? 'y');
  });

  test('finishRegistration: returns 400 for an invalid public key, and the link stays valid', async () => {
    const { response, error } = await register({ public_key: 'AGE-SECRET-KEY-1X' });
    expect([response.status, error?.field]).toEqual([400, 'public_key']);
    expect((await register()).response.status).toBe(201);
  });

  test('getIdentity: returns the public key for a session or write token, and the recovery copy only for a session', async () => {
    const { cookie = '' } = await register();
    expect(await identity({ cookie })).toEqual({});
    await register({ public_key: KEY, recovery_wrapped_identity: 'x' }, { by: { cookie }, own: new Passkey(ORIGIN) });
    const { data } = await stage.client({ cookie }).POST('/tokens', { body: { description: 'x' } });
    expect(await identity({ token: data!.value })).toEqual({ public_key: KEY });
  });

  test('The owner signs in and out', async () => {
    expect((await stage.client({}).POST('/auth/login/begin')).response.status).toBe(400);
    await register();
    const { response } = await signIn();
    const [cookie = ''] = response.headers.getSetCookie();
    expect([response.status, cookie]).toEqual([204, expect.stringMatching(/; HttpOnly; SameSite=Lax;/)]);
    const by = { cookie: cookie.split(';')[0]! };
    expect((await stage.client(by).GET('/credentials')).data).toMatchObject([
      { last_used_at: expect.any(String) as string },
    ]);
    const out = await stage.client(by).POST('/auth/logout');
    expect([out.response.status, out.response.headers.getSetCookie()[0]]).toEqual([
      204,
      expect.stringContaining('Max-Age=0'),
    ]);
    expect((await stage.client(by).GET('/credentials')).response.status).toBe(401);
  });

  test('finishLogin: returns 401 for other users, and creates no session', async () => {
    const { cookie } = await register();
    const bob = new Passkey(ORIGIN);
    const owner = await stage.server.accounts.sessions.findCaller(cookie!.split('=')[1]!);
    const invited = { username: 'bob', displayName: 'Bob' };
    const { token } = await stage.server.accounts.invitations.create(owner, invited, 'x');
    const { registration } = stage.server.accounts;
    const options = await registration.begin({ ...invited, inviteToken: token });
    await registration.finish({ username: 'bob', credential: bob.create(options) }, 'x');
    const sessions = () => stage.server.database.selectFrom('sessions').selectAll().execute();
    const before = await sessions();
    const refusals = [await signIn(bob), await signIn(new Passkey(ORIGIN))];
    expect(refusals.map(({ response, error }) => [response.status, error?.error])).toEqual([
      [401, 'missing or invalid session'],
      [401, 'missing or invalid session'],
    ]);
    expect(await sessions()).toEqual(before);
  });

  test('A challenge can be used once, and only for its own ceremony', async () => {
    await register();
    const { data } = await stage.client({}).POST('/auth/login/begin');
    const credential = passkey.get(data!.publicKey) as never;
    const finish = async () =>
      (await stage.client({}).POST('/auth/login/finish', { body: { credential } })).response.status;
    expect([await finish(), await finish()]).toEqual([204, 401]);
    const { data: again } = await stage.client({}).POST('/auth/login/begin');
    const other = passkey.get(again!.publicKey) as never;
    const owner = await stage.server.accounts.users.findByUsername('owner');
    const cookie = `trellis_session=${await stage.server.accounts.sessions.start(owner!.id)}`;
    const { response } = await stage.client({ cookie }).POST('/auth/register/finish', { body: { credential: other } });
    expect(response.status).toBe(400);
  });

  describe('Passkeys', () => {
    const at = (id: string) => ({ params: { path: { id } } });

    test('are listed in pages, renamed and removed, except the last one', async () => {
      const { cookie = '' } = await register();
      const own = new Passkey(ORIGIN);
      await register({ nickname: 'phone' }, { by: { cookie }, own });
      const client = stage.client({ cookie });
      const page = await client.GET('/credentials', { params: { query: { limit: 1, offset: 1 } } });
      expect(page.data!.map(({ nickname }) => nickname)).toEqual(['phone']);
      expect(page.response.headers.get('x-total-count')).toBe('2');
      const renamed = await client.PATCH('/credentials/{id}', { ...at(own.id), body: { nickname: ' old phone ' } });
      expect(renamed.data).toMatchObject({ id: own.id, nickname: 'old phone' });
      expect((await client.DELETE('/credentials/{id}', at(own.id))).response.status).toBe(204);
      expect((await client.DELETE('/credentials/{id}', at(own.id))).response.status).toBe(204);
      const last = await client.DELETE('/credentials/{id}', at(passkey.id));
      expect([last.response.status, last.error?.code]).toEqual([409, 'conflict']);
      expect((await listEntries(cookie)).slice(1)).toEqual([
        'create passkey by admin',
        'rename passkey by admin',
        'delete passkey by admin',
      ]);
    });

    test('are not renamed if they are unknown or the new name is blank', async () => {
      const { cookie = '' } = await register();
      const client = stage.client({ cookie });
      const rename = (id: string, nickname: string) =>
        client.PATCH('/credentials/{id}', { ...at(id), body: { nickname } });
      expect((await rename('unknown', 'x')).response.status).toBe(404);
      expect((await rename(passkey.id, '\u200b')).response.status).toBe(400);
    });

    test('changed by the dashboard are recorded in the audit log too', async () => {
      const { cookie = '' } = await register();
      const caller = await stage.server.accounts.sessions.findCaller(cookie.split('=')[1]!);
      const { passkeys } = stage.server.accounts;
      const own = new Passkey(ORIGIN);
      const credential = own.create(await passkeys.begin(caller));
      await passkeys.finish(caller, { credential }, '192.0.2.7');
      await passkeys.remove(caller, own.id, '192.0.2.7');
      expect((await listEntries(cookie)).slice(1)).toEqual(['create passkey by admin', 'delete passkey by admin']);
      expect((await stage.client({ cookie }).GET('/audit-log/verify')).data).toMatchObject({
        intact: true,
        entries: 3,
      });
    });
  });
}
