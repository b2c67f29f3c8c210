import type { Page } from 'playwright-core';
import { saveForges } from './board/board-fixture.js';
import { startBoardForges, type BoardForges } from './board/board-forges.js';
import { describeInBrowser } from './support/chromium.js';
import { openSignedInFixture, type PageFixture } from './support/fixtures.js';
import { createKeyboard, type Keyboard } from './support/keyboard.js';
import { waitForSave } from './support/page-actions.js';

// Board, insights, settings, administration, files, transforms and secrets have keyboard tests of their own.
describeInBrowser('further pages, with the keyboard only', () => {
  let forges: BoardForges;
  let stage: PageFixture;
  let page: Page;
  let keyboard: Keyboard;

  beforeAll(async () => {
    [forges, stage] = await Promise.all([
      startBoardForges(),
      openSignedInFixture({ services: 'dashboard,site', args: ['--site', 'examples/site'] }),
    ]);
    ({ page } = stage);
    keyboard = createKeyboard(page);
    await saveForges({ ...stage, forges });
  });
  afterAll(async () => {
    await stage.close();
    await forges.close();
  });

  const open = async (path: string, awaited: string): Promise<void> => {
    await page.goto(stage.server.origin + path);
    await page.getByText(awaited).first().waitFor();
  };

  test('issues are searched and filtered by label', async () => {
    const { tabTo, type, pressOn } = keyboard;
    await open('/issues', '2 of 2 shown');
    await tabTo('searchbox "Search issues"');
    await type('umlauts');
    await page.getByText('1 of 2 shown').waitFor();
    await pressOn('button "Remove filter Search: umlauts"');
    await page.getByText('2 of 2 shown').waitFor();
    await pressOn('button "Filters"');
    await tabTo('combobox "Label"');
    await page.keyboard.type('bug');
    await page.getByText('1 of 2 shown').waitFor();
    await pressOn('button "Clear filters"');
    await page.getByText('2 of 2 shown').waitFor();
    expect(stage.takeComplaints()).toEqual([]);
  });

  test('a section of the board is shown and left', async () => {
    const { pressOn } = keyboard;
    await open('/', '9 of 9 shown');
    await pressOn('button "Needs your review 1"');
    await page.getByText('1 of 9 shown').waitFor();
    await page.waitForURL('**/?section=needs_your_review');
    await pressOn('button "All 9"');
    await page.getByText('9 of 9 shown').waitFor();
    expect(stage.takeComplaints()).toEqual([]);
  });

  test('a repository is found, and its issues are hidden and shown again', async () => {
    const { tabTo, type, press } = keyboard;
    await open('/repositories', '3 of 3 match');
    await tabTo('searchbox "Search names"');
    await type('shop');
    await page.getByText('1 of 3 match').waitFor();
    await tabTo('checkbox "Issues of acme/shop"');
    await waitForSave(page, '/api/repos/ignore', () => press('Space'));
    await page.getByRole('checkbox', { name: 'Issues of acme/shop', checked: false }).waitFor();
    await waitForSave(page, '/api/repos/unignore', () => press('Space'));
    await page.getByRole('checkbox', { name: 'Issues of acme/shop', checked: true }).waitFor();
    expect(stage.takeComplaints()).toEqual([]);
  });

  test('records are sorted and searched, and a record opens and closes', async () => {
    const { tabTo, type, press, pressOn, arriveAt } = keyboard;
    await open('/site/records?kind=Recipe', '6 records');
    await pressOn('link "serves"');
    await page.waitForURL(/sort=serves$/);
    await page.getByRole('row').nth(1).getByText('Nettle pasta').waitFor();
    await tabTo('searchbox "Search texts"');
    await type('lavender');
    await page.waitForURL(/search=lavender/);
    await page.getByText('1 record found').waitFor();
    await pressOn('link "Crème brûlée with lavender"');
    await arriveAt('heading "Recipe"');
    await press('Escape');
    await arriveAt('link "Crème brûlée with lavender"');
    expect(stage.takeComplaints()).toEqual([]);
  });

  test('the list of first steps leads to a query', async () => {
    const { pressOn } = keyboard;
    await open('/services', 'Get started');
    await pressOn('link "Try a query"');
    await page.getByRole('heading', { name: 'GraphQL explorer', level: 1 }).waitFor();
    await pressOn('button "Execute query');
    await page.getByText('prettySize').nth(1).waitFor();
    expect(stage.takeComplaints()).toEqual([]);
  });

  test('the page of an unknown address leads home', async () => {
    await open('/nowhere', 'Page not found');
    await keyboard.pressOn('link "Back to the home page"');
    await keyboard.arriveAt('heading "Pull requests"');
    expect(stage.takeComplaints()).toEqual(['404 GET /nowhere']);
  });
});
