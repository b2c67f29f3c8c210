import type { Page } from 'playwright-core';
import { eventually } from '../eventually.js';
import { openBoardFixture, type BoardFixture } from './board/board-fixture.js';
import { expectAccessible } from './support/axe.js';
import { describeInBrowser } from './support/chromium.js';
import { createKeyboard, type Keyboard } from './support/keyboard.js';

describeInBrowser('the command palette', () => {
  let stage: BoardFixture;
  let page: Page;
  let keyboard: Keyboard;
  const dialog = () => page.getByRole('dialog', { name: 'Command palette' });
  const open = async (text: string): Promise<void> => {
    await keyboard.press('Control+k');
    await dialog().waitFor();
    await keyboard.type(text);
  };

  beforeAll(async () => {
    stage = await openBoardFixture();
    ({ page } = stage);
    keyboard = createKeyboard(page);
  });
  afterEach(() => {
    expect(stage.takeComplaints()).toEqual([]);
  });
  afterAll(() => stage.close());

  test('opens a page by keyboard', async () => {
    await open('insights');
    await page.getByRole('option', { name: 'Page Insights', selected: true }).waitFor();
    await keyboard.press('Enter');
    await keyboard.arriveAt('heading "Insights"');
  });

  test('finds pull requests and repositories of the board, and Escape closes it', async () => {
    await open('receipts');
    await page.getByRole('option', { name: 'Pull request Send receipts as PDF acme/shop #1' }).waitFor();
    await keyboard.type('repository shop');
    await keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
    await open('repository acme');
    await page.getByRole('option', { name: 'Repository acme/shop (GitHub)' }).click();
    await page.getByRole('heading', { name: 'Repositories', level: 1 }).waitFor();
    await eventually(() => expect(new URL(page.url()).search).toBe('?text=acme%2Fshop'));
  });

  test('leaves the keys of an input method alone', async () => {
    await open('insights');
    await page.getByRole('option', { name: 'Page Insights', selected: true }).waitFor();
    // Enter accepts the characters that an input method suggests.
    await dialog().getByRole('combobox').dispatchEvent('keydown', { key: 'Enter', isComposing: true });
    await dialog().waitFor();
    await keyboard.press('Enter');
    await keyboard.arriveAt('heading "Insights"');
  });

  test('performs an action, and says when nothing is found', async () => {
    await open('dark');
    await keyboard.press('Enter');
    // The colours follow the choice, not only the browser's controls.
    await page.waitForFunction(() => getComputedStyle(document.body).backgroundColor === 'rgb(20, 25, 23)');
    await open('system');
    await keyboard.press('Enter');
    await open('no such thing');
    await dialog().getByText('Nothing found.').waitFor();
    await keyboard.press('Escape');
  });

  test('stays open if it is opened in the frame in which it was closed', async () => {
    await open('');
    await page.evaluate(async () => {
      document.querySelector('dialog')?.close();
      document.dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true }));
      for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
    });
    await dialog().waitFor();
    await keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
  });

  test('is opened by its button, and is accessible', async () => {
    await page.getByRole('button', { name: 'Search everything' }).click();
    await dialog().waitFor();
    await expectAccessible(page);
    await keyboard.press('Escape');
  });
});
