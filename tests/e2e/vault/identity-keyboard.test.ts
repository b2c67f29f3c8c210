import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { generateKeys, runAgeWithPassphrase } from '../../sealing/age-program.js';
import { expectAccessible } from '../support/axe.js';
import { describeInBrowser } from '../support/chromium.js';
import { openPageFixture, type PageFixture } from '../support/fixtures.js';
import { createKeyboard, type Keyboard } from '../support/keyboard.js';

// The tests build on each other.
describeInBrowser('existing identity by keyboard', () => {
  const own = generateKeys();
  let stage: PageFixture;
  let page: Page;
  let keyboard: Keyboard;
  let phrase: string;

  beforeAll(async () => {
    stage = await openPageFixture({ services: 'dashboard,secrets' });
    page = stage.page;
    keyboard = createKeyboard(page);
  });
  afterAll(() => stage.close());
  afterEach(() => {
    expect(stage.takeComplaints()).toEqual([]);
  });

  const said = (text: string) => page.getByRole('status').getByText(text).first().waitFor();
  const go = () => page.goto(`${stage.server.origin}/vault/identity`);
  const words = () => page.getByRole('list', { name: 'Recovery phrase' }).getByRole('listitem');

  async function paste(verb: string, { identity }: ReturnType<typeof generateKeys>): Promise<void> {
    await keyboard.tabTo('textbox "Identity (AGE-SECRET-KEY-1…)"');
    await keyboard.type(identity);
    await keyboard.pressOn(`button "${verb}"`);
  }

  /** Reads the phrase from the page, and confirms the two requested words. */
  async function confirmPhrase(): Promise<string> {
    await words().first().waitFor();
    const list = await words().allTextContents();
    await keyboard.pressOn('button "I have written it down"');
    await page.getByRole('heading', { name: '2. Confirm your recovery phrase' }).waitFor();
    for (const at of [1, 2]) {
      await keyboard.tabTo('textbox "Word ');
      const number = Number(/Word (\d+)/.exec(await keyboard.focused())![1]);
      await keyboard.type(list[number - 1]!);
      if (at === 2) await keyboard.press('Enter');
    }
    return list.join(' ');
  }

  test('an existing identity is imported instead of creating a new one', async () => {
    await go();
    await keyboard.pressOn('I already have an age identity');
    await paste('Continue', { ...own, identity: 'AGE-SECRET-KEY-1NONE' });
    await page.getByRole('alert').getByText('Expected age identities').waitFor();
    await keyboard.press('Shift+Tab', 'Shift+Tab', 'Shift+Tab');
    await paste('Continue', own);
    await words().first().waitFor();
  });

  test('an identity that another client registered gets a recovery phrase that age accepts too', async () => {
    const { origin } = stage.server;
    // Like a client that stores the identity itself and registers only the public key.
    const put = { data: { public_key: own.recipient }, headers: { Origin: origin } };
    expect((await stage.context.request.put(`${origin}/secrets/auth/identity`, put)).ok()).toBe(true);
    await go();
    await page.getByText('You have no recovery phrase.').waitFor();
    await expectAccessible(page);
    await keyboard.pressOn('button "Add recovery phrase"');
    await keyboard.pressOn('Paste an identity');
    await paste('Unlock with identity', generateKeys());
    await page.getByRole('alert').getByText('This identity doesn’t match your public key.').waitFor();
    await keyboard.press('Shift+Tab', 'Shift+Tab', 'Shift+Tab');
    await paste('Unlock with identity', own);
    phrase = await confirmPhrase();
    await said('Recovery phrase added.');
    await page.getByRole('link', { name: 'Download copy' }).waitFor();

    const stored: unknown = await (await stage.context.request.get(`${origin}/secrets/auth/identity`)).json();
    const { recovery_wrapped_identity: copy } = stored as { recovery_wrapped_identity: string };
    expect(stage.requests.filter((sent) => sent.includes('AGE-SECRET-KEY') || sent.includes(phrase))).toEqual([]);
    await writeFile(join(stage.state, 'copy.age'), copy);
    const options = { folder: stage.state, passphrase: phrase, input: Buffer.from(copy) };
    expect(String(await runAgeWithPassphrase(['-d'], options)).trim()).toBe(own.identity.trim());
  });

  test('the phrase is tested, and enables a passkey', async () => {
    await go();
    await keyboard.pressOn('Test the phrase');
    await keyboard.tabTo('textbox "Recovery phrase (24 words)"');
    await keyboard.type(phrase);
    await keyboard.pressOn('button "Test"');
    await said('This phrase unlocks your key.');
    await go();
    await keyboard.pressOn('button "Enable First passkey"');
    await keyboard.pressOn('Use the recovery phrase');
    await keyboard.tabTo('textbox "Recovery phrase (24 words)"');
    await keyboard.type(phrase);
    await keyboard.pressOn('button "Unlock with phrase"');
    await said('The passkey “First passkey” now unlocks your key.');
  });
});
