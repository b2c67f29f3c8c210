import type { Stage } from './fixtures.js';

export function adminTests(stage: () => Stage): void {
  const admin = () => stage().client(stage().admin);
  const log = () => stage().server.dashboard.requestLog;

  test('listUsers: returns all users, sorted by username', async () => {
    const { person } = await stage().addUser();
    const { data } = await admin().GET('/api/admin/users');
    const { username, displayName, createdAt } = person;
    expect(data).toContainEqual({ username, displayName, isAdmin: false, createdAt: createdAt.toISOString() });
    expect(data!.map((user) => user.username)).toEqual(data!.map((user) => user.username).sort());
  });

  test('revokeUser: ends all sessions and tokens of a user, and keeps their data', async () => {
    const member = await stage().addUser();
    const token = await stage().server.issueToken('personal', member.person);
    const client = stage().client(member);
    await client.PUT('/api/settings', { body: { githubToken: 'ghp_kept' } });
    const params = { path: { username: member.person.username } };
    expect((await admin().POST('/api/admin/users/{username}/revoke', { params })).response.status).toBe(204);
    expect((await client.GET('/api/settings')).response.status).toBe(401);
    expect((await stage().client({ token }).GET('/api/settings')).response.status).toBe(401);
    const forges = await stage().server.dashboard.settings.findForges(member.person.id);
    expect(forges?.githubToken).toBe('ghp_kept');
  });

  test('deleteUser: deletes a user with all their data', async () => {
    const member = await stage().addUser();
    await stage()
      .client(member)
      .PUT('/api/settings', { body: { githubToken: 'ghp_gone' } });
    const params = { path: { username: member.person.username } };
    expect((await admin().DELETE('/api/admin/users/{username}', { params })).response.status).toBe(204);
    expect((await stage().client(member).GET('/api/settings')).response.status).toBe(401);
    expect(await stage().server.dashboard.settings.findForges(member.person.id)).toBeUndefined();
    expect((await admin().DELETE('/api/admin/users/{username}', { params })).response.status).toBe(404);
  });

  test.each([
    ["the admin's own account", 'ROOT', 400, 'invalid_input'],
    ['an unknown user', 'nobody-yet', 404, 'not_found'],
  ])('revokeUser, deleteUser: reject %s', async (_reason, username, status, code) => {
    const params = { path: { username } };
    const revoked = await admin().POST('/api/admin/users/{username}/revoke', { params });
    expect([revoked.response.status, revoked.error?.code]).toEqual([status, code]);
    const deleted = await admin().DELETE('/api/admin/users/{username}', { params });
    expect([deleted.response.status, deleted.error?.code]).toEqual([status, code]);
  });

  test('invitations: are created, listed without their secret, and revoked once', async () => {
    const body = { username: 'lisa', displayName: 'Lisa M.' };
    const { data, response } = await admin().POST('/api/admin/invites', { body });
    expect(response.status).toBe(201);
    const { token, ...invitation } = data!;
    const { data: listed } = await admin().GET('/api/admin/invites');
    expect(listed).toContainEqual(invitation);
    expect(JSON.stringify(listed)).not.toContain(token);
    const params = { path: { id: invitation.id } };
    const revoke = () => admin().POST('/api/admin/invites/{id}/revoke', { params });
    expect([(await revoke()).response.status, (await revoke()).response.status]).toEqual([204, 404]);
  });

  test('createInvite: returns the first response for a repeated idempotency key', async () => {
    const params = { header: { 'Idempotency-Key': 'invite-once' } };
    const invite = () => admin().POST('/api/admin/invites', { params, body: { username: 'once', displayName: 'x' } });
    const { data } = await invite();
    expect((await invite()).data).toEqual(data);
  });

  test('createInvite: returns 409 for a username that is taken', async () => {
    const body = { username: 'Root', displayName: 'x' };
    const { error, response } = await admin().POST('/api/admin/invites', { body });
    expect([response.status, error]).toMatchObject([409, { code: 'conflict', field: 'username' }]);
  });

  test('jobs: list the boards, of which one is refreshed now, and cancelled', async () => {
    const member = await stage().addUser();
    const { id, username } = member.person;
    const params = { path: { username } };
    const refresh = () => admin().POST('/api/admin/jobs/boards/{username}/refresh', { params });
    const cancel = () => admin().POST('/api/admin/jobs/boards/{username}/cancel', { params });
    expect([(await refresh()).response.status, (await cancel()).response.status]).toEqual([404, 404]);
    const { database } = stage().server;
    const later = Date.now() + 3_600_000;
    const lease = { lease_holder: null, lease_until: 0, runs_begun: 0, run_done: 0 };
    const row = { person_id: id, due_at: later, look_at: later, ...lease };
    await database.insertInto('refresh_schedule').values(row).execute();
    const list = async () => (await admin().GET('/api/admin/jobs')).data!;
    const own = async () => (await list()).boards.find((board) => board.username === username);
    expect(await own()).toMatchObject({ state: 'scheduled', dueAt: new Date(later).toISOString(), runs: 0 });
    expect((await refresh()).response.status).toBe(204);
    expect(await own()).toMatchObject({ state: 'due' });
    await database.updateTable('refresh_schedule').set({ lease_until: later }).where('person_id', '=', id).execute();
    expect(await own()).toMatchObject({ state: 'running', leaseUntil: new Date(later).toISOString() });
    expect((await cancel()).response.status).toBe(204);
    expect(await own()).toMatchObject({ state: 'scheduled' });
    await database.deleteFrom('refresh_schedule').where('person_id', '=', id).execute();
  });

  test('jobs: show the deletion of expired data and the site, and start the deletion', async () => {
    const { data } = await admin().GET('/api/admin/jobs');
    expect(data).toMatchObject({ deliveries: [], cleanup: { isRunning: expect.any(Boolean) as boolean } });
    // Each server deletes expired data by itself, and has a site of its own.
    if (!stage().server.isReplicated) {
      expect(data).toMatchObject({
        cleanup: { isRunning: false, endedAt: '1970-01-01T00:00:00.000Z', failures: 1 },
        site: { records: 1, images: { running: 0, waiting: 1 } },
      });
    }
    expect((await admin().POST('/api/admin/jobs/cleanup')).response.status).toBe(204);
  });

  test('listRequests: returns matching entries, newest first, in pages', async () => {
    const rateLimit = { limit: 5000, remaining: 100, resetsAt: '2099-01-01T00:00:00Z', cost: 7 };
    const request = { method: 'POST', endpoint: '/graphql', outcome: 'success', account: 'ada' } as const;
    await log().record({ ...request, forge: 'github', statusCode: 200, rateLimit });
    await log().record({ ...request, forge: 'gitlab', outcome: 'unreachable', account: '=1+1' });
    await log().record({ ...request, forge: 'github', statusCode: 304 });
    const list = (query: object) => admin().GET('/api/admin/requests', { params: { query } });
    const { data, response } = await list({ forge: 'github', account: 'ada', limit: 1 });
    expect(data).toMatchObject([{ forge: 'github', statusCode: 304 }]);
    expect(response.headers.get('x-total-count')).toBe('2');
    expect(response.headers.get('link')).toBe(
      '</api/admin/requests?forge=github&account=ada&limit=1&offset=1>; rel="next"',
    );
    expect((await list({ forge: 'github', account: 'ada', offset: 1 })).data).toMatchObject([
      { rateLimit: { severity: 'low', cost: 7 } },
    ]);
    expect((await list({ account: 'nobody' })).data).toEqual([]);
  });

  test('exportRequests: returns CSV with escaped formulas', async () => {
    await log().record({ forge: 'forgejo', method: 'GET', endpoint: '/api/v1/x', outcome: 'success', account: '=1+1' });
    const params = { query: { forge: 'forgejo' as const } };
    const { data, response } = await admin().GET('/api/admin/requests/export', { params, parseAs: 'text' });
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="requests.csv"');
    const [names, row] = data!.split('\r\n');
    expect(names).toMatch(/^loggedAt,forge,method,endpoint,outcome,account,/);
    expect(row).toMatch(/,forgejo,GET,\/api\/v1\/x,success,'=1\+1,,,,,$/);
  });
}
