import { EMPTY_BOARD_SNAPSHOT } from '../../../src/dashboard/boards/board.js';
import { pullRequest } from '../../dashboard/pull-request.js';
import type { Stage } from './fixtures.js';

export function viewsTests(stage: () => Stage): void {
  const signIn = async () => {
    const member = await stage().addUser();
    return { member, client: stage().client(member) };
  };
  type Client = Awaited<ReturnType<typeof signIn>>['client'];
  const save = (client: Client, name: string, ci: 'failure' | 'success') =>
    client.PUT('/api/views/{name}', { params: { path: { name } }, body: { filter: { ci: [ci] } } });

  test('views: are saved, replaced, listed by name and deleted', async () => {
    const { client } = await signIn();
    const { data } = await save(client, 'red', 'success');
    expect(data).toEqual({ name: 'red', filter: { ci: ['success'] }, sort: 'board', group: 'none' });
    await save(client, 'red', 'failure');
    await save(client, 'green', 'success');
    const { data: views } = await client.GET('/api/views');
    expect(views).toMatchObject([{ name: 'green' }, { name: 'red', filter: { ci: ['failure'] } }]);
    const remove = () => client.DELETE('/api/views/{name}', { params: { path: { name: 'red' } } });
    expect([(await remove()).response.status, (await remove()).response.status]).toEqual([204, 204]);
    expect((await client.GET('/api/views')).data).toMatchObject([{ name: 'green' }]);
  });

  test('saveView: returns 400 for a misspelt filter field', async () => {
    const { client } = await signIn();
    const filter = { forge: ['github'] } as object;
    const path = { name: 'mine' };
    const { response, error } = await client.PUT('/api/views/{name}', { params: { path }, body: { filter } });
    expect([response.status, error?.code]).toEqual([400, 'invalid_input']);
  });

  test('saveView: returns 409 above 50 views, but replaces an existing one', async () => {
    const { client } = await signIn();
    for (let index = 1; index <= 50; index += 1) await save(client, `view-${index}`, 'success');
    const { response, error } = await save(client, 'another', 'success');
    expect([response.status, error?.code]).toEqual([409, 'conflict']);
    expect((await save(client, 'view-1', 'failure')).response.status).toBe(200);
  });

  test('getDashboard: returns the selection of a view, with the counts of the whole board', async () => {
    const { client, member } = await signIn();
    const pullRequests = [pullRequest(), pullRequest({ number: 18, ci: 'failure', section: 'returned_to_you' })];
    await stage().server.dashboard.boards.save(member.person.id, { ...EMPTY_BOARD_SNAPSHOT, pullRequests });
    await save(client, 'red', 'failure');
    const { data } = await client.GET('/api/dashboard', { params: { query: { view: 'red' } } });
    expect(data?.pullRequests).toMatchObject([{ number: 18 }]);
    expect(data?.sections).toContainEqual({ section: 'ready_to_merge', count: 1 });
    const { response, error } = await client.GET('/api/dashboard', { params: { query: { view: 'green' } } });
    expect([response.status, error]).toMatchObject([404, { code: 'not_found', field: 'view' }]);
  });
}
