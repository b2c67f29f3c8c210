import type { Locator, Page } from 'playwright-core';
import { FORGEJO_TOKEN } from '../forges/forgejo.js';
import { GITHUB_TOKEN } from '../forges/github.js';
import { GITLAB_TOKEN } from '../forges/gitlab.js';
import { eventually } from '../eventually.js';
import { confirm, saved } from './acts.js';
import { expectAccessible } from './axe.js';
import type { BoardForges } from './board-forges.js';
import { describeInBrowser } from './chromium.js';
import { openForgeStage } from './forge-stage.js';
import type { ForgeStage } from './forge-stage.js';
import { inviteInto } from './invite.js';
import { addVirtualAuthenticator } from './virtual-authenticator.js';

const REFUSED = { status: 403, body: { message: 'Resource not accessible by personal access token' } };

describeInBrowser('the settings, in a browser', () => {
  let stage: ForgeStage;
  let forges: BoardForges;
  let page: Page;

  beforeAll(async () => {
    stage = await openForgeStage();
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

  /** What was copied is in the clipboard once the button says so. */
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
    await form.getByLabel('Address', { exact: true }).fill(url);
    await form.getByLabel('Token', { exact: true }).fill(token);
    return form;
  }

  test('a forge is tried before it is saved: a token, a wrong one, no answer, a missing permission', async () => {
    await visit();
    const github = await fill('GitHub', { url: forges.github.url, token: 'ghp_wrong' });
    const test = button('Test GitHub');
    await test.click();
    await github.getByText('The token was rejected').waitFor();
    await github.getByLabel('Address', { exact: true }).fill('http://127.0.0.1:9');
    await test.click();
    await github.getByText('No response from this address.').waitFor();

    await fill('GitHub', { url: forges.github.url, token: GITHUB_TOKEN });
    forges.github.scopes = ['public_repo'];
    await test.click();
    await github.getByText('GitHub answers to mona: 1 repository.').waitFor();
    await github.getByText('to read private repositories, and to act on pull requests').waitFor();
    // The board needs to know whose turn it is; the forge has said who this is.
    await eventually(async () => expect(await github.getByLabel('Username').inputValue()).toBe('mona'));
    forges.github.scopes = [];
    forges.github.failNext(REFUSED, { path: /issues$/ });
    await test.click();
    await github.getByRole('status').getByText('Issues: read and write').waitFor();
    forges.github.scopes = ['repo'];
    await test.click();
    await github.getByText('What is missing:').waitFor({ state: 'detached' });
    await github.getByText('GitHub answers to mona: 1 repository.').waitFor();
  });

  test('a forge says what its token needs, and where one is made', async () => {
    const forgejo = await fill('Forgejo or Gitea', { url: forges.forgejo.url, token: FORGEJO_TOKEN });
    await forgejo.getByText('What a token of Forgejo or Gitea needs').click();
    await forgejo.getByText('write:repository, to list pull requests, merge them, and set up webhooks').waitFor();
    const link = forgejo.getByRole('link', { name: 'Make a token at Forgejo or Gitea' });
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

  test('forges are saved one by one with hidden tokens, and removed', async () => {
    await visit();
    const github = await fill('GitHub', { url: forges.github.url, token: GITHUB_TOKEN });
    const token = github.getByLabel('Token', { exact: true });
    expect(await token.getAttribute('type')).toBe('password');
    const show = github.getByRole('button', { name: 'Show what is typed' });
    await show.click();
    await github.locator('input[type="text"][maxlength="512"]').waitFor();
    await show.click();
    await github.locator('input[type="password"]').waitFor();
    await github.getByLabel('Username').fill('mona');
    await button('Save GitHub').click();
    await said('GitHub is saved');
    await fill('Forgejo or Gitea', { url: forges.forgejo.url, token: FORGEJO_TOKEN });
    await button('Save Forgejo or Gitea').click();
    await said('Forgejo or Gitea is saved');
    expect(stage.requests.some((request) => request.includes('/api/settings\n'))).toBe(true);

    await visit();
    await github.getByText('One is kept. Leave this empty to keep it.').waitFor();
    expect(await token.inputValue()).toBe('');
    await button('Test GitHub').click();
    await github.getByText('GitHub answers to mona: 1 repository.').waitFor();
    await confirm(button('Remove Forgejo or Gitea'), 'Really remove Forgejo or Gitea?');
    await said('Forgejo or Gitea is removed');
    await visit();
    await button('Save Forgejo or Gitea').waitFor();
    expect(await group('Forgejo or Gitea').getByLabel('Address', { exact: true }).inputValue()).toBe('');
    expect(await button('Remove Forgejo or Gitea').count()).toBe(0);
    expect(await group('GitHub').getByLabel('Address', { exact: true }).inputValue()).toBe(forges.github.url);
  });

  test('an address that is none is refused in words', async () => {
    await group('GitLab').getByLabel('Address', { exact: true }).fill('ftp://gitlab.example');
    await button('Save GitLab').click();
    await page.getByRole('alert').getByText('to be an http or https URL').waitFor();
    await page.getByRole('alert').getByRole('button').click();
    expect(stage.takeComplaints()).toEqual(['400 PUT /api/settings']);
  });

  test('Renovate is known by a label and accounts', async () => {
    await visit();
    const renovate = group('Renovate');
    await renovate.getByLabel('The label that makes it rebase').fill('rebase-me');
    await renovate.getByLabel('Accounts that open its pull requests').fill('acme-renovate, other bot,');
    await button('Save Renovate').click();
    await said('Renovate is known so');
    await visit();
    await button('Save Renovate').waitFor();
    expect(await renovate.getByLabel('The label that makes it rebase').inputValue()).toBe('rebase-me');
    expect(await renovate.getByLabel('Accounts').inputValue()).toBe('acme-renovate, other bot');
  });

  test('the address and the secret of webhooks are copied, and replaced', async () => {
    const webhooks = group('Webhooks by hand');
    const address = await copy(' the address for GitHub', webhooks);
    const secret = await copy(' the secret', webhooks);
    expect(address).toMatch(new RegExp(`^${stage.server.origin}/api/webhooks/github/[\\w-]{22}$`));
    expect(secret).toMatch(/^[\w-]{43}$/);
    expect(await webhooks.getByText(secret).count()).toBe(0);
    await button('Show the secret', webhooks).click();
    await webhooks.getByText(secret).waitFor();
    await confirm(button('Replace address and secret'), 'Really replace both?');
    await said('The webhooks have another address and secret.');
    await webhooks.getByText('What comes with the former ones is taken until').waitFor();
    await webhooks.getByText(address).waitFor({ state: 'detached' });
    expect(await copy(' the secret', webhooks)).not.toBe(secret);
  });

  /** What a script with the token is answered. */
  const use = async (token: string, init: RequestInit = {}): Promise<number> => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    return (await fetch(`${stage.server.origin}/api/settings/theme`, { ...init, headers })).status;
  };

  test.each([
    ['7 days', 7],
    ['30 days', 30],
    ['60 days', 60],
    ['90 days', 90],
    ['Another term', 200],
  ])('a token for %s is shown, and holds as long', async (term, days) => {
    const tokens = section('API tokens');
    await tokens.getByLabel('What the token is for').fill(`for ${term}`);
    await tokens.getByRole('radio', { name: term }).check();
    if (days === 200) await tokens.getByLabel('For how many days').fill(String(days));
    await button('Make a token').click();
    await tokens.getByText(`for ${term}`).waitFor();
    const token = await tokens.getByLabel('The new token').inputValue();
    expect(token).toMatch(/^trl_[\w-]{43}[0-9A-Za-z]{6}$/);
    expect(await use(token)).toBe(200);
    const until = await page.evaluate(async () => {
      const list = (await (await fetch('/api/tokens')).json()) as readonly { readonly expiresAt: string }[];
      return list.at(-1)!.expiresAt;
    });
    expect(Math.round((Date.parse(until) - Date.now()) / 86_400_000)).toBe(days);
  });

  test('a token is copied, shown once, reads alone, and works until it is revoked', async () => {
    await visit();
    const tokens = section('API tokens');
    await tokens.getByText('for 7 days').waitFor();
    expect(await tokens.getByLabel('The new token').count()).toBe(0);
    expect(await tokens.getByRole('radio', { name: '30 days' }).isChecked()).toBe(true);
    await tokens.getByLabel('What the token is for').fill('nightly');
    await button('Make a token').click();
    const field = tokens.getByLabel('The new token');
    await field.waitFor();
    const token = await copy('', tokens);
    expect(token).toBe(await field.inputValue());
    expect(await use(token)).toBe(200);
    expect(await use(token, { method: 'PUT', body: '{"theme":"dark"}' })).toBe(403);
    await expectAccessible(page);
    await confirm(button('Revoke nightly'), 'Really revoke?');
    await said('The token “nightly” no longer works.');
    await field.waitFor({ state: 'detached' });
    expect(await use(token)).toBe(401);
  });

  test('a token that may change things does', async () => {
    const tokens = section('API tokens');
    await tokens.getByLabel('What the token is for').fill('deploy');
    await tokens.getByLabel('It may change things too').check();
    await button('Make a token').click();
    await tokens.getByText('reads and changes').waitFor();
    const token = await tokens.getByLabel('The new token').inputValue();
    expect(await use(token, { method: 'PUT', body: '{"theme":""}' })).toBe(200);
  });

  test('passkeys are added, renamed and removed, the last one not', async () => {
    await visit();
    const passkeys = section('Passkeys');
    await passkeys.getByText('The last passkey can’t be removed').waitFor();
    const only = passkeys.getByRole('button', { name: /^Remove / });
    expect(await only.getAttribute('aria-disabled')).toBe('true');
    await only.press('Enter');
    expect(await button('Really remove?').count()).toBe(0);

    // A tab has a device of its own, as one device makes one passkey of an account.
    const phone = await stage.context.newPage();
    await addVirtualAuthenticator(phone);
    await phone.goto(`${stage.server.origin}/settings`);
    await phone.getByLabel('What to call it').fill('phone');
    await button('Add a passkey', phone).click();
    await phone.getByText('The passkey “phone” signs you in from now on.').waitFor();
    await phone.close();
    await visit();
    await passkeys.getByLabel('Rename phone').waitFor();
    await expect(passkeys.getByText('The last passkey can’t be removed').count()).resolves.toBe(0);
    await passkeys.getByLabel('Rename phone').click();
    await passkeys.getByLabel('New name').fill('old phone');
    await button('Save the name').click();
    await said('The passkey “phone” is called “old phone” now.');
    await expectAccessible(page);
    await confirm(button('Remove old phone'), 'Really remove?');
    await said('The passkey “old phone” no longer signs you in.');
    await passkeys.getByText('The last passkey can’t be removed').waitFor();
  });

  test('the theme stays after a reload, and in another page', async () => {
    const schemeOf = (one: Page) => one.evaluate(() => document.documentElement.style.colorScheme);
    const other = await stage.context.newPage();
    for (const [name, scheme] of [
      ['Dark', 'dark'],
      ['Light', 'light'],
      ['As the system', 'light dark'],
    ] as const) {
      await visit();
      await saved(page, '/api/settings/theme', () => group('Theme').getByLabel(name).check());
      expect(await schemeOf(page)).toBe(scheme);
      await visit();
      await group('Theme').getByRole('radio', { name, checked: true }).waitFor();
      await other.goto(stage.server.origin);
      await other.getByRole('heading', { name: 'Pull requests', level: 1 }).waitFor();
      await eventually(async () => expect(await schemeOf(other)).toBe(scheme));
    }
    await other.close();
  });

  test('the time zone changes what times are shown', async () => {
    const zone = page.getByLabel('Time zone');
    const now = page.locator('#timezone-hint');
    const shown = async (name: string): Promise<void> => {
      await zone.selectOption(name);
      await said('Times are shown in that zone from now on.');
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

  test('a board is shared with somebody, who reads it and changes nothing, until it is taken back', async () => {
    const guest = await inviteInto(stage, 'bob');
    await visit();
    const sharing = section('Sharing');
    await sharing.getByLabel('Username').fill('bob');
    await button('Share').click();
    await said('bob may read your board.');
    await sharing.getByText('Bob').waitFor();

    await guest.page.goto(`${stage.server.origin}/settings`);
    await guest.page.getByText('Shared with you: Ada.').waitFor();
    await guest.page.goto(stage.server.origin);
    const picker = guest.page.getByLabel('Board of');
    const asked: string[] = [];
    guest.page.on('request', (request) => asked.push(`${request.method()} ${request.url()}`));
    await picker.selectOption({ label: 'Ada' });
    await guest.page.getByRole('link', { name: 'Send receipts as PDF' }).waitFor();
    expect(await guest.page.getByRole('button', { name: /^(Merge|Close)/ }).count()).toBe(0);
    await guest.page.getByRole('button', { name: 'Refresh', exact: true }).click();
    await guest.page.getByRole('link', { name: 'Send receipts as PDF' }).waitFor();
    expect(asked.filter((one) => /^POST .*refresh/.test(one) || /stream.*owner/.test(one))).toEqual([]);

    await button('Stop sharing with bob').click();
    await said('bob may read your board no more.');
    await sharing.getByText('You share it with nobody.').waitFor();
    await guest.page.reload();
    await guest.page.getByRole('heading', { name: 'Pull requests', level: 1 }).waitFor();
    await guest.page.getByText('No forge is set up yet.').waitFor();
    expect(await picker.count()).toBe(0);
    await guest.close();
  });

  test('signing out everywhere ends the session of another browser', async () => {
    await visit();
    await confirm(button('Sign out everywhere'), 'Really, on every device?');
    await page.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor();
    await expect(stage.context.cookies()).resolves.toEqual([]);
  });
});
