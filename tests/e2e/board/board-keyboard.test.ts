import type { Page } from 'playwright-core';
import { eventually } from '../../eventually.js';
import { forgejoPullRequest } from '../../forges/forgejo-state.js';
import { expectAccessible } from '../support/axe.js';
import { describeInBrowser } from '../support/chromium.js';
import { createKeyboard, type Keyboard } from '../support/keyboard.js';
import { CONFIRM_DELAY_MS } from '../support/page-actions.js';
import { openBoardFixture, type BoardActions, type BoardFixture } from './board-fixture.js';
import type { BoardForges } from './board-forges.js';

function fill({ forgejo }: BoardForges): void {
  forgejo.repositories[0]!.pullRequests.push(forgejoPullRequest(2, { title: 'Mind the gap', status: 'pending' }));
}

describeInBrowser('the board, with the keyboard only', () => {
  let stage: BoardFixture;
  let page: Page;
  let at: BoardActions;
  let keyboard: Keyboard;
  const heading = (name: RegExp | string): Promise<void> => page.getByRole('heading', { name }).waitFor();
  const pullRequest = (number: number) =>
    stage.forges.github.repositories[0]!.pullRequests.find((one) => one.number === number)!;

  beforeAll(async () => {
    stage = await openBoardFixture(fill);
    ({ page, at } = stage);
    keyboard = createKeyboard(page);
    await at.shown(10);
  }, 180_000);
  afterEach(() => {
    expect(stage.takeComplaints()).toEqual([]);
  });
  afterAll(() => stage.close());

  test('sets quick filters, selects, order and groups, and clears the filters', async () => {
    const { press, tabTo, pressOn, arriveAt } = keyboard;
    await pressOn('button "Failing CI"');
    await at.shown(1);
    await tabTo('combobox "Author"');
    await page.keyboard.type('mona');
    await tabTo('combobox "Sort by"');
    await page.keyboard.type('repository');
    await tabTo('combobox "Group by"');
    await page.keyboard.type('code');
    await heading('GitHub 1');
    await pressOn('button "Clear filters"');
    await at.shown(10);
    await heading('Forgejo 2');
    await press('Shift+Tab', 'Shift+Tab', 'Shift+Tab');
    await arriveAt('combobox "Group by"');
    await page.keyboard.type('whose');
    await heading('Needs your review 1');
  });

  test('searches with suggestions, saves the search as a view and deletes it', async () => {
    const { press, type, tabTo, pressOn, confirm, arriveAt } = keyboard;
    // A focused select would treat letters as a search for its options.
    await press('Tab', '/');
    await arriveAt('combobox "Search pull requests"');
    await type('saw');
    await at.shown(1);
    await page.getByRole('option', { name: 'Sharpen the saw' }).waitFor();
    await expectAccessible(page);
    // A browser hides suggestions without the typed text, such as this one, if they are in a `datalist`.
    await type('repo:too');
    await press('ArrowDown');
    await page.getByRole('option', { name: 'repo:mona/tools', selected: true }).waitFor();
    await press('Enter');
    await eventually(async () => expect(await page.locator(':focus').inputValue()).toBe('repo:mona/tools'));
    await at.shown(2);
    await type('saw');
    await press('Escape');
    await page.getByRole('listbox', { name: 'Suggestions' }).waitFor({ state: 'hidden' });
    expect(await page.locator(':focus').inputValue()).toBe('saw');
    await pressOn(': Views');
    await tabTo('textbox "View name"');
    await type('Saws');
    await press('Enter');
    await at.said('View “saws” saved.');
    await confirm('button "Delete “saws”"');
    await at.said('View “saws” deleted.');
    await at.shown(10);
    await arriveAt('Views');
  });

  test('opens the checks of a row and merges it; the focus moves to the next row', async () => {
    const { press, pressOn, arriveAt } = keyboard;
    await press('j');
    await arriveAt('link "Name the columns"');
    await press('c');
    await page.locator('.panel .checks').getByRole('listitem').first().waitFor();
    await press('Escape');
    await arriveAt('link "Name the columns"');
    // A review is asked, so the merge is in the menu.
    await press('m');
    await arriveAt('More');
    await pressOn('button "Merge #6"');
    await arriveAt('button "Merge #6?"');
    await press('Escape');
    await arriveAt('button "Merge #6"');
    await press('Enter');
    await arriveAt('button "Merge #6?"');
    await page.waitForTimeout(CONFIRM_DELAY_MS);
    await press('Enter');
    await at.said('acme/shop #6 was merged.');
    await at.row('Name the columns').waitFor({ state: 'detached' });
    await page.locator('a.open:focus').waitFor();
    expect(pullRequest(6).state).toBe('MERGED');
  });

  test('snoozes a row from its menu', async () => {
    const { pressOn } = keyboard;
    await pressOn(': More');
    await pressOn('button "Snooze until tomorrow"');
    await at.said('is snoozed until tomorrow');
    await at.shown(8);
    await page.locator('a.open:focus').waitFor();
  });

  test('enables auto-merge of a row and cancels it', async () => {
    const { tabTo, pressOn, arriveAt } = keyboard;
    await tabTo('link "Mind the gap"');
    await pressOn('button "Merge when ready #2"');
    await at.said('mona/tools #2 will be merged when it is ready.');
    // The pressed button is removed.
    await arriveAt('link "Mind the gap"');
    await pressOn(': More');
    await pressOn('button "Cancel auto-merge #2"');
    await at.said('mona/tools #2 is no longer set to auto-merge.');
  });

  test('selects several rows and closes them at once', async () => {
    const { press, confirm, arriveAt } = keyboard;
    const selected = page.getByRole('region', { name: 'Selected pull requests' });
    await page.reload();
    await at.shown(8);
    await press('j', 'x', 'j', 'x');
    await arriveAt('checkbox "Select');
    await selected.getByText('2 selected').waitFor();
    await confirm('button "Close (2)"');
    await at.said('Close: 2 of 2 done.');
    await selected.waitFor({ state: 'detached' });
    await at.shown(6);
  });

  test('lists the shortcuts in a dialog, behind which they do nothing', async () => {
    const { press, focused } = keyboard;
    await press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await press('j');
    expect(await focused()).toContain('button "Close"');
    await press('Escape');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor({ state: 'hidden' });
  });

  test('filters issues, and opens and clears the activity', async () => {
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
    await page.getByText('No activity in this browser yet.').waitFor();
    await press('Escape');
    await page.getByText('No activity in this browser yet.').waitFor({ state: 'detached' });
    await arriveAt('Activity');
  });

  test('sets up webhooks and automatic updates of repositories, and ignores one', async () => {
    const { press, tabTo, pressOn, arriveAt } = keyboard;
    await pressOn('link "Pull requests');
    await pressOn('link "3 repositories');
    await arriveAt('heading "Repositories"');
    await at.shown(3);
    await pressOn('button "Auto-update all (3)"');
    await at.said('Auto-update all: 3 of 3 done.');
    await pressOn('button "Set up webhook for acme/shop"');
    await at.said('Webhook for acme/shop set up.');
    await tabTo('checkbox "Issues of acme/shop"');
    await press('Space');
    await page.getByRole('checkbox', { name: 'Issues of acme/shop', checked: false }).waitFor();
  });

  test('creates and deletes a feed', async () => {
    const { type, press, tabTo, pressOn, confirm } = keyboard;
    await page.goto(`${stage.server.origin}/settings`);
    await page.getByText('No feeds.').waitFor();
    await pressOn('link "Feeds');
    await tabTo('textbox "Feed title"');
    await type('wall');
    await press('Tab');
    await page.keyboard.type('Badge');
    await pressOn('button "Create feed"');
    const link = page.getByLabel('New feed link');
    await link.waitFor();
    const url = await link.inputValue();
    expect(await (await fetch(url)).json()).toMatchObject({ label: 'wall' });
    await page.getByText('Badge of the whole board').waitFor();
    await confirm('button "Delete feed wall"');
    await at.said('Feed “wall” deleted.');
    expect((await fetch(url)).status).toBe(404);
  });
});
