import type { Page } from 'playwright-core';
import { eventually } from '../eventually.js';
import { generateKeys } from '../sealing/age-program.js';
import { describeInBrowser } from './support/chromium.js';
import { openSignedInFixture, type PageFixture } from './support/fixtures.js';
import { createSecretsPageActions } from './vault/secrets-page-actions.js';

/** Makes the storages behave as in a browser that blocks them. */
const BLOCK_STORAGE = `for (const name of ['localStorage', 'sessionStorage'])
  Object.defineProperty(window, name, { get() { throw new DOMException('Access is denied.', 'SecurityError'); } });`;

describeInBrowser('pages on a slow network, in an offline browser or without storage', () => {
  let stage: PageFixture;
  let page: Page;
  const go = (path: string) => page.goto(stage.server.origin + path);
  const alert = (text: string) => page.getByRole('alert').getByText(text);
  const heading = (name: string) => page.getByRole('heading', { name, level: 1 });
  const button = (name: string) => page.getByRole('button', { name, exact: true });

  beforeAll(async () => {
    stage = await openSignedInFixture({});
    ({ page } = stage);
    const actions = createSecretsPageActions(page, stage.server.origin);
    await actions.addConsumer('acme/shop', generateKeys().recipient);
    for (const slug of ['first', 'second']) await actions.createSecret({ slug, value: slug, usedBy: ['acme/shop'] });
  });
  afterEach(async () => {
    await stage.context.setOffline(false);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    stage.takeComplaints();
  });
  afterAll(() => stage.close());

  test('a secret shows nothing of the previous one while it loads', async () => {
    await go('/vault/objects/first');
    await button('Delete first').waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: /^Search pages/ }).fill('secret second');
    const entry = page.getByRole('option', { name: 'Secret second', exact: true });
    await entry.waitFor();
    // The request stays open until the end of the test.
    await page.route(/\/secrets\/objects\?.*slug=second/, () => undefined);
    await entry.click();
    await heading('second').waitFor();
    await page.getByText('Loading …').waitFor();
    expect(await page.getByRole('button', { name: /first/ }).count()).toBe(0);
  });

  test('a page that could not be loaded offline is loaded at the next visit', async () => {
    await go('/services');
    await heading('Services').waitFor();
    await page.waitForLoadState('networkidle');
    await stage.context.setOffline(true);
    await page.getByRole('link', { name: 'Insights', exact: true }).click();
    await heading('This page could not be loaded').waitFor();
    await stage.context.setOffline(false);
    await page.getByRole('link', { name: 'Services', exact: true }).click();
    await heading('Services').waitFor();
    await page.getByRole('link', { name: 'Insights', exact: true }).click();
    await heading('Insights').waitFor();
  });

  test('a part of a page that cannot be loaded offline is not attributed to an update of the server', async () => {
    await go('/services');
    await heading('Services').waitFor();
    await page.waitForLoadState('networkidle');
    // The cache of the browser may have them.
    await page.route(/\/palette-/, (route) => route.abort());
    await stage.context.setOffline(true);
    await page.keyboard.press('Control+k');
    await alert('You’re offline. Connect to the network.').waitFor();
    await stage.context.setOffline(false);
    await page.unrouteAll();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: /^Search pages/ }).waitFor();
  });

  test('Ctrl K opens the palette in the frame after a failure', async () => {
    await go('/services');
    await heading('Services').waitFor();
    await page.waitForLoadState('networkidle');
    let isBlocked = true;
    await page.route(/\/palette-/, (route) => (isBlocked ? route.abort() : route.continue()));
    await page.exposeFunction('allow', () => {
      isBlocked = false;
    });
    // The pages would attribute a failure while the browser is online to an update of the server.
    await page.evaluate(async () => {
      const press = (): unknown =>
        document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true, bubbles: true }));
      const failed = new Promise<void>((resolve) => {
        const settle = (): void => {
          if (document.querySelector('[role=alert] p') !== null) resolve();
        };
        new MutationObserver(settle).observe(document.body, { childList: true, subtree: true });
      });
      Object.defineProperty(navigator, 'onLine', { get: () => false, configurable: true });
      press();
      await failed;
      await (globalThis as unknown as { readonly allow: () => Promise<void> }).allow();
      press();
    });
    await page.unrouteAll();
    await page.getByRole('combobox', { name: /^Search pages/ }).waitFor();
  });

  test('a typed value can be saved after an update of the server', async () => {
    await go('/vault/new');
    const script = page.waitForResponse(/\/stored-values-[^/]*\.js$/);
    await page.getByLabel('Name').fill('third');
    await page.getByLabel('Value', { exact: true }).fill('value');
    await page.getByLabel('acme/shop').check();
    await (await script).finished();
    await page.waitForLoadState('networkidle');
    await page.route(/\/(?:seal|stored-values|trust)-[^/]*\.js$/, (route) => route.fulfill({ status: 404 }));
    await button('Save secret').click();
    await heading('third').waitFor();
  });

  test('a text that is typed while the previous one is sent stays in its field', async () => {
    await go('/settings');
    const name = page.getByLabel('Token name');
    await name.fill('first');
    let send = (): void => undefined;
    const typed = new Promise<void>((resolve) => (send = resolve));
    await page.route('**/api/tokens', async (route) => {
      if (route.request().method() === 'POST') await typed;
      await route.continue();
    });
    await button('Create token').click();
    await name.fill('second');
    send();
    await page.getByLabel('New token. Copy it now').waitFor();
    expect(await name.inputValue()).toBe('second');
  });

  test('files are counted for the search that they belong to', async () => {
    await go('/site');
    const status = page.locator('.contents').getByRole('status');
    await status.waitFor();
    const before = await status.textContent();
    await page.route('**/graphql', () => undefined);
    await page.getByLabel('Search names').fill('no such file');
    await page.waitForURL(/search=no/);
    expect(await status.textContent()).toBe(before);
  });

  test('a folder that cannot be read shows no entries of the previous one', async () => {
    await go('/site');
    const folder = page.getByRole('link', { name: /^images/ });
    await folder.waitFor();
    await page.route('**/graphql', (route) => route.abort());
    await folder.click();
    await alert('The server could not be reached.').waitFor();
    expect(await page.getByRole('list', { name: 'Folders and files' }).count()).toBe(0);
  });

  test('the current time in the settings is right while the clock of the browser is wrong', async () => {
    const since = Date.now();
    const tab = await stage.context.newPage();
    await tab.clock.install({ time: since + 5 * 3_600_000 });
    await tab.goto(`${stage.server.origin}/settings`);
    // A response names the time of the server.
    await tab.locator('section[aria-labelledby=passkeys] li').waitFor();
    const shown = () => tab.locator('#timezone-hint').textContent();
    await tab.getByLabel('Time zone').selectOption('Africa/Abidjan');
    // The hour may end before the page shows it, or before the check.
    const hours = () => [since, Date.now()].map((time) => new Date(time).toISOString().slice(11, 14));
    await eventually(async () => expect(hours()).toContain(/\d\d:/.exec((await shown()) ?? '')?.[0]));
    await tab.close();
  });

  test.each(['/services', '/site', '/sign-in', '/docs', '/graphql'])(
    '%s works if the browser blocks storage',
    async (path) => {
      const context = await stage.enter();
      await context.addInitScript(BLOCK_STORAGE);
      const tab = await context.newPage();
      await tab.goto(stage.server.origin + path);
      // The tools have their own parts in addition to the heading of the document.
      const parts: Readonly<Record<string, string>> = { '/docs': '.opblock', '/graphql': '.graphiql-container' };
      const part = tab.locator(parts[path] ?? 'main h1');
      await part.first().waitFor();
      await context.close();
    },
  );

  test('a page whose script is missing is not reloaded again and again if the browser blocks storage', async () => {
    const context = await stage.enter();
    await context.addInitScript(BLOCK_STORAGE);
    const tab = await context.newPage();
    await tab.route(/\/site-files-page-[^/]*\.js$/, (route) => route.fulfill({ status: 404 }));
    await tab.goto(`${stage.server.origin}/site`);
    await tab.getByRole('heading', { name: 'This page could not be loaded' }).waitFor();
    await context.close();
  });

  test('a secret can be saved if the storage of the browser is full', async () => {
    await go('/vault/new');
    await page.evaluate(() => {
      localStorage.removeItem('trellis-known-keys');
      for (let size = 5_300_000, index = 0; size >= 1;) {
        try {
          localStorage.setItem(`filler-${(index += 1)}`, 'x'.repeat(size));
        } catch {
          size = Math.floor(size / 2);
        }
      }
    });
    await page.getByLabel('Name').fill('fourth');
    await page.getByLabel('Value', { exact: true }).fill('value');
    await page.getByLabel('acme/shop').check();
    await button('Save secret').click();
    await heading('fourth').waitFor();
    await page.evaluate(() => localStorage.clear());
  });
});
