import type { Page } from 'playwright-core';
import { forgejoRepository } from '../../forges/forgejo-state.js';
import { githubPullRequest, githubRepository } from '../../forges/github-state.js';
import { expectAccessible } from '../support/axe.js';
import { describeInBrowser } from '../support/chromium.js';
import { waitForSave } from '../support/page-actions.js';
import { eventuallyEquals, openBoardFixture, type BoardActions, type BoardFixture } from './board-fixture.js';
import type { BoardForges } from './board-forges.js';

const MORE = 55;

function fill({ github, forgejo }: BoardForges): void {
  for (let number = 10; number < 10 + MORE; number += 1) {
    github.repositories.push(githubRepository(`acme/part-${number}`, { pullRequests: [githubPullRequest(1)] }));
  }
  forgejo.repositories.push(forgejoRepository('mona/pens', { admin: true }));
}

describeInBrowser('repositories page', () => {
  let stage: BoardFixture;
  let page: Page;
  let at: BoardActions;
  const all = MORE + 4;
  const search = (text: string): Promise<void> => page.getByLabel('Search names').fill(text);

  beforeAll(async () => {
    stage = await openBoardFixture(fill);
    ({ page, at } = stage);
    await at.open('/repositories', 'Repositories');
    await at.shown(all);
  }, 180_000);
  afterEach(() => {
    expect(stage.takeComplaints()).toEqual([]);
  });
  afterAll(() => stage.close());

  test('lists repositories in pages, sorted and filtered by forge and name', async () => {
    await eventuallyEquals(() => at.rows.count(), 50);
    await page.getByRole('button', { name: 'Next' }).click();
    await eventuallyEquals(() => at.rows.count(), all - 50);
    await at.select('Sort by', 'code host');
    await eventuallyEquals(async () => (await at.titles())[0], 'mona/pens');
    await at.select('Code host', 'Forgejo');
    await at.shown(2);
    await at.select('Code host', 'All');
    await search('part-64');
    await at.shown(1);
    await search('');
  }, 180_000);

  test('sets up the webhooks that the token permits and explains the others', async () => {
    await page.getByText('Tokens without the permission for webhooks').waitFor();
    await at.confirm(page.getByRole('button', { name: 'Set up webhooks (2)' }), 'Set up webhooks for 2 repositories?');
    await at.said('Set up webhooks: 2 of 2 done.');
    expect(stage.forges.github.repositories[0]!.hooks).toHaveLength(1);
    expect(await stage.forges.github.deliver('acme/shop', { payload: { action: 'edited' } })).toEqual([204]);
    await at.select('Show', 'With a webhook');
    await at.shown(1);
    await at.row('acme/shop').getByText('Webhook active').waitFor();
    await at.select('Show', 'Without a webhook');
    await at.shown(all - 1);
    await at.select('Show', 'All');
  }, 180_000);

  test('turns automatic branch updates on for all listed repositories, off for one, and off for all', async () => {
    await search('part-1');
    await at.shown(10);
    await page.getByRole('button', { name: 'Auto-update all (10)' }).click();
    await at.said('Auto-update all: 10 of 10 done.');
    await waitForSave(page, '/api/repos/auto-update-branch/disable', () =>
      page.getByLabel('Auto-update branches of acme/part-10').uncheck(),
    );
    const turnOff = page.getByRole('button', { name: 'Turn off auto-update (9)' });
    await turnOff.waitFor();
    await search('');
    await at.select('Show', 'Auto-updated');
    await at.shown(9);
    await page.waitForURL(/shown=updated/);
    await page.reload();
    await at.shown(9);
    await turnOff.click();
    await at.said('Turn off auto-update: 9 of 9 done.');
    await at.shown(0);
    await page.getByRole('status').getByRole('button', { name: 'Undo', exact: true }).click();
    await at.said('Undone: 9 repositories.');
    await at.shown(9);
    await turnOff.click();
    await at.shown(0);
    await at.select('Show', 'All');
  }, 180_000);

  test('ignores the issues and the pull requests of a repository, and shows them again', async () => {
    await search('acme/shop');
    await waitForSave(page, '/api/repos/ignore', () => page.getByLabel('Issues of acme/shop').uncheck());
    await waitForSave(page, '/api/repos/ignore', () => page.getByLabel('Pull requests of acme/shop').uncheck());
    await search('');
    await at.select('Show', 'Ignored');
    await at.shown(1);
    await at.open('/issues', 'Issues');
    await at.shown(0);
    await at.open('/repositories', 'Repositories');
    await at.select('Show', 'Ignored');
    await waitForSave(page, '/api/repos/ignore', () => page.getByLabel('Issues of acme/shop').check());
    // `check()` would fail, as the change removes the repository from this list.
    await waitForSave(page, '/api/repos/unignore', () => page.getByLabel('Pull requests of acme/shop').click());
    await at.shown(0);
    await at.open('/issues', 'Issues');
    await at.shown(2);
  }, 180_000);

  test('continues with other forges after an exceeded rate limit and reports the failures', async () => {
    const { github, forgejo } = stage.forges;
    const late = ['acme/late-1', 'acme/late-2', 'acme/late-3'].map((name) =>
      githubRepository(name, { viewerPermission: 'ADMIN' }),
    );
    github.repositories.push(...late);
    forgejo.repositories.push(forgejoRepository('mona/late', { admin: true }));
    const spend = () => void (github.budgets.core.remaining = 0);
    github.failNext(spend, { path: /late-2\/hooks/ });
    await at.open('/repositories', 'Repositories');
    await page.getByRole('button', { name: 'Refresh' }).click();
    await search('late');
    await at.shown(4);
    await at.confirm(page.getByRole('button', { name: 'Set up webhooks (4)' }), 'Set up webhooks for 4 repositories?');
    await at.said('Set up webhooks: 2 of 4 done.');
    await at.said(/^acme\/late-2: The forge's rate limit is exceeded/);
    await at.said(/^acme\/late-3: GitHub’s rate limit is exceeded. Requests resume at \d/);
    expect([...late, forgejo.repositories[2]!].map(({ hooks }) => hooks.length)).toEqual([1, 0, 0, 1]);
    await page.getByRole('button', { name: 'Set up webhooks (1)' }).waitFor();
    const left = at.row('acme/late-3').getByRole('button', { name: 'Set up webhook for acme/late-3' });
    await eventuallyEquals(() => left.getAttribute('aria-disabled'), 'true');
    await page
      .locator('#lock-github')
      .getByText(/^GitHub’s rate limit is exceeded. Requests resume at \d/)
      .waitFor();
    await expectAccessible(page);
    expect([...new Set(stage.takeComplaints())]).toEqual(['429 POST /api/webhooks/ensure']);
  }, 180_000);
});
