import type { Page } from 'playwright-core';
import { generateKeys } from '../sealing/age-program.js';
import { describeInBrowser } from './chromium.js';
import { createKeyboard } from './keyboard.js';
import type { Keyboard } from './keyboard.js';
import { openStage } from './stage.js';
import type { Stage } from './stage.js';

/** With a device whose passkeys wrap no keys, so that the phrase has to do. */
describeInBrowser('the pages of secrets, by the keyboard alone', () => {
  let stage: Stage;
  let page: Page;
  let keyboard: Keyboard;

  beforeAll(async () => {
    stage = await openStage({ services: 'dashboard,secrets', hasPrf: false });
    page = stage.page;
    keyboard = createKeyboard(page);
  }, 60_000);
  afterAll(() => stage.close());

  const said = (text: RegExp | string) => page.getByRole('status').getByText(text).waitFor();

  test('the owner makes an identity, stores, opens, replaces and deletes a secret', async () => {
    const { press, type, focused, tabTo, pressOn, confirm } = keyboard;
    await page.goto(`${stage.server.origin}/vault`);
    await pressOn('link "Make your identity"');
    await page.getByRole('button', { name: 'Make my identity' }).waitFor();
    await pressOn('button "Make my identity"');
    const words = page.getByRole('list', { name: 'Recovery phrase' }).getByRole('listitem');
    await words.first().waitFor();
    const phrase = await words.allTextContents();
    expect(await focused()).toContain('heading "1. Write down the recovery phrase"');
    await pressOn('button "I have written it down"');
    for (const at of [1, 2]) {
      await tabTo('textbox "Word ');
      const number = Number(/Word (\d+)/.exec(await focused())![1]);
      await type(phrase[number - 1]!);
      if (at === 2) await press('Enter');
    }
    await page.getByRole('heading', { name: '3. Open it with a passkey' }).waitFor();
    await pressOn('button "Use the passkey');
    await page.getByRole('alert').getByText('This passkey can’t open the identity').waitFor();
    await pressOn('button "Keep the phrase alone"');
    await said('Your identity is made.');

    const { recipient } = generateKeys();
    await press('Shift+Tab');
    await pressOn('link "Consumers"');
    await page.getByRole('heading', { name: 'Add a consumer' }).waitFor();
    await tabTo('textbox "Name"');
    await type('acme/shop');
    await press('Tab');
    await type(recipient);
    await press('Enter');
    await said('“acme/shop” is a consumer now.');

    await page.goto(`${stage.server.origin}/vault`);
    await pressOn('link "New secret"');
    await page.getByRole('checkbox', { name: 'acme/shop' }).waitFor();
    await page.getByRole('checkbox', { name: 'Seal it to my own key too' }).waitFor();
    await tabTo('textbox "Name"');
    await type('api-key');
    await tabTo('textbox "Value"');
    await type('first');
    await tabTo('checkbox "acme/shop"');
    await press('Space');
    await tabTo('checkbox "Seal it to my own key too');
    await press('Space');
    await pressOn('button "Seal and store"');
    await page.getByRole('button', { name: 'Open here' }).waitFor();

    await pressOn('button "Open here"');
    await page.getByText('Use the recovery phrase').waitFor();
    await pressOn('Use the recovery phrase');
    await tabTo('textbox "The 24 words"');
    await type(phrase.join(' '));
    await pressOn('button "Open with the phrase"');
    await page.getByText('first', { exact: true }).waitFor();
    expect(await focused()).toContain('group "The value of api-key"');
    await pressOn('button "Hide"');
    expect(await focused()).toContain('button "Open here"');

    await pressOn('Replace the value');
    await tabTo('textbox "New value"');
    await type('second');
    await pressOn('button "Seal and replace"');
    await said('“api-key” has a new value');
    expect(await focused()).toContain('Replace the value');
    await confirm('button "Delete api-key"');
    await page.getByRole('heading', { name: 'Secrets', level: 1 }).waitFor();
    expect(stage.takeComplaints()).toEqual([]);
  }, 60_000);
});
