import type { Locator, Page } from 'playwright-core';
import { githubPullRequest } from '../../forges/github-state.js';
import { expectAccessible } from '../support/axe.js';
import { describeInBrowser } from '../support/chromium.js';
import { eventuallyEquals, openBoardFixture, type BoardActions, type BoardFixture } from './board-fixture.js';
import type { BoardForges } from './board-forges.js';

const MORE = 20;

const hoursAgo = (hours: number): string => new Date(Date.now() - hours * 3_600_000).toISOString();

/** Adds enough pull requests for several pages, one of them recent. */
function fill({ github }: BoardForges): void {
  for (let number = 40; number < 40 + MORE; number += 1) {
    const times = number === 40 ? { createdAt: hoursAgo(3), updatedAt: hoursAgo(0.5) } : {};
    github.repositories[0]!.pullRequests.push(githubPullRequest(number, { title: `Part ${number}`, ...times }));
  }
}

describeInBrowser('filters of the board', () => {
  let stage: BoardFixture;
  let page: Page;
  let at: BoardActions;
  const all = 9 + MORE;
  const clear = async (): Promise<void> => {
    await page
      .getByRole('button', { name: /^Clear (?:all|filters)$/ })
      .first()
      .click();
    await at.shown(all);
  };
  const activeFilter = (name: string): Locator => page.getByRole('button', { name: `Remove filter ${name}` });
  const first = (title: string): Promise<void> => eventuallyEquals(async () => (await at.titles())[0], title);

  beforeAll(async () => {
    stage = await openBoardFixture(fill);
    ({ page, at } = stage);
    await at.shown(all);
  });
  afterEach(() => {
    expect(stage.takeComplaints()).toEqual([]);
  });
  afterAll(() => stage.close());

  test.each([
    ['Updated', 'last hour', 1],
    ['Created', 'last hour', 0],
    ['Created', 'last day', 1],
  ])('%s “%s” leaves %i', async (label, option, count) => {
    await at.select(label, option);
    await at.shown(count);
    await clear();
  });

  test('the search suggests matching titles', async () => {
    await page.getByLabel('Search pull requests').fill('rece');
    await page.getByRole('option', { name: 'Send receipts as PDF' }).waitFor();
    await page.getByLabel('Search pull requests').fill('Send receipts as PDF');
    await at.shown(1);
    await eventuallyEquals(() => page.getByRole('option', { name: 'Send receipts' }).count(), 0);
    await clear();
  });

  test('the search understands terms, completes them and names an invalid value', async () => {
    const search = page.getByLabel('Search pull requests');
    const options = (): Promise<string[]> => search.locator('~ ul').getByRole('option').allTextContents();
    await search.fill('lab');
    await page.getByRole('option', { name: 'label:', exact: true }).click();
    await eventuallyEquals(options, ['label:billing', 'label:bug']);
    await page.getByRole('option', { name: 'label:billing' }).click();
    await eventuallyEquals(options, []);
    expect(await search.inputValue()).toBe('label:billing');
    await at.shown(1);
    await search.fill('-label:billing');
    await at.shown(all - 1);
    await search.fill('ci:red');
    await page.getByText('Expected ci: to be one of failure, none, pending, success; received "red".').waitFor();
    await at.shown(all);
    await expectAccessible(page);
    await clear();
  });

  test('tiles and label chips filter', async () => {
    await page.getByRole('button', { name: '1 failing CI' }).click();
    await at.shown(1);
    await page.getByRole('button', { name: `${all} open` }).click();
    await at.shown(all);
    await at.row('Send receipts').getByRole('button', { name: 'billing' }).click();
    await at.shown(1);
    await clear();
  });

  test('an ungrouped list has pages of the selected size; a grouped list has none', async () => {
    await at.select('Group by', 'nothing');
    await eventuallyEquals(() => at.rows.count(), 25);
    await at.select('Rows per page', '10');
    await eventuallyEquals(() => at.rows.count(), 10);
    const pages = page.getByRole('navigation', { name: 'Pages of the list' });
    await pages.getByText('Page 1 of 3').waitFor();
    await page.getByRole('button', { name: 'Select all 10' }).waitFor();
    await expectAccessible(page);
    await pages.getByRole('button', { name: 'Next' }).click();
    await pages.getByRole('button', { name: 'Next' }).click();
    await pages.getByText('Page 3 of 3').waitFor();
    await eventuallyEquals(() => at.rows.count(), all - 20);
    await at.select('Rows per page', 'all');
    await eventuallyEquals(() => at.rows.count(), all);
    await at.select('Rows per page', '10');
    await at.select('Group by', 'repository');
    await page.getByRole('heading', { name: `acme/shop (GitHub) ${all - 2}` }).waitFor();
    await eventuallyEquals(() => at.rows.count(), all);
    expect(await pages.count()).toBe(0);
  });

  test('“Show all pull requests” removes the conditions, and keeps order and grouping', async () => {
    await at.select('Group by', 'repository');
    await page.getByLabel('Search pull requests').fill('no title contains this');
    await page.getByRole('button', { name: 'Show all pull requests' }).click();
    await at.shown(all);
    await page.getByRole('heading', { name: `acme/shop (GitHub) ${all - 2}` }).waitFor();
    await at.select('Group by', 'whose turn it is');
  });

  test('rows are sorted by creation time', async () => {
    await at.select('Group by', 'nothing');
    await at.select('Sort by', 'created');
    await first('Part 40');
    await at.select('Sort by', 'last activity');
  });

  test('filters survive navigation and reloads, and apply in other browsers', async () => {
    await at.select('Author', 'lisa');
    await at.shown(1);
    const toIssues = async (): Promise<void> => {
      await page.getByRole('link', { name: 'Issues' }).click();
      await page.getByRole('heading', { name: 'Issues', level: 1 }).waitFor();
    };
    await toIssues();
    await at.select('Label', 'bug');
    await page.getByText('1 of 2 shown').waitFor();
    await page.reload();
    await page.getByText('1 of 2 shown').waitFor();
    await page.getByRole('link', { name: 'Pull requests', exact: true }).click();
    await page.getByText(`1 of ${all} shown`).waitFor();
    await eventuallyEquals(() => page.evaluate(() => localStorage.getItem('trellis-filters-unsent')), null);
    // Simulates a different browser, which only gets the filters that the server stores.
    await page.evaluate(() => localStorage.clear());
    await page.goto(stage.server.origin);
    await page.getByText(`1 of ${all} shown`).waitFor();
    await activeFilter('Author: lisa').waitFor();
    await eventuallyEquals(() => new URL(page.url()).searchParams.get('author'), 'lisa');
    await toIssues();
    await page.getByText('1 of 2 shown').waitFor();
    await activeFilter('Label: bug').waitFor();
    await page.getByRole('link', { name: 'Pull requests', exact: true }).click();
    await page.getByText(`1 of ${all} shown`).waitFor();
  });

  test('a filter value that is no longer on the board is cleared', async () => {
    const gone = { author: 'gone', label: 'gone', view: 'gone', group: 'none', size: '10' };
    const { origin } = stage.server;
    const data = { pullRequests: gone };
    const saved = await page.request.put(`${origin}/api/settings/filter-state`, { data, headers: { Origin: origin } });
    expect(saved.status()).toBe(204);
    await page.evaluate(() => localStorage.clear());
    await page.goto(stage.server.origin);
    await eventuallyEquals(() => page.evaluate(() => localStorage.getItem('trellis-filters')?.includes('gone')), true);
    await at.shown(all);
    expect(await activeFilter('Author').count()).toBe(0);
    await page.getByRole('button', { name: 'Filters' }).click();
    await page.getByRole('button', { name: 'Bots', exact: true }).click();
    await at.shown(1);
    await page.getByRole('button', { name: 'All', exact: true }).click();
    await at.shown(all);
  });

  test('a new tab that was requested before a filter was sent gets that filter', async () => {
    const sent = (): Promise<unknown> =>
      page.waitForResponse((response) => response.url().endsWith('/api/settings/filter-state'));
    await Promise.all([sent(), page.getByRole('button', { name: 'Bots', exact: true }).click()]);
    const tab = await stage.context.newPage();
    await tab.route(`${stage.server.origin}/`, async (route) => {
      const response = await route.fetch();
      await Promise.all([sent(), page.getByRole('button', { name: 'All', exact: true }).click()]);
      await eventuallyEquals(() => page.evaluate(() => localStorage.getItem('trellis-filters-unsent')), null);
      await route.fulfill({ response });
    });
    await tab.goto(stage.server.origin);
    await tab.locator('.pull').first().waitFor();
    await eventuallyEquals(() => tab.getByRole('button', { name: 'All', exact: true, pressed: true }).count(), 1);
    await tab.close();
  });

  test('a filter reaches the server from a browser that blocks storage', async () => {
    const tab = await stage.context.newPage();
    await tab.addInitScript(`Object.defineProperty(window, 'localStorage', {
      get() { throw new DOMException('Access is denied.', 'SecurityError'); } });`);
    await tab.goto(stage.server.origin);
    await tab.getByRole('button', { name: 'Filters' }).click();
    for (const name of ['Bots', 'All']) {
      const sent = tab.waitForResponse((response) => response.url().endsWith('/api/settings/filter-state'));
      await tab.getByRole('button', { name, exact: true }).click();
      expect((await sent).status()).toBe(204);
    }
    await tab.close();
  });

  test('filters are in the address, Back and Forward undo and redo them, and pills show and remove them', async () => {
    const search = (): string => new URL(page.url()).search;
    await page.goto(`${stage.server.origin}/?author=lisa&pill=mine`);
    await at.shown(1);
    await page.getByRole('button', { name: 'Review requested', exact: true, pressed: true }).waitFor();
    await activeFilter('Author: lisa').click();
    await eventuallyEquals(search, '?pill=mine');
    await page.getByRole('button', { name: 'All', exact: true }).click();
    await at.shown(all);
    await eventuallyEquals(search, '');
    await page.getByLabel('Search pull requests').pressSequentially('Part');
    await eventuallyEquals(search, '?text=Part');
    await page.goBack();
    await at.shown(all);
    expect(await page.getByLabel('Search pull requests').inputValue()).toBe('');
    await page.goBack();
    await page.getByRole('button', { name: 'Review requested', exact: true, pressed: true }).waitFor();
    await page.goBack();
    await activeFilter('Author: lisa').waitFor();
    await page.goForward();
    await page.goForward();
    await page.goForward();
    await at.shown(MORE);
    await eventuallyEquals(search, '?text=Part');
    await clear();
    await eventuallyEquals(search, '');
  });

  test('a view is saved, renamed, shared as a link and deleted', async () => {
    await page.getByRole('button', { name: 'Failing CI', exact: true }).click();
    await at.shown(1);
    await page.getByLabel('Views: save or delete').click();
    await page.getByLabel('View name').fill('★★★');
    await page.getByRole('status').getByText('Use letters from a to z, or digits.').waitFor();
    await page.getByLabel('View name').fill('Failing CI');
    // An input method uses these keys itself.
    for (const key of ['Enter', 'Escape'])
      await page.getByLabel('View name').dispatchEvent('keydown', { key, isComposing: true, bubbles: true });
    await page.getByRole('button', { name: 'Save view' }).click();
    await at.said('View “failing-ci” saved.');
    await page.getByLabel('View name').fill('To fix');
    await expectAccessible(page);
    const rename = page.getByRole('button', { name: 'Rename “failing-ci” to “to-fix”' });
    await at.confirm(rename, 'Rename view and delete its feeds?');
    await at.said('View “failing-ci” renamed to “to-fix”.');
    await page.getByRole('button', { name: 'Copy link to this list' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const address = await page.evaluate(() => navigator.clipboard.readText());
    expect(address).toContain('/?view=to-fix');
    await page.keyboard.press('Escape');
    await clear();
    await page.goto(address);
    await at.shown(1);
    await page.getByRole('button', { name: 'to-fix 1', exact: true, pressed: true }).waitFor();
    await eventuallyEquals(() => new URL(page.url()).search, '?view=to-fix');
    await page.getByLabel('Views: save or delete').click();
    await at.confirm(page.getByRole('button', { name: 'Delete “to-fix”' }), 'Delete view?');
    await at.said('View “to-fix” deleted.');
    await at.shown(all);
  });

  test('a view of a different tab appears when the tab is visible again', async () => {
    const { origin } = stage.server;
    const [url, headers] = [`${origin}/api/views/elsewhere`, { Origin: origin }];
    await at.open('/', 'Pull requests');
    const tab = page.getByRole('button', { name: /^elsewhere/ });
    expect(await tab.count()).toBe(0);
    await page.request.put(url, { data: { filter: { search: 'one' }, sort: 'updated', group: 'none' }, headers });
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await tab.waitFor();
    await page.request.delete(url, { headers });
  });

  test('a view is not saved or renamed over one that a different tab has saved', async () => {
    const { origin } = stage.server;
    const url = `${origin}/api/views/`;
    const headers = { Origin: origin };
    const view = { filter: { search: 'one' }, sort: 'updated', group: 'none' };
    await page.request.put(`${url}one`, { data: view, headers });
    await at.open('/?view=one', 'Pull requests');
    await page.request.put(`${url}two`, { data: { ...view, filter: { search: 'two' } }, headers });
    await page.getByLabel('Views: save or delete').click();
    await page.getByLabel('View name').fill('two');
    await page.getByRole('button', { name: 'Save view' }).click();
    await at.said('A view named “two” exists already.');
    await page.getByLabel('View name', { exact: true }).fill('three');
    await page.request.put(`${url}three`, { data: { ...view, filter: { search: 'three' } }, headers });
    const rename = page.getByRole('button', { name: 'Rename “one” to “three”' });
    await at.confirm(rename, 'Rename view and delete its feeds?');
    await at.said('A view named “three” exists already.');
    expect(await (await page.request.get(url.slice(0, -1))).text()).toContain('"search":"two"');
    for (const name of ['one', 'two', 'three']) await page.request.delete(url + name, { headers });
    await at.open('/', 'Pull requests');
  });

  test('a renaming whose response was lost is completed by the next attempt', async () => {
    const { origin } = stage.server;
    const headers = { Origin: origin };
    const view = { filter: { search: 'one' }, sort: 'updated', group: 'none' };
    await page.request.put(`${origin}/api/views/first`, { data: view, headers });
    await at.open('/?view=first', 'Pull requests');
    await page.getByLabel('Views: save or delete').click();
    await page.getByLabel('View name').fill('second');
    await page.route('**/api/views/second', async (route) => {
      await route.fetch();
      await route.abort();
    });
    const rename = page.getByRole('button', { name: 'Rename “first” to “second”' });
    await at.confirm(rename, 'Rename view and delete its feeds?');
    await at.said('The server could not be reached.');
    await page.unroute('**/api/views/second');
    await at.confirm(rename, 'Rename view and delete its feeds?');
    await at.said('View “first” renamed to “second”.');
    const views = await page.request.get(`${origin}/api/views`);
    expect(((await views.json()) as { readonly name: string }[]).map(({ name }) => name)).toEqual(['second']);
    await page.request.delete(`${origin}/api/views/second`, { headers });
    await at.open('/', 'Pull requests');
  });

  test('rows are snoozed until a day, or until they change', async () => {
    await (await at.button('Part 41', 'Snooze until it changes')).click();
    await at.said('#41 is snoozed until it changes');
    await at.shown(all - 1);
    await at.row('Part 42').getByLabel('More for #42').click();
    const day = new Date(Date.now() + 5 * 86_400_000).toISOString().slice(0, 10);
    await at.row('Part 42').getByLabel('Snooze until', { exact: true }).fill(day);
    await expectAccessible(page);
    await at.row('Part 42').getByRole('button', { name: 'Snooze until this date' }).click();
    await at.shown(all - 2);
    await page.getByRole('checkbox', { name: 'Snoozed (2 hidden)' }).check();
    await page.getByLabel('Search pull requests').fill('Part 4');
    await at.row('Part 41').getByText('snoozed until it changes').waitFor();
    await at
      .row('Part 42')
      .getByText(/^snoozed until \d/)
      .waitFor();
    // Closes the suggestions, which cover the filters.
    await page.getByLabel('Search pull requests').press('Escape');
    await page.getByRole('checkbox', { name: 'Snoozed' }).uncheck();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await at.shown(all - 2);
  });

  test('a board whose pull requests are all hidden as drafts or snoozed says so, and shows them', async () => {
    const { origin } = stage.server;
    const board = await page.request.get(`${origin}/api/dashboard`);
    const { pullRequests } = (await board.json()) as {
      pullRequests: { forge: string; repo: string; number: number }[];
    };
    for (const { forge, repo: fullName, number } of pullRequests) {
      const data = { forge, fullName, number, untilChange: true };
      await page.request.post(`${origin}/api/pull-requests/snooze`, { data, headers: { Origin: origin } });
    }
    await at.open('/', 'Pull requests');
    await page.getByText('All open pull requests are drafts or snoozed.').waitFor();
    await page.getByRole('button', { name: 'Show all pull requests' }).click();
    await at.row('Try another search').getByText('draft', { exact: true }).waitFor();
    await at.shown(all + 1);
  });
});
