import type { Locator, Page } from 'playwright-core';
import { eventually } from '../../eventually.js';
import { expectAccessible } from '../support/axe.js';
import { describeInBrowser } from '../support/chromium.js';
import { createKeyboard } from '../support/keyboard.js';
import { openBoardFixture, type BoardActions, type BoardFixture } from './board-fixture.js';
import type { BoardForges } from './board-forges.js';

const at = '2026-05-21T08:00:00Z';

function fill({ github }: BoardForges): void {
  const taxes = github.repositories[0]!.pullRequests.find(({ number }) => number === 2)!;
  Object.assign(taxes, {
    additions: 1120,
    deletions: 8,
    changedFiles: 4,
    requested: ['hubot'],
    submitted: [
      { author: 'lisa', state: 'APPROVED', submittedAt: at },
      { author: 'lisa', state: 'CHANGES_REQUESTED', submittedAt: at },
      { author: 'lisa', state: 'COMMENTED', submittedAt: at },
    ],
    threads: [
      { isResolved: false, path: 'src/tax.ts', line: 41, author: 'lisa', text: 'Is this rounded twice?' },
      { isResolved: true, path: 'src/tax.ts', line: 50, author: 'lisa', text: 'A typo.' },
    ],
    replies: ['Rebased onto main.'],
  });
}

