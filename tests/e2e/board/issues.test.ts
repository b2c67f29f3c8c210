import type { Page } from 'playwright-core';
import { githubIssue } from '../../forges/github-state.js';
import { expectAccessible } from '../support/axe.js';
import { describeInBrowser } from '../support/chromium.js';
import { eventuallyEquals, openBoardFixture, type BoardActions, type BoardFixture } from './board-fixture.js';
import type { BoardForges } from './board-forges.js';

function fill({ github }: BoardForges): void {
  github.repositories[0]!.issues.push(
    githubIssue(22, { title: 'Dependency Dashboard', author: 'renovate[bot]' }),
    githubIssue(23, { title: 'A new one', createdAt: new Date().toISOString(), updatedAt: new Date().toISOString() }),
  );
}

describeInBrowser('issues page', () => {
  let stage: BoardFixture;
  let page: Page;
  let at: BoardActions;

  beforeAll(async () => {
    stage = await openBoardFixture(fill);
    ({ page, at } = stage);
    await page.getByRole('link', { name: 'Issues' }).click();
    await page.getByRole('heading', { name: 'Issues', level: 1 }).waitFor();
  }, 180_000);
  afterEach(() => {
    expect(stage.takeComplaints()).toEqual([]);
  });
  afterAll(() => stage.close());

  test('hides bot dashboards until they are selected and excludes them from the badge', async () => {
    await at.shown(3);
    await page.getByRole('link', { name: 'Issues 3 open' }).waitFor();
    await page.getByLabel('Bot dashboards (1 hidden)').check();
    await at.shown(4);
    await at.row('Dependency Dashboard').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await at.shown(3);
  }, 180_000);

  test.each([
    ['Author', 'lisa', 1],
    ['Label', 'bug', 1],
    ['Repository', 'acme/shop (GitHub)', 3],
    ['Created', 'last day', 1],
    ['Updated', 'last hour', 1],
  ])(
    '%s “%s” leaves %i',
    async (label, option, count) => {
      await at.select(label, option);
      await at.shown(count);
      await page.getByRole('button', { name: 'Clear filters' }).click();
      await at.shown(3);
    },
    120_000,
  );

  test('sorts issues and links to them at the forge', async () => {
    await at.select('Sort by', 'created');
    await eventuallyEquals(async () => (await at.titles())[0], 'A new one');
    expect(await at.row('A new one').getByRole('link', { name: 'A new one' }).getAttribute('href')).toContain('/23');
  }, 120_000);
});
