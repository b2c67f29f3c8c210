import type { Page } from 'playwright-core';
import { generateKeys } from '../sealing/age-program.js';
import { expectAccessible } from './axe.js';
import { describeInBrowser } from './chromium.js';
import { createKeyboard } from './keyboard.js';
import type { Keyboard } from './keyboard.js';
import { openStage } from './stage.js';
import type { Stage } from './stage.js';

/** Of a server with nothing else, with a device whose passkeys wrap no keys, so that the phrase has to do. */
describeInBrowser('the pages of secrets, by the keyboard alone', () => {
  let stage: Stage;
  let page: Page;
  let keyboard: Keyboard;

  beforeAll(async () => {
    stage = await openStage({ services: 'secrets', hasPrf: false });
    page = stage.page;
    keyboard = createKeyboard(page);
  });
  afterAll(() => stage.close());

  const said = (text: RegExp | string) => page.getByRole('status').getByText(text).last().waitFor();

  test('the owner makes an identity, stores, opens, replaces and deletes a secret', async () => {
    const { press, type, focused, arriveAt, tabTo, pressOn, confirm } = keyboard;
    await page.goto(`${stage.server.origin}/vault`);
    await arriveAt('heading "Secrets"');
    await pressOn('link "Make your identity"');
    await arriveAt('heading "Owner"');
    await pressOn('button "Make my identity"');
    const words = page.getByRole('list', { name: 'Recovery phrase' }).getByRole('listitem');
    await arriveAt('heading "1. Write down the recovery phrase"');
    const phrase = await words.allTextContents();
    expect(phrase).toHaveLength(24);
    await pressOn('button "I have written it down"');
    await arriveAt('heading "2. Look at what you wrote"');
    for (const at of [1, 2]) {
      await tabTo('textbox "Word ');
      const number = Number(/Word (\d+)/.exec(await focused())![1]);
      await type(phrase[number - 1]!);
      if (at === 2) await press('Enter');
    }
    await arriveAt('heading "3. Open it with a passkey"');
    await pressOn('button "Use the passkey');
    await page.getByRole('alert').getByText('This passkey can’t open the identity').waitFor();
    await pressOn('button "Keep the phrase alone"');
    await said('Your identity is made.');

    const { recipient } = generateKeys();
    await press('Shift+Tab');
    await pressOn('link "Consumers"');
    await arriveAt('heading "Consumers"');
    await tabTo('textbox "Name"');
    await type('acme/shop');
    await press('Tab');
    await type(recipient);
    await press('Enter');
    await said('“acme/shop” is a consumer now.');

    await page.goto(`${stage.server.origin}/vault`);
    await arriveAt('heading "Secrets"');
    await pressOn('link "New secret"');
    await arriveAt('heading "New secret"');
    // What is loaded late stands after what is filled in first.
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
    await arriveAt('heading "api-key"');

    await pressOn('button "Open here"');
    await pressOn('Use the recovery phrase');
    await tabTo('textbox "The 24 words"');
    await type(phrase.join(' '));
    await pressOn('button "Open with the phrase"');
    await page.getByText('first', { exact: true }).waitFor();
    await arriveAt('group "The value of api-key"');
    await pressOn('button "Hide"');
    await arriveAt('button "Open here"');

    await pressOn('Replace the value');
    await tabTo('textbox "New value"');
    await type('second');
    await pressOn('button "Seal and replace"');
    await said('“api-key” has a new value');
    await arriveAt('Replace the value');
    await confirm('button "Delete api-key"');
    await arriveAt('heading "Secrets"');
    expect(stage.takeComplaints()).toEqual([]);
  });

  test('their settings are of the account alone, and sign out', async () => {
    const { arriveAt, pressOn } = keyboard;
    await pressOn('link "Settings"');
    await arriveAt('heading "Settings"');
    await page.getByRole('heading', { name: 'Passkeys' }).waitFor();
    expect(await page.getByRole('heading', { level: 2 }).allTextContents()).toEqual(['Passkeys']);
    await expectAccessible(page);
    await pressOn('button "Sign out"');
    await arriveAt('heading "Sign in"');
    expect(stage.takeComplaints()).toEqual([]);
  });
});
