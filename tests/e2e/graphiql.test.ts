import type { Browser, Page } from 'playwright-core';
import { startServer } from '../running-server.js';
import type { RunningServer } from '../running-server.js';
import { describeInBrowser, openBrowser } from './chromium.js';

const GRAPHIQL_PAUSE_MS = 500;

describeInBrowser('in a browser', () => {
  let server: RunningServer;
  let browser: Browser;
  let page: Page;
  /** What no page of ours may do: complain on the console, fail, or ask another origin. */
  let complaints: string[];

  beforeAll(async () => {
    [server, browser] = await Promise.all([startServer(), openBrowser()]);
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await server.stop();
  });

  beforeEach(async () => {
    complaints = [];
    page = await browser.newPage({ viewport: { width: 1280, height: 760 } });
    page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (url.protocol !== 'data:' && url.origin !== server.origin) complaints.push(`request to ${url.origin}`);
    });
    page.on('response', (response) => {
      if (response.status() >= 400) complaints.push(`${response.status()} for ${response.url()}`);
    });
  });
  afterEach(() => page.close());

  const answerOf = async (): Promise<unknown> => {
    // The editor draws only the lines in view; its model has them all.
    const text = await page.$eval('.result-window .CodeMirror', (editor) =>
      (editor as unknown as { CodeMirror: { getValue(): string } }).CodeMirror.getValue(),
    );
    return JSON.parse(text) as unknown;
  };

  async function run(): Promise<unknown> {
    const answered = page.waitForResponse(
      (response) => response.request().method() === 'POST' && !response.request().postData()?.includes('Introspection'),
    );
    await page.click('.graphiql-execute-button');
    await answered;
    await page.waitForFunction(() => {
      const [editor] = document.querySelectorAll('.result-window .CodeMirror');
      return (editor as unknown as { CodeMirror: { getValue(): string } }).CodeMirror.getValue() !== '';
    });
    return answerOf();
  }

  test.each(['/graphql', '/___graphql'])('the explorer at %s runs each of its examples', async (path) => {
    await page.goto(server.origin + path);
    await expect(page.title()).resolves.toBe('GraphQL explorer · Trellis');
    const tabs = page.locator('.graphiql-tab-button');
    await tabs.first().waitFor();
    expect(await tabs.allTextContents()).toEqual(['NewestFiles', 'FilesByExtension', 'Images', 'Folders']);
    for (let index = 0; index < 4; index += 1) {
      await tabs.nth(index).click();
      // GraphiQL looks up the operation's name some time after the last change of the editor.
      await page.waitForTimeout(GRAPHIQL_PAUSE_MS);
      const answer = await run();
      expect(answer).not.toHaveProperty('errors');
      expect(answer).toHaveProperty('data');
    }
    expect(complaints).toEqual([]);
  });

  test('the explorer shows the schema and its settings', async () => {
    await page.goto(`${server.origin}/graphql`);
    await page.click('[aria-label="Show Documentation Explorer"]');
    await page.click('.graphiql-doc-explorer a:text-is("Query")');
    await page.waitForSelector('.graphiql-doc-explorer >> text=allFile');
    await page.click('[aria-label="Open settings dialog"]');
    await page.waitForSelector('text=Persist headers');
    expect(complaints).toEqual([]);
  });

  test('the explorer says where introspection is off, and runs queries all the same', async () => {
    const closed = await startServer([], { TRELLIS_INTROSPECTION: 'false' });
    try {
      await page.goto(`${closed.origin}/graphql`);
      await page.waitForSelector('text=Introspection is switched off on this server');
      await page.waitForTimeout(GRAPHIQL_PAUSE_MS);
      expect(await run()).toHaveProperty('data.allFile.nodes');
      expect(complaints.filter((complaint) => !complaint.startsWith('request to'))).toEqual([]);
    } finally {
      await closed.stop();
    }
  });

  test('the page of services leads to the explorer, the contracts and health', async () => {
    await page.goto(`${server.origin}/services`);
    await page.getByRole('heading', { name: 'Services' }).waitFor();
    const links = await page.$$eval('main a', (anchors) =>
      anchors.map((anchor) => (anchor as HTMLAnchorElement).pathname),
    );
    expect(links).toEqual(['/graphql', '/docs', '/api/openapi.json', '/secrets/openapi.json', '/healthz']);
    for (const link of links)
      expect((await page.request.get(server.origin + link, { headers: { Accept: 'text/html, */*' } })).status()).toBe(
        200,
      );
    await page.click('text=Open the GraphQL explorer');
    await page.waitForSelector('.graphiql-execute-button');
    // Nobody is signed in, which the page asks.
    expect(complaints.filter((complaint) => !complaint.includes('401'))).toEqual([]);
  });
});
