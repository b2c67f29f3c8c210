import type { Locator, Page } from 'playwright-core';
import { expectAccessible } from '../support/axe.js';
import { describeInBrowser } from '../support/chromium.js';
import { eventuallyEquals, openBoardFixture, type BoardActions, type BoardFixture } from './board-fixture.js';

/** The clock of the page is paused and advances only where a test moves it. */
describeInBrowser('confirmation of an action', () => {
  let stage: BoardFixture;
  let page: Page;
  let at: BoardActions;
  let merge: Locator;
  const question = (): Locator => page.getByRole('button', { name: /^Merge #\d+\?$/ });
  const pass = (milliseconds: number): Promise<void> => page.clock.runFor(milliseconds);
  const away = (): Promise<void> => page.mouse.move(5, 5);
  const state = (number: number) =>
    stage.forges.github.repositories[0]!.pullRequests.find((one) => one.number === number)!.state;

  async function arm(): Promise<void> {
    await merge.click();
    await question().waitFor();
    await pass(50);
  }

  beforeAll(async () => {
    stage = await openBoardFixture();
    ({ page, at } = stage);
    await page.clock.install();
    await at.open('/', 'Pull requests');
    merge = at.row('Send receipts').getByRole('button', { name: 'Merge #1', exact: true });
    await merge.waitFor();
    await page.clock.pauseAt(Date.now() + 600_000);
  });
  afterEach(() => {
    expect(stage.takeComplaints()).toEqual([]);
  });
  afterAll(() => stage.close());

  test('is cancelled after eight seconds without a pointer over it', async () => {
    await arm();
    await pass(60_000);
    await question().waitFor();
    await away();
    await pass(7_900);
    await question().waitFor();
    await pass(200);
    await merge.waitFor();
    expect(await question().count()).toBe(0);
  });

  test('does not time out while the page is hidden', async () => {
    await arm();
    await away();
    await see(false);
    await pass(60_000);
    await question().waitFor();
    await see(true);
    await pass(8_100);
    await merge.waitFor();
  });

  test('does not time out while it has the keyboard focus, and is cancelled when the focus leaves', async () => {
    await away();
    await page.keyboard.press('j');
    await merge.press('Enter');
    await pass(60_000);
    await question().waitFor();
    await page.keyboard.press('Tab');
    await page.getByRole('button', { name: 'Cancel' }).and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Enter');
    await merge.and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Enter');
    await question().waitFor();
    await page.keyboard.press('Shift+Tab');
    await merge.waitFor();
    await page.locator(':focus').blur();
  });

  test.each([
    ['Escape', () => page.keyboard.press('Escape')],
    ['a click elsewhere', () => page.getByRole('heading', { level: 1 }).click()],
    ['its Cancel button', () => page.getByRole('button', { name: 'Cancel' }).click()],
    [
      'a confirmation in a different row',
      () => at.row('Try one more thing').getByRole('button', { name: 'Merge #8', exact: true }).click(),
    ],
  ])('is cancelled by %s', async (_way, leave) => {
    await arm();
    await leave();
    await merge.waitFor();
    await page.keyboard.press('Escape');
    await eventuallyEquals(() => question().count(), 0);
    expect(state(1)).toBe('OPEN');
  });

  test('keeps its row in place while a different row is removed', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    stage.forges.github.beforeSending = ({ path }) => (path.endsWith('/8/merge') ? held : Promise.resolve());
    await at.row('Try one more thing').getByRole('button', { name: 'Merge #8', exact: true }).click();
    await question().waitFor();
    await pass(500);
    await question().click();
    await away();
    await arm();
    const before = await merge.or(question()).boundingBox();
    release();
    await at.said('acme/shop #8 was merged.');
    await at.row('Try one more thing').waitFor();
    expect(await question().boundingBox()).toEqual(before);
    await page.keyboard.press('Escape');
    await at.row('Try one more thing').waitFor({ state: 'detached' });
  });

  test('ignores a second press within 400 milliseconds', async () => {
    await merge.click();
    await question().waitFor();
    await pass(390);
    await question().click();
    await question().waitFor();
    await pass(20);
    await question().click();
    await at.said('acme/shop #1 was merged.');
    expect(state(1)).toBe('MERGED');
  });

  test('is accessible while it has the keyboard focus', async () => {
    // axe uses timers.
    await page.clock.resume();
    await at.row('Drop an old flag').getByRole('button', { name: 'Merge #7', exact: true }).press('Enter');
    await question().waitFor();
    await expectAccessible(page);
    await question().waitFor();
    expect(state(7)).toBe('OPEN');
  });

  /** Simulates a hidden page, as a headless browser never hides one. */
  async function see(isSeen: boolean): Promise<void> {
    await page.evaluate((hidden) => {
      Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    }, !isSeen);
  }
});
