import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { transform } from 'esbuild';
import type { Page } from 'playwright-core';
import { eventually } from '../eventually.js';
import { expectAccessible } from './support/axe.js';
import { describeInBrowser } from './support/chromium.js';
import { createKeyboard } from './support/keyboard.js';
import { startWatchedServer, type WatchedServer } from './support/test-server.js';

/** The element of a GraphiQL editor, with its CodeMirror instance. */
interface EditorElement extends HTMLElement {
  readonly CodeMirror: { getValue(): string; setValue(text: string): void; readonly operationName?: string | null };
}

/** The operation names of the examples, in their order. */
const OPERATIONS = [
  ...['NewestFiles', 'FilesByExtension', 'Images', 'Folders', 'Thumbnails', 'Fluid', 'Outlines'],
  ...['SmallTextsOrData', 'SiteAndPages'],
];

/** The ways to copy a request, in their order. */
const ITEMS = ['Copy link', 'Copy as curl', 'Copy as TypeScript'];

/** Tracing outlines for the first time is slow on a busy machine. */
const LONG_TIMEOUT = { TRELLIS_QUERY_TIMEOUT_MS: '60000' };

/** Keyboard users scroll the text of an editor through its hidden input, which is outside the scrolled element. */
const EDITORS_SCROLL = [{ rule: 'scrollable-region-focusable', at: '.CodeMirror-scroll' }] as const;

