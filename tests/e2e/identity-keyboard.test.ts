import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { generateKeys, runAgeWithPassphrase } from '../sealing/age-program.js';
import { expectAccessible } from './axe.js';
import { describeInBrowser } from './chromium.js';
import { createKeyboard } from './keyboard.js';
import type { Keyboard } from './keyboard.js';
import { openStage } from './stage.js';
import type { Stage } from './stage.js';

// Each goes on from what is there.
describeInBrowser('an identity that was there before, by the keyboard alone', () => {
  const own = generateKeys();
  let stage: Stage;
  let page: Page;
  let keyboard: Keyboard;
  let phrase: string;

  beforeAll(async () => {
    stage = await openStage({ services: 'dashboard,secrets' });
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

  /** Writes the words down, and tells the two that are asked for. */
  async function takePhrase(): Promise<string> {
    await words().first().waitFor();
    const list = await words().allTextContents();
    await keyboard.pressOn('button "I have written it down"');
    await page.getByRole('heading', { name: '2. Look at what you wrote' }).waitFor();
    for (const at of [1, 2]) {
      await keyboard.tabTo('textbox "Word ');
      const number = Number(/Word (\d+)/.exec(await keyboard.focused())![1]);
      await keyboard.type(list[number - 1]!);
      if (at === 2) await keyboard.press('Enter');
    }
    return list.join(' ');
  }

  test('whoever has an identity brings it in place of a new one', async () => {
    await go();
    await keyboard.pressOn('I have an age identity already');
    await paste('Go on with it', { ...own, identity: 'AGE-SECRET-KEY-1NONE' });
    await page.getByRole('alert').getByText('Expected age identities').waitFor();
    await keyboard.press('Shift+Tab', 'Shift+Tab', 'Shift+Tab');
    await paste('Go on with it', own);
    await words().first().waitFor();
  });

  test('an identity that another client registered gets a phrase later, which opens it by the program age too', async () => {
    const { origin } = stage.server;
    // As a client does that keeps the identity itself.
    const put = { data: { public_key: own.recipient }, headers: { Origin: origin } };
    expect((await stage.context.request.put(`${origin}/secrets/auth/identity`, put)).ok()).toBe(true);
    await go();
    await page.getByText('There is no recovery phrase.').waitFor();
    await expectAccessible(page);
    await keyboard.pressOn('button "Add a recovery phrase"');
    await keyboard.pressOn('Paste an identity');
    await paste('Open with this identity', generateKeys());
    await page.getByRole('alert').getByText('That identity is another').waitFor();
    await keyboard.press('Shift+Tab', 'Shift+Tab', 'Shift+Tab');
    await paste('Open with this identity', own);
    phrase = await takePhrase();
    await said('The recovery phrase opens your identity from now on.');
    await page.getByRole('link', { name: 'Save the copy' }).waitFor();

    const kept: unknown = await (await stage.context.request.get(`${origin}/secrets/auth/identity`)).json();
    const { recovery_wrapped_identity: copy } = kept as { recovery_wrapped_identity: string };
    expect(stage.requests.filter((sent) => sent.includes('AGE-SECRET-KEY') || sent.includes(phrase))).toEqual([]);
    await writeFile(join(stage.state, 'copy.age'), copy);
    const given = { folder: stage.state, passphrase: phrase, input: Buffer.from(copy) };
    expect(String(await runAgeWithPassphrase(['-d'], given)).trim()).toBe(own.identity.trim());
  });

  test('the phrase is tried, and lets a passkey open the identity', async () => {
    await go();
    await keyboard.pressOn('Try the phrase');
    await keyboard.tabTo('textbox "The 24 words"');
    await keyboard.type(phrase);
    await keyboard.pressOn('button "Try it"');
    await said('The phrase opens your identity.');
    await go();
    await keyboard.pressOn('button "Add First passkey"');
    await keyboard.pressOn('Use the recovery phrase');
    await keyboard.tabTo('textbox "The 24 words"');
    await keyboard.type(phrase);
    await keyboard.pressOn('button "Open with the phrase"');
    await said('The passkey “First passkey” opens your identity from now on.');
  });
});
