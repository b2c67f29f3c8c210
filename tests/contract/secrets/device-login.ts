/** Tests the device flow with an OAuth client that this project did not write. */
import * as oauth from 'oauth4webapi';
import { ORIGIN } from '../contract-server.js';
import { Passkey } from '../passkey.js';
import { recorder, type Stage } from './fixtures.js';

const CLIENT: oauth.Client = { client_id: 'test-client' };
const CODE = /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/;
const ACCESS = { permissions: ['list' as const], name_prefix: 'shop-' };

/** Below the limit of open requests from one address. */
let opened = 0;

export function deviceLoginTests(stage: () => Stage): void {
  const owner = () => stage().client(stage().owner);
  let passkey: Passkey;
  let passkeyOfOther: Passkey;
  beforeAll(async () => {
    const { owner: admin, server } = stage();
    const other = await server.accounts.users.add({ username: 'eve', displayName: 'Eve' });
    [passkey, passkeyOfOther] = [await register(admin.person.id), await register(other.id)];
  });

  async function register(personId: string): Promise<Passkey> {
    const { accounts } = stage().server;
    const created = new Passkey(ORIGIN);
    const caller = await accounts.sessions.findCaller(await accounts.sessions.start(personId));
    const credential = created.create(await accounts.passkeys.begin(caller));
    await accounts.passkeys.finish(caller, { credential, label: undefined }, '127.0.0.1');
    return created;
  }

  /** The endpoints as RFC 8414 describes them. */
  function server(): oauth.AuthorizationServer {
    // The client requires https.
    const base = `${stage().server.url.replace('http:', 'https:')}/secrets/auth`;
    return {
      issuer: ORIGIN,
      device_authorization_endpoint: `${base}/device`,
      token_endpoint: `${base}/device/token`,
      revocation_endpoint: `${base}/revoke`,
    };
  }
  // The responses are validated against the contract too.
  const options = {
    [oauth.customFetch]: (url: string, init: RequestInit) =>
      recorder.fetch(new Request(url.replace('https:', 'http:'), init)),
  };

  async function begin(parameters: Record<string, string> = { scope: 'list read', device_name: 'ada@laptop' }) {
    opened += 1;
    expect(opened).toBeLessThan(20);
    const response = await oauth.deviceAuthorizationRequest(server(), CLIENT, oauth.None(), parameters, options);
    return oauth.processDeviceAuthorizationResponse(server(), CLIENT, response);
  }

  /** Polls once. @returns the token, or the error code. */
  async function poll(deviceCode: string, client = CLIENT) {
    const response = await oauth.deviceCodeGrantRequest(server(), client, oauth.None(), deviceCode, options);
    try {
      return await oauth.processDeviceCodeResponse(server(), client, response);
    } catch (error) {
      if (!(error instanceof oauth.ResponseBodyError)) throw error;
      return error.error;
    }
  }

  /** Moves the times of the open requests into the past. */
  const pass = async (seconds: number) => {
    const rows = stage().server.database.updateTable('device_logins');
    const earlier = seconds * 1_000;
    await rows
      .set((row) => ({
        expires_at: row('expires_at', '-', earlier),
        next_poll_at: row('next_poll_at', '-', earlier),
      }))
      .execute();
  };

  async function approve(userCode: string, { access = ACCESS, own = passkey, ttl = 3_600 } = {}) {
    const { data } = await owner().POST('/auth/login/begin');
    return owner().POST('/auth/device/requests/{user_code}', {
      params: { path: { user_code: userCode } },
      body: { description: 'laptop', ttl_seconds: ttl, access, credential: own.get(data!.publicKey) },
    });
  }

  const at = (userCode: string) => ({ params: { path: { user_code: userCode } } });

  test('An approval whose response was lost is approved by its repetition', async () => {
    const { user_code: code } = await begin();
    const { data } = await owner().POST('/auth/login/begin');
    const approval = {
      params: { path: { user_code: code }, header: { 'Idempotency-Key': `approval-${code}` } },
      body: { description: 'lost', access: ACCESS, credential: passkey.get(data!.publicKey) },
    };
    expect((await owner().POST('/auth/device/requests/{user_code}', approval)).response.status).toBe(204);
    expect((await owner().POST('/auth/device/requests/{user_code}', approval)).response.status).toBe(204);
  });

  test('A foreign client gets the token that the owner has approved with a passkey, once', async () => {
    const codes = await begin();
    expect(codes.user_code).toMatch(CODE);
    expect(codes).toMatchObject({ verification_uri: `${ORIGIN}/vault/device`, expires_in: 600, interval: 5 });
    await pass(5);
    expect(await poll(codes.device_code)).toBe('authorization_pending');
    const shown = await owner().GET('/auth/device/requests/{user_code}', at(codes.user_code.toLowerCase()));
    expect(shown.data).toMatchObject({
      device_name: 'ada@laptop',
      address: '127.0.0.1',
      permissions: ['list', 'read'],
    });
    expect((await approve(codes.user_code)).response.status).toBe(204);
    await pass(5);
    const token = await poll(codes.device_code);
    expect(token).toEqual({
      access_token: expect.stringMatching(/^trs_/) as string,
      ...{ token_type: 'bearer', expires_in: 3_600, scope: 'list' },
    });
    expect(await poll(codes.device_code)).toBe('invalid_grant');
    const { access_token: value } = token as oauth.TokenEndpointResponse;
    const client = stage().client({ token: value });
    const { data } = await client.GET('/auth/token');
    expect(data).toMatchObject({ kind: 'write', description: 'laptop', access: ACCESS });
    expect((await client.GET('/objects')).response.status).toBe(200);
    expect((await client.DELETE('/objects/{slug}', { params: { path: { slug: 'x' } } })).response.status).toBe(403);

    const { data: log } = await owner().GET('/audit-log', {
      params: { query: { subject_type: 'token', order: 'desc' } },
    });
    const device = { subject_id: data?.id, device: 'ada@laptop', device_ip: '127.0.0.1' };
    expect(log!.filter(({ subject_id }) => subject_id === data?.id)).toMatchObject([
      { action: 'rotate', ...device },
      { action: 'create', actor_type: 'session', ...device },
    ]);
    expect(JSON.stringify(log)).not.toContain(value);
    await oauth.processRevocationResponse(
      await oauth.revocationRequest(server(), CLIENT, oauth.None(), value, options),
    );
    expect((await client.GET('/objects')).response.status).toBe(401);
  });

  test('A token that is not fetched ends with its codes', async () => {
    const codes = await begin();
    await approve(codes.user_code);
    const { data } = await owner().GET('/tokens', { params: { query: { limit: 500 } } });
    const token = data!.findLast(({ description }) => description === 'laptop')!;
    expect(Date.parse(token.expires_at) - Date.parse(token.created_at)).toBeLessThanOrEqual(600_000);
    await pass(600);
    expect(await poll(codes.device_code)).toBe('expired_token');
  });

  test('One IPv6 network may have 20 open requests', async () => {
    const beginFrom = (ip: string) =>
      stage().server.deviceLogins.begin({ caller: undefined, ip, at: Date.now() }, { clientId: 'test-client' });
    for (let host = 1; host <= 20; host += 1) await beginFrom(`2001:db8::${host}`);
    await expect(beginFrom('2001:db8::ffff')).rejects.toMatchObject({ code: 'unavailable' });
    await expect(beginFrom('2001:db8:0:1::1')).resolves.toHaveProperty('userCode');
  });

  test('A poll before the interval has passed is slow_down, and increases the interval by 5 seconds', async () => {
    const { device_code: code } = await begin();
    expect(await poll(code)).toBe('slow_down');
    await pass(6);
    expect(await poll(code)).toBe('slow_down');
    await pass(15);
    expect(await poll(code)).toBe('authorization_pending');
  });

  test('A denied request is access_denied and recorded', async () => {
    const codes = await begin();
    expect((await owner().DELETE('/auth/device/requests/{user_code}', at(codes.user_code))).response.status).toBe(204);
    await pass(5);
    expect(await poll(codes.device_code)).toBe('access_denied');
    const query = { subject_type: 'request', order: 'desc', limit: 1 } as const;
    const { data } = await owner().GET('/audit-log', { params: { query } });
    expect(data).toMatchObject([{ action: 'denied', reason: 'access_denied', device: 'ada@laptop' }]);
  });

  test('A token that the owner revokes before it is fetched is access_denied', async () => {
    const codes = await begin();
    await approve(codes.user_code);
    const { data } = await owner().GET('/tokens', { params: { query: { limit: 500 } } });
    const { id } = data!.findLast(({ description }) => description === 'laptop')!;
    await owner().DELETE('/tokens/{id}', { params: { path: { id } } });
    await pass(5);
    expect(await poll(codes.device_code)).toBe('access_denied');
  });

  test('A code of a different client, an unknown grant type and an unknown scope are errors of the standard', async () => {
    const codes = await begin();
    await pass(5);
    expect(await poll(codes.device_code, { client_id: 'other' })).toBe('invalid_grant');
    const body = { grant_type: 'password', device_code: codes.device_code, client_id: 'test-client' };
    const { error } = await stage().client({}).POST('/auth/device/token', { body });
    expect(error).toMatchObject({ error: 'unsupported_grant_type' });
    const unknown = await stage()
      .client({})
      .POST('/auth/device', { body: { client_id: 'x', scope: 'list admin' } });
    expect([unknown.response.status, unknown.error?.error]).toEqual([400, 'invalid_scope']);
  });

  test.each(['approveDeviceLogin', 'getDeviceLogin', 'denyDeviceLogin'])(
    '%s: returns 404 for an unknown code',
    async (id) => {
      const answers = {
        approveDeviceLogin: () => approve('BBBB-BBBB'),
        getDeviceLogin: () => owner().GET('/auth/device/requests/{user_code}', at('BBBB-BBBB')),
        denyDeviceLogin: () => owner().DELETE('/auth/device/requests/{user_code}', at('BBBB-BBBB')),
      };
      const { response } = await answers[id as keyof typeof answers]();
      expect(response.status).toBe(404);
    },
  );

  test.each([
    ['a passkey that is not registered', () => ({ own: new Passkey(ORIGIN) })],
    ['the passkey of a different user', () => ({ own: passkeyOfOther })],
    ['a lifetime of more than 90 days', () => ({ ttl: 91 * 86_400 })],
    ['no permissions', () => ({ access: {} as typeof ACCESS })],
  ])('An approval with %s is rejected', async (_reason, change) => {
    const codes = await begin();
    const { response } = await approve(codes.user_code, change());
    expect([400, 422]).toContain(response.status);
    await pass(5);
    expect(await poll(codes.device_code)).toBe('authorization_pending');
  });

  test('The 21st open request of one address is rejected until others have expired', async () => {
    await pass(2_000);
    const body = { client_id: 'x', device_name: 'a\u202eb\u0007' };
    const answers = [];
    for (let index = 0; index < 21; index += 1) answers.push(await stage().client({}).POST('/auth/device', { body }));
    expect(answers.map(({ response }) => response.status)).toEqual([...Array.from({ length: 20 }, () => 200), 503]);
    const code = answers[0]?.data?.user_code ?? '';
    const { data } = await owner().GET('/auth/device/requests/{user_code}', at(code));
    expect(data).toMatchObject({ device_name: 'a b', permissions: ['list', 'read', 'write'] });
    // As the message says, after 10 minutes. Their commands still learn that the codes have expired.
    await pass(601);
    expect((await stage().client({}).POST('/auth/device', { body })).response.status).toBe(200);
    expect(await poll(answers[0]?.data?.device_code ?? '', { client_id: 'x' })).toBe('expired_token');
  });

  test('getOwnToken: describes a session and a consumer token', async () => {
    expect((await owner().GET('/auth/token')).data).toEqual({ kind: 'session' });
    const token = await stage().consumerToken('acme/shop');
    const { data } = await stage().client({ token }).GET('/auth/token');
    expect(data).toMatchObject({ kind: 'consumer', consumer: 'acme/shop' });
  });

  test('revokeOwnToken: ignores a text that is not a token', async () => {
    const { response } = await stage()
      .client({})
      .POST('/auth/revoke', { body: { token: 'x' } });
    expect(response.status).toBe(200);
  });
}
