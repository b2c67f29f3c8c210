import type { BrowserContext, Locator, Page } from 'playwright-core';
import { eventually } from '../eventually.js';
import { FORGEJO_TOKEN } from '../forges/forgejo.js';
import { GITHUB_TOKEN } from '../forges/github.js';
import { GITLAB_TOKEN } from '../forges/gitlab.js';
import type { BoardForges } from './board/board-forges.js';
import { expectAccessible } from './support/axe.js';
import { describeInBrowser } from './support/chromium.js';
import { openForgeFixture, type ForgeFixture } from './support/forge-fixture.js';
import { inviteGuest } from './support/invite.js';
import { pressAndConfirm, waitForSave } from './support/page-actions.js';
import { signInElsewhere } from './support/sign-in-elsewhere.js';
import { addVirtualAuthenticator } from './support/virtual-authenticator.js';

const REFUSED = { status: 403, body: { message: 'Resource not accessible by personal access token' } };

describeInBrowser('settings page', () => {
  let stage: ForgeFixture;
  let forges: BoardForges;
  let page: Page;

  beforeAll(async () => {
    stage = await openForgeFixture();
    ({ forges, page } = stage);
  });
  afterEach(() => {
    expect(stage.takeComplaints()).toEqual([]);
  });
  afterAll(() => stage.close());

  const visit = async (): Promise<void> => {
    await page.goto(`${stage.server.origin}/settings`);
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
  };
  const said = (text: RegExp | string) => page.locator('.toast').getByText(text).last().waitFor();
  const button = (name: string, within: Locator | Page = page) => within.getByRole('button', { name, exact: true });
  const section = (name: string) => page.getByRole('region', { name, exact: true });
  const group = (name: string) => page.getByRole('group', { name, exact: true });

  /** Presses a copy button and returns the clipboard once the button confirms the copy. */
  async function copy(name: string, within: Locator | Page = page): Promise<string> {
    await within.getByRole('button', { name: `Copy${name}`, exact: true }).click();
    await within.getByRole('button', { name: `Copied${name}`, exact: true }).waitFor();
    return page.evaluate(() => navigator.clipboard.readText());
  }

  async function fill(
    name: string,
    { url, token }: { readonly url: string; readonly token: string },
  ): Promise<Locator> {
    const form = group(name);
    await form.getByLabel('URL', { exact: true }).fill(url);
    await form.getByLabel('Token', { exact: true }).fill(token);
    return form;
  }

  test('adds, tests, edits and deletes a further credential, whose state the list shows', async () => {
    await visit();
    const credentials = group('Further credentials');
    await credentials.getByText('No further credentials.').waitFor();
    await credentials.getByText('Add a credential').click();
    const form = credentials.locator('form').last();
    await form.getByLabel('Name', { exact: true }).fill('Work');
    await form.getByLabel('URL').fill(forges.github.url);
    await form.getByLabel('Username').fill('mona');
    await form.getByLabel('Token', { exact: true }).fill('github_pat_wrong');
    await button('Add credential', form).click();
    await said('Credential “Work” added.');
    await credentials.getByText('The token was rejected').waitFor();
    const item = credentials.getByRole('listitem').filter({ hasText: 'Work' });
    await eventually(async () => {
      await visit();
      await item.locator('p.bad').getByText('The forge rejected the credential.').waitFor({ timeout: 500 });
    });
    await expectAccessible(page);

    await item.getByText('Edit Work').click();
    await item.getByLabel('Token', { exact: true }).fill(GITHUB_TOKEN);
    await button('Save credential', item).click();
    await said('Credential “Work” saved.');
    await button('Test Work', item).click();
    await item.getByText('Connected as mona · 1 repository').waitFor();
    await eventually(async () => {
      await visit();
      await item.getByText('Works · 1 repository').waitFor({ timeout: 500 });
    });
    await pressAndConfirm(button('Delete credential Work', item), 'Delete Work?');
    await said('Credential “Work” deleted');
    await credentials.getByText('No further credentials.').waitFor();
  });

  test('tests a forge before it is saved: valid and invalid tokens, wrong URL, missing permission', async () => {
    await visit();
    const github = await fill('GitHub', { url: forges.github.url, token: 'ghp_wrong' });
    const test = button('Test GitHub');
    await test.click();
    await github.getByText('The token was rejected').waitFor();
    await github.getByLabel('URL', { exact: true }).fill('http://127.0.0.1:9');
    await test.click();
    await github.getByText('No response from this address, or an internal error there.').waitFor();

    await fill('GitHub', { url: forges.github.url, token: GITHUB_TOKEN });
    forges.github.scopes = ['public_repo'];
    await test.click();
    await github.getByText('Connected as mona · 1 repository').waitFor();
    await github.getByText('to read private repositories and act on pull requests').waitFor();
    // The test fills in the username that the forge returns.
    await eventually(async () => expect(await github.getByLabel('Username').inputValue()).toBe('mona'));
    forges.github.scopes = [];
    forges.github.failNext(REFUSED, { path: /issues$/ });
    await test.click();
    await github.getByRole('status').getByText('Issues: read and write').waitFor();
    forges.github.scopes = ['repo'];
    await test.click();
    await github.getByText('Missing permissions:').waitFor({ state: 'detached' });
    await github.getByText('Connected as mona · 1 repository').waitFor();
  });

  test('lists the permissions of a token and links to the page that creates one', async () => {
    const forgejo = await fill('Forgejo or Gitea', { url: forges.forgejo.url, token: FORGEJO_TOKEN });
    await forgejo.getByText('Permissions of a Forgejo or Gitea token').click();
    await forgejo.getByText('write:repository, to list pull requests, merge them, and set up webhooks').waitFor();
    const link = forgejo.getByRole('link', { name: 'Create a token on Forgejo or Gitea' });
    expect(await link.getAttribute('href')).toBe(`${forges.forgejo.url}/user/settings/applications`);
    forges.forgejo.failNext(REFUSED, { path: /\/user$/ });
    await button('Test Forgejo or Gitea').click();
    await forgejo.getByText('The token is valid, but lacks the permissions to read a board.').waitFor();
    await forgejo.getByRole('status').getByText('read:user').waitFor();
    await expectAccessible(page);
    await fill('GitLab', { url: forges.gitlab.url, token: GITLAB_TOKEN });
    forges.gitlab.scopes = ['read_api'];
    await button('Test GitLab').click();
    await group('GitLab').getByText('api, to act on merge requests and set up webhooks').waitFor();
    forges.gitlab.scopes = ['api'];
  });

  test('saves forges separately, hides their tokens, and removes a forge', async () => {
    await visit();
    const github = await fill('GitHub', { url: forges.github.url, token: GITHUB_TOKEN });
    const token = github.getByLabel('Token', { exact: true });
    const readMask = () => token.evaluate((input) => getComputedStyle(input).getPropertyValue('-webkit-text-security'));
    expect(await readMask()).toBe('disc');
    // Browsers fill stored passwords into all fields of this type, such as the token of one code host into that of another.
    expect(await page.locator('input[type="password"]').count()).toBe(0);
    const show = github.getByRole('button', { name: 'Show typed text' });
    await show.click();
    expect(await readMask()).toBe('none');
    await show.click();
    expect(await readMask()).toBe('disc');
    await github.getByLabel('Username').fill('mona');
    await button('Save GitHub').click();
    await said('GitHub settings saved');
    await fill('Forgejo or Gitea', { url: forges.forgejo.url, token: FORGEJO_TOKEN });
    await button('Save Forgejo or Gitea').click();
    await said('Forgejo or Gitea settings saved');
    expect(stage.requests.some((request) => request.includes('/api/settings\n'))).toBe(true);

    await visit();
    await github.getByText('A token is saved. Leave empty to keep it.').waitFor();
    expect(await token.inputValue()).toBe('');
    await button('Test GitHub').click();
    await github.getByText('Connected as mona · 1 repository').waitFor();
    await pressAndConfirm(button('Remove Forgejo or Gitea'), 'Remove Forgejo or Gitea?');
    await said('Forgejo or Gitea removed');
    await visit();
    await button('Save Forgejo or Gitea').waitFor();
    expect(await group('Forgejo or Gitea').getByLabel('URL', { exact: true }).inputValue()).toBe('');
    expect(await button('Remove Forgejo or Gitea').count()).toBe(0);
    expect(await group('GitHub').getByLabel('URL', { exact: true }).inputValue()).toBe(forges.github.url);
  });

  test('an invalid URL is rejected with a message', async () => {
    await group('GitLab').getByLabel('URL', { exact: true }).fill('ftp://gitlab.example');
    await button('Save GitLab').click();
    await page.getByRole('alert').getByText('to be an http or https URL').waitFor();
    await page.getByRole('alert').getByRole('button').click();
    expect(stage.takeComplaints()).toEqual(['400 PUT /api/settings']);
  });

  test('a token that is typed while the previous one is tested stays in its field', async () => {
    await visit();
    const form = await fill('GitHub', { url: forges.github.url, token: GITHUB_TOKEN });
    let end = (): void => undefined;
    const typed = new Promise<void>((resolve) => (end = resolve));
    await page.route('**/api/settings/test', async (route) => {
      await typed;
      await route.continue();
    });
    const isTested = page.waitForRequest('**/api/settings/test');
    await button('Save GitHub', form).click();
    await isTested;
    await form.getByLabel('Token', { exact: true }).fill('second');
    end();
    await said('GitHub settings saved');
    expect(await form.getByLabel('Token', { exact: true }).inputValue()).toBe('second');
    await page.unroute('**/api/settings/test');
  });

  test('saves the label and the accounts of Renovate', async () => {
    await visit();
    const renovate = group('Renovate');
    await renovate.getByLabel('Rebase label').fill('rebase-me');
    await renovate.getByLabel('Further Renovate accounts').fill('acme-renovate, other bot,');
    await button('Save Renovate').click();
    await said('Renovate settings saved.');
    await visit();
    await button('Save Renovate').waitFor();
    expect(await renovate.getByLabel('Rebase label').inputValue()).toBe('rebase-me');
    expect(await renovate.getByLabel('Further Renovate accounts').inputValue()).toBe('acme-renovate, other bot');
  });

  test('saving one part keeps the parts that another tab has changed since', async () => {
    await visit();
    await page.getByLabel('Rebase label').waitFor();
    const other = await stage.context.newPage();
    await other.goto(`${stage.server.origin}/settings`);
    await other.getByLabel('Rebase label').fill('from another tab');
    await button('Save Renovate', other).click();
    await other.getByText('Renovate settings saved.').first().waitFor();
    await other.close();
    await group('GitLab').getByLabel('URL', { exact: true }).fill(forges.gitlab.url);
    await button('Save GitLab').click();
    await said('GitLab settings saved.');
    const response = await page.request.get(`${stage.server.origin}/api/settings`);
    expect(await response.json()).toMatchObject({
      gitlabUrl: forges.gitlab.url,
      renovateRebaseLabel: 'from another tab',
    });
  });

  test('copies and replaces the URLs and the secret of webhooks', async () => {
    const webhooks = group('Manual webhooks');
    const url = await copy(' the URL for GitHub', webhooks);
    const secret = await copy(' the secret', webhooks);
    expect(url).toMatch(new RegExp(`^${stage.server.origin}/api/webhooks/github/[\\w-]{22}$`));
    expect(secret).toMatch(/^[\w-]{43}$/);
    expect(await webhooks.getByText(secret).count()).toBe(0);
    await button('Show the secret', webhooks).click();
    await webhooks.getByText(secret).waitFor();
    await pressAndConfirm(button('Replace URLs and secret'), 'Replace URLs and secret?');
    await said('Webhook URLs and secret replaced.');
    await webhooks.getByText('The previous URLs and secret work until').waitFor();
    await webhooks.getByText(url).waitFor({ state: 'detached' });
    expect(await copy(' the secret', webhooks)).not.toBe(secret);
  });

  /** Sends a request with the token and returns the status of the response. */
  const use = async (token: string, init: RequestInit = {}): Promise<number> => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    return (await fetch(`${stage.server.origin}/api/settings/theme`, { ...init, headers })).status;
  };

  test.each([
    ['7 days', 7],
    ['30 days', 30],
    ['60 days', 60],
    ['90 days', 90],
    ['Custom', 200],
  ])('creates a token with the lifetime “%s”', async (term, days) => {
    const tokens = section('API tokens');
    await tokens.getByLabel('Token name').fill(`for ${term}`);
    await tokens.getByRole('radio', { name: term }).check();
    if (days === 200) await tokens.getByLabel('Days until it expires').fill(String(days));
    await button('Create token').click();
    await tokens.getByText(`for ${term}`).waitFor();
    const token = await tokens.getByLabel('New token').inputValue();
    expect(token).toMatch(/^trl_[\w-]{43}[0-9A-Za-z]{6}$/);
    expect(await use(token)).toBe(200);
    const until = await page.evaluate(async () => {
      const list = (await (await fetch('/api/tokens')).json()) as readonly { readonly expiresAt: string }[];
      return list.at(-1)!.expiresAt;
    });
    expect(Math.round((Date.parse(until) - Date.now()) / 86_400_000)).toBe(days);
  });

  test('creates a token with the longest lifetime while the clock of the browser is a day ahead', async () => {
    const ahead = await stage.context.newPage();
    await ahead.clock.setFixedTime(Date.now() + 86_400_000);
    await ahead.goto(`${stage.server.origin}/settings`);
    await ahead.getByText('for 7 days').waitFor();
    await ahead.getByLabel('Token name').fill('for a year');
    await ahead.getByRole('radio', { name: 'Custom' }).check();
    await ahead.getByLabel('Days until it expires').fill('366');
    await button('Create token', ahead).click();
    await ahead.getByLabel('New token').waitFor();
    await ahead.close();
  });

  test('creates a feed once if its response was lost and the user tries again', async () => {
    await visit();
    const feeds = section('Feeds and badges');
    const title = feeds.getByLabel('Feed title');
    await title.fill('lost');
    let attempts = 0;
    await page.route('**/api/feeds', async (route) => {
      attempts += 1;
      if (attempts === 1) await route.fetch();
      await route.abort();
    });
    await button('Create feed', feeds).click();
    await said('The server could not be reached.');
    expect([attempts, await title.inputValue()]).toEqual([3, 'lost']);
    await page.unroute('**/api/feeds');
    await button('Create feed', feeds).click();
    await feeds.getByLabel('New feed link').waitFor();
    const made = feeds.getByRole('listitem').filter({ hasText: 'lost' });
    await eventually(async () => expect(await made.count()).toBe(1));
    // The same feed again is a new one.
    await title.fill('lost');
    await button('Create feed', feeds).click();
    await eventually(async () => expect(await made.count()).toBe(2));
  });

  test('says that a list could not be read again after a change, and reads it again automatically', async () => {
    await visit();
    const tokens = section('API tokens');
    const revoke = button('Revoke for 90 days', tokens);
    await revoke.waitFor();
    await page.route('**/api/tokens', (route) => route.abort());
    await pressAndConfirm(revoke, 'Revoke token?');
    await tokens.getByRole('alert').getByText('The server could not be reached.').waitFor();
    await page.unroute('**/api/tokens');
    await revoke.waitFor({ state: 'detached' });
    expect(await tokens.getByRole('alert').count()).toBe(0);
  });

  test('a token is shown once, is read-only by default, and works until it is revoked', async () => {
    await visit();
    const tokens = section('API tokens');
    await tokens.getByText('for 7 days').waitFor();
    expect(await tokens.getByLabel('New token').count()).toBe(0);
    expect(await tokens.getByRole('radio', { name: '30 days' }).isChecked()).toBe(true);
    await tokens.getByLabel('Token name').fill('nightly');
    await button('Create token').click();
    const field = tokens.getByLabel('New token');
    await field.waitFor();
    const token = await copy('', tokens);
    expect(token).toBe(await field.inputValue());
    expect(await use(token)).toBe(200);
    expect(await use(token, { method: 'PUT', body: '{"theme":"dark"}' })).toBe(403);
    await expectAccessible(page);
    // The token stays until it is copied when it replaces a different one.
    await pressAndConfirm(button('Revoke for 7 days'), 'Revoke token?');
    await said('Token “for 7 days” revoked.');
    expect(await field.inputValue()).toBe(token);
    await pressAndConfirm(button('Revoke nightly'), 'Revoke token?');
    await said('Token “nightly” revoked.');
    await field.waitFor({ state: 'detached' });
    expect(await use(token)).toBe(401);
  });

  test('a token with write access can change settings', async () => {
    const tokens = section('API tokens');
    await tokens.getByLabel('Token name').fill('deploy');
    await tokens.getByLabel('Allow write access').check();
    await button('Create token').click();
    await tokens.getByText('read and write').waitFor();
    const token = await tokens.getByLabel('New token').inputValue();
    expect(await use(token, { method: 'PUT', body: '{"theme":""}' })).toBe(200);
  });

  test('adds, renames and removes passkeys, but not the last one', async () => {
    await visit();
    const passkeys = section('Passkeys');
    await passkeys.getByText('You can’t remove your last passkey').waitFor();
    const only = passkeys.getByRole('button', { name: /^Remove / });
    expect(await only.getAttribute('aria-disabled')).toBe('true');
    await only.press('Enter');
    expect(await button('Remove passkey?').count()).toBe(0);

    // A new tab has its own authenticator; an authenticator holds one passkey per account.
    const phone = await stage.context.newPage();
    await addVirtualAuthenticator(phone);
    await phone.goto(`${stage.server.origin}/settings`);
    await phone.getByLabel('Passkey name').fill('phone');
    await button('Add a passkey', phone).click();
    await phone.getByText('Passkey “phone” added.').waitFor();
    await phone.close();
    await visit();
    await passkeys.getByLabel('Rename phone').waitFor();
    await expect(passkeys.getByText('You can’t remove your last passkey').count()).resolves.toBe(0);
    await passkeys.getByLabel('Rename phone').click();
    await passkeys.getByLabel('New name').fill('old phone');
    await button('Save name').click();
    await said('Passkey “phone” renamed to “old phone”.');
    await expectAccessible(page);
    await pressAndConfirm(button('Remove old phone'), 'Remove passkey?');
    await said('Passkey “old phone” removed.');
    await passkeys.getByText('You can’t remove your last passkey').waitFor();
  });

  test('the theme survives a reload and applies to other tabs', async () => {
    const schemeOf = (one: Page) => one.evaluate(() => document.documentElement.style.colorScheme);
    const other = await stage.context.newPage();
    for (const [name, scheme] of [
      ['Dark', 'dark'],
      ['Light', 'light'],
      ['System', 'light dark'],
    ] as const) {
      await visit();
      await waitForSave(page, '/api/settings/theme', () => group('Theme').getByLabel(name).check());
      expect(await schemeOf(page)).toBe(scheme);
      await visit();
      await group('Theme').getByRole('radio', { name, checked: true }).waitFor();
      await other.goto(stage.server.origin);
      await other.getByRole('heading', { name: 'Pull requests', level: 1 }).waitFor();
      await eventually(async () => expect(await schemeOf(other)).toBe(scheme));
    }
    await other.close();
  });

  test('the time zone changes the displayed times', async () => {
    const zone = page.getByLabel('Time zone', { exact: true });
    const now = page.locator('#timezone-hint');
    const shown = async (name: string): Promise<void> => {
      await zone.selectOption(name);
      await said('Time zone updated.');
      const timeZone = name === '' ? {} : { timeZone: name };
      const hours = [0, -1].map((ago) => {
        const time = new Date(Date.now() + ago * 60_000);
        return time.toLocaleTimeString('en-GB', { timeStyle: 'short', ...timeZone });
      });
      await now.getByText(new RegExp(hours.join('|'))).waitFor();
    };
    await shown('Pacific/Auckland');
    await visit();
    await zone.waitFor();
    await eventually(async () => expect(await zone.inputValue()).toBe('Pacific/Auckland'));
    await shown('America/New_York');
    await shown('');
  });

  test('a theme and a time zone that could not be saved return to the saved ones', async () => {
    await visit();
    const zone = page.getByLabel('Time zone', { exact: true });
    await page.route(/\/api\/settings\/(?:theme|timezone)$/, (route) => route.abort());
    await zone.selectOption('Pacific/Auckland');
    await group('Theme').getByLabel('Dark').check();
    await group('Theme').getByRole('radio', { name: 'System', checked: true }).waitFor();
    await eventually(async () => expect(await zone.inputValue()).toBe(''));
    await said('The server could not be reached.');
    await page.unrouteAll();
  });

  test('shows a saved time zone that this browser knows by another name', async () => {
    const zone = page.getByLabel('Time zone', { exact: true });
    const save = (timezone: string) =>
      page.request.put(`${stage.server.origin}/api/settings/timezone`, {
        data: { timezone },
        headers: { Origin: stage.server.origin },
      });
    await save('Asia/Kolkata');
    await visit();
    await zone.waitFor();
    expect(await zone.inputValue()).toBe('Asia/Kolkata');
    await save('');
    await visit();
  });

  test('a double click ends the sharing with one user', async () => {
    const guests = [await inviteGuest(stage, 'carl'), await inviteGuest(stage, 'dora')];
    for (const guest of guests) await guest.close();
    for (const name of ['carl', 'dora']) {
      const path = `${stage.server.origin}/api/sharing/${name}`;
      expect((await page.request.put(path, { headers: { Origin: stage.server.origin } })).status()).toBe(204);
    }
    await visit();
    const sharing = section('Sharing');
    const stop = button('Stop sharing with carl');
    await stop.scrollIntoViewIfNeeded();
    const { x, y } = (await stop.boundingBox())!;
    const ended: string[] = [];
    page.on('request', (request) => request.method() === 'DELETE' && ended.push(new URL(request.url()).pathname));
    await page.mouse.click(x + 5, y + 5);
    await stop.waitFor({ state: 'detached' });
    // The button of the next user is now in its place.
    await page.mouse.down({ clickCount: 2 });
    await page.mouse.up({ clickCount: 2 });
    expect(ended).toEqual(['/api/sharing/carl']);
    await button('Stop sharing with dora').click();
    await sharing.getByText('Not shared with anyone.').waitFor();
  });

  test('a shared board is read-only for the other user until the sharing ends', async () => {
    const guest = await inviteGuest(stage, 'bob');
    await visit();
    const sharing = section('Sharing');
    await sharing.getByLabel('Username').fill(' bob ');
    await button('Share').click();
    await said('bob can now view your board.');
    await sharing.getByText('Bob').waitFor();

    await guest.page.goto(`${stage.server.origin}/settings`);
    await guest.page.getByText('Shared with you: Ada.').waitFor();
    await guest.page.goto(stage.server.origin);
    const picker = guest.page.getByLabel('Board of');
    const requested: string[] = [];
    guest.page.on('request', (request) => requested.push(`${request.method()} ${request.url()}`));
    await picker.selectOption({ label: 'Ada' });
    await guest.page.getByRole('link', { name: 'Send receipts as PDF' }).waitFor();
    expect(await guest.page.getByRole('button', { name: /^(Merge|Close)/ }).count()).toBe(0);
    await guest.page.getByRole('button', { name: 'Refresh', exact: true }).click();
    await guest.page.getByRole('link', { name: 'Send receipts as PDF' }).waitFor();
    expect(requested.filter((one) => /^POST .*refresh/.test(one) || /stream.*owner/.test(one))).toEqual([]);

    await button('Stop sharing with bob').click();
    await said('bob can no longer view your board.');
    await sharing.getByText('Not shared with anyone.').waitFor();
    await guest.page.getByRole('button', { name: 'Refresh', exact: true }).click();
    await guest.page.getByText("This board isn't shared with you.").waitFor();
    expect(stage.takeComplaints()).toContain('403 GET /api/dashboard');
    await guest.page.getByText('No code host connected yet.').waitFor();
    expect(await picker.count()).toBe(0);
    await guest.close();
  });

  test('lists the sessions, ends one of them, and all others', async () => {
    const agents = [
      'Mozilla/5.0 (Windows NT 10.0) Firefox/142.0',
      'Mozilla/5.0 (iPhone) Safari/604.1',
      '<i>Chrome</i>',
    ];
    const elsewhere: BrowserContext[] = [];
    for (const agent of agents) elsewhere.push(await signInElsewhere(stage, agent));
    await visit();
    const sessions = section('Sessions');
    await sessions.getByText('this session').waitFor();
    expect(await sessions.getByRole('button', { name: /^End the session of / }).count()).toBe(3);
    await expectAccessible(page);
    await pressAndConfirm(
      sessions.getByRole('button', { name: /^End the session of Firefox on Windows, signed in / }),
      'End session?',
    );
    await said('Session of Firefox on Windows ended.');
    await sessions.getByText('Firefox on Windows').waitFor({ state: 'detached' });
    const statuses = () =>
      Promise.all(
        elsewhere.map(async (other) => (await other.request.get(`${stage.server.origin}/api/auth/session`)).status()),
      );
    expect(await statuses()).toEqual([401, 200, 200]);
    await pressAndConfirm(button('End all other sessions', sessions), 'End all other sessions?');
    await said('All other sessions ended.');
    await button('End all other sessions', sessions).waitFor({ state: 'detached' });
    expect(await statuses()).toEqual([401, 401, 401]);
    for (const other of elsewhere) await other.close();
  });

  test('signing out everywhere ends all sessions', async () => {
    await visit();
    await pressAndConfirm(button('Sign out everywhere'), 'Sign out on every device?');
    await page.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor();
    await expect(stage.context.cookies()).resolves.toEqual([]);
  });
});
