import { readdirSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { eventually } from '../../eventually.js';
import { saveForges } from '../board/board-fixture.js';
import { startBoardForges, type BoardForges } from '../board/board-forges.js';
import { describeInBrowser, startBrowserWithScrollBars } from '../support/chromium.js';
import { openSignedInFixture, type PageFixture } from '../support/fixtures.js';
import { inviteGuest } from '../support/invite.js';
import { findLayoutProblems, findLeakedStyles } from './rules.js';
import { MATRIX_PAGES, type MatrixPage, openState, type State } from './states.js';

/** The widths at which the layout changes; `npm run pages:matrix` measures all widths in both themes. */
const WIDTHS = [320, 820, 1280];

const STATES: readonly State[] = ['many', 'long', 'failing'];

/** The pages that share one document, and details that only some addresses show. */
const ONE_DOCUMENT: readonly MatrixPage[] = [
  ...MATRIX_PAGES.filter(({ name }) => name !== 'graphiql' && name !== 'reference'),
  { name: 'pull-request', path: '/?row=github/acme/shop/1' },
  { name: 'filtered-records', path: '/site/records?kind=Recipe&where.serves=2' },
];

/** The style sheets of all pages. */
const SHEETS = readdirSync('dist/pages/assets')
  .filter((name) => /^(?!tool-).*\.css$/.test(name))
  .map((name) => `/pages/assets/${name}`);

/** One of the pages is that of an unknown path. */
const MISSING_PAGE = '404 GET /no/such/page';

describeInBrowser('the layout of every page', () => {
  let forges: BoardForges;
  let stage: PageFixture;
  let pages: Readonly<Record<'admin' | 'guest' | 'visitor', Page>>;

  beforeAll(async () => {
    [forges, stage] = await Promise.all([startBoardForges(), openSignedInFixture({})]);
    const visitor = await stage.enter();
    pages = { admin: stage.page, guest: (await inviteGuest(stage, 'bob')).page, visitor: await visitor.newPage() };
    await Promise.all([saveForges({ ...stage, forges }), storeLongNames(stage)]);
  });
  afterAll(async () => {
    const intended = (complaint: string): boolean => complaint.startsWith('500 ') || complaint === MISSING_PAGE;
    expect(stage.takeComplaints().filter((complaint) => !intended(complaint))).toEqual([]);
    await stage.close();
    await forges.close();
  });

  test.each(MATRIX_PAGES.flatMap((entry) => STATES.map((state) => [entry.name, state, entry] as const)))(
    '%s, %s: nothing overflows or overlaps, and controls are large and visible',
    async (_name, state, entry) => {
      const page = pages[entry.reader ?? 'admin'];
      await openState(page, stage.server.origin, entry, state);
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        // Content that loads later may shift the layout briefly.
        await eventually(async () => expect([width, await findLayoutProblems(page)]).toEqual([width, []]));
      }
    },
  );

  test.each(MATRIX_PAGES.map((entry) => [entry.name, entry] as const))(
    '%s: nothing overflows a phone when the text is twice as large',
    async (_name, entry) => {
      const page = pages[entry.reader ?? 'admin'];
      await page.setViewportSize({ width: 390, height: 844 });
      await openState(page, stage.server.origin, entry, 'many');
      await page.evaluate(() => (document.documentElement.style.fontSize = '200%'));
      const findOverflow = async () => (await findLayoutProblems(page)).filter(({ rule }) => rule === 'overflow');
      await eventually(async () => expect(await findOverflow()).toEqual([]));
    },
  );

  test('menus are inside a small window whose scroll bars take space', async () => {
    const browser = await startBrowserWithScrollBars();
    const context = await browser.newContext({
      storageState: await stage.context.storageState(),
      viewport: { width: 320, height: 256 },
    });
    const page = await context.newPage();
    for (const [path, name] of [
      ['/settings', 'Rename'],
      ['/site/records', 'Columns'],
    ] as const) {
      await page.goto(stage.server.origin + path);
      const menu = page.locator('details.more').filter({ hasText: name }).first();
      await menu.locator('summary').click();
      const { x, y, width, height } = (await menu.locator('.menu').boundingBox())!;
      const inner = await page.evaluate(() => document.documentElement.clientWidth);
      expect(inner).toBeLessThan(320);
      expect([path, x >= 0, y >= 0, x + width <= inner, y + height <= 256]).toEqual([path, true, true, true, true]);
    }
    await browser.close();
  });

  test.each(ONE_DOCUMENT.map((entry) => [entry.name, entry] as const))(
    '%s: looks the same after all other pages',
    async (_name, entry) => {
      const page = pages[entry.reader ?? 'admin'];
      await page.setViewportSize({ width: 1280, height: 900 });
      await openState(page, stage.server.origin, entry, 'many');
      // Content that loads meanwhile may move other elements.
      await eventually(async () => expect(await findLeakedStyles(page, SHEETS)).toEqual([]));
    },
  );
});

/** Stores a consumer with the longest name, and tokens with the longest descriptions, without a space in them. */
async function storeLongNames({ page, server: { origin } }: PageFixture): Promise<void> {
  const [consumer, description] = ['c'.repeat(128), 'd'.repeat(200)];
  const post = async (path: string, data: object): Promise<void> => {
    const response = await page.request.post(`${origin}/secrets${path}`, { data, headers: { Origin: origin } });
    expect([path, response.status()]).toEqual([path, 201]);
  };
  await post('/consumers', { name: consumer });
  await post('/consumer-tokens', { consumer, description });
  await post('/tokens', { description });
}
