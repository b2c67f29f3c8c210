import { EMPTY_BOARD_SNAPSHOT } from '../../../src/dashboard/boards/board.js';
import type { DashboardClient } from '../../../src/generated/dashboard/client.js';
import { pullRequest } from '../../dashboard/pull-request.js';
import type { Member, Stage } from './fixtures.js';

export function insightsTests(stage: () => Stage): void {
  const signIn = async (): Promise<{ member: Member; client: DashboardClient }> => {
    const member = await stage().addUser();
    return { member, client: stage().client(member) };
  };
  const read = (client: DashboardClient, query: object = {}) =>
    client.GET('/api/insights/throughput', { params: { query } });

  test('getThroughput: returns no periods before the first refresh', async () => {
    const { client } = await signIn();
    expect((await read(client)).data).toEqual({ timezone: 'UTC', per: 'day', periods: [] });
  });

  test.each(['day', 'week'] as const)("getThroughput: returns counts per %s, in the owner's time zone", async (per) => {
    const { client, member } = await signIn();
    await client.PUT('/api/settings/timezone', { body: { timezone: 'Asia/Kolkata' } });
    await stage().server.dashboard.boards.save(member.person.id, {
      ...EMPTY_BOARD_SNAPSHOT,
      pullRequests: [pullRequest(), pullRequest({ number: 18, draft: true })],
    });
    const { data } = await read(client, { per, days: 30 });
    expect(data).toMatchObject({ timezone: 'Asia/Kolkata', per, periods: [{ opened: 0, left: 0, open: 2 }] });
    expect(data!.periods[0]!.start <= data!.since!).toBe(true);
  });

  test('getThroughput: accepts tokens, and viewers of a shared board', async () => {
    const { client, member } = await signIn();
    const token = await stage().server.issueToken('personal', member.person, ['read']);
    expect((await read(stage().client({ token }))).response.status).toBe(200);
    const other = await signIn();
    const query = { owner: member.person.username };
    const refused = await read(other.client, query);
    expect([refused.response.status, refused.error?.code]).toEqual([403, 'forbidden']);
    await client.PUT('/api/sharing/{username}', { params: { path: { username: other.member.person.username } } });
    expect((await read(other.client, query)).response.status).toBe(200);
  });

  test.each([
    ['less than a week', { days: 6 }, 400, 'invalid_input'],
    ['more than a year', { days: 366 }, 400, 'invalid_input'],
    ['months', { per: 'month' }, 400, 'invalid_input'],
    ['the board of an unknown user', { owner: 'mona' }, 404, 'not_found'],
  ])('getThroughput: rejects %s', async (_reason, query, status, code) => {
    const { error, response } = await read((await signIn()).client, query);
    expect([response.status, error?.code]).toEqual([status, code]);
  });

  test('getReviewInsights: returns empty measures before the first reading', async () => {
    const { data } = await (await signIn()).client.GET('/api/insights/reviews');
    expect(data).toMatchObject({ unreadRepositories: 0, repositories: [], reviewers: [] });
    expect(data!.measures).toHaveLength(6);
    expect(data!.measures.every(({ samples, fewSamples }) => samples === 0 && fewSamples)).toBe(true);
  });

  test('listReviewRows, exportReviewRows: return no rows before the first reading', async () => {
    const { client } = await signIn();
    const params = { query: { measure: 'pending', reviewer: 'lisa' } } as const;
    const listed = await client.GET('/api/insights/reviews/rows', { params });
    expect([listed.data, listed.response.headers.get('X-Total-Count')]).toEqual([[], '0']);
    const exported = await client.GET('/api/insights/reviews/export', { params, parseAs: 'text' });
    expect(exported.data).toMatch(/^forge,repo,number,.*,url\r\n$/);
  });

  test('getReviewInsights: rejects periods beyond the stored ones, and boards that are not shared', async () => {
    const [{ client }, other] = [await signIn(), await signIn()];
    const long = await client.GET('/api/insights/reviews', { params: { query: { days: 91 } } });
    expect([long.response.status, long.error?.code]).toEqual([400, 'invalid_input']);
    const query = { owner: other.member.person.username };
    const refused = await client.GET('/api/insights/reviews', { params: { query } });
    expect([refused.response.status, refused.error?.code]).toEqual([403, 'forbidden']);
  });

  test('getReviewInsights, listReviewRows, exportReviewRows: return 404 for the board of an unknown user', async () => {
    const { client } = await signIn();
    const params = { query: { measure: 'pending', owner: 'mona' } } as const;
    const responses = [
      await client.GET('/api/insights/reviews', { params: { query: { owner: 'mona' } } }),
      await client.GET('/api/insights/reviews/rows', { params }),
      await client.GET('/api/insights/reviews/export', { params }),
    ];
    for (const { response, error } of responses) expect([response.status, error?.code]).toEqual([404, 'not_found']);
  });
}
