import type { Page } from 'playwright-core';
import { forgejoRepository } from '../forges/forgejo-state.js';
import { githubPullRequest, githubRepository } from '../forges/github-state.js';
import { saved } from './acts.js';
import { expectAccessible } from './axe.js';
import type { BoardForges } from './board-forges.js';
import { eventually, openBoardStage } from './board-stage.js';
import type { BoardPage, BoardStage } from './board-stage.js';
import { describeInBrowser } from './chromium.js';

const MORE = 55;

function fill({ github, forgejo }: BoardForges): void {
  for (let number = 10; number < 10 + MORE; number += 1) {
    github.repositories.push(githubRepository(`acme/part-${number}`, { pullRequests: [githubPullRequest(1)] }));
  }
  forgejo.repositories.push(forgejoRepository('mona/pens', { admin: true }));
}

describeInBrowser('the page of repositories', () => {
  let stage: BoardStage;
  let page: Page;
  let at: BoardPage;
  const all = MORE + 4;
  const search = (text: string): Promise<void> => page.getByLabel('Search names').fill(text);

  beforeAll(async () => {
    stage = await openBoardStage(fill);
    ({ page, at } = stage);
    await at.open('/repositories', 'Repositories');
    await at.shown(all);
  }, 180_000);
  afterEach(() => {
    expect(stage.takeComplaints()).toEqual([]);
  });
  afterAll(() => stage.close());

  test('lists by pages, sorted and filtered by forge and name', async () => {
    await eventually(() => at.rows.count(), 50);
    await page.getByRole('button', { name: 'Next' }).click();
    await eventually(() => at.rows.count(), all - 50);
    await at.select('Sort by', 'forge');
    await eventually(async () => (await at.titles())[0], 'mona/pens');
    await at.select('Forge', 'Forgejo');
    await at.shown(2);
    await at.select('Forge', 'All');
    await search('part-64');
    await at.shown(1);
    await search('');
  }, 180_000);

  test('sets all webhooks up that may be, and explains what may not', async () => {
    await page.getByText('The token may not set one up').first().waitFor();
    await at.confirm(page.getByRole('button', { name: 'Set up webhooks (2)' }), 'Really, all 2?');
    await at.said('Set up webhooks: 2 of 2 done.');
    expect(stage.forges.github.repositories[0]!.hooks).toHaveLength(1);
    expect(await stage.forges.github.deliver('acme/shop', { payload: { action: 'edited' } })).toEqual([204]);
    await at.select('Show', 'With a webhook');
    await at.shown(1);
    await at.row('acme/shop').getByText('Webhook delivers').waitFor();
    await at.select('Show', 'Without a webhook');
    await at.shown(all - 1);
    await at.select('Show', 'All');
  }, 180_000);

  test('keeps all that are listed up to date, or one, or none', async () => {
    await search('part-1');
    await at.shown(10);
    await at.confirm(page.getByRole('button', { name: 'Keep all up to date (10)' }), 'Really, all 10?');
    await at.said('Keep all up to date: 10 of 10 done.');
    await saved(page, '/api/repos/auto-update-branch/disable', () =>
      page.getByLabel('Keep branches up to date of acme/part-10').uncheck(),
    );
    await page.getByRole('button', { name: 'Update none by itself (9)' }).waitFor();
    await search('');
    await at.select('Show', 'Kept up to date');
    await at.shown(9);
    await page.reload();
    await at.shown(all);
    await at.select('Show', 'Kept up to date');
    await at.shown(9);
    await at.confirm(page.getByRole('button', { name: 'Update none by itself (9)' }), 'Really, all 9?');
    await at.said('Update none by itself: 9 of 9 done.');
    await at.shown(0);
    await at.select('Show', 'All');
  }, 180_000);

  test('leaves the issues of a repository off, or its pull requests, and takes them up again', async () => {
    await search('acme/shop');
    await saved(page, '/api/repos/ignore', () => page.getByLabel('Issues of acme/shop').uncheck());
    await saved(page, '/api/repos/ignore', () => page.getByLabel('Pull requests of acme/shop').uncheck());
    await search('');
    await at.select('Show', 'Ignored');
    await at.shown(1);
    await at.open('/issues', 'Issues');
    await at.shown(0);
    await at.open('/repositories', 'Repositories');
    await at.select('Show', 'Ignored');
    await saved(page, '/api/repos/ignore', () => page.getByLabel('Issues of acme/shop').check());
    // Once it is ticked it is listed here no more.
    await saved(page, '/api/repos/unignore', () => page.getByLabel('Pull requests of acme/shop').click());
    await at.shown(0);
    await at.open('/issues', 'Issues');
    await at.shown(2);
  }, 180_000);

  test('sets up what it may while a forge takes no more, and says what was left and why', async () => {
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
    await at.confirm(page.getByRole('button', { name: 'Set up webhooks (4)' }), 'Really, all 4?');
    await at.said('Set up webhooks: 2 of 4 done.');
    await at.said(/^acme\/late-2: The forge's rate limit is exceeded/);
    await at.said(/^acme\/late-3: GitHub takes no more requests until \d/);
    expect([...late, forgejo.repositories[2]!].map(({ hooks }) => hooks.length)).toEqual([1, 0, 0, 1]);
    await page.getByRole('button', { name: 'Set up webhooks (1)' }).waitFor();
    const left = at.row('acme/late-3').getByRole('button', { name: 'Set up webhook of acme/late-3' });
    await eventually(() => left.getAttribute('aria-disabled'), 'true');
    await page
      .locator('#lock-github')
      .getByText(/^GitHub takes no more requests until \d/)
      .waitFor();
    await expectAccessible(page);
    expect([...new Set(stage.takeComplaints())]).toEqual(['429 POST /api/webhooks/ensure']);
  }, 180_000);
});