describeInBrowser('GraphQL explorer', () => {
  let house: WatchedServer;
  let page: Page;

  beforeAll(async () => {
    house = await startWatchedServer({ env: LONG_TIMEOUT });
    page = await (await house.enter()).newPage();
    await page.route('**/empty', (route) => route.fulfill({ contentType: 'text/html', body: '' }));
  });
  afterAll(() => house.close());

  afterEach(async () => {
    expect(house.takeComplaints()).toEqual([]);
    // The explorer stores its tabs also when it is left. A document of its origin has all that it stored.
    await page.goto(`${house.server.origin}/empty`);
    await page.evaluate(() => localStorage.clear());
  });

  test('on a phone, query, tools and response are below each other', async () => {
    await page.setViewportSize({ width: 390, height: 800 });
    await page.goto(`${house.server.origin}/graphql`);
    await waitForOperation(page, OPERATIONS[0]!);
    await run(page);
    const places = ['.graphiql-query-editor .CodeMirror', '.graphiql-editor-tools', '.graphiql-response .CodeMirror'];
    const boxes = await Promise.all(places.map((place) => page.locator(place).first().boundingBox()));
    const [query, tools, response] = boxes.map((box) => ({ top: box!.y, bottom: box!.y + box!.height }));
    expect([query!.bottom <= tools!.top, tools!.bottom <= response!.top]).toEqual([true, true]);
    await page.setViewportSize({ width: 1280, height: 720 });
  });

  test.each(['/graphql', '/___graphql'])('%s runs each example', async (path) => {
    await page.goto(house.server.origin + path);
    expect(await page.title()).toBe('GraphQL explorer · Trellis');
    const examples = page.getByRole('region', { name: 'Examples' }).getByRole('button');
    await eventually(async () => expect(await examples.count()).toBe(OPERATIONS.length));
    for (const [index, operation] of OPERATIONS.entries()) {
      await examples.nth(index).click();
      // The first example has the text of the tab before.
      await page
        .locator('.graphiql-tab')
        .nth(index + 1)
        .waitFor();
      await waitForOperation(page, operation);
      const result = await run(page);
      expect(result).not.toHaveProperty('errors');
      expect(result).toHaveProperty('data');
    }
  });

  test('the query of a new tab runs at once, without the name of the operation of the tab before', async () => {
    await page.goto(`${house.server.origin}/graphql`);
    await waitForOperation(page, OPERATIONS[0]!);
    const responded = page.waitForResponse(
      (response) => response.request().postData()?.includes(OPERATIONS[3]!) ?? false,
    );
    await page.evaluate(async (index) => {
      const editor = document.querySelector<EditorElement>('.graphiql-query-editor .CodeMirror')!.CodeMirror;
      const before = editor.getValue();
      document.querySelectorAll<HTMLElement>('.explorer-examples button')[index]?.click();
      while (editor.getValue() === before) await new Promise(requestAnimationFrame);
      document.querySelector<HTMLElement>('.graphiql-execute-button')?.click();
    }, 3);
    expect((await responded).status()).toBe(200);
  });

  test('an example stays in its tab if GraphiQL is about to store the text of the tab before', async () => {
    await page.goto(`${house.server.origin}/graphql`);
    await waitForOperation(page, OPERATIONS[0]!);
    await page.evaluate(async (index) => {
      const editor = document.querySelector<EditorElement>('.graphiql-query-editor .CodeMirror')!.CodeMirror;
      const button = document.querySelectorAll<HTMLElement>('.explorer-examples button')[index];
      // GraphiQL stores a text after 100 ms. The click follows before React has drawn the tab with it.
      editor.setValue('query Typed { site { host } }');
      const clicked = new Promise<void>((resolve) => setTimeout(() => resolve(button?.click()), 100));
      const lateAt = performance.now() + 150;
      while (performance.now() < lateAt);
      await clicked;
    }, 3);
    const readTexts = () =>
      page.evaluate(() => {
        const editor = document.querySelector<EditorElement>('.graphiql-query-editor .CodeMirror')!.CodeMirror;
        const tabs = JSON.parse(localStorage.getItem('graphiql:tabState') ?? '{}') as { tabs: { query: string }[] };
        return [...tabs.tabs.map(({ query }) => query), editor.getValue()];
      });
    // GraphiQL stores the text of the new tab after a delay.
    await eventually(async () => {
      const operations = (await readTexts()).map((text) => /query (\w+)/.exec(text)?.[1]);
      expect(operations).toEqual(['Typed', OPERATIONS[3], OPERATIONS[3]]);
    });
  });

  test('the explorer is accessible in both themes', async () => {
    await page.goto(`${house.server.origin}/graphql`);
    await page.getByRole('region', { name: 'Examples' }).waitFor();
    await waitForOperation(page, 'NewestFiles');
    await run(page);
    await expectAccessible(page, EDITORS_SCROLL);
  });

  test('a query in the address opens in a new tab, and stored tabs stay', async () => {
    const { origin } = house.server;
    const linkTo = (query: string) => `${origin}/graphql#${new URLSearchParams({ query }).toString()}`;
    const tabs = page.locator('.graphiql-tab-button');
    const open = async (names: readonly string[]) => {
      await eventually(async () => expect(await tabs.allTextContents()).toEqual(names));
      // GraphiQL stores the tabs after a delay.
      const storedTabs = () => page.evaluate(() => localStorage.getItem('graphiql:tabState') ?? '');
      await eventually(async () => expect(await storedTabs()).toContain(`"title":"${names.at(-1)}"`));
    };
    await page.goto(linkTo('query One { allFile { totalCount } }'));
    await open(['NewestFiles', 'One']);
    await waitForOperation(page, 'One');
    expect(await run(page)).toHaveProperty('data.allFile.totalCount');
    await page.goto(`${origin}/services`);
    await page.goto(linkTo('query Two { site { host } }'));
    await open(['NewestFiles', 'One', 'Two']);
    await waitForOperation(page, 'Two');
    await page.reload();
    await open(['NewestFiles', 'One', 'Two']);
  });

  test('the panel that is open stays open after a reload, and none after it was closed', async () => {
    const examples = page.getByRole('region', { name: 'Examples' });
    const history = page.getByRole('region', { name: 'History' });
    await page.goto(`${house.server.origin}/graphql`);
    await examples.getByRole('button').first().click();
    await page.getByRole('button', { name: 'Show History' }).click();
    await page.reload();
    await history.getByText('History').first().waitFor();
    await page.getByRole('button', { name: 'Hide History' }).click();
    await page.reload();
    await page.getByRole('button', { name: 'Show Examples' }).waitFor();
    expect(await examples.count()).toBe(0);
  });

  test('panels open although the storage of the browser is full', async () => {
    await page.goto(`${house.server.origin}/graphql`);
    await waitForOperation(page, OPERATIONS[0]!);
    await page.evaluate(() => {
      Storage.prototype.setItem = () => {
        throw new DOMException('The quota has been exceeded.', 'QuotaExceededError');
      };
    });
    await page.getByRole('button', { name: 'Show History' }).click();
    await page.getByRole('region', { name: 'History' }).waitFor();
  });

  test('an example runs by keyboard', async () => {
    const { press, tabTo, pressOn } = createKeyboard(page);
    await page.goto(`${house.server.origin}/graphql`);
    await waitForOperation(page, 'NewestFiles');
    await pressOn('button "Files by extension"');
    await waitForOperation(page, 'FilesByExtension');
    await tabTo('textbox "Query"');
    await tabTo('button "Execute query');
    await press('Enter');
    await page.locator('.result-window').getByText('"fieldValue"').first().waitFor();
  });

  test('a request is copied as a link, for curl and as TypeScript, and each of them gives the same response', async () => {
    const { origin } = house.server;
    const context = page.context();
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin });
    const query = `query Quoted($extension: String = "it's \`x\` \${y}") {\n  allFile(filter: {extension: {ne: $extension}}) { totalCount }\n}`;
    const link = new URLSearchParams({ query, variables: JSON.stringify({ extension: "o'clock" }) }).toString();
    await page.goto(`${origin}/graphql#${link}`);
    await waitForOperation(page, 'Quoted');
    const response = await run(page);
    expect(response).toHaveProperty('data.allFile.totalCount');
    const { press, arriveAt, pressOn } = createKeyboard(page);
    const copy = async (item: string): Promise<string> => {
      await pressOn('button "Share or copy"');
      // The first item has the focus when the menu opens. The menu moves the focus after the event of the key.
      for (const passed of ITEMS.slice(0, ITEMS.indexOf(item))) {
        await arriveAt(`menuitem "${passed}"`);
        await press('ArrowDown');
      }
      await arriveAt(`menuitem "${item}"`);
      await press('Enter');
      await page
        .getByRole('status')
        .filter({ hasText: /copied/i })
        .waitFor();
      return page.evaluate(() => navigator.clipboard.readText());
    };
    const copied = new URL(await copy('Copy link'));
    expect(new URLSearchParams(copied.hash.slice(1)).get('query')).toBe(query);
    expect(copied.hash).toBe(`#${link}`);
    const shell = await promisify(execFile)('sh', ['-c', await copy('Copy as curl')]);
    expect(JSON.parse(shell.stdout)).toEqual(response);
    const { code } = await transform(await copy('Copy as TypeScript'), { loader: 'ts' });
    const program = await promisify(execFile)(process.execPath, [
      ...['--input-type=module', '--eval', code.replace('console.log(data)', 'console.log(JSON.stringify({ data }))')],
    ]);
    expect(JSON.parse(program.stdout)).toEqual(response);
    // GraphiQL draws the tooltip of the focused button at the end of the document, outside all landmarks.
    await press('Escape');
    await page.getByRole('tooltip').waitFor({ state: 'detached' });
    await expectAccessible(page, EDITORS_SCROLL);
  });

  test('the explorer completes a field after an ordinary query', async () => {
    const { origin } = house.server;
    const data = JSON.stringify({ query: '{ allFile { totalCount } }' });
    const response = await page.request.post(`${origin}/graphql`, {
      data,
      headers: { 'Content-Type': 'application/json' },
    });
    expect(await response.json()).toHaveProperty('data.allFile.totalCount');
    await page.goto(`${origin}/graphql`);
    await waitForOperation(page, 'NewestFiles');
    await page.locator('.graphiql-query-editor .CodeMirror').click();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type('{ allFi');
    // Completion needs the schema, which may arrive later.
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
  ])('a page of %s cannot send queries through its markup', async (_origin, host, markup) => {
    const { origin } = house.server;
    const query = `${origin}/graphql?${new URLSearchParams({ query: '{ __typename }' }).toString()}`;
    // Chromium hides these responses from pages and tools (opaque response blocking), so the server's log is read.
    const countRejections = () => house.server.output().match(/"operation":"graphql","status":403/g)?.length ?? 0;
    for (const element of markup) {
      const before = countRejections();
      const foreign = await serveElsewhere(host, element.replace('{}', query));
      try {
        await page.goto(foreign.origin);
        await eventually(() => expect([element, countRejections() - before]).toEqual([element, 1]));
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
    // GraphiQL's dialog has a title and no description.
    const missing = 'Warning: Missing `Description` or `aria-describedby={undefined}` for {DialogContent}.';
    expect(house.takeComplaints()).toEqual([missing]);
  });

  test('the services page links to the explorer, the contracts and the health check', async () => {
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
      const response = await page.request.get(origin + link, { headers: { Accept: 'text/html, */*' } });
      expect([link, response.status()]).toEqual([link, 200]);
    }
    await page.click('text=Open the GraphQL explorer');
    await page.waitForSelector('.graphiql-execute-button');
  });
});

