import type { Page } from 'playwright-core';
import { generateKeys } from '../../sealing/age-program.js';
import { expectAccessible } from '../support/axe.js';
import { describeInBrowser } from '../support/chromium.js';
import { openPageFixture, type PageFixture } from '../support/fixtures.js';
import { createKeyboard, type Keyboard } from '../support/keyboard.js';

/** Only the secrets service runs, and the authenticator has no PRF, so that only the phrase can unlock the key. */
describeInBrowser('secrets pages by keyboard', () => {
  let stage: PageFixture;
  let page: Page;
  let keyboard: Keyboard;

  beforeAll(async () => {
    stage = await openPageFixture({ services: 'secrets', hasPrf: false });
    page = stage.page;
    keyboard = createKeyboard(page);
  });
  afterAll(() => stage.close());

  const said = (text: RegExp | string) => page.getByRole('status').getByText(text).last().waitFor();

  test('the owner creates a key, and creates, shows, replaces and deletes a secret', async () => {
    const { press, type, focused, arriveAt, tabTo, pressOn, confirm } = keyboard;
    await page.goto(`${stage.server.origin}/vault`);
    await arriveAt('heading "Secrets"');
    await pressOn('link "My key"');
    await arriveAt('heading "My key"');
    await pressOn('button "Create my key"');
    const words = page.getByRole('list', { name: 'Recovery phrase' }).getByRole('listitem');
    await arriveAt('heading "1. Write down your recovery phrase"');
    const phrase = await words.allTextContents();
    expect(phrase).toHaveLength(24);
    await pressOn('button "I have written it down"');
    await arriveAt('heading "2. Confirm your recovery phrase"');
    for (const at of [1, 2]) {
      await tabTo('textbox "Word ');
      const number = Number(/Word (\d+)/.exec(await focused())![1]);
      await type(phrase[number - 1]!);
      if (at === 2) await press('Enter');
    }
    await arriveAt('heading "3. Unlock with a passkey"');
    await pressOn('button "Use the passkey');
    await page.getByRole('alert').getByText('This passkey can’t unlock your key').waitFor();
    await pressOn('button "Use only the phrase"');
    await said('Key created.');

    const { recipient } = generateKeys();
    await press('Shift+Tab');
    await pressOn('link "Consumers"');
    await arriveAt('heading "Consumers"');
    await tabTo('textbox "Name"');
    await type('acme/shop');
    await press('Tab');
    await type(recipient);
    await press('Enter');
    await said('Consumer “acme/shop” added.');

    await page.goto(`${stage.server.origin}/vault`);
    await arriveAt('heading "Secrets"');
    await pressOn('link "New secret"');
    await arriveAt('heading "New secret"');
    // Waits for the parts of the form that load late, as they follow the first fields in the tab order.
    await page.getByRole('checkbox', { name: 'acme/shop' }).waitFor();
    await page.getByRole('checkbox', { name: 'Encrypt it to my own key too' }).waitFor();
    await tabTo('textbox "Name"');
    await type('api-key');
    await tabTo('textbox "Value"');
    await type('first');
    await tabTo('checkbox "acme/shop"');
    await press('Space');
    await tabTo('checkbox "Encrypt it to my own key too');
    await press('Space');
    await pressOn('button "Save secret"');
    await arriveAt('heading "api-key"');

    await pressOn('button "Show value"');
    await pressOn('Use the recovery phrase');
    await tabTo('textbox "Recovery phrase (24 words)"');
    await type(phrase.join(' '));
    await pressOn('button "Unlock with phrase"');
    await page.getByText('first', { exact: true }).waitFor();
    await arriveAt('group "Value of api-key"');
    await pressOn('button "Hide"');
    await arriveAt('button "Show value"');

    await pressOn('Replace value');
    await tabTo('textbox "New value"');
    await type('second');
    await pressOn('button "Save new value"');
    await said('Value of “api-key” replaced.');
    await arriveAt('Replace value');
    await confirm('button "Delete api-key"');
    await arriveAt('heading "Secrets"');
    expect(stage.takeComplaints()).toEqual([]);
  });

  test('the settings show the account and the appearance, and sign the owner out', async () => {
    const { arriveAt, pressOn } = keyboard;
    await pressOn('link "Settings"');
    await arriveAt('heading "Settings"');
    await page.getByRole('heading', { name: 'Passkeys' }).waitFor();
    expect(await page.getByRole('heading', { level: 2 }).allTextContents()).toEqual([
      'Passkeys',
      'Sessions',
      'Appearance',
    ]);
    await expectAccessible(page);
    await pressOn('button "Sign out"');
    await arriveAt('heading "Sign in"');
    expect(stage.takeComplaints()).toEqual([]);
  });
});
