import { parse } from 'csv-parse/sync';
import type { Page } from 'playwright-core';
import { eventually } from '../eventually.js';
import { FORGEJO_TOKEN } from '../forges/forgejo.js';
import { GITHUB_TOKEN } from '../forges/github.js';
import type { BoardForges } from './board/board-forges.js';
import { expectAccessible } from './support/axe.js';
import { describeInBrowser } from './support/chromium.js';
import { openForgeFixture, type ForgeFixture } from './support/forge-fixture.js';
import { acceptInvitation, type Guest } from './support/invite.js';
import { createKeyboard } from './support/keyboard.js';
import { pressAndConfirm, readDownload } from './support/page-actions.js';
import { signUpByRequest } from './support/sign-up.js';
import { addVirtualAuthenticator } from './support/virtual-authenticator.js';

describeInBrowser('admin page', () => {
  let stage: ForgeFixture;
  let forges: BoardForges;
  let page: Page;
  let guest: Guest;

  beforeAll(async () => {
    stage = await openForgeFixture();
    ({ forges, page } = stage);
  });
  afterEach(() => {
    expect(stage.takeComplaints()).toEqual([]);
  });
  afterAll(() => stage.close());

  const visit = async (): Promise<void> => {
    await page.goto(`${stage.server.origin}/admin`);
    await page.getByRole('heading', { name: 'Admin', level: 1 }).waitFor();
  };
  const said = (text: RegExp | string) => page.locator('.toast').getByText(text).last().waitFor();
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const section = (name: string) => page.getByRole('region', { name, exact: true });
  const person = (name: string) => section('Users').getByRole('listitem').filter({ hasText: name });

  async function invite(username: string, name: string): Promise<string> {
    const invitations = section('Invitations');
    await invitations.getByLabel('Username', { exact: true }).fill(username);
    await invitations.getByLabel('Display name').fill(name);
    await button('Invite').click();
    await invitations.getByText(`${username}${name}`).waitFor();
    await invitations.getByRole('button', { name: 'Copy', exact: true }).click();
    await invitations.getByRole('button', { name: 'Copied', exact: true }).waitFor();
    return page.evaluate(() => navigator.clipboard.readText());
  }

  test('lists the current admin, who can’t revoke or remove their own account', async () => {
    await visit();
    await section('Invitations').getByText('No open invitations.').waitFor();
    await section('Requests to code hosts').getByText('No requests.').waitFor();
    await person('Ada').getByText('You can’t remove your own account.').waitFor();
    for (const name of ['Revoke access of ada', 'Remove ada']) {
      await expect(button(name).getAttribute('aria-disabled')).resolves.toBe('true');
      await button(name).press('Enter');
    }
    await expect(page.getByRole('button', { name: /\?$/ }).count()).resolves.toBe(0);
    await expectAccessible(page);
  });

  test('a copied invitation creates an account without access to the admin page', async () => {
    const link = await invite('bob', 'Bob');
    expect(link).toMatch(new RegExp(`^${stage.server.origin}/sign-in#invite=[\\w-]+&username=bob$`));
    guest = await acceptInvitation(stage, link, 'bob');
    await expect(guest.page.getByRole('link', { name: 'Admin', exact: true }).count()).resolves.toBe(0);
    await guest.page.goto(`${stage.server.origin}/admin`);
    await guest.page.getByText('Only admins can see this page.').waitFor();
    const keyboard = createKeyboard(guest.page);
    await keyboard.pressOn('link "Pull requests"');
    await keyboard.arriveAt('heading "Pull requests"');
    await guest.page.goBack();
    await guest.page.getByText('Only admins can see this page.').waitFor();
    await expectAccessible(guest.page);

    await visit();
    await person('Bob').getByText('bob').first().waitFor();
    await section('Invitations').getByText('No open invitations.').waitFor();
    expect(await section('Invitations').getByLabel('Send this link').count()).toBe(0);
  });

  test('a withdrawn invitation creates no account', async () => {
    const link = await invite('eve', 'Eve');
    await pressAndConfirm(button('Withdraw the invitation for eve'), 'Withdraw invitation?');
    await said('The invitation for eve was withdrawn.');
    await section('Invitations').getByText('No open invitations.').waitFor();
    const context = await stage.enter();
    const stranger = await context.newPage();
    await stranger.goto(link);
    await addVirtualAuthenticator(stranger);
    await stranger.getByRole('button', { name: 'Create a passkey' }).click();
    await stranger.getByRole('heading', { name: 'This link has expired' }).waitFor();
    await context.close();
    expect(stage.takeComplaints()).toEqual(['403 POST /api/auth/register/begin']);
  });

  test('revoking access ends the session of the user', async () => {
    await guest.page.goto(stage.server.origin);
    await guest.page.getByRole('heading', { name: 'Pull requests', level: 1 }).waitFor();
    await pressAndConfirm(button('Revoke access of bob'), 'Revoke access?');
    await said('bob was signed out everywhere');
    await guest.page.reload();
    await guest.page.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor();
    await person('Bob').waitFor();
    await guest.close();
  });

  test('removes a user after a confirmation, which Escape cancels', async () => {
    await button('Remove bob').click();
    await button('Remove permanently?').waitFor();
    await page.keyboard.press('Escape');
    await button('Remove bob').waitFor();
    await pressAndConfirm(button('Remove bob'), 'Remove permanently?');
    await said('The account of bob and its data were deleted.');
    await person('Bob').waitFor({ state: 'detached' });
  });

  /** Creates an account through the API. */
  async function addUser(username: string): Promise<void> {
    const { request } = page.context();
    const headers = { Origin: stage.server.origin };
    const data = { username, displayName: username };
    const response = await request.post(`${stage.server.origin}/api/admin/invites`, { data, headers });
    const { token } = (await response.json()) as { readonly token: string };
    const context = await stage.enter();
    await signUpByRequest(context, `${stage.server.origin}/sign-in#invite=${token}`, username);
    await context.close();
  }

  test('a user who was removed in a different tab leaves the list', async () => {
    await addUser('carl');
    await visit();
    const response = await page.context().request.delete(`${stage.server.origin}/api/admin/users/carl`, {
      headers: { Origin: stage.server.origin },
    });
    expect(response.status()).toBe(204);
    await pressAndConfirm(button('Remove carl'), 'Remove permanently?');
    await page.getByRole('alert').getByText('No user named "carl".').waitFor();
    await person('carl').waitFor({ state: 'detached' });
    expect(stage.takeComplaints()).toEqual(['404 DELETE /api/admin/users/carl']);
  });

  test('after the only user of the last page was removed, the list shows the previous page', async () => {
    // A server limits how many accounts are created in a minute.
    const users = Array.from({ length: 101 }, (_, index) => ({
      ...{ username: `user-${index}`, displayName: `User ${index}`, isAdmin: index === 0 },
      createdAt: '2026-01-01T00:00:00Z',
    }));
    await page.route(/\/api\/admin\/users(?:\?|\/)/, async (route) => {
      if (route.request().method() === 'DELETE') {
        users.pop();
        return route.fulfill({ status: 204 });
      }
      const offset = Number(new URL(route.request().url()).searchParams.get('offset'));
      const headers = { 'X-Total-Count': String(users.length) };
      return route.fulfill({ json: users.slice(offset, offset + 100), headers });
    });
    await visit();
    await section('Users').getByText('1 to 100 of 101').waitFor();
    await section('Users').getByRole('button', { name: 'Next' }).click();
    await pressAndConfirm(button('Remove user-100'), 'Remove permanently?');
    await button('Remove user-0').waitFor();
    await button('Remove user-99').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
  });

  /** Sends requests to forges through the connection test of the settings, with the page's session. */
  async function sendForgeRequests(times: number): Promise<void> {
    const settings = {
      ...{ githubUrl: forges.github.url, githubUsername: 'mona', githubToken: GITHUB_TOKEN },
      ...{ forgejoUrl: forges.forgejo.url, forgejoUsername: 'lisa', forgejoToken: FORGEJO_TOKEN },
    };
    await page.evaluate(
      async ({ body, count }) => {
        const headers = { 'Content-Type': 'application/json' };
        const send = (forge: string) =>
          fetch('/api/settings/test', { method: 'POST', headers, body: JSON.stringify({ forge, settings: body }) });
        for (let time = 0; time < count; time += 1) await send('github');
        await send('forgejo');
      },
      { body: settings, count: times },
    );
  }

  test('the request log lists requests to forges, with pages, filters and a CSV download', async () => {
    await sendForgeRequests(13);
    const log = section('Requests to code hosts');
    const total = forges.github.seen.length + forges.forgejo.seen.length;
    await log.getByRole('button', { name: 'Newest' }).click();
    await log.getByText(`1 to 50 of ${total}`, { exact: true }).waitFor();
    await expectAccessible(page);
    await log.getByRole('button', { name: 'Older' }).click();
    await log.getByText(`51 to ${total} of ${total}`).waitFor();
    await expect(log.getByRole('button', { name: 'Older' }).getAttribute('aria-disabled')).resolves.toBe('true');
    await expect(log.locator('tbody tr').count()).resolves.toBe(total - 50);
    await log.getByRole('button', { name: 'Newer' }).click();
    await log.getByText(`1 to 50 of ${total}`).waitFor();

    await log.getByLabel('Code host').selectOption({ label: 'Forgejo or Gitea' });
    const some = forges.forgejo.seen.length;
    await log.getByText(`1 to ${some} of ${some}`).waitFor();
    await log.locator('tbody').getByText('GET /user/repos').first().waitFor();
    await log.getByLabel('Account').fill('mona');
    await log.getByText('No requests.').waitFor();
    await log.getByLabel('Account').fill('lisa');
    await log.getByText(`1 to ${some} of ${some}`).waitFor();

    const [download] = await Promise.all([
      page.waitForEvent('download'),
      log.getByRole('link', { name: 'Download as CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('requests.csv');
    const rows = parse(await readDownload(download), { columns: true }) as readonly Record<string, string>[];
    expect(rows).toHaveLength(some);
    expect(new Set(rows.map(({ forge, account }) => `${forge} ${account}`))).toEqual(new Set(['forgejo lisa']));
    expect(rows.at(-1)).toMatchObject({ method: 'GET', endpoint: '/user', outcome: 'success', statusCode: '200' });
  });

  test('the background work lists the board, refreshes it, and deletes expired data', async () => {
    await page.evaluate(
      async (body) => {
        const headers = { 'Content-Type': 'application/json' };
        await fetch('/api/settings', { method: 'PUT', headers, body: JSON.stringify(body) });
      },
      { githubUrl: forges.github.url, githubUsername: 'mona', githubToken: GITHUB_TOKEN },
    );
    const work = section('Background work');
    const refresh = work.getByRole('button', { name: 'Refresh now: the board of ada' });
    await eventually(async () => {
      await work.getByRole('button', { name: 'Reload' }).click();
      await expect(refresh.isVisible()).resolves.toBe(true);
    });
    // A busy button is paler.
    await work.locator('[aria-busy="true"]').waitFor({ state: 'detached' });
    await expectAccessible(page);
    await refresh.click();
    await said('The board of ada is due.');
    await work.getByRole('button', { name: 'Delete expired data now' }).click();
    await said('The deletion of expired data has started.');
  });
});
