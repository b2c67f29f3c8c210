import type { Locator, Page } from 'playwright-core';
import { eventually } from '../../eventually.js';
import { githubRun } from '../../forges/github-state.js';
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

  test('keeps a comment that was not sent while another pull request is shown, and text typed while it is sent', async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await board.open(open, 'Pull requests');
    const comment = panel.getByLabel('Comment', { exact: true });
    await comment.fill('A long thought.');
    await page.getByRole('button', { name: 'Close details' }).click();
    await panel.waitFor({ state: 'detached' });
    await board.row('Round taxes').locator('.where').click();
    await eventually(async () => expect(await comment.inputValue()).toBe('A long thought.'));
    let isHeld = true;
    await page.route('**/api/pull-requests/review', async (route) => {
      await eventually(async () => expect(isHeld).toBe(false));
      await route.continue();
    });
    await board.confirm(panel.getByRole('button', { name: 'Comment #2' }), 'Comment #2?');
    await comment.fill('A second thought.');
    isHeld = false;
    await board.said('#2 has your comment');
    expect(await comment.inputValue()).toBe('A second thought.');
    await page.unrouteAll();
    await board.confirm(panel.getByRole('button', { name: 'Comment #2' }), 'Comment #2?');
    await eventually(async () => expect(await comment.inputValue()).toBe(''));
  });

  test('says that a pull request is not on the board', async () => {
    await page.goto(`${stage.server.origin}/?row=github/acme/shop/999`);
    await page
      .getByRole('dialog', { name: 'acme/shop #999' })
      .getByText('This pull request is not on the board.')
      .waitFor();
  });

  test('reads the checks again while some are running', async () => {
    const taxes = stage.forges.github.repositories[0]!.pullRequests.find(({ number }) => number === 2)!;
    const { checks } = taxes;
    const running = ['lint', 'build'].map((name, index) =>
      githubRun({ databaseId: 70 + index, name, status: 'IN_PROGRESS', conclusion: null, workflowRun: null }),
    );
    Object.assign(taxes, { checks: running });
    const tab = await stage.context.newPage();
    await tab.clock.install();
    await tab.goto(stage.server.origin + open);
    const passed = (count: number) => tab.getByText(`${count} of 2 passed`).waitFor();
    await passed(0);
    Object.assign(running[0]!, { status: 'COMPLETED', conclusion: 'SUCCESS' });
    await tab.clock.fastForward(60_000);
    await passed(1);
    await tab.close();
    Object.assign(taxes, { checks });
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

  test.each([
    [1280, 200],
    [1024, 200],
    [900, 200],
    [820, 280],
    [390, 300],
  ])('the first row of a window of %i px is above %i px', async (width, height) => {
    await page.setViewportSize({ width, height: 800 });
    await page.evaluate(() => localStorage.removeItem('trellis-filters-open'));
    await board.open('/', 'Pull requests');
    await board.rows.first().waitFor();
    const filters = page.getByRole('button', { name: 'Filters', expanded: true });
    if ((await filters.count()) > 0) await filters.click();
    const { y } = (await board.rows.first().boundingBox())!;
    expect(y).toBeLessThan(height);
  });
});
