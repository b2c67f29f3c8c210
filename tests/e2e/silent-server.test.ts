import type { Page, Request } from 'playwright-core';
import { eventually } from '../eventually.js';
import { describeInBrowser } from './support/chromium.js';
import { openPageFixture, type PageFixture } from './support/fixtures.js';

/** Longer than pages wait for a response. */
const LATE_MS = 31_000;

const NO_RESPONSE = 'The server did not respond in time.';

describeInBrowser('a page of a server that stops responding', () => {
  let stage: PageFixture;
  let page: Page;
  const go = (path: string) => page.goto(stage.server.origin + path);
  const alert = () => page.getByRole('alert').getByText(NO_RESPONSE).first();
  const button = (name: string) => page.getByRole('button', { name, exact: true });

  /** Leaves requests without a response, after a number that get one. Returns a function that waits for such a request. */
  async function silence(address: RegExp, isMeant = (_request: Request): boolean => true, first = 0) {
    let responded = 0;
    let silent = 0;
    await page.route(address, (route) => {
      if (!isMeant(route.request()) || (responded += 1) <= first) return route.continue();
      silent += 1;
      return new Promise(() => undefined);
    });
    return () => eventually(() => expect(silent).toBeGreaterThan(0));
  }

  const isChange = (request: Request): boolean => request.method() === 'POST';

  beforeAll(async () => {
    stage = await openPageFixture();
    ({ page } = stage);
    await page.clock.install();
  });
  afterEach(() => page.unrouteAll());
  afterAll(() => stage.close());

  test('reports a lost change once it is late, keeps the input, and makes the change with the next attempt', async () => {
    await page.setViewportSize({ width: 1200, height: 500 });
    await go('/vault/consumers');
    const name = page.getByLabel('Name', { exact: true });
    await name.fill('acme/shop');
    const isSilent = await silence(/\/secrets\/consumers$/, isChange);
    await button('Add').click();
    await isSilent();
    await page.clock.fastForward(LATE_MS);
    await alert().waitFor();
    expect(await name.inputValue()).toBe('acme/shop');
    await page.unrouteAll();
    // The message is over the end of the page, and does not cover the button.
    await button('Add').click();
    await page.getByText('Consumer “acme/shop” added.').waitFor();
    expect(await alert().count()).toBe(0);
    expect(stage.takeComplaints()).toEqual([]);
  });

  test('waits for a sign-in for any time, and reports a late response after it', async () => {
    const dialog = page.getByRole('dialog', { name: 'You’ve been signed out' });
    const create = async (name: string, first: number) => {
      await go('/vault/consumers');
      await page.getByText('acme/shop').first().waitFor();
      await stage.context.clearCookies();
      await page.getByRole('region', { name: 'Add a consumer' }).getByLabel('Name').fill(name);
      const isSilent = await silence(/\/secrets\/consumers$/, isChange, first);
      await button('Add').click();
      const enter = dialog.getByRole('button', { name: 'Sign in with a passkey' });
      // The script of the button has arrived.
      await enter.waitFor();
      await page.clock.fastForward(LATE_MS);
      await enter.click();
      await dialog.waitFor({ state: 'detached' });
      return isSilent;
    };
    await create('acme/api', 2);
    await page.getByText('Consumer “acme/api” added.').waitFor();
    await page.unrouteAll();
    const isSilent = await create('acme/web', 1);
    await isSilent();
    await page.clock.fastForward(LATE_MS);
    await alert().waitFor();
    expect(new Set(stage.takeComplaints())).toEqual(new Set(['401 POST /secrets/consumers']));
  });

  test('reports late data of the site, and reads it again', async () => {
    const isSilent = await silence(/\/graphql$/);
    await go('/site');
    await isSilent();
    await page.clock.fastForward(LATE_MS);
    await alert().waitFor();
    await page.unrouteAll();
    await page.clock.fastForward(LATE_MS);
    await page.getByRole('link', { name: 'images (folder)' }).waitFor();
    await alert().waitFor({ state: 'detached' });
  });

  test('reads the preview of a transform again', async () => {
    await go('/site?folder=images');
    await page.getByRole('link', { name: 'garden-at-dawn.jpg' }).click();
    await page.getByRole('link', { name: 'Transform image' }).click();
    const widths = page.getByRole('textbox', { name: 'width' });
    await widths.waitFor();
    const isSilent = await silence(/\/graphql$/);
    await widths.fill('123');
    await isSilent();
    await page.clock.fastForward(LATE_MS);
    await page.getByText(NO_RESPONSE).first().waitFor();
    await page.unrouteAll();
    await page.clock.fastForward(LATE_MS);
    await eventually(async () => expect(await page.getByText(NO_RESPONSE).count()).toBe(0));
    await page.locator('a[href*="_w123_h82"]').waitFor();
    await page.getByRole('region', { name: 'HTML of the picture' }).getByText('_w123_h82').waitFor();
  });

  test('says why the preview of a file is missing', async () => {
    await go('/site?folder=images');
    await page.getByRole('link', { name: 'garden-at-dawn.jpg' }).waitFor();
    const failure = { error: 'Internal error.', code: 'internal', requestId: '01JAZ4QX1V6KQ5' };
    await page.route(/\/graphql$/, (route) =>
      route.request().postData()?.includes('query preview') === true
        ? route.fulfill({ status: 500, json: failure })
        : route.continue(),
    );
    await page.getByRole('link', { name: 'garden-at-dawn.jpg' }).click();
    await page.getByText('Request ID: 01JAZ4QX1V6KQ5').waitFor();
    expect(stage.takeComplaints()).toEqual(['500 POST /graphql']);
  });

  test('keeps a value if the script that seals it does not arrive', async () => {
    await go('/vault/new');
    await page.getByRole('textbox', { name: 'Name' }).fill('unsealed');
    // The script is loaded while a value is typed.
    const isSilent = await silence(/stored-values[^/]*\.js$/);
    const value = page.getByRole('textbox', { name: 'Value', exact: true });
    await value.fill('x');
    // The fold is open only if there are no consumers.
    const fold = page.locator('details', { hasText: 'Give a new program access' });
    await fold.evaluate((details: HTMLDetailsElement) => (details.open = true));
    await page.getByLabel('Program or host').fill('acme/unsealed');
    await button('Save secret').click();
    await isSilent();
    await page.clock.fastForward(LATE_MS);
    await alert().waitFor();
    expect(await value.inputValue()).toBe('x');
    expect(stage.takeComplaints()).toEqual([]);
  });

  test('offers to load a page again whose script does not arrive', async () => {
    await go('/services');
    await page.getByRole('heading', { name: 'Services', level: 1 }).waitFor();
    const isSilent = await silence(/insights-page[^/]*\.js$/);
    await page.getByRole('link', { name: 'Insights', exact: true }).click();
    await isSilent();
    await page.clock.fastForward(LATE_MS);
    await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor();
    await page.unrouteAll();
    await button('Reload').click();
    await page.getByRole('heading', { name: 'Insights', level: 1 }).waitFor();
    expect(stage.takeComplaints()).toEqual([]);
  });

  test('offers a sign-in in a new tab if the script of the sign-in does not arrive', async () => {
    await go('/services');
    await page.getByRole('heading', { name: 'Services', level: 1 }).waitFor();
    // Its requests would open the dialog before.
    await page.waitForLoadState('networkidle');
    await stage.context.clearCookies();
    const isSilent = await silence(/\/sign-in-(?!page)[^/]*\.js$/);
    await page.getByRole('link', { name: 'Secrets', exact: true }).click();
    await isSilent();
    await page.clock.fastForward(LATE_MS);
    await page.getByRole('dialog').getByRole('link', { name: 'Sign in in a new tab' }).waitFor();
    stage.takeComplaints();
  });
});
