import { EMPTY_BOARD_SNAPSHOT } from '../../../src/dashboard/boards/board.js';
import { pullRequest } from '../../dashboard/pull-request.js';
import type { Stage } from './fixtures.js';

export function snoozesTests(stage: () => Stage): void {
  const reference = { forge: 'github', fullName: 'acme/shop', number: 17 } as const;
  const signIn = async () => {
    const member = await stage().addUser();
    await stage().server.dashboard.boards.save(member.person.id, {
      ...EMPTY_BOARD_SNAPSHOT,
      pullRequests: [pullRequest()],
    });
    const client = stage().client(member);
    const read = async (query = {}, etag?: string) =>
      client.GET('/api/dashboard', { params: { query, header: { 'If-None-Match': etag } } });
    return { client, read };
  };

  test('snoozePullRequest, unsnoozePullRequest: hide a pull request, and show it again', async () => {
    const { client, read } = await signIn();
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const body = { ...reference, fullName: 'Acme/Shop', until };
    expect((await client.POST('/api/pull-requests/snooze', { body })).response.status).toBe(204);
    expect((await read()).data).toMatchObject({ pullRequests: [], hiddenSnoozed: 1 });
    const whole = (await read({ includeSnoozed: true })).data;
    expect(whole).toMatchObject({ pullRequests: [{ snooze: { until, untilChange: false } }], hiddenSnoozed: 0 });
    const unsnooze = () => client.POST('/api/pull-requests/unsnooze', { body: reference });
    expect([(await unsnooze()).response.status, (await unsnooze()).response.status]).toEqual([204, 204]);
    expect((await read()).data).toMatchObject({ pullRequests: [{ number: 17 }], hiddenSnoozed: 0 });
  });

  test('snoozePullRequest, unsnoozePullRequest: change the ETag of the board', async () => {
    const { client, read } = await signIn();
    const first = (await read()).response.headers.get('etag')!;
    await client.POST('/api/pull-requests/snooze', { body: { ...reference, untilChange: true } });
    const second = await read({}, first);
    expect(second.response.status).toBe(200);
    await client.POST('/api/pull-requests/unsnooze', { body: reference });
    expect((await read({}, second.response.headers.get('etag')!)).response.status).toBe(200);
    expect((await read({}, first)).response.status).toBe(304);
  });

  test.each([
    ['a pull request that is not on the board', { ...reference, number: 18, untilChange: true }, 404, 'not_found'],
    ['a time in the past', { ...reference, until: '2020-01-01T00:00:00Z' }, 400, 'invalid_input'],
    ['an unlimited snooze', reference, 400, 'invalid_input'],
  ])('snoozePullRequest: rejects %s', async (_reason, body, status, code) => {
    const { client } = await signIn();
    const { error, response } = await client.POST('/api/pull-requests/snooze', { body });
    expect([response.status, error?.code]).toEqual([status, code]);
  });

  test('saveVisit: the board marks changes since then', async () => {
    const { client, read } = await signIn();
    const { data, response } = await read();
    expect(data?.pullRequests[0]).not.toHaveProperty('changedSinceVisit');
    const body = { seenAt: data!.generatedAt };
    expect((await client.PUT('/api/dashboard/visit', { body })).response.status).toBe(204);
    const next = await read({}, response.headers.get('etag')!);
    expect(next.data?.pullRequests).toMatchObject([{ changedSinceVisit: false }]);
  });
}
