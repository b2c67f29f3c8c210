import type { Cookie, Page } from 'playwright-core';
import { eventuallyEquals, openBoardFixture, type BoardFixture } from './board/board-fixture.js';
import { describeInBrowser } from './support/chromium.js';
import { signUp } from './support/sign-up.js';

describeInBrowser('a browser that two users share', () => {
  let stage: BoardFixture;
  let page: Page;
  let ada: Cookie[];
  let bob: Cookie[];
  const become = async (cookies: Cookie[]): Promise<void> => {
    await stage.context.clearCookies();
    await stage.context.addCookies(cookies);
  };
  const signedInAs = (tab: Page, name: string) => tab.getByText(`Signed in as ${name}`).waitFor();

  beforeAll(async () => {
    stage = await openBoardFixture();
    ({ page } = stage);
    ada = await stage.context.cookies();
    const { origin } = stage.server;
    const data = { username: 'bob', displayName: 'Bob' };
    const invited = await page.request.post(`${origin}/api/admin/invites`, { data, headers: { Origin: origin } });
    const { token } = (await invited.json()) as { readonly token: string };
    await stage.context.clearCookies();
    // The tab has an authenticator with the passkey of Bob afterwards.
    await signUp(
      page,
      `${origin}/sign-in#${new URLSearchParams({ invite: token, username: 'bob' }).toString()}`,
      'bob',
    );
    bob = await stage.context.cookies();
  });
  afterAll(() => stage.close());

  test('keeps the filters of each user apart', async () => {
    await become(ada);
    // A client repeats a request that fails in another way, also after its page is closed, and then with the cookie of Bob.
    await page.route('**/api/settings/filter-state', (route) =>
      route.request().method() === 'PUT' ? route.fulfill({ status: 400 }) : route.continue(),
    );
    await stage.at.open('/', 'Pull requests');
    await stage.at.rows.first().waitFor();
    const refused = page.waitForResponse((response) => response.request().method() === 'PUT');
    await stage.at.select('Group by', 'repository');
    await page.waitForURL(/group=/);
    await refused;
    await page.goto('about:blank');
    await become(bob);
    const sent = stage.requests.length;
    await stage.at.open('/', 'Pull requests');
    await page.getByText('No code host connected yet.').waitFor();
    await page.waitForLoadState('networkidle');
    expect(new URL(page.url()).search).toBe('');
    expect(stage.requests.slice(sent).filter((request) => request.startsWith('PUT'))).toEqual([]);
    await become(ada);
    await stage.at.open('/', 'Pull requests');
    await page.waitForURL(/group=/);
    await page.unrouteAll({ behavior: 'wait' });
    stage.takeComplaints();
  });

  test('loads a tab again when a different user signs in in another tab', async () => {
    await become(ada);
    await stage.at.open('/settings', 'Settings');
    await signedInAs(page, 'Ada');
    await become(bob);
    const other = await stage.context.newPage();
    await other.goto(`${stage.server.origin}/settings`);
    await signedInAs(other, 'Bob');
    await signedInAs(page, 'Bob');
    await other.close();
    stage.takeComplaints();
  });

  test('shows no rows of the previous user after a sign-in in the same tab', async () => {
    await become(ada);
    await stage.at.open('/', 'Pull requests');
    await stage.at.rows.first().waitFor();
    await stage.context.clearCookies();
    // Another stream is opened, without a session.
    await page.getByRole('checkbox', { name: 'Drafts' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    // Without a board of Bob, the rows of Ada would stay.
    await page.route('**/api/dashboard*', (route) => route.abort());
    await page.route('**/api/dashboard/**', (route) => route.abort());
    await page.locator('main').getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByRole('heading', { name: 'Pull requests', level: 1 }).waitFor();
    await page.getByRole('banner').getByText('Bob', { exact: true }).waitFor();
    await eventuallyEquals(() => stage.at.rows.count(), 0);
    await page.unrouteAll({ behavior: 'wait' });
    stage.takeComplaints();
  });

  test('shows no rows of a user who has signed out in a different tab', async () => {
    await become(ada);
    await stage.at.open('/', 'Pull requests');
    await stage.at.rows.first().waitFor();
    const other = await stage.context.newPage();
    await other.goto(`${stage.server.origin}/settings`);
    await other.getByRole('button', { name: 'Sign out', exact: true }).click();
    // A tab that is closed while it leaves its page can keep the browser waiting.
    for (const tab of [other, page]) await tab.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor();
    expect(await stage.at.rows.count()).toBe(0);
    await other.close();
    stage.takeComplaints();
  });
});
