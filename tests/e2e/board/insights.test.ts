import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import type { Locator, Page } from 'playwright-core';
import { eventually } from '../../eventually.js';
import { FORGEJO_TOKEN } from '../../forges/forgejo.js';
import { githubPullRequest, githubRepository } from '../../forges/github-state.js';
import { GITHUB_TOKEN } from '../../forges/github.js';
import { GITLAB_TOKEN } from '../../forges/gitlab.js';
import { expectAccessible } from '../support/axe.js';
import { describeInBrowser } from '../support/chromium.js';
import { openForgeFixture, type ForgeFixture } from '../support/forge-fixture.js';
import { createKeyboard } from '../support/keyboard.js';
import { readDownload } from '../support/page-actions.js';
import type { BoardForges } from './board-forges.js';

const DAY_MS = 86_400_000;

describeInBrowser('insights page', () => {
  let forges: BoardForges;
  let stage: ForgeFixture;
  let page: Page;

  beforeAll(async () => {
    stage = await openForgeFixture();
    ({ forges, page } = stage);
  });
  afterEach(() => {
    expect(stage.takeComplaints()).toEqual([]);
  });
  afterAll(() => stage.close());

  const chart = (name: string): Locator => page.getByRole('figure', { name, exact: true });
  const overTime = (): Locator => chart('Throughput');
  const slider = (): Locator => overTime().getByRole('slider');
  const total = (text: string): Promise<void> => overTime().getByText(text, { exact: true }).waitFor();
  const drawn = (): Promise<void> => overTime().locator('svg.throughput').waitFor();
  const open = async (): Promise<void> => {
    await page.goto(`${stage.server.origin}/insights`);
    await drawn();
  };
  /** Returns the texts of a table's rows, once there are `count`, or any if it is omitted. */
  async function rowsOf(figure: Locator, count?: number): Promise<string[][]> {
    const table = figure.locator('table');
    if (!(await table.isVisible())) await figure.getByText('View as table').click();
    await table.waitFor();
    let rows: string[][] = [];
    await eventually(async () => {
      rows = await table
        .locator('tbody tr')
        .evaluateAll((found) =>
          found.map((row) => Array.from((row as HTMLTableRowElement).cells, (cell) => cell.textContent)),
        );
      expect(rows.length).toBe(count ?? rows.length);
      expect(rows.length).toBeGreaterThan(0);
    });
    return rows;
  }
  /** Saves the settings, which makes the server read the forges at once. */
  async function saveForges(): Promise<void> {
    const { github, forgejo, gitlab } = forges;
    const data = {
      ...{ githubUrl: github.url, githubUsername: 'mona', githubToken: GITHUB_TOKEN },
      ...{ forgejoUrl: forgejo.url, forgejoToken: FORGEJO_TOKEN },
      ...{ gitlabUrl: gitlab.url, gitlabToken: GITLAB_TOKEN },
    };
    const headers = { Origin: stage.server.origin };
    expect((await page.request.put(`${stage.server.origin}/api/settings`, { data, headers })).ok()).toBe(true);
  }

  test('without a code host, the page leads to the settings', async () => {
    await page.goto(`${stage.server.origin}/insights`);
    await page.getByText('Insights show throughput, reviews, CI and ages.').waitFor();
    await page.getByRole('link', { name: 'Connect GitHub, GitLab or Forgejo' }).waitFor();
    await expectAccessible(page);
  });

  test('opened and closed pull requests appear on the open page', async () => {
    await saveForges();
    await page.reload();
    await total('10 open now, with drafts');
    await total('0 opened');
    await overTime().getByText('Data since').waitFor();
    const [shop] = forges.github.repositories;
    shop!.pullRequests.push(githubPullRequest(30, { title: 'Say thanks', createdAt: new Date().toISOString() }));
    shop!.pullRequests[0]!.state = 'MERGED';
    shop!.pullRequests[1]!.state = 'CLOSED';
    Object.assign(forges.github.budgets.graphql, { remaining: 700 });
    await saveForges();
    await total('1 opened');
    await total('2 merged or closed');
    await total('9 open now, with drafts');
    await expectAccessible(page);
  });

  test('every chart shows the figures of its table', async () => {
    for (const name of ['CI by repository', 'Issues by repository', 'Pull request age', 'Issue age']) {
      const rows = await rowsOf(chart(name));
      const sums = rows.map(([label, ...parts]) => [label, parts.reduce((sum, part) => sum + Number(part), 0)]);
      const [labels, values] = [chart(name).locator('.bars .label'), chart(name).locator('.bars .value')];
      const counts = (await values.allTextContents()).map((text) => parseInt(text, 10));
      expect((await labels.allTextContents()).map((label, index) => [label, counts[index]])).toEqual(sums);
    }
    const quotas = await rowsOf(chart('API quotas'));
    for (const [name = '', left, limit, state = ''] of quotas) {
      const gauge = page.getByRole('region', { name, exact: true });
      await gauge.getByText(`${left} of ${limit} left`).waitFor();
      await gauge.getByText(state, { exact: true }).waitFor();
    }
    expect(quotas.map(([name]) => name)).toEqual(['GitHub GraphQL', 'GitHub REST', 'GitLab GraphQL']);
    expect(quotas[0]).toEqual(expect.arrayContaining(['5,000', 'Running low']));
    await page.getByText(/^The last refresh used \d+ points?\.$/).waitFor();
    await expectAccessible(page);
  });

  test('a figure leads to its rows, which have an address and can be exported', async () => {
    await open();
    const [first] = await rowsOf(chart('CI by repository'));
    const [label = '', ...parts] = first!;
    const counts = parts.map(Number);
    await chart('CI by repository')
      .getByRole('button', { name: `${label}: ` })
      .click();
    const dialog = page.getByRole('dialog', { name: `CI by repository · ${label}` });
    const rows = dialog.locator('tbody tr');
    const total = counts.reduce((sum, count) => sum + count, 0);
    await eventually(async () => expect(await rows.count()).toBe(total));
    await expectAccessible(page);
    await page.reload();
    await eventually(async () => expect(await rows.count()).toBe(total));
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      dialog.getByRole('button', { name: /^Export/ }).click(),
    ]);
    const lines = (await readDownload(file)).trimEnd().split('\r\n');
    expect(file.suggestedFilename()).toMatch(/^ci-by-repository-.*\.csv$/);
    expect(lines).toHaveLength(total + 1);
    expect(lines[0]).toBe('Code host,Repository,Number,Title,Author,Created,Updated,CI,URL');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await eventually(() => expect(new URL(page.url()).search).toBe(''));
    await page.goBack();
    await dialog.waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();

    // The chart has the part of each pull request that has one.
    const index = counts.findIndex((count) => count > 0);
    const name = ['Passing', 'Running', 'Failing', 'None or unknown'][index]!;
    await rowsOf(chart('CI by repository'));
    await page.getByRole('button', { name: `${label}, ${name}: ${counts[index]}. Show the rows` }).click();
    const part = page.getByRole('dialog', { name: `CI by repository · ${label} · ${name}` });
    await eventually(async () => expect(await part.locator('tbody tr').count()).toBe(counts[index]));
    await page.keyboard.press('Escape');
    await overTime().getByRole('button', { name: 'Show open pull requests' }).click();
    await page.getByRole('dialog', { name: 'Open pull requests, with drafts' }).getByText('9 rows').waitFor();
    await page.keyboard.press('Escape');
  });

  test('the throughput chart shows up to a year in days or weeks, with the figures of the table', async () => {
    countEarlierDays();
    await open();
    const rows = await rowsOf(overTime(), 30);
    await slider().focus();
    // Enough columns to include the day without a board.
    for (const [name = '', opened, left, open] of rows.slice(0, 12)) {
      const figures = open === 'unknown' ? 'open count unknown' : `${open} open`;
      const words = `${name}: ${opened} opened, ${left} closed, ${figures}`;
      await eventually(async () => expect(await slider().getAttribute('aria-valuetext')).toBe(words));
      await slider().press('ArrowLeft');
    }
    const sums = [1, 2].map((part) => rows.reduce((sum, row) => sum + Number(row[part]), 0));
    await total(`${sums[0]} opened`);
    await total(`${sums[1]} merged or closed`);
    const bars = (kind: string) => overTime().locator(`rect.${kind}`);
    expect(await bars('opened').count()).toBe(rows.filter(([, opened]) => opened !== '0').length);
    expect(await bars('left').count()).toBe(rows.filter(([, , left]) => left !== '0').length);
    // The line has a gap at the day without a board.
    expect(await overTime().locator('.line').count()).toBe(2);
    await overTime()
      .locator('svg')
      .hover({ position: { x: 50, y: 60 } });
    await overTime().locator('.reading').getByText(rows.at(-1)![0]!).waitFor();
    await page.getByText('90 days').click();
    await overTime()
      .getByRole('rowheader', { name: /^Week of/ })
      .first()
      .waitFor();
    // Depending on the weekday, 90 days touch 13 or 14 weeks.
    expect([13, 14]).toContain((await rowsOf(overTime())).length);
    await page.getByText('A year').click();
    await rowsOf(overTime(), 53);
    await expectAccessible(page);
  });

  test('API quotas count down while they are in view, per minute with reduced motion', async () => {
    await open();
    const countdown = page.getByRole('region', { name: 'GitHub GraphQL' }).locator('.countdown');
    await countdown.scrollIntoViewIfNeeded();
    await eventually(async () => expect(await countdown.textContent()).toMatch(/^\d+ min \d+ s$/));
    const first = await countdown.textContent();
    await eventually(async () => expect(await countdown.textContent()).not.toBe(first));
    expect(await countdown.getAttribute('aria-hidden')).toBe('true');
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await open();
    await eventually(async () => expect(await countdown.textContent()).toMatch(/^\d+ min$/));
    await page.emulateMedia({ reducedMotion: null });
  });

  test('all charts can be used with the keyboard only', async () => {
    const { press, tabTo, focused, arriveAt } = createKeyboard(page);
    await open();
    await arriveAt('heading "Insights"');
    await tabTo('radio "30 days"');
    await press('ArrowRight');
    expect(await focused()).toContain('radio "90 days"');
    const text = () => slider().getAttribute('aria-valuetext');
    await eventually(async () => expect(await text()).toMatch(/^Week of /));
    await tabTo('slider "Week"');
    const newest = await text();
    await press('ArrowLeft');
    await eventually(async () => expect(await text()).not.toBe(newest));
    await press('End');
    await eventually(async () => expect(await text()).toBe(newest));
    for (const name of ['Throughput', 'CI by repository', 'Issues by repository', 'Pull request age']) {
      await tabTo('View as table');
      await press('Enter');
      await chart(name).locator('table').waitFor();
    }
    await page.setViewportSize({ width: 360, height: 800 });
    await eventually(async () => {
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    });
  });

  test('reviews: the measures lead to their rows, and repository and rows are in the address', async () => {
    await page.setViewportSize({ width: 1200, height: 850 });
    await readReviews();
    await page.goto(`${stage.server.origin}/insights?repository=github%2Facme%2Freviews`);
    const region = page.getByRole('region', { name: 'Reviews', exact: true });
    const slow = region.getByRole('figure', { name: 'Slow now' });
    await slow.getByRole('link', { name: 'Bump the parser' }).waitFor();
    const first = region.getByRole('figure', { name: 'Time to first review' });
    await first.getByText('3 h', { exact: true }).waitFor();
    expect(await rowsOf(first, 10)).toEqual(
      expect.arrayContaining([
        ['1 to 4 h', '3'],
        ['4 to 12 h', '2'],
      ]),
    );
    await first.getByText('View as table').click();
    await expectAccessible(page);

    // The pointer may be anywhere in the row of the bar.
    await first.locator('.bar-row', { hasText: '4 to 12 h' }).click({ position: { x: 200, y: 12 } });
    const range = page.getByRole('dialog', { name: 'Time to first review · acme/reviews · 4 to 12 h' });
    await eventually(async () => expect(await range.locator('tbody tr').count()).toBe(2));
    const query = 'measure=first_review&atLeastSeconds=14400&belowSeconds=43200';
    await eventually(() => expect(new URL(page.url()).search).toContain(query));
    await expectAccessible(page);
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      range.getByRole('link', { name: 'Export CSV' }).click(),
    ]);
    expect((await readDownload(file)).trimEnd().split('\r\n')).toHaveLength(3);
    await page.keyboard.press('Escape');
    await range.waitFor({ state: 'detached' });

    // The keyboard reaches the counts of a person.
    const load = region.getByRole('figure', { name: 'Review load' });
    const count = load.getByRole('button', { name: 'lisa, given: 5. Show the rows' });
    await count.press('Enter');
    const given = page.getByRole('dialog', { name: 'Given reviews · acme/reviews · lisa' });
    await eventually(async () => expect(await given.locator('tbody tr').count()).toBe(5));
    await page.goBack();
    await given.waitFor({ state: 'detached' });
    await count.and(page.locator(':focus')).waitFor();
    await region.getByLabel('Repository').selectOption({ label: 'acme/shop (GitHub)' });
    await region.getByText('No reviews or merges in the last 30 days.').waitFor();
    await region.getByRole('button', { name: 'Show all repositories' }).click();
    await region.getByRole('figure', { name: 'Reviews by repository' }).getByText('acme/reviews (GitHub)').waitFor();
    await page.setViewportSize({ width: 320, height: 800 });
    await eventually(async () => {
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    });
  });

  /** Adds a repository with five reviewed pull requests and one that waits, and waits until its history is read. */
  async function readReviews(): Promise<void> {
    const ago = (hours: number): string => new Date(Date.now() - hours * 3_600_000).toISOString();
    const merged = (hours: number) =>
      githubPullRequest(hours, {
        ...{ title: `Reviewed after ${hours} hours`, state: 'MERGED', createdAt: ago(100), updatedAt: ago(80) },
        ...{ mergedAt: ago(80), closedAt: ago(80) },
        submitted: [{ author: 'lisa', state: 'APPROVED', submittedAt: ago(100 - hours) }],
      });
    const waiting = githubPullRequest(9, { title: 'Bump the parser', createdAt: ago(50), updatedAt: ago(50) });
    const pullRequests = [...[1, 2, 3, 4, 5].map(merged), waiting];
    forges.github.repositories.push(githubRepository('acme/reviews', { viewerPermission: 'ADMIN', pullRequests }));
    Object.assign(forges.github.budgets.graphql, { remaining: 5_000 });
    await saveForges();
    await eventually(async () => {
      const response = await page.request.get(`${stage.server.origin}/api/insights/reviews?repo=acme/reviews`);
      const { reviewers } = (await response.json()) as { reviewers: { given: number }[] };
      expect(reviewers[0]?.given).toBe(5);
    });
  }

  /** Adds a year of daily counts, with one day on which no board was read. */
  function countEarlierDays(): void {
    const database = new DatabaseSync(join(stage.state, 'trellis.db'), { timeout: 10_000 });
    const { id } = database.prepare('select id from people').get() as { id: string };
    const insert = database.prepare('insert or replace into throughput_days values (?, ?, ?, ?, ?)');
    for (let ago = 1; ago < 400; ago += 1) {
      const day = new Date(Date.now() - ago * DAY_MS).toISOString().slice(0, 10);
      insert.run(id, day, ago % 5, ago % 3, ago === 10 ? null : 8 + (ago % 7));
    }
    database.close();
  }
});
