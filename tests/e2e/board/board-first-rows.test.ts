import type { Page } from 'playwright-core';
import { githubPullRequest } from '../../forges/github-state.js';
import { describeInBrowser } from '../support/chromium.js';
import { eventuallyEquals, openBoardFixture, type BoardActions, type BoardFixture } from './board-fixture.js';

const CHANGES = '**/api/dashboard/changes*';

describeInBrowser('the first rows of the board', () => {
  let stage: BoardFixture;
  let page: Page;
  let at: BoardActions;

  beforeAll(async () => {
    stage = await openBoardFixture(({ github }) => {
      const more = Array.from({ length: 111 }, (_none, index) => githubPullRequest(index + 1_000));
      github.repositories[0]!.pullRequests.push(...more);
    });
    ({ page, at } = stage);
    await at.shown(120);
  });
  afterAll(() => stage.close());

  const selectAll = () => page.getByRole('button', { name: /^Select all \d+$/ });

  /** Opens the board without the whole of it until the returned function is called. */
  async function openHeld(): Promise<() => void> {
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    await page.route(
      CHANGES,
      async (route) => {
        await released;
        await route.continue();
      },
      { times: 1 },
    );
    await page.reload();
    return release;
  }

  test('are in the document, with the numbers of the whole board', async () => {
    const headings = await page.locator('h2').allTextContents();
    const titles = await at.titles();
    const release = await openHeld();
    await at.shown(120);
    // Rows below the window are drawn after the others.
    await eventuallyEquals(() => at.rows.count(), 50);
    expect(await page.locator('h2').first().textContent()).toBe(headings[0]);
    expect((await at.titles()).slice(0, 20)).toEqual(titles.slice(0, 20));
    await eventuallyEquals(() => page.title(), '(3) Pull requests · Trellis');
    expect(await selectAll().textContent()).toBe('Select all 120');
    expect(await selectAll().isDisabled()).toBe(true);
    release();
    await eventuallyEquals(() => selectAll().isEnabled(), true);
    await at.shown(120);
    expect(await page.locator('h2').allTextContents()).toEqual(headings);
  });

  test('are not there for a filter, which needs the whole board', async () => {
    await page.getByRole('button', { name: /^Needs your review \d+$/ }).click();
    await eventuallyEquals(async () => {
      const saved = await page.request.get(`${stage.server.origin}/api/settings/filter-state`);
      return ((await saved.json()) as { pullRequests?: { section?: string } }).pullRequests?.section;
    }, 'needs_your_review');
    const release = await openHeld();
    await page.getByText('Loading …').waitFor();
    expect(await at.rows.count()).toBe(0);
    release();
    await at.rows.first().waitFor();
  });
});
