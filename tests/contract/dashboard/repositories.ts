import type { Stage } from './fixtures.js';

const shop = { forge: 'github', fullName: 'acme/shop' } as const;

export function repositoriesTests(stage: () => Stage): void {
  const signIn = async () => stage().client(await stage().addUser());

  test('ignoreRepository, unignoreRepository: return 204', async () => {
    const client = await signIn();
    const ignored = await client.POST('/api/repos/ignore', { body: { ...shop, prs: true, issues: false } });
    const shown = await client.POST('/api/repos/unignore', { body: shop });
    expect([ignored.response.status, shown.response.status]).toEqual([204, 204]);
  });

  test('ignoreRepository: returns 400 if neither prs nor issues is true', async () => {
    const body = { ...shop, prs: false, issues: false };
    const { error, response } = await (await signIn()).POST('/api/repos/ignore', { body });
    expect([response.status, error]).toMatchObject([400, { code: 'invalid_input', field: 'prs' }]);
  });

  test('enableAutoUpdateBranch, disableAutoUpdateBranch: return 204', async () => {
    const client = await signIn();
    const enabled = await client.POST('/api/repos/auto-update-branch/enable', { body: shop });
    const disabled = await client.POST('/api/repos/auto-update-branch/disable', { body: shop });
    expect([enabled.response.status, disabled.response.status]).toEqual([204, 204]);
  });
}
