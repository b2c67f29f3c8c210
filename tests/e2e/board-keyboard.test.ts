import type { Page } from 'playwright-core';
import { forgejoPullRequest } from '../forges/forgejo-state.js';
import { DEAF_MS } from './acts.js';
import type { BoardForges } from './board-forges.js';
import { openBoardStage } from './board-stage.js';
import type { BoardPage, BoardStage } from './board-stage.js';
import { describeInBrowser } from './chromium.js';
import { createKeyboard } from './keyboard.js';
import type { Keyboard } from './keyboard.js';

function fill({ forgejo }: BoardForges): void {
  forgejo.repositories[0]!.pullRequests.push(forgejoPullRequest(2, { title: 'Mind the gap', status: 'pending' }));
}

describeInBrowser('the board, by the keyboard alone', () => {
  let stage: BoardStage;
  let page: Page;
  let at: BoardPage;
  let keyboard: Keyboard;
  const heading = (name: RegExp | string): Promise<void> => page.getByRole('heading', { name }).waitFor();
  const pullRequest = (number: number) =>
    stage.forges.github.repositories[0]!.pullRequests.find((one) => one.number === number)!;

  beforeAll(async () => {
    stage = await openBoardStage(fill);
    ({ page, at } = stage);
    keyboard = createKeyboard(page);
    await at.shown(10);
  }, 180_000);
  afterEach(() => {
    expect(stage.takeComplaints()).toEqual([]);
  });
  afterAll(() => stage.close());

  test('quick filters, selects, order and groups, and what clears them', async () => {
    const { press, tabTo, pressOn, arriveAt } = keyboard;
    await pressOn('button "Failing CI"');
    await at.shown(1);
    await tabTo('combobox "Author"');
    await page.keyboard.type('mona');
    await tabTo('combobox "Sort by"');
    await page.keyboard.type('repository');
    await tabTo('combobox "Group by"');
    await page.keyboard.type('forge');
    await heading('GitHub 1');
    await pressOn('button "Clear filters"');
    await at.shown(10);
    await heading('Forgejo 2');
    await press('Shift+Tab', 'Shift+Tab', 'Shift+Tab');
    await arriveAt('combobox "Group by"');
    await page.keyboard.type('whose');
    await heading('Needs your review 1');
  });

  test('a search with its suggestions; it is kept as a view, and let go', async () => {
    const { press, type, tabTo, pressOn, confirm, arriveAt } = keyboard;
    // A select takes letters for its options.
    await press('Tab', '/');
    await arriveAt('combobox "Search titles"');
    await type('saw');
    await at.shown(1);
    await page.locator('datalist option[value="Sharpen the saw"]').waitFor({ state: 'attached' });
    await pressOn(': Views');
    await tabTo('textbox "Name of the view"');
    await type('Saws');
    await press('Enter');
    await at.said('The view “saws” is kept.');
    await confirm('button "Delete “saws”"');
    await at.said('The view “saws” is gone.');
    await at.shown(10);
    await arriveAt('Views');
  });

  test('a row tells of its checks, and is merged once that was meant; the next one takes the focus', async () => {
    const { press, arriveAt } = keyboard;
    await press('j');
    await arriveAt('link "Name the columns"');
    await press('c');
    await at.row('Name the columns').locator('.checks').getByRole('listitem').first().waitFor();
    await press('m');
    await arriveAt('button "Really merge?"');
    await press('Escape');
    await arriveAt('button "Merge #6"');
    await press('m');
    await arriveAt('button "Really merge?"');
    await page.waitForTimeout(DEAF_MS);
    await press('Enter');
    await at.said('acme/shop #6 is merged.');
    await at.row('Name the columns').waitFor({ state: 'detached' });
    await page.locator('a.open:focus').waitFor();
    expect(pullRequest(6).state).toBe('MERGED');
  });

  test('a row is set aside from its menu', async () => {
    const { pressOn } = keyboard;
    await pressOn(': More');
    await pressOn('button "Set aside until tomorrow"');
    await at.said('is set aside until tomorrow');
    await at.shown(8);
    await page.locator('a.open:focus').waitFor();
  });

  test('a row is merged when it is ready, and that is taken back', async () => {
    const { press, tabTo, pressOn, confirm, arriveAt } = keyboard;
    await tabTo('link "Mind the gap"');
    await pressOn(': More');
    await confirm('button "Merge when ready #2"');
    await at.said('mona/tools #2 is merged once it can be.');
    await arriveAt('More');
    await press('Enter');
    await confirm('button "Cancel auto-merge #2"');
    await at.said('mona/tools #2 is not merged by itself any more.');
  });

  test('several rows are chosen and closed at once', async () => {
    const { press, confirm, arriveAt } = keyboard;
    const chosen = page.getByRole('region', { name: 'Chosen pull requests' });
    await page.reload();
    await at.shown(8);
    await press('j', 'x', 'j', 'x');
    await arriveAt('checkbox "Choose');
    await chosen.getByText('2 chosen').waitFor();
    await confirm('button "Close (2)"');
    await at.said('Close: 2 of 2 done.');
    await chosen.waitFor({ state: 'detached' });
    await at.shown(6);
  });

  test('keys are told of, and nothing behind them answers', async () => {
    const { press, focused } = keyboard;
    await press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await press('j');
    expect(await focused()).toContain('button "Close"');
    await press('Escape');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor({ state: 'hidden' });
  });

  test('issues are filtered, and the activity is read and cleared', async () => {
    const { press, tabTo, pressOn, arriveAt } = keyboard;
    await pressOn('link "Issues');
    await arriveAt('heading "Issues"');
    await at.shown(2);
    await tabTo('combobox "Label"');
    await page.keyboard.type('bug');
    await at.shown(1);
    await pressOn(': Activity');
    await page.getByText('Close: 2 of 2 done.').first().waitFor();
    await pressOn('button "Clear"');
    await page.getByText('Nothing was done in this browser yet.').waitFor();
    await press('Escape');
    await page.getByText('Nothing was done in this browser yet.').waitFor({ state: 'detached' });
    await arriveAt('Activity');
  });

  test('repositories are told of by their forge, kept up to date and left off', async () => {
    const { press, tabTo, pressOn, confirm, arriveAt } = keyboard;
    await pressOn('link "Pull requests');
    await pressOn('link "3 repositories');
    await arriveAt('heading "Repositories"');
    await at.shown(3);
    await confirm('button "Keep all up to date (3)"');
    await at.said('Keep all up to date: 3 of 3 done.');
    await pressOn('button "Set up webhook of acme/shop"');
    await at.said('GitHub tells of acme/shop from now on.');
    await tabTo('checkbox "Issues of acme/shop"');
    await press('Space');
    await page.getByRole('checkbox', { name: 'Issues of acme/shop', checked: false }).waitFor();
  });

  test('the address of a feed is made, and taken back', async () => {
    const { type, press, tabTo, pressOn, confirm } = keyboard;
    await page.goto(`${stage.server.origin}/settings`);
    await page.getByText('No feeds.').waitFor();
    await pressOn('link "Feeds');
    await tabTo('textbox "Title of the feed"');
    await type('wall');
    await press('Tab');
    await page.keyboard.type('Badge');
    await pressOn('button "Make an address"');
    const address = page.getByLabel('The new address');
    await address.waitFor();
    const url = await address.inputValue();
    expect(await (await fetch(url)).json()).toMatchObject({ label: 'wall' });
    await page.getByText('Badge of the whole board').waitFor();
    await confirm('button "Take back wall"');
    await at.said('The address of “wall” no longer works.');
    expect((await fetch(url)).status).toBe(404);
  });
});
