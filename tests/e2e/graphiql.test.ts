import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { eventually } from '../eventually.js';
import { expectAccessible } from './axe.js';
import { describeInBrowser } from './chromium.js';
import { openHouse } from './house.js';
import type { House } from './house.js';
import { createKeyboard } from './keyboard.js';

/** What GraphiQL leaves on the element of each of its editors. */
interface EditorElement extends HTMLElement {
  readonly CodeMirror: { getValue(): string; readonly operationName?: string | null };
}

/** What the examples are called, in their order. */
const OPERATIONS = [
  ...['NewestFiles', 'FilesByExtension', 'Images', 'Folders', 'Thumbnails', 'Fluid', 'Outlines'],
  ...['SmallTextsOrData', 'SiteAndPages'],
];

/** A busy machine draws outlines slowly the first time. */
const PATIENT = { TRELLIS_QUERY_TIMEOUT_MS: '60000' };

/** The editor's text is scrolled by the keyboard through the field that takes its keys, which lies beside the text. */
const EDITORS_SCROLL = [{ rule: 'scrollable-region-focusable', at: '.CodeMirror-scroll' }] as const;

describeInBrowser('in a browser', () => {
  let house: House;
  let page: Page;

  beforeAll(async () => {
    house = await openHouse({ env: PATIENT });
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
    const examples = page.getByRole('region', { name: 'Examples' }).getByRole('button');
    await eventually(async () => expect(await examples.count()).toBe(OPERATIONS.length));
    for (const [index, operation] of OPERATIONS.entries()) {
      await examples.nth(index).click();
      await untilKnown(page, operation);
      const answer = await run(page);
      expect(answer).not.toHaveProperty('errors');
      expect(answer).toHaveProperty('data');
    }
  });

  test('the explorer is for everybody, in both themes', async () => {
    await page.goto(`${house.server.origin}/graphql`);
    await page.getByRole('region', { name: 'Examples' }).waitFor();
    await untilKnown(page, 'NewestFiles');
    await run(page);
    await expectAccessible(page, EDITORS_SCROLL);
  });

  test('a query that another page leads to has a tab of its own, beside those that were kept', async () => {
    const { origin } = house.server;
    const given = (query: string) => `${origin}/graphql#${new URLSearchParams({ query }).toString()}`;
    const tabs = page.locator('.graphiql-tab-button');
    const open = async (names: readonly string[]) => {
      await eventually(async () => expect(await tabs.allTextContents()).toEqual(names));
      // They are kept a moment later.
      const kept = () => page.evaluate(() => localStorage.getItem('graphiql:tabState') ?? '');
      await eventually(async () => expect(await kept()).toContain(`"title":"${names.at(-1)}"`));
    };
    await page.goto(given('query One { allFile { totalCount } }'));
    await open(['NewestFiles', 'One']);
    await untilKnown(page, 'One');
    expect(await run(page)).toHaveProperty('data.allFile.totalCount');
    await page.goto(`${origin}/services`);
    await page.goto(given('query Two { site { host } }'));
    await open(['NewestFiles', 'One', 'Two']);
    await untilKnown(page, 'Two');
    await page.reload();
    await open(['NewestFiles', 'One', 'Two']);
  });

  test('an example is tried by the keyboard alone', async () => {
    const { press, tabTo, pressOn } = createKeyboard(page);
    await page.goto(`${house.server.origin}/graphql`);
    await untilKnown(page, 'NewestFiles');
    await pressOn('button "Files by extension"');
    await untilKnown(page, 'FilesByExtension');
    await tabTo('textbox "Query"');
    await tabTo('button "Execute query');
    await press('Enter');
    await page.locator('.result-window').getByText('"fieldValue"').first().waitFor();
  });

  test('the explorer completes a field after an ordinary query', async () => {
    const { origin } = house.server;
    const data = JSON.stringify({ query: '{ allFile { totalCount } }' });
    const answer = await page.request.post(`${origin}/graphql`, {
      data,
      headers: { 'Content-Type': 'application/json' },
    });
    expect(await answer.json()).toHaveProperty('data.allFile.totalCount');
    await page.goto(`${origin}/graphql`);
    await untilKnown(page, 'NewestFiles');
    await page.locator('.graphiql-query-editor .CodeMirror').click();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type('{ allFi');
    // Completion asks for the schema, which may arrive a moment later.
    await eventually(async () => {
      await page.keyboard.press('Control+Space');
      expect(await page.locator('.CodeMirror-hint').allTextContents()).toContainEqual(
        expect.stringContaining('allFile'),
      );
    });
  });

  test.each([
    ['a different site', '127.0.0.1', ['<img src="{}">', '<script src="{}"></script>', '<iframe src="{}"></iframe>']],
    ['a different port', 'localhost', ['<img src="{}">', '<link rel="stylesheet" href="{}">']],
  ])('a page of %s cannot send queries by its markup', async (_where, host, markup) => {
    const { origin } = house.server;
    const query = `${origin}/graphql?${new URLSearchParams({ query: '{ __typename }' }).toString()}`;
    // Chromium hides these responses from pages and tools (opaque response blocking), so the server's log is read.
    const refusals = () => house.server.output().match(/"operation":"graphql","status":403/g)?.length ?? 0;
    for (const element of markup) {
      const before = refusals();
      const foreign = await serveElsewhere(host, element.replace('{}', query));
      try {
        await page.goto(foreign.origin);
        await eventually(() => expect([element, refusals() - before]).toEqual([element, 1]));
      } finally {
        await foreign.close();
      }
    }
    const own = house.takeComplaints().filter((one) => !one.startsWith('request to'));
    expect(own.filter((one) => one !== '403 GET /graphql')).toEqual([]);
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
    const closed = await openHouse({ env: { ...PATIENT, TRELLIS_INTROSPECTION: 'false' } });
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
    await expectAccessible(page);
    for (const link of links) {
      const answer = await page.request.get(origin + link, { headers: { Accept: 'text/html, */*' } });
      expect([link, answer.status()]).toEqual([link, 200]);
    }
    await page.click('text=Open the GraphQL explorer');
    await page.waitForSelector('.graphiql-execute-button');
  });
});

/** Serves a page of a different origin. */
async function serveElsewhere(host: string, html: string): Promise<{ origin: string; close: () => Promise<void> }> {
  const server = createServer((_request, response) =>
    response.writeHead(200, { 'Content-Type': 'text/html' }).end(`<!doctype html><title>Elsewhere</title>${html}`),
  );
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return {
    origin: `http://${host}:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

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
