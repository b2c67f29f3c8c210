import type { DashboardClient } from '../../../src/generated/dashboard/client.js';
import { githubPullRequest, githubRepository } from '../../forges/github-state.js';
import { GITHUB_TOKEN, startGithub, type TestGithub } from '../../forges/github.js';
import type { Stage } from './fixtures.js';

export function forgeCredentialsTests(stage: () => Stage): void {
  let github: TestGithub;
  beforeAll(async () => {
    github = await startGithub([githubRepository('work/api', { pullRequests: [githubPullRequest(1)] })]);
  });
  afterAll(() => github.close());

  const signIn = async (): Promise<DashboardClient> => stage().client(await stage().addUser());
  const body = () =>
    ({ forge: 'github', label: 'Work', url: github.url, username: 'mona', token: GITHUB_TOKEN }) as const;
  const of = (id: string) => ({ params: { path: { id } } });
  const create = async (client: DashboardClient) =>
    (await client.POST('/api/settings/credentials', { body: body() })).data!;

  test('createForgeCredential: its rows are on the board after a refresh, and its state is listed without the token', async () => {
    const client = await signIn();
    const created = await create(client);
    expect(created).toMatchObject({ forge: 'github', label: 'Work', url: github.url, username: 'mona' });
    const { data: board } = await client.POST('/api/dashboard/refresh');
    expect(board?.pullRequests).toMatchObject([{ repo: 'work/api', number: 1, credential: { label: 'Work' } }]);
    const { data } = await client.GET('/api/settings/credentials');
    expect(data).toMatchObject([{ id: created.id, state: 'works', repoCount: 1 }]);
    expect(JSON.stringify([created, data])).not.toContain(GITHUB_TOKEN);
  });

  test('saveForgeCredential: keeps the token if it is omitted, and testForgeCredential uses the new one', async () => {
    const client = await signIn();
    const { id } = await create(client);
    const saved = await client.PUT('/api/settings/credentials/{id}', { ...of(id), body: { label: ' Other ' } });
    expect(saved.data).toMatchObject({ id, label: 'Other', username: '' });
    const test = () => client.POST('/api/settings/credentials/{id}/test', of(id));
    expect((await test()).data).toMatchObject({ works: true, username: 'mona', repoCount: 1 });
    await client.PUT('/api/settings/credentials/{id}', { ...of(id), body: { label: 'Other', token: 'wrong' } });
    expect((await test()).data).toMatchObject({ works: false, errorKind: 'unauthorized' });
  });

  test('deleteForgeCredential: is idempotent', async () => {
    const client = await signIn();
    const { id } = await create(client);
    const remove = () => client.DELETE('/api/settings/credentials/{id}', of(id));
    expect([(await remove()).response.status, (await remove()).response.status]).toEqual([204, 204]);
    expect((await client.GET('/api/settings/credentials')).data).toEqual([]);
  });

  test("credentials: a different user's credential is unknown, and stays", async () => {
    const client = await signIn();
    const { id } = await create(client);
    const other = await signIn();
    const answers = [
      await other.PUT('/api/settings/credentials/{id}', { ...of(id), body: { label: 'Mine' } }),
      await other.POST('/api/settings/credentials/{id}/test', of(id)),
    ];
    expect(answers.map(({ error }) => error?.code)).toEqual(['not_found', 'not_found']);
    await other.DELETE('/api/settings/credentials/{id}', of(id));
    expect((await client.GET('/api/settings/credentials')).data).toHaveLength(1);
  });

  test('createForgeCredential: rejects invalid input, and more than 20 credentials', async () => {
    const client = await signIn();
    const tryWith = async (change: object) => {
      const { error } = await client.POST('/api/settings/credentials', { body: { ...body(), ...change } });
      return error;
    };
    expect(await tryWith({ forge: 'gitlab', url: '' })).toMatchObject({ code: 'invalid_input', field: 'url' });
    expect(await tryWith({ url: 'ftp://example.com' })).toMatchObject({ code: 'invalid_input', field: 'url' });
    expect(await tryWith({ token: 'a\r\nX: b' })).toMatchObject({ code: 'invalid_input', field: 'token' });
    expect(await tryWith({ label: ' ' })).toMatchObject({ code: 'invalid_input', field: 'label' });
    for (let count = 0; count < 20; count += 1) await create(client);
    expect(await tryWith({})).toMatchObject({ code: 'conflict' });
  });
}
