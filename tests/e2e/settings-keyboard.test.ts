import type { Page } from 'playwright-core';
import { eventually } from '../eventually.js';
import { GITHUB_TOKEN } from '../forges/github.js';
import { saved } from './acts.js';
import type { BoardForges } from './board-forges.js';
import { describeInBrowser } from './chromium.js';
import { openForgeStage } from './forge-stage.js';
import type { ForgeStage } from './forge-stage.js';
import { inviteInto } from './invite.js';
import { createKeyboard } from './keyboard.js';
import type { Keyboard } from './keyboard.js';
import { addVirtualAuthenticator } from './virtual-authenticator.js';

describeInBrowser('settings and administration, by the keyboard alone', () => {
  let stage: ForgeStage;
  let forges: BoardForges;
  let page: Page;
  let keyboard: Keyboard;

  beforeAll(async () => {
    stage = await openForgeStage();
    ({ forges, page } = stage);
    keyboard = createKeyboard(page);
  });
  afterEach(() => {
    expect(stage.takeComplaints()).toEqual([]);
  });
  afterAll(() => stage.close());

  const said = (text: RegExp | string) => page.locator('.toast').getByText(text).last().waitFor();
  const clipboard = () => page.evaluate(() => navigator.clipboard.readText());

  /** Comes to the settings with everything there, and goes to one of their sections by its link. */
  async function goTo(name: string): Promise<void> {
    await page.goto(`${stage.server.origin}/settings`);
    await page.getByText('No feeds.').waitFor();
    await page.getByRole('button', { name: 'Save GitHub' }).waitFor();
    await keyboard.pressOn(`link "${name}"`);
  }

  test('a forge is tried, saved and removed, and its webhook copied', async () => {
    const { type, tabTo, pressOn, confirm, press } = keyboard;
    await goTo('Forges');
    await tabTo('textbox "Address"');
    await type(forges.github.url);
    await tabTo('textbox "Token"');
    await type(GITHUB_TOKEN);
    await tabTo('button "Show what is typed"');
    await press('Space');
    await page.locator('[aria-pressed="true"]').waitFor();
    await pressOn('What a token of GitHub needs');
    await page.getByText('Pull requests: read and write').waitFor();
    await pressOn('button "Test GitHub"');
    await page.getByText('GitHub answers to mona: 1 repository.').waitFor();
    await press('Shift+Tab', 'Enter');
    await said('GitHub is saved');
    await confirm('button "Remove GitHub"');
    await said('GitHub is removed');
    await pressOn('button "Copy the address for GitHub"');
    await page.getByRole('button', { name: 'Copied the address for GitHub' }).waitFor();
    expect(await clipboard()).toContain('/api/webhooks/github/');
  });

  test('a token is made, copied and revoked', async () => {
    const { type, tabTo, pressOn, confirm, press } = keyboard;
    await goTo('API tokens');
    await tabTo('textbox "What the token is for"');
    await type('nightly');
    await tabTo('radio "30 days"');
    await press('ArrowRight');
    await page.getByRole('radio', { name: '60 days', checked: true }).waitFor();
    await pressOn('button "Make a token"');
    await page.getByLabel('The new token').waitFor();
    // It is selected, to be copied now.
    await pressOn('button "Copy"');
    await page.getByRole('button', { name: 'Copied', exact: true }).waitFor();
    expect(await clipboard()).toMatch(/^trl_/);
    await confirm('button "Revoke nightly"');
    await said('The token “nightly” no longer works.');
  });

  /** A tab has a device of its own, as one device makes one passkey of an account. */
  async function addPhone(): Promise<void> {
    const phone = await stage.context.newPage();
    const keys = createKeyboard(phone);
    await addVirtualAuthenticator(phone);
    await phone.goto(`${stage.server.origin}/settings`);
    await phone.getByText('The last passkey can’t be removed').waitFor();
    await keys.pressOn('link "Passkeys"');
    await keys.tabTo('textbox "What to call it"');
    await keys.type('phone');
    await keys.pressOn('button "Add a passkey"');
    await phone.getByText('The passkey “phone” signs you in from now on.').waitFor();
    await phone.close();
  }

  test('a passkey is added, renamed and removed', async () => {
    const { type, tabTo, pressOn, confirm, focused } = keyboard;
    await addPhone();
    await goTo('Passkeys');
    await page.getByLabel('Rename phone').waitFor();
    // The first is of the passkey before.
    await tabTo('Rename');
    await pressOn('Rename');
    await tabTo('textbox "New name"');
    await type('old phone');
    await pressOn('button "Save the name"');
    await said('is called “old phone” now.');
    expect(await focused()).toContain('Rename');
    await confirm('button "Remove old phone"');
    await said('The passkey “old phone” no longer signs you in.');
  });

  test('theme and time zone are chosen', async () => {
    const { tabTo, press } = keyboard;
    await goTo('Appearance');
    await tabTo('radio "As the system"');
    await saved(page, '/api/settings/theme', () => press('ArrowRight'));
    await page.getByRole('radio', { name: 'Light', checked: true }).waitFor();
    await tabTo('combobox "Time zone"');
    await page.keyboard.type('Pacific/Auckl');
    await said('Times are shown in that zone from now on.');
    await eventually(async () => {
      const answer = await page.request.get(`${stage.server.origin}/api/settings/timezone`);
      expect(await answer.json()).toEqual({ timezone: 'Pacific/Auckland' });
    });
  });

  test('somebody is invited, the invitation withdrawn, and the log paged', async () => {
    const { type, tabTo, pressOn, confirm } = keyboard;
    await page.goto(`${stage.server.origin}/admin`);
    await page.getByText('No invitations are open.').waitFor();
    await tabTo('textbox "Username"');
    await type('bob');
    await tabTo('textbox "Their name"');
    await type('Bob');
    await pressOn('button "Invite"');
    await page.getByLabel('Send this link to them').waitFor();
    await confirm('button "Withdraw the invitation of bob"');
    await said('The invitation of bob no longer works.');
    await tabTo('combobox "Forge"');
    await page.keyboard.type('GitL');
    await page.getByText('No requests.').waitFor();
    await tabTo('link "Download as CSV"');
  });

  test('a board is shared and no more, and a person put out and removed', async () => {
    const { type, tabTo, pressOn, confirm, press } = keyboard;
    const guest = await inviteInto(stage, 'bob');
    await guest.close();
    await goTo('Sharing');
    await tabTo('textbox "Username"');
    await type('bob');
    await press('Enter');
    await said('bob may read your board.');
    await pressOn('button "Stop sharing with bob"');
    await said('bob may read your board no more.');
    await page.goto(`${stage.server.origin}/admin`);
    await page.getByRole('button', { name: 'Remove bob' }).waitFor();
    await confirm('button "Revoke access of bob"');
    await said('bob is signed out everywhere');
    await confirm('button "Remove bob"');
    await said('The account of bob is gone');
  });
});
