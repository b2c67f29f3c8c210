import type { Locator, Page } from 'playwright-core';
import { expectAccessible } from './axe.js';
import { boardPage, eventually, openBoardStage } from './board-stage.js';
import type { BoardPage, BoardStage } from './board-stage.js';
import { describeInBrowser } from './chromium.js';

/** The clock of the page stands still but where a test moves it. */
describeInBrowser('a question before an action', () => {
  let stage: BoardStage;
  let page: Page;
  let at: BoardPage;
  let merge: Locator;
  const asks = (): Locator => page.getByRole('button', { name: 'Really merge?' });
  const pass = (milliseconds: number): Promise<void> => page.clock.runFor(milliseconds);
  const away = (): Promise<void> => page.mouse.move(5, 5);
  const state = (number: number) =>
    stage.forges.github.repositories[0]!.pullRequests.find((one) => one.number === number)!.state;

  async function arm(): Promise<void> {
    await merge.click();
    await asks().waitFor();
    await pass(50);
  }

  beforeAll(async () => {
    stage = await openBoardStage();
    page = await stage.context.newPage();
    at = boardPage(page, stage.server.origin);
    await page.clock.install();
    await at.open('/', 'Pull requests');
    merge = at.row('Send receipts').getByRole('button', { name: 'Merge #1' });
    await merge.waitFor();
    await page.clock.pauseAt(Date.now() + 600_000);
  });
  afterEach(() => {
    expect(stage.takeComplaints()).toEqual([]);
  });
  afterAll(() => stage.close());

  test('is taken back after eight seconds, which stop while a pointer rests on it', async () => {
    await arm();
    await pass(60_000);
    await asks().waitFor();
    await away();
    await pass(7_900);
    await asks().waitFor();
    await pass(200);
    await merge.waitFor();
    expect(await asks().count()).toBe(0);
  });

  test('stops its time while the page can’t be seen', async () => {
    await arm();
    await away();
    await see(false);
    await pass(60_000);
    await asks().waitFor();
    await see(true);
    await pass(8_100);
    await merge.waitFor();
  });

  test('waits for the keyboard, by which it is answered, left or cancelled', async () => {
    await away();
    await page.keyboard.press('j');
    await merge.press('Enter');
    await pass(60_000);
    await asks().waitFor();
    await page.keyboard.press('Tab');
    await page.getByRole('button', { name: 'Cancel' }).and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Enter');
    await merge.and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Enter');
    await asks().waitFor();
    await page.keyboard.press('Shift+Tab');
    await merge.waitFor();
    await page.locator(':focus').blur();
  });

  test.each([
    ['Escape', () => page.keyboard.press('Escape')],
    ['a touch elsewhere', () => page.getByRole('heading', { level: 1 }).click()],
    ['its own way back', () => page.getByRole('button', { name: 'Cancel' }).click()],
    ['a question of another row', () => at.row('Name the columns').getByRole('button', { name: 'Merge #6' }).click()],
  ])('is taken back by %s', async (_way, leave) => {
    await arm();
    await leave();
    await merge.waitFor();
    await page.keyboard.press('Escape');
    await eventually(() => asks().count(), 0);
    expect(state(1)).toBe('OPEN');
  });

  test('holds its row where it is while another one goes', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    stage.forges.github.beforeSending = ({ path }) => (path.endsWith('/6/merge') ? held : Promise.resolve());
    await at.row('Name the columns').getByRole('button', { name: 'Merge #6' }).click();
    await asks().waitFor();
    await pass(500);
    await asks().click();
    await away();
    await arm();
    const before = await merge.or(asks()).boundingBox();
    release();
    await at.said('acme/shop #6 is merged.');
    await at.row('Name the columns').waitFor();
    expect(await asks().boundingBox()).toEqual(before);
    await page.keyboard.press('Escape');
    await at.row('Name the columns').waitFor({ state: 'detached' });
  });

  test('is no answer before 400 milliseconds, and one afterwards', async () => {
    await merge.click();
    await asks().waitFor();
    await pass(390);
    await asks().click();
    await asks().waitFor();
    await pass(20);
    await asks().click();
    await at.said('acme/shop #1 is merged.');
    expect(state(1)).toBe('MERGED');
  });

  test('is accessible while it waits for the keyboard', async () => {
    // The rules are looked at by timers.
    await page.clock.resume();
    await at.row('Drop an old flag').getByRole('button', { name: 'Merge #7' }).press('Enter');
    await asks().waitFor();
    await expectAccessible(page);
    await asks().waitFor();
    expect(state(7)).toBe('OPEN');
  });

  /** A browser without windows hides none. */
  async function see(isSeen: boolean): Promise<void> {
    await page.evaluate((hidden) => {
      Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    }, !isSeen);
  }
});
