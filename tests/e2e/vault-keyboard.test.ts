import type { Page } from 'playwright-core';
import { generateKeys } from '../sealing/age-program.js';
import { describeInBrowser } from './chromium.js';
import { openVault } from './vault-stage.js';
import type { VaultStage } from './vault-stage.js';

/** More stops than any page has. */
const MOST_STOPS = 80;

/** With a device whose passkeys wrap no keys, so that the phrase has to do. */
describeInBrowser('the pages of secrets, by the keyboard alone', () => {
  let stage: VaultStage;
  let page: Page;

  beforeAll(async () => {
    stage = await openVault({ hasPrf: false });
    page = stage.page;
  }, 60_000);
  afterAll(() => stage.close());

  const press = (...keys: string[]) =>
    keys.reduce((before, key) => before.then(() => page.keyboard.press(key)), Promise.resolve());
  const type = (text: string) => page.keyboard.insertText(text);
  const said = (text: RegExp | string) => page.getByRole('status').getByText(text).waitFor();

  /** The role and the name that a screen reader says of what has the focus. */
  async function focused(): Promise<string> {
    const snapshot = await page.locator(':focus').ariaSnapshot();
    return snapshot.split('\n')[0] ?? '';
  }

  /** Goes on by Tab to what is called so. */
  async function tabTo(name: string): Promise<void> {
    const seen: string[] = [];
    for (let stop = 0; stop < MOST_STOPS; stop += 1) {
      await press('Tab');
      const reached = (await page.locator(':focus').count()) === 0 ? '' : await focused();
      seen.push(reached);
      if (reached.includes(name)) return;
    }
    throw new Error(`Expected the keyboard to reach ${name}; it came past ${seen.join(' | ')}.`);
  }

  async function confirm(name: string): Promise<void> {
    await tabTo(name);
    await press('Enter');
    // A key that comes sooner is taken for the second half of a double press.
    await page.waitForTimeout(500);
    await press('Enter');
  }

  test('the owner makes an identity, stores, opens, replaces and deletes a secret', async () => {
    await page.goto(`${stage.server.origin}/vault`);
    await tabTo('link "Make your identity"');
    await press('Enter');
    await page.getByRole('button', { name: 'Make my identity' }).waitFor();
    await tabTo('button "Make my identity"');
    await press('Enter');
    const words = page.getByRole('list', { name: 'Recovery phrase' }).getByRole('listitem');
    await words.first().waitFor();
    const phrase = await words.allTextContents();
    expect(await focused()).toContain('heading "1. Write down the recovery phrase"');
    await tabTo('button "I have written it down"');
    await press('Enter');
    for (const at of [1, 2]) {
      await tabTo('textbox "Word ');
      const number = Number(/Word (\d+)/.exec(await focused())![1]);
      await type(phrase[number - 1]!);
      if (at === 2) await press('Enter');
    }
    await page.getByRole('heading', { name: '3. Open it with a passkey' }).waitFor();
    await tabTo('button "Use the passkey');
    await press('Enter');
    await page.getByRole('alert').getByText('This passkey can’t open the identity').waitFor();
    await tabTo('button "Keep the phrase alone"');
    await press('Enter');
    await said('Your identity is made.');

    const { recipient } = generateKeys();
    await press('Shift+Tab');
    await tabTo('link "Consumers"');
    await press('Enter');
    await page.getByRole('heading', { name: 'Add a consumer' }).waitFor();
    await tabTo('textbox "Name"');
    await type('acme/shop');
    await press('Tab');
    await type(recipient);
    await press('Enter');
    await said('“acme/shop” is a consumer now.');

    await page.goto(`${stage.server.origin}/vault`);
    await tabTo('link "New secret"');
    await press('Enter');
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
    await tabTo('button "Seal and store"');
    await press('Enter');
    await page.getByRole('button', { name: 'Open here' }).waitFor();

    await tabTo('button "Open here"');
    await press('Enter');
    await page.getByText('Use the recovery phrase').waitFor();
    await tabTo('Use the recovery phrase');
    await press('Enter');
    await tabTo('textbox "The 24 words"');
    await type(phrase.join(' '));
    await tabTo('button "Open with the phrase"');
    await press('Enter');
    await page.getByText('first', { exact: true }).waitFor();
    expect(await focused()).toContain('group "The value of api-key"');
    await tabTo('button "Hide"');
    await press('Enter');
    expect(await focused()).toContain('button "Open here"');

    await tabTo('Replace the value');
    await press('Enter');
    await tabTo('textbox "New value"');
    await type('second');
    await tabTo('button "Seal and replace"');
    await press('Enter');
    await said('“api-key” has a new value');
    expect(await focused()).toContain('Replace the value');
    await confirm('button "Delete api-key"');
    await page.getByRole('heading', { name: 'Secrets', level: 1 }).waitFor();
    expect(stage.takeComplaints()).toEqual([]);
  }, 60_000);
});
