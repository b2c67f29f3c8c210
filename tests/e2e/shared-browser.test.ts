import type { Cookie, Page } from 'playwright-core';
import { openBoardFixture, type BoardFixture } from './board/board-fixture.js';
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
    await page.route('**/api/settings/filter-state', (route) => route.abort());
    await stage.at.open('/', 'Pull requests');
    await stage.at.rows.first().waitFor();
    await stage.at.select('Group by', 'repository');
    await page.waitForURL(/group=/);
    await page.goto('about:blank');
    await page.unrouteAll({ behavior: 'wait' });
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
    stage.takeComplaints();
  });
});
