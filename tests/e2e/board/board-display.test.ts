import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { eventually } from '../../eventually.js';
import { githubPullRequest } from '../../forges/github-state.js';
import { GITHUB_TOKEN } from '../../forges/github.js';
import { describeInBrowser } from '../support/chromium.js';
import { openForgeFixture, type ForgeFixture } from '../support/forge-fixture.js';
import { createKeyboard } from '../support/keyboard.js';
import { openBoardFixture, type BoardFixture } from './board-fixture.js';
import type { BoardForges } from './board-forges.js';

/** The first row of a list starts above this line of a laptop's screen. */
const FIRST_ROW_PX = 200;

// cspell:disable-next-line
const ARABIC = 'تقريب الضرائب كما يفعل مكتب الضرائب';

function fill({ github }: BoardForges): void {
  for (let number = 40; number < 60; number += 1) {
    github.repositories[0]!.pullRequests.push(githubPullRequest(number, { title: `Part ${number}` }));
  }
  github.repositories[0]!.pullRequests.push(githubPullRequest(70, { title: ARABIC }));
}

describeInBrowser('display of the board', () => {
  let stage: BoardFixture;
  let page: Page;

  beforeAll(async () => {
    stage = await openBoardFixture(fill);
    ({ page } = stage);
    await page.getByRole('button', { name: 'Filters', expanded: true }).click();
  });
  afterEach(() => {
    expect(stage.takeComplaints()).toEqual([]);
  });
  afterAll(() => stage.close());

  test('the first row of a laptop is above 200 px', async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await stage.at.open('/', 'Pull requests');
    const { y } = (await stage.at.rows.first().boundingBox())!;
    expect(y).toBeLessThan(FIRST_ROW_PX);
  });

  test('a row that asks for a review leads to its changes, and other rows to their next step', async () => {
    const review = stage.at.row('Name the columns').getByRole('link', { name: 'Review #6' });
    expect(await review.getAttribute('href')).toMatch(/\/acme\/shop\/pull\/6\/files$/);
    await stage.at.row('Send receipts').getByRole('button', { name: 'Merge #1' }).waitFor();
    await stage.at.row('Round taxes').getByRole('button', { name: 'Rerun checks #2' }).waitFor();
    expect(await stage.at.row('Round taxes').getByRole('button', { name: 'Merge #2' }).count()).toBe(0);
  });

  test('the menu of the last visible row opens inside the window', async () => {
    await page.setViewportSize({ width: 1200, height: 700 });
    await stage.at.open('/', 'Pull requests');
    const row = stage.at.row('Part 45');
    await row.evaluate((element) => element.scrollIntoView({ block: 'end' }));
    await row.getByLabel('More for #45').click();
    const { x, y, width, height } = (await row.locator('.menu').boundingBox())!;
    expect([x >= 0, y >= 0, x + width <= 1200, y + height <= 700]).toEqual([true, true, true, true]);
    await page.keyboard.press('Escape');
  });

  test('rows have the mark of their code host, and the initials of their author and reviewers', async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    const row = stage.at.row('Name the columns');
    await row.getByRole('img', { name: 'GitHub' }).waitFor();
    await stage.at.row('Sharpen the saw').getByRole('img', { name: 'Forgejo' }).waitFor();
    expect(await row.locator('.where .avatar').getAttribute('data-initials')).toBe('L');
    await row.getByRole('img', { name: 'Review requested from mona' }).waitFor();
  });

  test('labels of rows are no tab stops', async () => {
    const keyboard = createKeyboard(page);
    await stage.at.row('Send receipts').getByRole('link', { name: 'Send receipts' }).focus();
    await keyboard.press('Tab');
    expect(await keyboard.focused()).toContain('CI of #1');
  });

  test('a right-to-left title starts at the right', async () => {
    const title = stage.at.row(ARABIC).locator('.title');
    expect(await title.evaluate((element) => getComputedStyle(element).direction)).toBe('rtl');
  });

  test('a printed list leaves no room for the panel, which is not printed', async () => {
    await stage.at.open('/', 'Pull requests');
    const row = stage.at.row('Send receipts');
    const readPrintedWidth = async (): Promise<number> => {
      await page.emulateMedia({ media: 'print' });
      const { width } = (await row.boundingBox())!;
      await page.emulateMedia({ media: null });
      return width;
    };
    const width = await readPrintedWidth();
    await row.getByRole('button', { name: /^CI of/ }).click();
    await page.getByRole('dialog').waitFor();
    expect(await readPrintedWidth()).toBe(width);
    await page.keyboard.press('Escape');
  });

  test('with forced colours, pressed filters and the swatches of legends differ, and the slider is drawn', async () => {
    await page.emulateMedia({ forcedColors: 'active' });
    const background = (selector: string): Promise<string> =>
      page
        .locator(selector)
        .first()
        .evaluate((element) => getComputedStyle(element).backgroundColor);
    await stage.at.open('/', 'Pull requests');
    expect(await background('.tabs [aria-pressed=true]')).not.toBe(await background('.tabs [aria-pressed=false]'));
    const colours = await page
      .getByRole('button', { name: /^All \d/, pressed: true })
      .evaluate((tab) => [tab, tab.querySelector('.quiet')!].map((part) => getComputedStyle(part).color));
    expect(colours[1]).toBe(colours[0]);
    await stage.at.open('/insights', 'Insights');
    await page.locator('.swatch.good').first().waitFor();
    expect(await background('.swatch.good')).not.toBe(await background('.swatch.bad'));
    const { entropy } = await sharp(await page.getByRole('slider', { name: 'Day' }).screenshot()).stats();
    // A picture of one colour has an entropy of 0.
    expect(entropy).toBeGreaterThan(0);
    await page.emulateMedia({ forcedColors: null });
  });

  test('on paper, the swatches of legends keep their colours', async () => {
    await page.emulateMedia({ media: 'print' });
    await stage.at.open('/insights', 'Insights');
    const readAdjustment = (selector: string): Promise<string> =>
      page
        .locator(selector)
        .first()
        .evaluate((element) => getComputedStyle(element).printColorAdjust);
    expect(await readAdjustment('.swatch')).toBe('exact');
    expect(await readAdjustment('.periods label:has(:checked)')).toBe('exact');
    await page.emulateMedia({ media: null });
  });

  test('the period of the throughput chart is in the address', async () => {
    await stage.at.open('/insights?period=90', 'Insights');
    expect(await page.getByRole('radio', { name: '90 days' }).isChecked()).toBe(true);
    await page.getByText('A year', { exact: true }).click();
    await page.waitForURL('**/insights?period=365');
    await page.goBack();
    await page.waitForFunction(
      () => document.querySelector<HTMLInputElement>('.periods :checked')?.closest('label')?.textContent === '90 days',
    );
  });

  test('rows far below the screen are drawn when the page is scrolled, or when they are asked for', async () => {
    const { rows } = stage.at;
    for (let number = 100; number < 400; number += 1) {
      stage.forges.github.repositories[0]!.pullRequests.push(githubPullRequest(number, { title: `Long ${number}` }));
    }
    await stage.at.open('/', 'Pull requests');
    await page.getByRole('button', { name: 'Refresh' }).click();
    const more = page.getByRole('button', { name: /^Show the other \d+$/ });
    const drawn = async (): Promise<number> => {
      const rest = Number((await more.textContent())?.match(/\d+/)?.[0]);
      const count = await rows.count();
      const [, all] = (await page.getByRole('status').filter({ hasText: 'shown' }).textContent())!.split(' of ');
      expect(count + rest).toBe(Number.parseInt(all!, 10));
      return count;
    };
    await more.waitFor();
    const first = await drawn();
    expect(first).toBeGreaterThanOrEqual(100);
    expect(first).toBeLessThan(200);
    await rows.last().scrollIntoViewIfNeeded();
    await eventually(async () => expect(await drawn()).toBeGreaterThan(first));
    // A click would scroll to the button, which draws rows too.
    await page.evaluate(() => scrollTo(0, 0));
    await more.evaluate((button: HTMLElement) => button.click());
    await more.waitFor({ state: 'detached' });
    await eventually(async () => expect(await rows.count()).toBeGreaterThan(300));
  });

  test('on paper, the board has no controls', async () => {
    await stage.at.open('/', 'Pull requests');
    await page.emulateMedia({ media: 'print' });
    await stage.at.rows.first().waitFor();
    const controls = 'main :is(input, select, .filters button, .actions button, .actions a)';
    expect(await page.locator(controls).filter({ visible: true }).count()).toBe(0);
    await page.emulateMedia({ media: null });
  });
});

describeInBrowser('a code host that refuses its token', () => {
  let stage: ForgeFixture;

  beforeAll(async () => {
    stage = await openForgeFixture({});
  });
  afterAll(() => stage.close());

  test('is reported when it is saved, and named by the empty board', async () => {
    const { page, server, forges } = stage;
    await page.goto(`${server.origin}/settings`);
    const form = page.getByRole('group', { name: 'GitHub', exact: true });
    await form.getByLabel('URL').fill(forges.github.url);
    await form.getByLabel('Username').fill('mona');
    await form.getByLabel('Token', { exact: true }).fill(`${GITHUB_TOKEN}-refused`);
    await form.getByRole('button', { name: 'Save GitHub' }).click();
    await page.getByRole('alert').getByText('GitHub settings saved, but GitHub could not be read with them.').waitFor();
    await page.getByRole('link', { name: 'Pull requests', exact: true }).click();
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByText('GitHub could not be read.').waitFor();
    await page.getByRole('link', { name: 'Check the settings of GitHub' }).click();
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
  });
});
