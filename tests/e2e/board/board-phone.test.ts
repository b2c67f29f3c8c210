import type { Locator, Page } from 'playwright-core';
import { describeInBrowser } from '../support/chromium.js';
import { openBoardFixture, type BoardActions, type BoardFixture } from './board-fixture.js';

/** The minimum size of a touch target, in CSS pixels. */
const FINGER = 44;

describeInBrowser('the board on a phone', () => {
  let stage: BoardFixture;
  let page: Page;
  let at: BoardActions;

  beforeAll(async () => {
    const device = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
    stage = await openBoardFixture(() => undefined, device);
    ({ page, at } = stage);
    await at.shown(9);
  }, 180_000);
  afterAll(() => stage.close());

  async function expectBigEnough(target: Locator): Promise<void> {
    await target.scrollIntoViewIfNeeded();
    const { width, height } = (await target.boundingBox())!;
    expect([String(target), Math.min(width, height) >= FINGER - 0.5]).toEqual([String(target), true]);
  }

  test('frequently used controls are large enough for a finger', async () => {
    const row = at.row('Send receipts');
    const targets = [
      row.getByRole('button', { name: 'Merge #1' }),
      row.getByRole('button', { name: 'CI of #1' }),
      row.getByLabel('More for #1'),
      row.locator('label.choose'),
      page.getByRole('button', { name: 'Refresh' }),
      page.getByRole('button', { name: 'Filters' }),
      page.getByRole('button', { name: 'Needs your review 1', exact: true }),
      page.getByRole('button', { name: 'Select all 9' }),
      page.getByLabel('Search pull requests'),
    ];
    for (const target of targets) await expectBigEnough(target);
    await row.getByRole('button', { name: 'Merge #1' }).tap();
    await expectBigEnough(page.getByRole('button', { name: 'Merge #1?' }));
    await expectBigEnough(page.getByRole('button', { name: 'Cancel' }));
    await page.getByRole('button', { name: 'Cancel' }).tap();
  }, 120_000);

  test('menus open completely inside the screen', async () => {
    const expectInSight = async (menu: Locator): Promise<void> => {
      await menu.waitFor();
      const { x, width } = (await menu.boundingBox())!;
      expect([x >= 0, x + width <= 390]).toEqual([true, true]);
    };
    await page.getByText('Activity', { exact: true }).tap();
    await expectInSight(page.locator('.bar .menu'));
    await page.getByRole('button', { name: 'Filters' }).tap();
    await page.getByLabel('Views: save or delete').tap();
    await expectInSight(page.locator('.filters .menu'));
    await at.row('Send receipts').getByLabel('More for #1').tap();
    await expectInSight(page.locator('.pull .menu'));
    await page.getByRole('button', { name: 'Snooze until this date' }).tap();
    await at.said('is snoozed until');
    await at.shown(8);
  });

  test.each([
    ['a phone on its side', { width: 667, height: 375 }],
    ['400 % zoom', { width: 320, height: 256 }],
  ])('the menu of a row scrolls where it has no room: %s', async (_name, size) => {
    await page.setViewportSize(size);
    await at.row('Drop an old flag').getByLabel('More for #7').tap();
    const menu = page.locator('.pull .menu');
    await menu.waitFor();
    const { y, height } = (await menu.boundingBox())!;
    expect([y >= 0, Math.round(y + height)]).toEqual([true, size.height]);
    const [first, last] = [menu.getByRole('button').first(), menu.getByRole('button').last()];
    for (const button of [last, first]) {
      await button.scrollIntoViewIfNeeded();
      const { y: top } = (await button.boundingBox())!;
      expect(top).toBeGreaterThanOrEqual(y);
    }
    await page.keyboard.press('Escape');
    await page.setViewportSize({ width: 390, height: 844 });
  });

  test('the bar of bulk actions scrolls in a low window, and shows its confirmations', async () => {
    await page.getByRole('button', { name: /^Select all/ }).tap();
    const bulk = page.getByRole('region', { name: 'Selected pull requests' });
    for (const [width, height] of [[320, 256] as const, [480, 270] as const]) {
      await page.setViewportSize({ width, height });
      const box = (await bulk.boundingBox())!;
      expect([box.y > height / 2, Math.round(box.y + box.height)]).toEqual([true, height]);
      for (const name of [/^Merge \(/, /^Close \(/]) {
        await bulk.getByRole('button', { name }).tap();
        const cancel = bulk.getByRole('button', { name: 'Cancel', exact: true });
        await cancel.tap();
        await cancel.waitFor({ state: 'detached' });
      }
    }
    await bulk.getByRole('button', { name: 'Clear selection' }).tap();
    await page.setViewportSize({ width: 390, height: 844 });
  });

  test('the navigation is at the bottom with a "More" menu, and no page scrolls sideways', async () => {
    const tabs = page.getByRole('navigation', { name: 'Pages' });
    const { y, height } = (await tabs.boundingBox())!;
    expect(Math.round(y + height)).toBe(844);
    await expectBigEnough(tabs.getByRole('link', { name: 'Issues' }));
    await tabs.getByLabel('More pages').tap();
    await tabs.getByRole('link', { name: 'Settings' }).tap();
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
    for (const path of ['/', '/issues', '/repositories']) {
      await page.goto(stage.server.origin + path);
      await at.rows.first().waitFor();
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    }
  }, 120_000);
});
