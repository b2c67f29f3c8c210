import type { Page } from 'playwright-core';
import { describeInBrowser } from './support/chromium.js';
import { openSignedInFixture, type PageFixture } from './support/fixtures.js';

describeInBrowser('the header of all pages', () => {
  let stage: PageFixture;

  beforeAll(async () => {
    stage = await openSignedInFixture({ env: { INSTANCE_LABEL: 'staging' } });
  });
  afterEach(() => expect(stage.takeComplaints()).toEqual([]));
  afterAll(() => stage.close());

  /** Returns the links of the header with their addresses, its height, and the current page. */
  async function readHeader(page: Page, path: string) {
    await page.goto(stage.server.origin + path);
    const header = page.getByRole('banner');
    const pages = header.getByRole('navigation', { name: 'Pages' });
    await pages.getByRole('link', { name: 'Services' }).waitFor();
    const links = await pages
      .getByRole('link')
      .evaluateAll((found) =>
        found.map(
          (link) => [(link.querySelector('span') ?? link).textContent.trim(), link.getAttribute('href')] as const,
        ),
      );
    const { height } = (await page.locator('.bar').boundingBox())!;
    const background = await page.locator('.bar').evaluate((bar) => getComputedStyle(bar).backgroundColor);
    const brand = (await header.locator('.brand').textContent())?.trim();
    const current = await pages.locator('[aria-current]').allTextContents();
    return { links, height, background, brand, current };
  }

  test.each(['light', 'dark'] as const)('is the same on the pages of tools, in the %s theme', async (colorScheme) => {
    const { page } = stage;
    await page.emulateMedia({ colorScheme });
    const { current, ...own } = await readHeader(page, '/services');
    expect(own.brand).toBe('Trellis staging');
    expect([current, own.links.length]).toEqual([['Services'], 8]);
    expect(await readHeader(page, '/docs')).toEqual({ ...own, current: ['Services'] });
    expect(await page.title()).toBe('API reference · Trellis');
    expect(await readHeader(page, '/graphql')).toEqual({ ...own, current: ['Site'] });
    expect(await page.title()).toBe('GraphQL explorer · Trellis');
  });

  test('keeps browsers from translating pages, whose texts would no longer change', async () => {
    const { page } = stage;
    await page.goto(`${stage.server.origin}/services`);
    expect(await page.evaluate(() => document.documentElement.translate)).toBe(false);
    // Chromium reads this, too.
    expect(await page.locator('meta[name="google"]').getAttribute('content')).toBe('notranslate');
  });

  test.each(['/docs', '/graphql'])('has the command palette on %s, for users only', async (path) => {
    const { page } = stage;
    await page.goto(stage.server.origin + path);
    await page.getByRole('button', { name: 'Search everything' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: 'Command palette' }).waitFor();
    await page.keyboard.type('consumers');
    await page.getByRole('option', { name: 'Page Consumers', selected: true }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Consumers', level: 1 }).waitFor();
    const context = await stage.enter();
    const visitor = await context.newPage();
    await visitor.goto(stage.server.origin + path);
    await visitor.getByRole('link', { name: 'Services' }).waitFor();
    expect(await visitor.getByRole('button', { name: 'Search everything' }).count()).toBe(0);
    await context.close();
  });

  test('has no pages of users for a reader without a session', async () => {
    const context = await stage.enter();
    const page = await context.newPage();
    const { links } = await readHeader(page, '/services');
    expect(links.map(([name]) => name)).toEqual(['Site', 'Services']);
    expect((await readHeader(page, '/docs')).links).toEqual(links);
    expect((await readHeader(page, '/graphql')).links).toEqual(links);
    await context.close();
  });

  test.each(['/%E0%A4%A', '/secrets/%E0%A4%A', '/vault/objects/%E0%A4%A'])(
    'leads from %s, which has an invalid escape, to the other pages',
    async (path) => {
      const { page, server, context } = stage;
      await page.goto(server.origin + path);
      await page.getByRole('heading', { name: 'Page not found', level: 1 }).waitFor();
      await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Services' }).click();
      await page.getByRole('heading', { name: 'Services', level: 1 }).waitFor();
      expect(stage.takeComplaints()).toEqual([`404 GET ${path}`]);
      const response = await context.request.get(server.origin + path);
      expect([response.status(), await response.json()]).toMatchObject([400, { code: 'invalid_input' }]);
    },
  );

  test('leads past itself on the pages of tools', async () => {
    const { page } = stage;
    for (const [path, target] of [
      ['/docs', '#reference'],
      ['/graphql', '#explorer'],
    ] as const) {
      await page.goto(stage.server.origin + path);
      await page.keyboard.press('Tab');
      expect(await page.evaluate(() => document.activeElement?.getAttribute('href'))).toBe(target);
    }
  });
});
