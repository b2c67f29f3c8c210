import path from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import type { Page, Request } from 'playwright-core';
import { eventually } from '../eventually.js';
import { githubRepository } from '../forges/github-state.js';
import { generateKeys } from '../sealing/age-program.js';
import { openBoardFixture, type BoardFixture } from './board/board-fixture.js';
import { expectAccessible } from './support/axe.js';
import { describeInBrowser } from './support/chromium.js';
import { openPageFixture, openSignedInFixture, type PageFixture } from './support/fixtures.js';
import { pressAndConfirm } from './support/page-actions.js';

/** From the narrowest phone, which equals 400 % zoom of 1280 px, to a laptop. */
const WIDTHS = [320, 360, 390, 600, 768, 820, 900, 1024, 1440];

async function expectNoSidewaysPanning(page: Page, path: string): Promise<void> {
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    // Content that loads later may shift the layout briefly.
    await eventually(async () => {
      const scrollWidth = await page.evaluate(() => document.documentElement.scrollWidth);
      expect([path, width, Math.max(scrollWidth, width)]).toEqual([path, width, width]);
    });
  }
}

describeInBrowser('pages at every width', () => {
  let stage: BoardFixture;
  let page: Page;

  beforeAll(async () => {
    stage = await openBoardFixture(({ github }) => {
      github.repositories.push(githubRepository(`acme/${'a-long-name-without-spaces-'.repeat(3)}`));
    });
    ({ page } = stage);
  });
  afterEach(() => {
    expect(stage.takeComplaints()).toEqual([]);
  });
  afterAll(() => stage.close());

  test.each([
    ['/', 'Pull requests'],
    ['/issues', 'Issues'],
    ['/repositories', 'Repositories'],
    ['/insights', 'Insights'],
    ['/settings', 'Settings'],
    ['/admin', 'Admin'],
    ['/services', 'Services'],
  ])('%s never pans sideways', async (path, heading) => {
    await stage.at.open(path, heading);
    if (['/', '/repositories'].includes(path)) await stage.at.rows.first().waitFor();
    await eventually(async () => expect(await page.getByText('Loading …').count()).toBe(0));
    await expectNoSidewaysPanning(page, path);
  });

  test('the name of a repository keeps a readable width', async () => {
    await stage.at.open('/repositories', 'Repositories');
    const name = page.getByRole('link', { name: 'acme/shop' });
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      const { height, width: shown } = (await name
        .locator('xpath=ancestor::div[contains(@class,"about")]')
        .boundingBox())!;
      expect([width, shown >= 160, height < 80]).toEqual([width, true, true]);
    }
  });

  test('the labels of the navigation of a phone do not overlap when the text is twice as large', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await stage.at.open('/', 'Pull requests');
    await page.evaluate(() => (document.documentElement.style.fontSize = '200%'));
    const labels = page
      .getByRole('navigation', { name: 'Pages' })
      .locator('li > a > span:not(.badge):visible, li:visible summary');
    const boxes = await labels.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().toJSON() as DOMRect));
    await page.evaluate(() => (document.documentElement.style.fontSize = ''));
    expect(boxes).toHaveLength(5);
    for (const [index, { left }] of boxes.slice(1).entries()) expect(boxes[index]!.right).toBeLessThanOrEqual(left);
  });

  test.each(['/', '/docs'])('the logo of %s grows with the text', async (place) => {
    await page.goto(stage.server.origin + place);
    const readSizes = (): Promise<readonly string[]> =>
      page.evaluate(() => {
        const { width, backgroundSize } = getComputedStyle(document.querySelector('.brand')!, '::before');
        return [width, backgroundSize.split(', ')[0]!];
      });
    await eventually(async () => expect(await readSizes()).toEqual(['20px', '12px 1px']));
    await page.evaluate(() => (document.documentElement.style.fontSize = '200%'));
    expect(await readSizes()).toEqual(['40px', '24px 2px']);
    await page.evaluate(() => (document.documentElement.style.fontSize = ''));
  });

  test.each([320, 360])('the navigation of a phone of %i px is inside the screen', async (width) => {
    await page.setViewportSize({ width, height: 640 });
    await stage.at.open('/', 'Pull requests');
    const items = page.getByRole('navigation', { name: 'Pages' }).locator('li:visible');
    for (const item of await items.all()) {
      const box = (await item.boundingBox())!;
      expect([box.x >= 0, box.x + box.width <= width, box.width >= 44]).toEqual([true, true, true]);
    }
  });

  test('a menu stays open behind the dialog of an ended session and gets the focus back', async () => {
    await page.setViewportSize({ width: 1200, height: 850 });
    await stage.at.open('/?text=saw', 'Pull requests');
    const cookies = await stage.context.cookies();
    await page.getByText('Views', { exact: true }).click();
    await page.getByLabel('View name').fill('saws');
    await stage.context.clearCookies();
    await page.getByRole('button', { name: 'Save view' }).press('Enter');
    await page.locator('dialog :focus', { hasText: 'Sign in with a passkey' }).waitFor();
    await page.keyboard.press('Escape');
    await page.locator(':focus', { hasText: 'Save view' }).waitFor();
    expect(await page.getByLabel('View name').inputValue()).toBe('saws');
    await stage.context.addCookies(cookies);
    // Nothing else is requested, which would open the dialog again.
    expect(stage.takeComplaints()).toEqual(['401 GET /api/views']);
  });
});

