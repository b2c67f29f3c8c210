import type { Page } from 'playwright-core';
import { eventually } from '../eventually.js';
import { openBoardFixture, type BoardFixture } from './board/board-fixture.js';
import { MATRIX_PAGES } from './matrix/states.js';
import { describeInBrowser } from './support/chromium.js';
import { inviteGuest } from './support/invite.js';
import { createKeyboard, type Keyboard } from './support/keyboard.js';

/** The search of the command palette that leads to a page, by the name of the page in the matrix, and its heading. */
const PALETTE: Readonly<Record<string, readonly [search: string, heading: string]>> = {
  board: ['page pull requests', 'Pull requests'],
  issues: ['page issues', 'Issues'],
  repositories: ['page repositories', 'Repositories'],
  insights: ['page insights', 'Insights'],
};

/** More tab stops than any page has with the data of this test. */
const MAX_STOPS = 250;

describeInBrowser('every page of the dashboard', () => {
  let stage: BoardFixture;
  let page: Page;
  let keyboard: Keyboard;

  beforeAll(async () => {
    stage = await openBoardFixture();
    ({ page } = stage);
    keyboard = createKeyboard(page);
  });
  afterEach(() => expect(stage.takeComplaints()).toEqual([]));
  afterAll(() => stage.close());

  test.each(MATRIX_PAGES.filter(({ name }) => name in PALETTE).map(({ name }) => [name, ...PALETTE[name]!] as const))(
    '%s: opens from the command palette, and each of its tab stops is visible',
    async (_name, search, heading) => {
      await keyboard.press('Control+k');
      const palette = page.getByRole('dialog', { name: 'Command palette' });
      await palette.waitFor();
      await keyboard.type(search);
      await palette.getByRole('option', { selected: true }).first().waitFor();
      await keyboard.press('Enter');
      await page.getByRole('heading', { name: heading, level: 1, exact: true }).waitFor();
      await page.waitForFunction(() => !/Loading [^.]*…/.test(document.body.textContent));
      expect((await walk(page)).hidden).toEqual([]);
    },
  );

  test('two tabs and two users see the same change, without an error in any of them', async () => {
    const { origin } = stage.server;
    const guest = await inviteGuest(stage, 'bob');
    const shared = await page.request.put(`${origin}/api/sharing/bob`, { headers: { Origin: origin } });
    expect(shared.ok()).toBe(true);
    const tab = await stage.context.newPage();
    const guestTab = guest.page;
    await Promise.all([stage.at.open('/', 'Pull requests'), tab.goto(origin), guestTab.goto(origin)]);
    await guestTab.getByLabel('Board of').selectOption({ label: 'Ada' });
    const others = [tab, guestTab];
    const rowIn = (one: Page) => one.locator('.pull').filter({ hasText: 'Send receipts as PDF' });
    await Promise.all(others.map((one) => rowIn(one).waitFor()));

    await stage.at.confirm(await stage.at.button('Send receipts as PDF', 'Merge #1'), 'Merge #1?');
    await rowIn(page).waitFor({ state: 'detached' });
    for (const one of others) {
      await eventually(async () => {
        const bar = one.getByRole('button', { name: /^Show \d+ updates?$/ });
        if ((await bar.count()) > 0) await bar.click();
        expect(await rowIn(one).count()).toBe(0);
      });
    }
    await Promise.all([tab.close(), guest.close()]);
  });
});

/** Presses Tab until a stop repeats. Returns their number, and those that are hidden, covered or without an outline. */
async function walk(page: Page): Promise<{ stops: number; hidden: string[] }> {
  const hidden: string[] = [];
  for (let stops = 0; stops < MAX_STOPS; stops += 1) {
    await page.keyboard.press('Tab');
    const stop = await page.evaluate(inspectFocus);
    if (stop === 'again') return { stops, hidden };
    if (stop !== '') hidden.push(stop);
  }
  throw new Error(`Expected at most ${MAX_STOPS} tab stops.`);
}

/** Runs in the page. Returns “again” for a repeated stop, a description of a hidden one, or an empty text. */
function inspectFocus(): string {
  const seen = ((globalThis as { seen?: Set<Element> }).seen ??= new Set());
  let focus = document.activeElement ?? document.body;
  while (focus.shadowRoot?.activeElement) focus = focus.shadowRoot.activeElement;
  if (seen.has(focus)) return 'again';
  seen.add(focus);
  // After the last stop the focus is on the document, and editors take keys in an input that is as small as the cursor.
  if (focus === document.body || focus.closest('.CodeMirror') !== null) return '';
  const { left, right, top, bottom, width, height } = focus.getBoundingClientRect();
  const middle = (from: number, to: number, end: number): number => (Math.max(from, 0) + Math.min(to, end)) / 2;
  const [x, y] = [middle(left, right, innerWidth), middle(top, bottom, innerHeight)];
  const root = focus.getRootNode() as Document | ShadowRoot;
  const above = root.elementFromPoint(x, y);
  const isCovered =
    above === null || !(above.contains(focus) || focus.contains(above) || focus.closest('label')?.contains(above));
  const { outlineStyle, boxShadow } = getComputedStyle(focus);
  const reasons = [
    width * height === 0 && 'without a size',
    isCovered && `covered by ${above?.outerHTML.slice(0, 60) ?? 'nothing'}`,
    outlineStyle === 'none' && boxShadow === 'none' && 'without an outline',
  ].filter(Boolean);
  return reasons.length === 0 ? '' : `${focus.outerHTML.slice(0, 80)}: ${reasons.join(', ')}`;
}
