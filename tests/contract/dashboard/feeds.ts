import { EMPTY_BOARD_SNAPSHOT } from '../../../src/dashboard/boards/board.js';
import type { DashboardClient } from '../../../src/generated/dashboard/client.js';
import { pullRequest } from '../../dashboard/pull-request.js';
import { ORIGIN } from '../contract-server.js';
import type { Member, Stage } from './fixtures.js';

export function feedsTests(stage: () => Stage): void {
  const signIn = async (): Promise<{ member: Member; client: DashboardClient }> => {
    const member = await stage().addUser();
    const pullRequests = [pullRequest(), pullRequest({ number: 18, ci: 'failure' })];
    await stage().server.dashboard.boards.save(member.person.id, { ...EMPTY_BOARD_SNAPSHOT, pullRequests });
    const client = stage().client(member);
    const red = { params: { path: { name: 'red' } }, body: { filter: { ci: ['failure' as const] } } };
    await client.PUT('/api/views/{name}', red);
    return { member, client };
  };
  const create = async (client: DashboardClient, kind: 'atom' | 'badge', view?: string) => {
    const { data } = await client.POST('/api/feeds', { body: { kind, label: 'Mine', view } });
    const [, token = ''] = new RegExp(`^${ORIGIN}/api/feeds/([\\w-]{43})/${kind}$`).exec(data!.url)!;
    return { id: data!.id, token };
  };
  /** Sends no credential. */
  const readAtom = (feedToken: string, etag?: string) =>
    stage()
      .client()
      .GET('/api/feeds/{feedToken}/atom', {
        params: { path: { feedToken }, header: { 'If-None-Match': etag } },
        parseAs: 'text',
      });
  const readBadge = (feedToken: string, etag?: string) =>
    stage()
      .client()
      .GET('/api/feeds/{feedToken}/badge', { params: { path: { feedToken }, header: { 'If-None-Match': etag } } });

  test('readAtomFeed: returns the board without a credential, and 304 while it is unchanged', async () => {
    const { client } = await signIn();
    const { token } = await create(client, 'atom');
    const { data, response } = await readAtom(token);
    expect(response.headers.get('content-type')).toMatch(/^application\/atom\+xml(; charset=utf-8)?$/);
    expect(data).toContain('<title>acme/shop #17: Send receipts as PDF</title>');
    const again = await readAtom(token, response.headers.get('etag')!);
    expect(again.response.status).toBe(304);
  });

  test.each(['application/rss+xml', 'application/xml', 'application/xml; charset=utf-8'])(
    'readAtomFeed: returns the feed to a reader that accepts %s, as the package rss-parser does',
    async (accept) => {
      const { client } = await signIn();
      const { token: feedToken } = await create(client, 'atom');
      const init = { params: { path: { feedToken } }, headers: { accept }, parseAs: 'text' } as const;
      const { response } = await stage().client().GET('/api/feeds/{feedToken}/atom', init);
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toMatch(/^application\/atom\+xml/);
    },
  );

  test('readBadge: returns the badge of a view, and 304 while it is unchanged', async () => {
    const { client } = await signIn();
    const { token } = await create(client, 'badge', 'red');
    const { data, response } = await readBadge(token);
    expect(data).toEqual({ schemaVersion: 1, label: 'Mine', message: '1 failing of 1', color: 'red' });
    expect((await readBadge(token, response.headers.get('etag')!)).response.status).toBe(304);
  });

  test('feeds: are listed without their URLs, and can be deleted', async () => {
    const { client } = await signIn();
    const { id, token } = await create(client, 'atom', 'red');
    const { data } = await client.GET('/api/feeds');
    expect(data).toMatchObject([{ id, kind: 'atom', label: 'Mine', view: 'red' }]);
    expect(data![0]).not.toHaveProperty('url');
    const remove = () => client.DELETE('/api/feeds/{id}', { params: { path: { id } } });
    expect([(await remove()).response.status, (await remove()).response.status]).toEqual([204, 204]);
    expect((await readAtom(token)).response.status).toBe(404);
  });

  test('readBadge: returns 404 for the token of an Atom feed', async () => {
    const { client } = await signIn();
    const { token } = await create(client, 'atom');
    const { response, error } = await readBadge(token);
    expect([response.status, error?.code]).toEqual([404, 'not_found']);
  });

  test('revokeUser: deletes the feeds of the user', async () => {
    const { client, member } = await signIn();
    const { token } = await create(client, 'atom');
    const path = { username: member.person.username };
    await stage().client(stage().admin).POST('/api/admin/users/{username}/revoke', { params: { path } });
    expect((await readAtom(token)).response.status).toBe(404);
  });

  test('createFeed: returns 404 for an unknown view, and 409 above 50 feeds', async () => {
    const { client } = await signIn();
    const body = { kind: 'atom', label: 'Mine' } as const;
    const unknown = await client.POST('/api/feeds', { body: { ...body, view: 'green' } });
    expect([unknown.response.status, unknown.error?.code]).toEqual([404, 'not_found']);
    for (let index = 1; index <= 50; index += 1) await create(client, 'atom');
    const { response, error } = await client.POST('/api/feeds', { body });
    expect([response.status, error?.code]).toEqual([409, 'conflict']);
  });
}
