import type { Page } from 'playwright-core';
import { eventually } from '../eventually.js';
import { expectAccessible } from './support/axe.js';
import { describeInBrowser } from './support/chromium.js';
import { openPageFixture, type PageFixture } from './support/fixtures.js';
import { startWatchedServer, type WatchedServer } from './support/test-server.js';

const TOKEN = 'site-token-0123456789-abcdefghijkl';

/** The element of a GraphiQL editor, with its CodeMirror instance. */
interface EditorElement extends HTMLElement {
  readonly CodeMirror: { getValue(): string; setValue(text: string): void };
}

describeInBrowser('site pages for signed-in users', () => {
  let stage: PageFixture;
  let page: Page;

  beforeAll(async () => {
    stage = await openPageFixture({ services: 'dashboard,site', env: { TRELLIS_SITE_ACCESS: 'people' } });
    page = stage.page;
  });
  afterAll(() => stage.close());

  test('the files page shows files and images', async () => {
    await page.goto(`${stage.server.origin}/site`);
    const entries = page.getByRole('list', { name: 'Folders and files' });
    await entries.getByRole('link', { name: 'images' }).click();
    await page.waitForFunction(() => {
      const images = [...document.querySelectorAll<HTMLImageElement>('.entries img')];
      return images.length > 0 && images.every(({ complete, naturalWidth }) => complete && naturalWidth > 0);
    });
    expect(stage.takeComplaints()).toEqual([]);
  });

  test('the GraphQL explorer runs queries', async () => {
    await page.goto(`${stage.server.origin}/graphql`);
    await runFirstExample(page);
    expect(stage.takeComplaints()).toEqual([]);
  });

  test.each(['/site', '/site/records', '/graphql'])('%s redirects to sign-in and back', async (path) => {
    await page.context().clearCookies();
    await page.goto(stage.server.origin + path);
    await page.waitForURL((url) => url.pathname === '/sign-in');
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.waitForURL((url) => url.pathname === path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    stage.takeComplaints();
  });

  test.each([
    ['/graphql', 'sign-in'],
    ['/___graphql', 'sign-in'],
    ['/docs', 'docs'],
  ])('a sign-out in a different tab loads %s again, which shows /%s', async (path, target) => {
    await page.context().clearCookies();
    await page.goto(`${stage.server.origin}/sign-in`);
    await page.locator('main').getByRole('button', { name: 'Sign in with a passkey' }).click();
    const settings = page.getByRole('banner').getByRole('link', { name: 'Settings', exact: true });
    await settings.waitFor();
    await page.goto(stage.server.origin + path);
    await settings.waitFor();
    await page.locator('.graphiql-container, .opblock').first().waitFor();
    const other = await page.context().newPage();
    await other.goto(`${stage.server.origin}/settings`);
    await other.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.waitForURL((url) => url.pathname === `/${target}`);
    await settings.waitFor({ state: 'detached' });
    await other.close();
    stage.takeComplaints();
  });

  test('a reload leads to sign-in after the session has ended', async () => {
    await page.goto(`${stage.server.origin}/sign-in?next=/site`);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByRole('list', { name: 'Folders and files' }).waitFor();
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.waitForURL((url) => url.pathname === '/sign-in');
    stage.takeComplaints();
  });
});

describeInBrowser('pages of a site with a token', () => {
  let house: WatchedServer;
  let page: Page;

  beforeAll(async () => {
    const env = { TRELLIS_SITE_ACCESS: 'token', TRELLIS_SITE_TOKEN: TOKEN };
    house = await startWatchedServer({ services: 'site', env });
    page = await (await house.enter()).newPage();
  });
  afterAll(() => house.close());

  test.each(['/site', '/site/records', '/site/transform'])('%s says that a token is needed', async (path) => {
    await page.goto(house.server.origin + path);
    await page.getByText('This site needs a token').waitFor();
    await expectAccessible(page);
    expect(house.takeComplaints()).toEqual([]);
  });

  test('the GraphQL explorer accepts the token', async () => {
    await page.goto(`${house.server.origin}/graphql`);
    await page.getByText('This site needs a token. Enter').waitFor();
    await page.getByRole('button', { name: 'Headers' }).click();
    const headers = '.graphiql-editor-tool .graphiql-editor:nth-child(2) .CodeMirror';
    await page.waitForSelector(headers);
    await page.$eval(
      headers,
      (editor, text) => (editor as EditorElement).CodeMirror.setValue(text),
      JSON.stringify({ Authorization: `Bearer ${TOKEN}` }),
    );
    await page.click('[aria-label="Show Documentation Explorer"]');
    // GraphiQL uses new headers for the schema only after a delay.
    await eventually(async () => {
      await page.getByRole('button', { name: 'Re-fetch GraphQL schema' }).click();
      await page.locator('.graphiql-doc-explorer a:text-is("Query")').waitFor({ timeout: 5_000 });
    });
    await runFirstExample(page);
    house.takeComplaints();
  });
});

async function runFirstExample(page: Page): Promise<void> {
  await page.waitForSelector('.graphiql-execute-button');
  await eventually(async () => {
    await page.click('.graphiql-execute-button');
    await page.locator('.result-window').getByText('"totalCount"').first().waitFor({ timeout: 5_000 });
  });
}