describeInBrowser('GraphQL explorer without introspection', () => {
  let house: WatchedServer;

  beforeAll(async () => {
    house = await startWatchedServer({ env: { ...LONG_TIMEOUT, TRELLIS_INTROSPECTION: 'false' } });
  });
  afterAll(() => house.close());

  test('the explorer says that introspection is off, and still runs queries', async () => {
    const page = await (await house.enter()).newPage();
    await page.goto(`${house.server.origin}/graphql`);
    await page.waitForSelector('text=Introspection is switched off on this server');
    await waitForOperation(page, 'NewestFiles');
    expect(await run(page)).toHaveProperty('data.allFile.nodes');
    expect(house.takeComplaints()).toEqual([]);
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

/** Waits until GraphiQL has parsed the operation name, which happens after the editor shows the text. */
const waitForOperation = (page: Page, operation: string): Promise<void> =>
  eventually(async () => {
    const name = await page.$eval(
      '.graphiql-query-editor .CodeMirror',
      (editor) => (editor as EditorElement).CodeMirror.operationName,
    );
    expect(name).toBe(operation);
  });

/** Reads the result from the editor model, as the editor renders only the visible lines. */
const readResult = (page: Page): Promise<string> =>
  page.$eval('.result-window .CodeMirror', (editor) => (editor as EditorElement).CodeMirror.getValue());

async function run(page: Page): Promise<unknown> {
  const responded = page.waitForResponse(
    (response) => response.request().method() === 'POST' && !response.request().postData()?.includes('Introspection'),
  );
  await Promise.all([responded, page.click('.graphiql-execute-button')]);
  // GraphiQL clears the previous result when it sends the query.
  await eventually(async () => expect(await readResult(page)).not.toBe(''));
  return JSON.parse(await readResult(page)) as unknown;
}
