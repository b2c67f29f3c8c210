import { EMPTY_BOARD_SNAPSHOT } from '../../../src/dashboard/boards/board.js';
import { pullRequest } from '../../dashboard/pull-request.js';
import type { Stage } from './fixtures.js';

export function sharingTests(stage: () => Stage): void {
  const meet = async () => {
    const [owner, viewer] = [await stage().addUser(), await stage().addUser()];
    const [ownerClient, viewerClient] = [stage().client(owner), stage().client(viewer)];
    const path = { username: viewer.person.username };
    return { owner, viewer, path, ownerClient, viewerClient };
  };

  test('shareBoard, unshareBoard: let a user view the whole board, until it is unshared', async () => {
    const { owner, viewer, path, ownerClient, viewerClient } = await meet();
    await stage().server.dashboard.boards.save(owner.person.id, {
      ...EMPTY_BOARD_SNAPSHOT,
      pullRequests: [pullRequest()],
    });
    const share = () => ownerClient.PUT('/api/sharing/{username}', { params: { path } });
    expect([(await share()).response.status, (await share()).response.status]).toEqual([204, 204]);
    const query = { owner: owner.person.username.toUpperCase() };
    const read = () => viewerClient.GET('/api/dashboard', { params: { query } });
    expect((await read()).data?.pullRequests).toHaveLength(1);
    const user = ({ person: { username, displayName } }: typeof owner) => ({ username, displayName });
    expect((await ownerClient.GET('/api/sharing')).data).toEqual({ sharedWith: [user(viewer)], sharedWithMe: [] });
    expect((await viewerClient.GET('/api/sharing')).data).toEqual({ sharedWith: [], sharedWithMe: [user(owner)] });
    const unshare = () => ownerClient.DELETE('/api/sharing/{username}', { params: { path } });
    expect([(await unshare()).response.status, (await unshare()).response.status]).toEqual([204, 204]);
    expect((await read()).response.status).toBe(403);
  });

  test("shareBoard: rejects the caller's own username and unknown ones", async () => {
    const { viewerClient, path } = await meet();
    const share = (username: string) => viewerClient.PUT('/api/sharing/{username}', { params: { path: { username } } });
    expect((await share(path.username)).error).toMatchObject({ code: 'invalid_input', field: 'username' });
    const { error, response } = await share('nobody-yet');
    expect([response.status, error?.code]).toEqual([404, 'not_found']);
  });

  test('unshareBoard: returns 204 for an unknown username', async () => {
    const { ownerClient } = await meet();
    const params = { path: { username: 'nobody-yet' } };
    expect((await ownerClient.DELETE('/api/sharing/{username}', { params })).response.status).toBe(204);
  });
}
