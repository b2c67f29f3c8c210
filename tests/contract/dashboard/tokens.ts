import type { Stage } from './fixtures.js';

const DAY_MS = 86_400_000;
const expiresAt = (): string => new Date(Date.now() + 30 * DAY_MS).toISOString();

export function tokensTests(stage: () => Stage): void {
  const signIn = async () => stage().client(await stage().addUser());

  test('createToken: returns a token that works at once, and listTokens shows its last use', async () => {
    const body = { label: 'nightly report', expiresAt: expiresAt(), scopes: ['read' as const] };
    const { data, response } = await (await signIn()).POST('/api/tokens', { body });
    expect(response.status).toBe(201);
    const { token, ...record } = data!;
    const client = stage().client({ token });
    expect((await client.GET('/api/dashboard')).response.status).toBe(200);
    const { data: listed } = await client.GET('/api/tokens');
    expect(listed).toEqual([{ ...record, lastUsedAt: expect.any(String) as string }]);
  });

  test('createToken: returns the first response for a repeated idempotency key', async () => {
    const [client, soon] = [await signIn(), expiresAt()];
    const create = (label: string, key: string) => {
      const params = { header: { 'Idempotency-Key': key } };
      return client.POST('/api/tokens', { params, body: { label, expiresAt: soon } });
    };
    const first = await create('x', 'k1');
    expect(await create('x', 'k1')).toMatchObject({ data: first.data, response: { status: 201 } });
    expect((await create('y', 'k1')).error).toMatchObject({ code: 'invalid_input', field: 'Idempotency-Key' });
    await create('x', 'k2');
    expect((await client.GET('/api/tokens')).data).toHaveLength(2);
  });

  test.each([
    ['a blank label', { label: ' ', expiresAt: expiresAt() }, 'label'],
    ['an invalid date', { label: 'x', expiresAt: 'tomorrow' }, 'expiresAt'],
    ['a date in the past', { label: 'x', expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt'],
    ['a date too far in the future', { label: 'x', expiresAt: '2099-01-01T00:00:00Z' }, 'expiresAt'],
  ])('createToken: rejects %s', async (_reason, body, field) => {
    const { error, response } = await (await signIn()).POST('/api/tokens', { body });
    expect([response.status, error]).toMatchObject([400, { code: 'invalid_input', field }]);
  });

  test('revokeToken: disables a token at once, and returns 204 for an unknown id', async () => {
    const client = await signIn();
    const { data } = await client.POST('/api/tokens', { body: { label: 'x', expiresAt: expiresAt() } });
    const { id, token } = data!;
    const revoke = () => client.DELETE('/api/tokens/{id}', { params: { path: { id } } });
    expect([(await revoke()).response.status, (await revoke()).response.status]).toEqual([204, 204]);
    expect((await stage().client({ token }).GET('/api/tokens')).response.status).toBe(401);
  });

  test('listTokens: returns 401 for a token of the secrets service', async () => {
    const token = await stage().server.issueToken('write', stage().admin.person);
    expect((await stage().client({ token }).GET('/api/tokens')).response.status).toBe(401);
  });
}
