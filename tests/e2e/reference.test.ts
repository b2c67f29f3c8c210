import type { Browser, Page } from 'playwright-core';
import { startServer } from '../running-server.js';
import type { RunningServer } from '../running-server.js';
import { describeInBrowser, openBrowser } from './chromium.js';
import { watchPage } from './watch-page.js';

describeInBrowser('the API reference, in a browser', () => {
  let server: RunningServer;
  let browser: Browser;
  let page: Page;
  let complaints: string[];

  beforeAll(async () => {
    [server, browser] = await Promise.all([startServer(), openBrowser()]);
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await server.stop();
  });

  beforeEach(async () => {
    page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    complaints = watchPage(page, server.origin);
  });
  afterEach(async () => {
    await page.close();
    expect(complaints).toEqual([]);
  });

  test.each([
    ['Dashboard', 'Trellis dashboard', '/api/tokens'],
    ['Secrets', 'Trellis secrets', '/audit-log'],
  ])('shows the contract of %s', async (link, title, path) => {
    await page.goto(`${server.origin}/docs`);
    await page.getByRole('link', { name: link, exact: true }).click();
    await page.getByRole('heading', { name: title }).waitFor();
    await page.getByText(path, { exact: true }).first().waitFor();
  });

  test('tries an operation out', async () => {
    await page.goto(`${server.origin}/docs`);
    await page.getByText('Say which release runs').click();
    await page.getByRole('button', { name: 'Try it out' }).click();
    await page.getByRole('button', { name: 'Execute' }).click();
    const answer = page.locator('.live-responses-table .highlight-code').first();
    await answer.waitFor();
    await expect(answer.textContent()).resolves.toContain('"version"');
  });

  test('a query that another page leads to is the first of the explorer', async () => {
    const query = '{ allFile { totalCount } }';
    await page.goto(`${server.origin}/graphql#${new URLSearchParams({ query }).toString()}`);
    await page.getByText('totalCount').first().waitFor();
  });
});
