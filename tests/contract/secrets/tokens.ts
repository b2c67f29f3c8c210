import type { SecretsClient } from '../../../src/generated/secrets/client.js';
import type { Credential, Stage } from './fixtures.js';

const ID = /^[0-9a-f]{16}$/;
const DAY_MS = 86_400_000;

/** The two kinds of token with their paths, their additional fields and their format. */
const KINDS = [
  { kind: 'write', path: '/tokens', named: {}, says: { owner: 'admin' }, form: /^trs_[\w-]{43}[0-9A-Za-z]{6}$/ },
  {
    kind: 'consumer',
    path: '/consumer-tokens',
    named: { consumer: 'acme/shop' },
    says: { consumer: 'acme/shop' },
    form: /^trc_[\w-]{43}[0-9A-Za-z]{6}$/,
  },
] as const;

type Kind = (typeof KINDS)[number];

export function tokensTests(stage: () => Stage): void {
  const owner = (): SecretsClient => stage().client(stage().owner);
  const create = async ({ path, named }: Kind, by: Credential = stage().owner) => {
    const body = { ...named, description: 'deploy' };
    const { data } = await stage()
      .client(by)
      .POST(path, { body: body as never });
    return data! as { id: string; value: string; created_at: string; expires_at: string };
  };
  const list = async ({ path }: Kind, id: string) => {
    const { data } = await owner().GET(path, { params: { query: { limit: 500 } } });
    return data?.find((token) => token.id === id);
  };
  const at = (id: string) => ({ params: { path: { id } } });
  const kill = async (kind: Kind, id: string) => {
    await owner().DELETE(`${kind.path}/{id}`, at(id));
  };
  const expire = async (id: string) => {
    await stage().server.database.updateTable('tokens').set({ expires_at: Date.now() }).where('id', '=', id).execute();
  };
  /** Returns whether the server accepts a token; a consumer token is tried with an unknown secret. */
  const works = async (kind: Kind, token: string) => {
    const client = stage().client({ token });
    const path = { slug: 'nothing' };
    const { response } =
      kind.kind === 'write'
        ? await client.GET('/consumers')
        : await client.GET('/objects/{slug}', { params: { path } });
    return response.status !== 401;
  };

  describe.each(KINDS)('A $kind token', (kind) => {
    test('is returned once, is valid for 90 days, and is listed without its value', async () => {
      const token = await create(kind);
      expect(token).toMatchObject({ ...kind.says, id: expect.stringMatching(ID) as string, description: 'deploy' });
      expect(token.value).toMatch(kind.form);
      expect(Date.parse(token.expires_at) - Date.parse(token.created_at)).toBe(90 * DAY_MS);
      const { value, ...listed } = token;
      expect(await list(kind, token.id)).toEqual(listed);
      const stored = await stage().server.database.selectFrom('tokens').selectAll().execute();
      expect(JSON.stringify(stored)).not.toContain(value);
    });

    test('has the requested lifetime', async () => {
      const body = { ...kind.named, description: 'x', ttl_seconds: 60 };
      const { data } = await owner().POST(kind.path, { body: body as never });
      expect(Date.parse(data!.expires_at) - Date.parse(data!.created_at)).toBe(60_000);
    });

    test('records its last use once a minute', async () => {
      const { id, value } = await create(kind);
      expect(await list(kind, id)).not.toHaveProperty('last_used_at');
      await works(kind, value);
      const first = await list(kind, id);
      await works(kind, value);
      expect(first).toHaveProperty('last_used_at');
      expect(await list(kind, id)).toEqual(first);
    });

    test('can be rotated, which invalidates the old value immediately and changes nothing else', async () => {
      const { id, value } = await create(kind);
      const request = { ...at(id), body: { ttl_seconds: 3_600 } };
      const { data } = await owner().POST(`${kind.path}/{id}/rotate`, request);
      expect(data).toMatchObject({ ...kind.says, id, description: 'deploy', status: 'active' });
      expect(await works(kind, value)).toBe(false);
      expect(await works(kind, data!.value)).toBe(true);
      expect((await owner().POST(`${kind.path}/{id}/rotate`, at(id))).response.status).toBe(200);
    });

    test('can be revoked, and stays listed until it is purged', async () => {
      const { id, value } = await create(kind);
      expect(await list(kind, id)).toMatchObject({ status: 'active', allowed_actions: ['rotate', 'revoke'] });
      expect((await owner().DELETE(`${kind.path}/{id}/purge`, at(id))).response.status).toBe(409);
      expect((await owner().DELETE(`${kind.path}/{id}`, at(id))).response.status).toBe(204);
      expect(await works(kind, value)).toBe(false);
      expect(await list(kind, id)).toMatchObject({ status: 'revoked', revoked: true, allowed_actions: ['purge'] });
      const repeated = { params: { path: { id }, header: { 'Idempotency-Key': id } } };
      const purge = () => owner().DELETE(`${kind.path}/{id}/purge`, repeated);
      expect([(await purge()).response.status, (await purge()).response.status]).toEqual([204, 204]);
      expect(await list(kind, id)).toBeUndefined();
      expect((await owner().DELETE(`${kind.path}/{id}/purge`, at(id))).response.status).toBe(404);
    });

    test('purge: returns 400 for an Idempotency-Key of a different token', async () => {
      const tokens = [await create(kind), await create(kind)];
      for (const { id } of tokens) await kill(kind, id);
      const header = { 'Idempotency-Key': `reused-${kind.kind}` };
      const purge = (id: string) => owner().DELETE(`${kind.path}/{id}/purge`, { params: { path: { id }, header } });
      const replies = [await purge(tokens[0]!.id), await purge(tokens[1]!.id)];
      expect(replies.map(({ response }) => response.status)).toEqual([204, 400]);
      expect(replies[1]?.error).toMatchObject({ code: 'invalid_input', field: 'Idempotency-Key' });
    });

    test('can be purged after it expired; revoked takes precedence over expired', async () => {
      const [expired, both] = [await create(kind), await create(kind)];
      await kill(kind, both.id);
      await Promise.all([expire(expired.id), expire(both.id)]);
      expect(await works(kind, expired.value)).toBe(false);
      expect(await list(kind, expired.id)).toMatchObject({
        status: 'expired',
        revoked: false,
        allowed_actions: ['purge'],
      });
      expect(await list(kind, both.id)).toMatchObject({ status: 'revoked' });
      expect((await owner().DELETE(`${kind.path}/{id}/purge`, at(expired.id))).response.status).toBe(204);
    });

    test.each<[string, (id: string) => Promise<unknown>]>([
      ['is unknown', (id) => kill(kind, id).then(() => owner().DELETE(`${kind.path}/{id}/purge`, at(id)))],
      ['is revoked', (id) => kill(kind, id)],
      ['has expired', expire],
      ['belongs to the other kind', async () => undefined],
    ])('rotation returns 404 and revocation 204 if it %s', async (reason, end) => {
      const other = KINDS.find(({ path }) => (reason === 'belongs to the other kind') !== (path === kind.path))!;
      const { id } = await create(other);
      await end(id);
      const { response, error } = await owner().POST(`${kind.path}/{id}/rotate`, at(id));
      expect([response.status, error?.code]).toEqual([404, 'not_found']);
      expect((await owner().DELETE(`${kind.path}/{id}`, at(id))).response.status).toBe(204);
    });

    test.each([
      [{ description: '  ' }, 400, 'description'],
      [{ description: 'two\nlines' }, 400, 'description'],
      [{ description: 'x', ttl_seconds: 0 }, 400, 'ttl_seconds'],
      [{ description: 'x', ttl_seconds: 31_536_001 }, 422, 'ttl_seconds'],
      [{ description: 'x'.repeat(201) }, 422, 'description'],
    ])('is rejected with %j', async (wrong, status, field) => {
      const { response, error } = await owner().POST(kind.path, { body: { ...kind.named, ...wrong } as never });
      expect([response.status, error]).toMatchObject([status, { field }]);
    });

    test('is listed in pages', async () => {
      await Promise.all([create(kind), create(kind)]);
      const { data, response } = await owner().GET(kind.path, { params: { query: { limit: 1, offset: 1 } } });
      expect(data).toHaveLength(1);
      expect(Number(response.headers.get('x-total-count'))).toBeGreaterThanOrEqual(2);
      const { data: first } = await owner().GET(kind.path, { params: { query: { limit: 1 } } });
      expect(first![0]!.id).not.toBe(data![0]!.id);
    });

    test('is created once for repeated requests with one Idempotency-Key', async () => {
      const request = {
        params: { header: { 'Idempotency-Key': `key-${kind.kind}` } },
        body: { ...kind.named, description: 'once' } as never,
      };
      const [first, second] = [await owner().POST(kind.path, request), await owner().POST(kind.path, request)];
      expect(second.data).toEqual(first.data);
    });
  });

  test('A write token can manage consumer tokens, and is recorded as the actor', async () => {
    const by = { token: stage().token };
    const { id } = await create(KINDS[1], by);
    const client = stage().client(by);
    expect((await client.POST('/consumer-tokens/{id}/rotate', at(id))).response.status).toBe(200);
    expect((await client.DELETE('/consumer-tokens/{id}', at(id))).response.status).toBe(204);
    expect((await client.DELETE('/consumer-tokens/{id}/purge', at(id))).response.status).toBe(204);
    const { data } = await owner().GET('/audit-log', {
      params: { query: { subject_type: 'consumer_token', limit: 500 } },
    });
    const acts = data!.filter(({ subject_id }) => subject_id === id);
    expect(acts.map(({ action, actor_type }) => `${action} ${actor_type}`)).toEqual([
      'create token',
      'rotate token',
      'revoke token',
      'purge token',
    ]);
  });

  test.each(['', ' ', '..', 'a//b', '/a', 'a/', 'a/../b', '.', 'a\u0000b', 'a\u202eb', 'a\u200bb', 'a  b', 'a\tb'])(
    'createConsumerToken: returns 400 for the consumer %j',
    async (consumer) => {
      const { response } = await owner().POST('/consumer-tokens', { body: { consumer, description: 'x' } });
      expect(response.status).toBe(400);
    },
  );
}
