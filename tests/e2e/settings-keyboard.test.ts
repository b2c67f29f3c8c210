import type { Page } from 'playwright-core';
import { eventually } from '../eventually.js';
import { GITHUB_TOKEN } from '../forges/github.js';
import type { BoardForges } from './board/board-forges.js';
import { describeInBrowser } from './support/chromium.js';
import { openForgeFixture, type ForgeFixture } from './support/forge-fixture.js';
import { inviteGuest } from './support/invite.js';
import { createKeyboard, type Keyboard } from './support/keyboard.js';
import { waitForSave } from './support/page-actions.js';
import { signInElsewhere } from './support/sign-in-elsewhere.js';
import { addVirtualAuthenticator } from './support/virtual-authenticator.js';

describeInBrowser('settings and administration, with the keyboard only', () => {
  let stage: ForgeFixture;
  let forges: BoardForges;
  let page: Page;
  let keyboard: Keyboard;

  beforeAll(async () => {
    stage = await openForgeFixture();
    ({ forges, page } = stage);
    keyboard = createKeyboard(page);
  });
  afterEach(() => {
    expect(stage.takeComplaints()).toEqual([]);
  });
  afterAll(() => stage.close());

  const said = (text: RegExp | string) => page.locator('.toast').getByText(text).last().waitFor();
  const clipboard = () => page.evaluate(() => navigator.clipboard.readText());

  /** Opens the settings, waits until they are loaded, and follows the link to a section. */
  async function goTo(name: string): Promise<void> {
    await page.goto(`${stage.server.origin}/settings`);
    await page.getByText('No feeds.').waitFor();
    await page.getByRole('button', { name: 'Save GitHub' }).waitFor();
    await keyboard.pressOn(`link "${name}"`);
  }

  test('tests, saves and removes a forge, and copies its webhook URL', async () => {
    const { type, tabTo, pressOn, confirm, press } = keyboard;
    await goTo('Code hosts');
    await tabTo('textbox "URL"');
    await type(forges.github.url);
    await tabTo('textbox "Token"');
    await type(GITHUB_TOKEN);
    await tabTo('button "Show typed text"');
    await press('Space');
    await page.locator('[aria-pressed="true"]').waitFor();
    await pressOn('Permissions of a GitHub token');
    await page.getByText('Pull requests: read and write').waitFor();
    await pressOn('button "Test GitHub"');
    await page.getByText('Connected as mona · 1 repository').waitFor();
    await press('Shift+Tab', 'Enter');
    await said('GitHub settings saved');
    await confirm('button "Remove GitHub"');
    await said('GitHub removed');
    await pressOn('button "Copy the URL for GitHub"');
    await page.getByRole('button', { name: 'Copied the URL for GitHub' }).waitFor();
    expect(await clipboard()).toContain('/api/webhooks/github/');
  });

  test('creates, copies and revokes a token', async () => {
    const { type, tabTo, pressOn, confirm, press, arriveAt } = keyboard;
    await goTo('API tokens');
    await tabTo('textbox "Token name"');
    await type('nightly');
    await tabTo('radio "30 days"');
    await press('ArrowRight');
    await page.getByRole('radio', { name: '60 days', checked: true }).waitFor();
    await pressOn('button "Create token"');
    await page.getByLabel('New token').waitFor();
    // The field has the focus, so the button is the next tab stop.
    await pressOn('button "Copy"');
    await page.getByRole('button', { name: 'Copied', exact: true }).waitFor();
    expect(await clipboard()).toMatch(/^trl_/);
    await confirm('button "Revoke nightly"');
    await said('Token “nightly” revoked.');
    await arriveAt('heading "API tokens"');
  });

  /** Adds a passkey in a new tab with its own authenticator, as an authenticator holds one passkey per account. */
  async function addPhone(): Promise<void> {
    const phone = await stage.context.newPage();
    const keys = createKeyboard(phone);
    await addVirtualAuthenticator(phone);
    await phone.goto(`${stage.server.origin}/settings`);
    await phone.getByText('You can’t remove your last passkey').waitFor();
    await keys.pressOn('link "Passkeys"');
    await keys.tabTo('textbox "Passkey name"');
    await keys.type('phone');
    await keys.pressOn('button "Add a passkey"');
    await phone.getByText('Passkey “phone” added.').waitFor();
    await phone.close();
  }

  test('adds, renames and removes a passkey', async () => {
    const { type, tabTo, pressOn, confirm, focused } = keyboard;
    await addPhone();
    await goTo('Passkeys');
    await page.getByLabel('Rename phone').waitFor();
    // The first "Rename" belongs to the first passkey.
    await tabTo('Rename');
    await pressOn('Rename');
    await tabTo('textbox "New name"');
    await type('old phone');
    await pressOn('button "Save name"');
    await said('renamed to “old phone”.');
    expect(await focused()).toContain('Rename');
    await confirm('button "Remove old phone"');
    await said('Passkey “old phone” removed.');
  });

  test('ends a session, and all others', async () => {
    const { confirm, arriveAt } = keyboard;
    for (const userAgent of ['Firefox on Linux', 'Safari on iPhone']) await signInElsewhere(stage, userAgent);
    await goTo('Sessions');
    await confirm('button "End the session of Firefox on Linux');
    await said('Session of Firefox on Linux ended.');
    await arriveAt('heading "Sessions"');
    await confirm('button "End all other sessions"');
    await said('All other sessions ended.');
    await arriveAt('heading "Sessions"');
  });

  test('selects theme and time zone', async () => {
    const { tabTo, press } = keyboard;
    await goTo('Appearance');
    await tabTo('radio "System"');
    await waitForSave(page, '/api/settings/theme', () => press('ArrowRight'));
    await page.getByRole('radio', { name: 'Light', checked: true }).waitFor();
    await tabTo('combobox "Time zone"');
    await page.keyboard.type('Pacific/Auckl');
    await said('Time zone updated.');
    await eventually(async () => {
      const response = await page.request.get(`${stage.server.origin}/api/settings/timezone`);
      expect(await response.json()).toEqual({ timezone: 'Pacific/Auckland' });
    });
  });

  test('creates and withdraws an invitation, and filters the request log', async () => {
    const { type, tabTo, pressOn, confirm } = keyboard;
    await page.goto(`${stage.server.origin}/admin`);
    await page.getByText('No open invitations.').waitFor();
    await tabTo('textbox "Username"');
    await type('bob');
    await tabTo('textbox "Display name"');
    await type('Bob');
    await pressOn('button "Invite"');
    await page.getByLabel('Send this link to the new user').waitFor();
    await confirm('button "Withdraw the invitation for bob"');
    await said('The invitation for bob was withdrawn.');
    await tabTo('combobox "Code host"');
    await page.keyboard.type('GitL');
    await page.getByText('No requests.').waitFor();
    await tabTo('link "Download as CSV"');
  });

  test('shares a board and stops sharing it, and revokes and removes a user', async () => {
    const { type, tabTo, pressOn, confirm, press } = keyboard;
    const guest = await inviteGuest(stage, 'bob');
    await guest.close();
    await goTo('Sharing');
    await tabTo('textbox "Username"');
    await type('bob');
    await press('Enter');
    await said('bob can now view your board.');
    await pressOn('button "Stop sharing with bob"');
    await said('bob can no longer view your board.');
    await page.goto(`${stage.server.origin}/admin`);
    await page.getByRole('button', { name: 'Remove bob' }).waitFor();
    await confirm('button "Revoke access of bob"');
    await said('bob was signed out everywhere');
    await confirm('button "Remove bob"');
    await said('The account of bob and its data were deleted.');
  });
});
