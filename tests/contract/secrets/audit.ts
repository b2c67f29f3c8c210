import { openStage, type Stage } from './fixtures.js';

/** Uses a separate server, whose audit log contains no other entries. */
export function auditTests(): void {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage();
  });
  afterAll(() => stage.server.close());

  const query = (parameters: object) => stage.client().GET('/audit-log', { params: { query: parameters } });
  const at = (name: string, id: string) => ({
    params: { path: { [name]: id }, header: { 'X-Caller': 'acme/deploy' } },
  });
  const last = async () => (await query({ order: 'desc', limit: 1 })).data![0]!;

  test('Changes of tokens and consumers are recorded with their actor and the name that the client gave itself', async () => {
    const header = { 'X-Caller': 'acme/deploy' };
    const [client, owner] = [stage.client(), stage.client(stage.owner)];
    const { data: consumerToken } = await client.POST('/consumer-tokens', {
      params: { header },
      body: { consumer: 'web', description: 'x' },
    });
    const { data: token } = await owner.POST('/tokens', { params: { header }, body: { description: 'x' } });
    const [own, write] = [consumerToken!.id, token!.id];
    await client.POST('/consumers', { params: { header }, body: { name: 'web' } });
    await client.PATCH('/consumers/{name}', { ...at('name', 'web'), body: { name: 'web-1' } } as never);
    await client.DELETE('/consumers/{name}', at('name', 'web-1') as never);
    await client.DELETE('/consumer-tokens/{id}/purge', at('id', own) as never);
    await owner.POST('/tokens/{id}/rotate', at('id', write) as never);
    await owner.DELETE('/tokens/{id}', at('id', write) as never);
    await owner.DELETE('/tokens/{id}/purge', at('id', write) as never);
    const { data } = await query({});
    expect(
      data!.map((entry) => [entry.action, entry.subject_type, entry.subject_id, entry.actor_type].join(' ')),
    ).toEqual([
      `create consumer_token ${own} token`,
      `create token ${write} session`,
      'create consumer web token',
      'rename consumer web-1 token',
      'delete consumer web-1 token',
      `revoke consumer_token ${own} token`,
      `purge consumer_token ${own} token`,
      `rotate token ${write} session`,
      `revoke token ${write} session`,
      `purge token ${write} session`,
    ]);
    expect(data!.map(({ id }) => id)).toEqual(Array.from({ length: 10 }, (_, index) => index + 1));
    expect(new Set(data!.map(({ caller, ip, object_id }) => [caller, ip, object_id].join()))).toEqual(
      new Set(['acme/deploy,127.0.0.1,']),
    );
  });

  test('Lists, failures and requests without effect are not recorded', async () => {
    const [client, owner, before] = [stage.client(), stage.client(stage.owner), await last()];
    const body = { name: 'same' };
    await client.DELETE('/consumer-tokens/{id}', at('id', '0123456789abcdef') as never);
    await owner.POST('/tokens/{id}/rotate', at('id', '0123456789abcdef') as never);
    await client.PATCH('/consumers/{name}', { ...at('name', 'unknown'), body } as never);
    await client.DELETE('/consumers/{name}', at('name', 'unknown') as never);
    await client.GET('/objects/{slug}', { params: { path: { slug: 'nothing' } } });
    await Promise.all([client.GET('/objects'), client.GET('/consumers'), owner.GET('/tokens')]);
    expect(await last()).toEqual(before);
  });

  test.each([
    [{ subject_type: 'token' }, 4],
    [{ subject_type: 'identity' }, 0],
    [{ actor: 'admin' }, 4],
    [{ actor: 'none' }, 0],
    [{ caller: 'acme/deploy' }, 10],
    [{ from: '2000-01-01T00:00:00Z', to: '2000-01-02T00:00:00Z' }, 0],
    [{ subject_type: 'consumer', actor: 'admin' }, 0],
  ])('queryAuditLog filters by %j', async (filter, total) => {
    const { response } = await query(filter);
    expect([response.status, response.headers.get('x-total-count')]).toEqual([200, String(total)]);
  });

  test.each([{ caller: 'a\u0000' }, { actor: 'a\u0000' }, { object_id: 'a\u0000' }])(
    'queryAuditLog: returns 400 for a filter with NUL: %j',
    async (filter) => {
      expect((await query(filter)).response.status).toBe(400);
    },
  );

  test('queryAuditLog continues after an entry in both orders, despite concurrent writes', async () => {
    const first = await query({ order: 'desc', limit: 4 });
    expect(first.response.headers.get('link')).toBe('</secrets/audit-log?order=desc&limit=4&after=7>; rel="next"');
    await stage.client().POST('/consumers', { body: { name: 'meanwhile' } });
    const next = await query({ order: 'desc', limit: 4, after: 7 });
    expect(next.data!.map(({ id }) => id)).toEqual([6, 5, 4, 3]);
    expect((await query({ after: 9 })).data!.map(({ id }) => id)).toEqual([10, 11]);
  });

  test('getAuditLogFilterOptions returns the values of each filter', async () => {
    await stage.addObject({ slug: 'named' });
    const { data } = await stage.client().GET('/audit-log/filter-options');
    const { actor_id: id = '' } = await last();
    const [admin, token] = [
      { value: 'admin', label: 'admin' },
      { value: id, label: `token:${id}` },
    ] as const;
    expect(data).toEqual({
      object_ids: ['named'],
      actors: [admin, token].toSorted((one, other) => (one.value < other.value ? -1 : 1)),
      callers: ['acme/deploy'],
    });
  });

  test('verifyAuditLog verifies the chain, also against an earlier verification', async () => {
    const verify = async (earlier: object) =>
      (await stage.client().GET('/audit-log/verify', { params: { query: earlier } })).data;
    const first = await verify({});
    const head = expect.stringMatching(/^[0-9a-f]{64}$/) as string;
    const values = { verified: expect.any(Number) as number, unrecorded: 0, altered: [] };
    expect(first).toEqual({ intact: true, entries: 12, head, verified_from: 1, values });
    const earlier = { entries: first!.entries, head: first!.head };
    expect(await verify(earlier)).toMatchObject({ intact: true });
    const { database } = stage.server;
    await database.updateTable('audit_log').set({ actor_id: 'someone' }).where('id', '=', 3).execute();
    expect(await verify(earlier)).toMatchObject({ intact: false, first_broken_id: 3, reason: 'changed' });
    const half = await stage.client().GET('/audit-log/verify', { params: { query: { entries: 3 } } });
    expect([half.response.status, half.error?.field]).toEqual([400, 'head']);
  });
}