describeInBrowser('a page with an expired session or an outdated release', () => {
  let stage: PageFixture;
  let page: Page;
  const go = (path: string) => page.goto(stage.server.origin + path);
  const dialog = () => page.getByRole('dialog', { name: 'You’ve been signed out' });
  const button = (name: RegExp | string) => page.getByRole('button', { name, exact: true });

  /** A late response to a request of the loading page would open the dialog too early. */
  const endSession = async (): Promise<void> => {
    await page.waitForLoadState('networkidle');
    await stage.context.clearCookies();
  };

  // Each listed consumer has a form too; the last form is that of a new consumer.
  const nameField = () => page.getByLabel('Name', { exact: true }).last();

  beforeAll(async () => {
    stage = await openPageFixture();
    ({ page } = stage);
  });
  afterAll(() => stage.close());

  test('opens a sign-in dialog over the page, repeats the request and keeps the input', async () => {
    await go('/vault/consumers');
    await page.getByRole('heading', { name: 'Add a consumer' }).waitFor();
    await endSession();
    await nameField().fill('acme/shop');
    await button('Add').click();
    await page.locator(':focus', { hasText: 'Sign in with a passkey' }).waitFor();
    await dialog().getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByText('Consumer “acme/shop” added.').waitFor();
    await dialog().waitFor({ state: 'detached' });
    expect(stage.takeComplaints()).toEqual(['401 POST /secrets/consumers']);
  });

  test('asks for the passkey again before a sensitive change, and then makes it', async () => {
    const confirmation = page.getByRole('dialog', { name: 'Confirm with your passkey' });
    const label = () => page.getByLabel('Token name');
    const create = () => button('Create token').click();
    await go('/settings');
    await label().waitFor();
    const database = new DatabaseSync(path.join(stage.state, 'trellis.db'));
    database.exec('PRAGMA busy_timeout = 5000');
    database.exec('UPDATE sessions SET created_at = created_at - 3600000');
    database.close();
    await label().fill('deploys');
    await create();
    await confirmation.getByText('This change needs a sign-in in the last 10 minutes.').waitFor();
    await expectAccessible(page);
    await confirmation.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('alert').getByText('Confirm this with your passkey').waitFor();
    expect(await label().inputValue()).toBe('deploys');
    await create();
    await confirmation.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByLabel('New token. Copy it now').waitFor();
    expect(stage.takeComplaints()).toEqual(['401 POST /api/tokens', '401 POST /api/tokens']);
  });

  test('is loaded again if the browser restores it after the session has ended', async () => {
    await Promise.all([page.waitForResponse(/\/api\/settings\/credentials$/), go('/settings')]);
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
    await endSession();
    await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })));
    await button('Sign in with a passkey').click();
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
    expect(stage.takeComplaints()).toEqual([]);
  });

  test('shows a message after a cancelled sign-in and opens the dialog again at the next action', async () => {
    await go('/vault/consumers');
    await page.getByRole('heading', { name: 'Add a consumer' }).waitFor();
    await endSession();
    await nameField().fill('acme/api');
    await button('Add').click();
    await dialog().getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('alert').getByText('You’ve been signed out. Sign in to continue.').waitFor();
    expect(await nameField().inputValue()).toBe('acme/api');
    await button('Add').click();
    await dialog().getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByText('Consumer “acme/api” added.').waitFor();
    stage.takeComplaints();
  });

  test('does not restore the key of a consumer that another tab has replaced', async () => {
    const { request } = stage.context;
    const consumer = `${stage.server.origin}/secrets/consumers/acme%2Fapi`;
    const replaceKey = async (): Promise<string> => {
      const { recipient } = generateKeys();
      const options = { data: { public_key: recipient }, headers: { Origin: stage.server.origin } };
      expect((await request.patch(consumer, options)).status()).toBe(200);
      return recipient;
    };
    await replaceKey();
    await go('/vault/consumers');
    await page.getByLabel('Edit acme/api').waitFor();
    const key = await replaceKey();
    // The list is read again, while the form of the consumer stays.
    await nameField().fill('acme/web');
    await button('Add').click();
    await page.getByText('Consumer “acme/web” added.').waitFor();
    const item = page.getByRole('listitem').filter({ hasText: 'acme/api' });
    await page.getByLabel('Edit acme/api').click();
    await item.getByLabel('Name').fill('acme/service');
    await item.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Consumer “acme/service” saved.').waitFor();
    await page.getByRole('listitem').filter({ hasText: 'acme/service' }).getByText(key).waitFor();
    stage.takeComplaints();
  });

  test('removes an entry from the list that another tab has removed', async () => {
    const consumers = `${stage.server.origin}/secrets/consumers`;
    const headers = { Origin: stage.server.origin };
    await stage.context.request.post(consumers, { data: { name: 'gone' }, headers });
    await go('/vault/consumers');
    await page.getByLabel('Edit gone').waitFor();
    await stage.context.request.delete(`${consumers}/gone`, { headers });
    await pressAndConfirm(button('Delete gone'), 'Delete consumer');
    await page.getByRole('alert').getByText('This consumer no longer exists.').waitFor();
    await page.getByLabel('Edit gone').waitFor({ state: 'detached' });
    expect(stage.takeComplaints()).toEqual(['404 DELETE /secrets/consumers/gone']);
  });

  test('copies the request ID of an error, and reads again', async () => {
    const failure = { error: 'Internal error.', code: 'internal', requestId: '01JAZ4QX1V6KQ2' };
    await page.route('**/secrets/consumers*', (route) => route.fulfill({ status: 500, json: failure }));
    await go('/vault/consumers');
    await page.getByRole('alert').getByText('Internal error. Request ID: 01JAZ4QX1V6KQ2').waitFor();
    await button('Copy the request ID').click();
    await button('Copied the request ID').waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('01JAZ4QX1V6KQ2');
    await page.unroute('**/secrets/consumers*');
    await button('Try again').click();
    await page.getByText('acme/shop').first().waitFor();
    // The client repeats failed reads.
    expect(new Set(stage.takeComplaints())).toEqual(new Set(['500 GET /secrets/consumers']));
  });

  test.each([
    ['/vault/new', 'Encrypt it to my own key too'],
    ['/vault/audit', 'Subject'],
  ])('shows on %s once that the server does not respond, and reads again automatically', async (path, field) => {
    const reads = /\/secrets\/(?:audit-log|auth\/identity|consumers)/;
    await page.route(reads, (route) => route.abort());
    await go(path);
    const error = page.getByRole('alert').getByText('The server could not be reached.');
    await error.waitFor();
    expect([await error.count(), await page.getByText('Loading …').count()]).toEqual([1, 0]);
    await expectAccessible(page);
    await page.unroute(reads);
    await page.getByLabel(field).waitFor();
    await error.waitFor({ state: 'detached' });
    expect(stage.takeComplaints()).toEqual([]);
  });

  test('shows no entries of a previous filter in place of those that could not be read', async () => {
    const reads = '**/secrets/audit-log?*';
    const failure = { error: 'Internal error.', code: 'internal', requestId: '01JAZ4QX1V6KQ3' };
    await page.locator('table tbody tr').first().waitFor();
    await page.route(reads, (route) => route.fulfill({ status: 500, json: failure }));
    await page.getByLabel('Subject').selectOption('Consumers');
    const error = page.getByRole('alert').getByText('Request ID: 01JAZ4QX1V6KQ3');
    await error.waitFor();
    expect([await error.count(), await page.locator('table').count()]).toEqual([1, 0]);
    await page.unroute(reads);
    await page.getByLabel('Subject').selectOption('All');
    await page.locator('table tbody tr').first().waitFor();
    expect(new Set(stage.takeComplaints())).toEqual(new Set(['500 GET /secrets/audit-log']));
  });

  test('clears a filter of an address that the server rejects', async () => {
    await go('/vault/audit?objectId=a%20b');
    await page.getByRole('alert').getByText('object_id').waitFor();
    await button('Clear').click();
    await page.locator('table tbody tr').first().waitFor();
    expect(new Set(stage.takeComplaints())).toEqual(new Set(['400 GET /secrets/audit-log']));
  });

  test('ends the last day of a filter at midnight, also if it starts at 1:00', async () => {
    const tab = await stage.context.newPage();
    const devtools = await stage.context.newCDPSession(tab);
    await devtools.send('Emulation.setTimezoneOverride', { timezoneId: 'America/Santiago' });
    const read = tab.waitForRequest(/\/secrets\/audit-log\?.*\bto=/);
    await tab.goto(`${stage.server.origin}/vault/audit?to=2026-09-06`);
    expect(new URL((await read).url()).searchParams.get('to')).toBe('2026-09-07T03:00:00.000Z');
    await tab.getByRole('status').getByText('0 of 0 shown').waitFor();
    await tab.close();
    stage.takeComplaints();
  });

  test('filters the audit log by days of the time zone in the settings', async () => {
    const save = async (timezone: string): Promise<void> => {
      const response = await stage.context.request.put(`${stage.server.origin}/api/settings/timezone`, {
        data: { timezone },
        headers: { Origin: stage.server.origin },
      });
      expect(response.status()).toBe(200);
    };
    await save('Asia/Tokyo');
    const read = page.waitForRequest(/\/secrets\/audit-log\?.*\bto=/);
    await go('/vault/audit?from=2026-05-03&to=2026-05-03');
    const { searchParams } = new URL((await read).url());
    const days = [searchParams.get('from'), searchParams.get('to')];
    expect(days).toEqual(['2026-05-02T15:00:00.000Z', '2026-05-03T15:00:00.000Z']);
    await page.getByRole('status').getByText('0 of 0 shown').waitFor();
    await save('');
    expect(stage.takeComplaints()).toEqual([]);
  });

  test('repeats failed reads after a sign-in', async () => {
    await go('/settings');
    await page.getByText('Quiet hours, digest and batches').waitFor();
    await endSession();
    await page.getByRole('link', { name: 'Secrets', exact: true }).click();
    await dialog().getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByRole('heading', { name: 'Secrets', level: 1 }).waitFor();
    await dialog().waitFor({ state: 'detached' });
    stage.takeComplaints();
  });

  test('offers a sign-in in a new tab if the script of the sign-in is gone', async () => {
    // This page has not loaded the script of the sign-in; the settings do.
    await go('/insights');
    await page.getByRole('heading', { name: 'Insights', level: 1 }).waitFor();
    const cookies = await stage.context.cookies();
    await endSession();
    await page.route(/\/sign-in-(?!page)[^/]*\.js$/, (route) => route.fulfill({ status: 404 }));
    await page.getByRole('link', { name: 'Secrets', exact: true }).click();
    const elsewhere = dialog().getByRole('link', { name: 'Sign in in a new tab' });
    await elsewhere.waitFor();
    expect(await elsewhere.getAttribute('target')).toBe('_blank');
    await dialog().getByRole('button', { name: 'Continue' }).click();
    await dialog().getByText('You’re not signed in yet.').waitFor();
    await stage.context.addCookies(cookies);
    await dialog().getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('heading', { name: 'Secrets', level: 1 }).waitFor();
    await dialog().waitFor({ state: 'detached' });
    await page.unrouteAll();
    stage.takeComplaints();
  });

  test('reloads a tab at its next navigation after an upgrade of the server', async () => {
    await go('/services');
    await page.getByRole('heading', { name: 'Services', level: 1 }).waitFor();
    // The bundles of a newer release have different names.
    let isOld = true;
    await page.route(/settings-page.*\.js$/, (route) => (isOld ? route.fulfill({ status: 404 }) : route.fallback()));
    // The module scripts of the reloaded document run before its DOMContentLoaded event.
    const isReload = (request: Request): boolean => request.isNavigationRequest();
    const reloaded = page.waitForEvent('request', isReload).then(() => (isOld = false));
    await page.getByRole('link', { name: 'Settings', exact: true }).click();
    await reloaded;
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
    await page.unrouteAll();
    stage.takeComplaints();
  });

  test('loads the next document from a server whose contracts have changed', async () => {
    await go('/services');
    await page.getByRole('heading', { name: 'Services', level: 1 }).waitFor();
    await page.route('**/api/**', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, headers: { ...response.headers(), 'x-trellis-revision': '0000000000000000' } });
    });
    await page.getByRole('link', { name: 'Settings', exact: true }).click();
    await page.getByRole('group', { name: 'GitHub', exact: true }).waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    const document = page.waitForRequest((request) => request.isNavigationRequest());
    await page.getByRole('link', { name: 'Admin', exact: true }).click();
    expect(new URL((await document).url()).pathname).toBe('/admin');
    await page.getByRole('heading', { name: 'Admin', level: 1 }).waitFor();
    stage.takeComplaints();
  });

  test('shows an error page if a reload does not help', async () => {
    await go('/services');
    await page.getByRole('heading', { name: 'Services', level: 1 }).waitFor();
    await page.route(/settings-page.*\.js$/, (route) => route.fulfill({ status: 404 }));
    await page.getByRole('link', { name: 'Settings', exact: true }).click();
    await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor();
    await page.unrouteAll();
    await button('Reload').click();
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
    stage.takeComplaints();
  });

  test('says that a script for the recovery phrase could not be loaded', async () => {
    await page.route(/\/phrase-[^/]*\.js$/, (route) => route.fulfill({ status: 404 }));
    await go('/vault/identity');
    await button('Create my key').click();
    await page.getByRole('alert').getByText('A part of this page could not be loaded.').waitFor();
    await page.unrouteAll();
    stage.takeComplaints();
  });

  test('a secret without other readers is encrypted to the owner’s key by default', async () => {
    await go('/vault/identity');
    await button('Create my key').click();
    const list = page.getByRole('list', { name: 'Recovery phrase' });
    await list.waitFor();
    const words = await list.getByRole('listitem').allTextContents();
    await button('I have written it down').click();
    await eventually(async () => expect(await page.getByLabel(/^Word \d+$/).count()).toBe(2));
    for (const label of await page.locator('main form label').allTextContents()) {
      await page.getByLabel(label, { exact: true }).fill(words[Number(label.slice('Word '.length)) - 1] ?? '');
    }
    await button('Continue').click();
    await button(/^Use the passkey “First passkey”/).click();
    await page.getByText('Key created.').waitFor();
    await go('/vault/new');
    const own = page.getByRole('checkbox', { name: 'Encrypt it to my own key too' });
    await eventually(async () => expect(await own.isChecked()).toBe(true));
    await page.getByLabel('Name').fill('first');
    await page.getByLabel('Value', { exact: true }).fill('value');
    await page.getByLabel('Tags').fill('not a tag!');
    await button('Save secret').click();
    expect(await page.getByLabel('Tags').evaluate((input: HTMLInputElement) => input.validity.patternMismatch)).toBe(
      true,
    );
    await page.getByLabel('Tags').fill('prod, db');
    await button('Save secret').click();
    await page.getByRole('heading', { name: 'first', level: 1 }).waitFor();
    expect(stage.takeComplaints()).toEqual([]);
  });

  test('forgets a decrypted value at a sign-out in another tab, and continues at the sign-in of another', async () => {
    await button('Show value').click();
    await button(/^Use the passkey “First passkey”/).click();
    const value = page.locator('.secret-value');
    await value.waitFor();
    await page.evaluate(() => Object.assign(globalThis, { isSameDocument: true }));
    const other = await stage.context.newPage();
    await other.goto(`${stage.server.origin}/settings`);
    await other.getByRole('button', { name: 'Sign out', exact: true }).click();
    const entrance = (tab: Page) => tab.locator('main').getByRole('button', { name: 'Sign in with a passkey' });
    await Promise.all([entrance(page).waitFor(), entrance(other).waitFor()]);
    expect(await value.count()).toBe(0);
    await eventually(async () => expect(await page.evaluate(() => 'isSameDocument' in globalThis)).toBe(false));
    await other.goto(`${stage.server.origin}/issues`);
    await entrance(other).waitFor();
    await entrance(page).click();
    await page.getByRole('heading', { name: 'first', level: 1 }).waitFor();
    expect(await value.count()).toBe(0);
    await other.getByRole('heading', { name: 'Issues', level: 1 }).waitFor();
    await other.close();
    stage.takeComplaints();
  });

  test('continues in every tab of an ended session after a sign-in in one of them', async () => {
    const other = await stage.context.newPage();
    const tabs = [page, other];
    for (const tab of tabs) {
      await tab.goto(`${stage.server.origin}/services`);
      await tab.getByRole('heading', { name: 'Services', level: 1 }).waitFor();
      await tab.waitForLoadState('networkidle');
    }
    await stage.context.clearCookies();
    for (const tab of tabs) {
      await tab.getByRole('link', { name: 'Secrets', exact: true }).click();
      await tab.getByRole('dialog', { name: 'You’ve been signed out' }).waitFor();
    }
    await dialog().getByRole('button', { name: 'Sign in with a passkey' }).click();
    for (const tab of tabs) {
      await tab.getByRole('dialog').waitFor({ state: 'detached' });
      await tab.getByRole('link', { name: 'first', exact: true }).waitFor();
    }
    await other.close();
    stage.takeComplaints();
  });
});