describeInBrowser('the side panel of a pull request', () => {
  let stage: BoardFixture;
  let page: Page;
  let board: BoardActions;
  let panel: Locator;
  const open = '/?row=github/acme/shop/2';

  beforeAll(async () => {
    stage = await openBoardFixture(fill);
    ({ page, at: board } = stage);
    panel = page.getByRole('dialog', { name: 'Round taxes' });
  }, 180_000);
  afterEach(() => {
    expect(stage.takeComplaints()).toEqual([]);
  });
  afterAll(() => stage.close());

  const isFocused = (title: string): Promise<void> =>
    eventually(async () => expect(await page.evaluate(() => document.activeElement?.textContent)).toBe(title));

  test('opens for a click on a row, and shows checks, reviewers, threads and comments', async () => {
    await board.row('Round taxes').locator('.where').click();
    await page.waitForURL(`**${open}`);
    await isFocused('Round taxes');
    await panel.getByText('failed at “Run npm test”').waitFor();
    await panel.getByText('Expected 3, received 4').waitFor();
    await panel.getByText('+1,120 −8 in 4 files, 1 commit').waitFor();
    const reviewers = panel.getByRole('region', { name: 'Reviewers' }).getByRole('listitem');
    expect(await reviewers.allTextContents()).toEqual([
      expect.stringMatching(/^lisa Changes requested /),
      expect.stringMatching(/^hubot Review requested/),
    ]);
    const threads = panel.getByRole('region', { name: 'Unresolved threads 1' }).getByRole('listitem');
    expect(await threads.allTextContents()).toEqual([expect.stringContaining('src/tax.ts:41Is this rounded twice?')]);
    await panel.getByRole('region', { name: 'Timeline' }).getByText('Rebased onto main.').waitFor();
    await expectAccessible(page);
  });

  test('Back closes it and Forward opens it; a link to it can be shared', async () => {
    await page.goBack();
    await panel.waitFor({ state: 'detached' });
    await isFocused('Round taxes');
    await page.goForward();
    await panel.waitFor();
    const other = await page.context().newPage();
    await other.goto(page.url());
    await other.getByRole('dialog', { name: 'Round taxes' }).getByText('Is this rounded twice?').waitFor();
    await other.close();
  });

  test('keeps the filters in the address, and stays open when they change', async () => {
    await page.getByRole('button', { name: 'Failing CI', exact: true }).click();
    await page.waitForURL('**/?pill=failing&row=github/acme/shop/2');
    await board.shown(1);
    await page.getByRole('button', { name: 'Close details' }).click();
    await page.waitForURL('**/?pill=failing');
    await page.getByRole('button', { name: 'All', exact: true }).click();
    await board.shown(9);
  });

  test('opens, shows the next row and closes by key; the focus returns to the row', async () => {
    const { press, arriveAt } = createKeyboard(page);
    await board.open('/', 'Pull requests');
    await board.rows.first().waitFor();
    await press('j', 'c');
    await page.getByRole('dialog', { name: 'Name the columns' }).waitFor();
    await isFocused('Name the columns');
    await press('j');
    await panel.waitFor();
    await isFocused('Round taxes');
    // The action of the panel, not the one of the row behind it.
    await press('m');
    await arriveAt('button "Rerun checks of #2?"');
    await press('Escape');
    await panel.waitFor();
    await press('Escape');
    await panel.waitFor({ state: 'detached' });
    await arriveAt('link "Round taxes"');
    await page.waitForURL(`${stage.server.origin}/`);
  });

  test('covers no part of the list or of the header on a laptop', async () => {
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto(stage.server.origin + open);
    await panel.waitFor();
    const { x, y } = (await panel.boundingBox())!;
    const list = (await board.rows.first().boundingBox())!;
    const header = (await page.getByRole('banner').boundingBox())!;
    expect([list.x + list.width <= x, header.height <= y]).toEqual([true, true]);
  });

  test('is a sheet over the whole page at 320 px, with the rest inert', async () => {
    await page.setViewportSize({ width: 320, height: 640 });
    await page.goto(stage.server.origin + open);
    await panel.getByText('Is this rounded twice?').waitFor();
    // The panel moves to its place.
    await eventually(async () => {
      const { x, width, height } = (await panel.boundingBox())!;
      expect({ x, isWide: width >= 305, height }).toEqual({ x: 0, isWide: true, height: 640 });
    });
    expect(await panel.evaluate((element) => element.scrollWidth <= element.clientWidth)).toBe(true);
    expect(await page.getByRole('banner').evaluate((header) => header.hasAttribute('inert'))).toBe(true);
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
    await isFocused('Round taxes');
    expect(await page.getByRole('banner').evaluate((header) => header.hasAttribute('inert'))).toBe(false);
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  test('says that a pull request is not on the board', async () => {
    await page.goto(`${stage.server.origin}/?row=github/acme/shop/999`);
    await page
      .getByRole('dialog', { name: 'acme/shop #999' })
      .getByText('This pull request is not on the board.')
      .waitFor();
  });

  test('merges from the panel', async () => {
    await page.goto(`${stage.server.origin}/?row=github/acme/shop/1`);
    const shown = page.getByRole('dialog', { name: 'Send receipts as PDF' });
    await board.confirm(shown.getByRole('button', { name: 'Merge #1' }), 'Merge #1?');
    await board.said('acme/shop #1 was merged.');
    await page.getByText('This pull request is not on the board.').waitFor();
    await isFocused('acme/shop #1');
    await page.getByRole('button', { name: 'Close details' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  test('the first row is above 200 px on a small laptop', async () => {
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.evaluate(() => localStorage.removeItem('trellis-filters-open'));
    await board.open('/', 'Pull requests');
    await board.rows.first().waitFor();
    const filters = page.getByRole('button', { name: 'Filters', expanded: true });
    if ((await filters.count()) > 0) await filters.click();
    const { y } = (await board.rows.first().boundingBox())!;
    expect(y).toBeLessThan(200);
  });
});

describeInBrowser('undo', () => {
  let stage: BoardFixture;
  let page: Page;
  let board: BoardActions;

  beforeAll(async () => {
    stage = await openBoardFixture();
    ({ page, at: board } = stage);
  }, 180_000);
  afterEach(() => {
    expect(stage.takeComplaints()).toEqual([]);
  });
  afterAll(() => stage.close());

  const undo = () => page.getByRole('status').getByRole('button', { name: 'Undo', exact: true });

  test('of a snooze is offered in its message, which screen readers announce', async () => {
    await board.shown(9);
    await (await board.button('Drop an old flag', 'Snooze until tomorrow')).click();
    await board.shown(8);
    await page
      .getByRole('status')
      .getByText(/is snoozed until tomorrow\.Undo/)
      .waitFor();
    await expectAccessible(page);
    await undo().click();
    await board.said('acme/shop #7 is no longer snoozed.');
    await board.shown(9);
    await page.reload();
    await board.shown(9);
  });

  test('has a key, and is offered for the latest action only', async () => {
    await (await board.button('Drop an old flag', 'Snooze for a week')).click();
    await board.shown(8);
    await (await board.button('Keep sessions', 'Snooze until it changes')).click();
    await board.shown(7);
    expect(await undo().count()).toBe(1);
    await page.keyboard.press('z');
    await board.said('acme/shop #3 is no longer snoozed.');
    await board.shown(8);
    expect(await undo().count()).toBe(0);
  });

  test('stays while it has the focus, which then returns to its place', async () => {
    const { tabTo, press } = createKeyboard(page);
    await (await board.button('Try one more thing', 'Snooze until tomorrow')).click();
    await board.shown(7);
    await tabTo('button "Undo"');
    await press('Enter');
    await board.shown(8);
    await eventually(async () =>
      expect(await page.evaluate(() => document.activeElement?.closest('li.pull') !== null)).toBe(true),
    );
  });

  test('replaces the question of auto-merge; merging and closing still ask', async () => {
    await (await board.button('Sharpen the saw', 'Close #1')).click();
    await page.getByRole('button', { name: 'Close #1?' }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    stage.forges.forgejo.repositories[0]!.pullRequests[0]!.status = 'pending';
    await page.getByRole('button', { name: 'Refresh', exact: true }).click();
    await board.row('Sharpen the saw').getByRole('button', { name: 'CI of #1: Running' }).waitFor();
    await (await board.button('Sharpen the saw', 'Merge when ready #1')).click();
    await board.said('mona/tools #1 will be merged when it is ready.');
    await undo().click();
    await board.said('Undone: mona/tools #1.');
    await board.row('Sharpen the saw').getByText('merges when ready').waitFor({ state: 'detached' });
  });

  test('of a failed request says so', async () => {
    const path = '**/api/pull-requests/unsnooze';
    await (await board.button('Keep sessions', 'Snooze until tomorrow')).click();
    await board.said('acme/shop #3 is snoozed until tomorrow.');
    await page.route(path, (route) => route.abort('failed'));
    await undo().click();
    await page.getByRole('alert').getByText('The server could not be reached.').waitFor();
    await page.unroute(path);
    stage.takeComplaints();
  });
});
