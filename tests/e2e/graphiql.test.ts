import type { Page } from 'playwright-core';
import { eventually } from '../eventually.js';
import { describeInBrowser } from './chromium.js';
import { openHouse } from './house.js';
import type { House } from './house.js';

/** What GraphiQL leaves on the element of each of its editors. */
interface EditorElement extends HTMLElement {
  readonly CodeMirror: { getValue(): string; readonly operationName?: string | null };
}

describeInBrowser('in a browser', () => {
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

  test.each(['/graphql', '/___graphql'])('the explorer at %s runs each of its examples', async (path) => {
    await page.goto(house.server.origin + path);
    expect(await page.title()).toBe('GraphQL explorer · Trellis');
    const tabs = page.locator('.graphiql-tab-button');
    const names = ['NewestFiles', 'FilesByExtension', 'Images', 'Folders'];
    await eventually(async () => expect(await tabs.allTextContents()).toEqual(names));
    for (const name of names) {
      await tabs.getByText(name, { exact: true }).click();
      await untilKnown(page, name);
      const answer = await run(page);
      expect(answer).not.toHaveProperty('errors');
      expect(answer).toHaveProperty('data');
    }
  });

  test('the explorer shows the schema and its settings', async () => {
    await page.goto(`${house.server.origin}/graphql`);
    await page.click('[aria-label="Show Documentation Explorer"]');
    await page.click('.graphiql-doc-explorer a:text-is("Query")');
    await page.waitForSelector('.graphiql-doc-explorer >> text=allFile');
    await page.click('[aria-label="Open settings dialog"]');
    await page.waitForSelector('text=Persist headers');
  });

  test('the explorer says where introspection is off, and runs queries all the same', async () => {
    const closed = await openHouse({ env: { TRELLIS_INTROSPECTION: 'false' } });
    try {
      const own = await (await closed.enter()).newPage();
      await own.goto(`${closed.server.origin}/graphql`);
      await own.waitForSelector('text=Introspection is switched off on this server');
      await untilKnown(own, 'NewestFiles');
      expect(await run(own)).toHaveProperty('data.allFile.nodes');
      expect(closed.takeComplaints()).toEqual([]);
    } finally {
      await closed.close();
    }
  });

  test('the page of services leads to the explorer, the contracts and health', async () => {
    const { origin } = house.server;
    await page.goto(`${origin}/services`);
    await page.getByRole('heading', { name: 'Services' }).waitFor();
    const links = ['/graphql', '/docs', '/api/openapi.json', '/secrets/openapi.json', '/healthz'];
    await eventually(async () => {
      const found = await page.$$eval('main a', (all) => all.map((one) => (one as HTMLAnchorElement).pathname));
      expect(found).toEqual(links);
    });
    for (const link of links) {
      const answer = await page.request.get(origin + link, { headers: { Accept: 'text/html, */*' } });
      expect([link, answer.status()]).toEqual([link, 200]);
    }
    await page.click('text=Open the GraphQL explorer');
    await page.waitForSelector('.graphiql-execute-button');
  });
});

/** GraphiQL looks up what the operation is called some time after the editor shows it. */
const untilKnown = (page: Page, operation: string): Promise<void> =>
  eventually(async () => {
    const name = await page.$eval(
      '.graphiql-query-editor .CodeMirror',
      (editor) => (editor as EditorElement).CodeMirror.operationName,
    );
    expect(name).toBe(operation);
  });

/** The editor draws only the lines in view; its model has them all. */
const readAnswer = (page: Page): Promise<string> =>
  page.$eval('.result-window .CodeMirror', (editor) => (editor as EditorElement).CodeMirror.getValue());

async function run(page: Page): Promise<unknown> {
  const isAnswer = page.waitForResponse(
    (response) => response.request().method() === 'POST' && !response.request().postData()?.includes('Introspection'),
  );
  await Promise.all([isAnswer, page.click('.graphiql-execute-button')]);
  // It empties the answer of before as it asks.
  await eventually(async () => expect(await readAnswer(page)).not.toBe(''));
  return JSON.parse(await readAnswer(page)) as unknown;
}