describeInBrowser('a page after an outage of the database', () => {
  let stage: PageFixture;
  let page: Page;
  const failure = { error: 'The database does not respond.', code: 'unavailable', requestId: '01JAZ4QX1V6KQ4' };
  const error = () => page.getByRole('alert').getByText(failure.error).first();
  const isData = (url: URL): boolean => /^\/(?:api|secrets)\//.test(url.pathname);
  const show = (state: 'hidden' | 'visible') =>
    page.evaluate((value) => {
      Object.defineProperty(document, 'visibilityState', { value, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    }, state);

  beforeAll(async () => {
    stage = await openSignedInFixture({});
    ({ page } = stage);
  });
  afterEach(() => page.unrouteAll({ behavior: 'wait' }));
  afterAll(async () => {
    stage.takeComplaints();
    await stage.close();
  });

  test.each([
    ['/', 'No code host connected yet.'],
    ['/settings', 'Quiet hours, digest and batches'],
    ['/vault', 'No secrets yet'],
  ])('reads %s again automatically', async (path, text) => {
    await page.route(isData, (route) => route.fulfill({ status: 503, json: failure }));
    await page.goto(stage.server.origin + path);
    await error().waitFor();
    await page.unroute(isData);
    await page.getByText(text).first().waitFor();
    await eventually(async () => expect(await page.getByRole('alert').getByText(failure.error).count()).toBe(0));
  });

  test('does so at once when it becomes visible, and not while it is hidden', async () => {
    await page.clock.install();
    let reads = 0;
    await page.route('**/secrets/consumers*', (route) => {
      reads += 1;
      return route.fulfill({ status: 503, json: failure });
    });
    await page.goto(`${stage.server.origin}/vault/consumers`);
    await error().waitFor();
    await show('hidden');
    await page.clock.fastForward(60_000);
    const before = reads;
    await page.clock.fastForward(600_000);
    expect(reads).toBe(before);
    await page.unroute('**/secrets/consumers*');
    await show('visible');
    await page.getByText('No consumers yet').waitFor();
  });

  test('does not repeat a request that the server has rejected', async () => {
    let reads = 0;
    await page.route('**/secrets/consumers*', (route) => {
      reads += 1;
      return route.fulfill({ status: 403, json: { ...failure, code: 'forbidden' } });
    });
    await page.goto(`${stage.server.origin}/vault/consumers`);
    await error().waitFor();
    await page.clock.fastForward(600_000);
    await show('hidden');
    await show('visible');
    await page.getByRole('link', { name: 'Services', exact: true }).click();
    await page.getByRole('heading', { name: 'Services', level: 1 }).waitFor();
    expect(reads).toBe(1);
  });
});
