import type { Page } from 'playwright-core';
import { describeInBrowser } from './chromium.js';
import { openHouse } from './house.js';
import type { House } from './house.js';

describeInBrowser('the API reference, in a browser', () => {
  let house: House;
  let page: Page;

  beforeAll(async () => {
    house = await openHouse();
  });
  afterAll(() => house.close());

  beforeEach(async () => {
    page = await (await house.enter()).newPage();
  });
  afterEach(async () => {
    await page.context().close();
    expect(house.takeComplaints()).toEqual([]);
  });

  test.each([
    ['Dashboard', 'Trellis dashboard', '/api/tokens'],
    ['Secrets', 'Trellis secrets', '/audit-log'],
  ])('shows the contract of %s', async (link, title, path) => {
    await page.goto(`${house.server.origin}/docs`);
    await page.getByRole('link', { name: link, exact: true }).click();
    await page.getByRole('heading', { name: title }).waitFor();
    await page.getByText(path, { exact: true }).first().waitFor();
  });

  test('tries an operation out', async () => {
    await page.goto(`${house.server.origin}/docs`);
    await page.getByText('Say which release runs').click();
    await page.getByRole('button', { name: 'Try it out' }).click();
    await page.getByRole('button', { name: 'Execute' }).click();
    await page.locator('.live-responses-table .highlight-code').first().getByText('"version"').waitFor();
  });

  test('a query that another page leads to is the first of the explorer', async () => {
    const query = '{ allFile { totalCount } }';
    await page.goto(`${house.server.origin}/graphql#${new URLSearchParams({ query }).toString()}`);
    await page.getByText('totalCount').first().waitFor();
  });
});
