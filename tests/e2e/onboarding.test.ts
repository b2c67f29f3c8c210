import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { Page } from 'playwright-core';
import { spawnNode } from '../child-process.js';
import { eventually } from '../eventually.js';
import { GITHUB_TOKEN } from '../forges/github.js';
import { startBoardForges, type BoardForges } from './board/board-forges.js';
import { expectAccessible } from './support/axe.js';
import { describeInBrowser } from './support/chromium.js';
import { openPageFixture, type PageFixture } from './support/fixtures.js';
import { readExports } from './support/page-actions.js';

// Counts the actions of a new admin: a click, a field that is filled in, a command in a terminal. `STEPS=print` also prints
// the seconds that the pages and the server take for them.
describeInBrowser('first steps after the account', () => {
  let forges: BoardForges;
  let stage: PageFixture;
  let page: Page;
  let actions: number;
  let startedAt: number;
  const measured: string[] = [];

  beforeAll(async () => {
    forges = await startBoardForges();
    stage = await openPageFixture({ args: ['--site', 'examples/site'] });
    page = stage.page;
  });
  afterAll(async () => {
    await stage.close();
    await forges.close();
    if (process.env.STEPS === 'print') process.stdout.write(`${measured.join('\n')}\n`);
  });
  beforeEach(() => {
    actions = 0;
    startedAt = performance.now();
  });
  afterEach(() => {
    expect(stage.takeComplaints()).toEqual([]);
  });

  const act = async (action: Promise<unknown>): Promise<void> => {
    actions += 1;
    await action;
  };
  const expectAtMost = (goal: string, limit: number): void => {
    const seconds = (performance.now() - startedAt) / 1000;
    measured.push(`${goal}: ${actions} actions (at most ${limit}), ${seconds.toFixed(1)} s`);
    expect(actions).toBeLessThanOrEqual(limit);
  };
  const steps = () => page.getByRole('region', { name: 'Get started' });
  const button = (name: RegExp | string) => page.getByRole('button', { name, exact: true });
  const goToSteps = async (done: number): Promise<void> => {
    await page.goto(`${stage.server.origin}/services`);
    await steps().getByText(`${done} of 4 done`).waitFor();
  };

  test('the account leads to the list of first steps', async () => {
    await steps().getByText('0 of 4 done').waitFor();
    expect(new URL(page.url()).pathname).toBe('/services');
    await expectAccessible(page);
  });

  test('a board takes at most 4 actions', async () => {
    await act(page.getByLabel('URL', { exact: true }).fill(forges.github.url));
    await act(page.getByLabel('Token', { exact: true }).fill('wrong'));
    await button('Connect').click();
    await steps().getByRole('alert').getByText(/./).waitFor();
    await page.getByLabel('Token', { exact: true }).fill(GITHUB_TOKEN);
    await act(button('Connect').click());
    await page.getByRole('link', { name: /tax/i }).first().waitFor();
    expectAtMost('board', 4);
    const settings = (await (await page.request.get(`${stage.server.origin}/api/settings`)).json()) as object;
    expect(settings).toMatchObject({ githubUsername: 'mona', githubTokenSet: true });
    await goToSteps(1);
  });

  test('a query takes at most 2 actions', async () => {
    await goToSteps(1);
    await act(page.getByRole('link', { name: 'Try a query' }).click());
    await act(page.getByRole('button', { name: /^Execute query/ }).click());
    await page.getByText('prettySize').nth(1).waitFor();
    expectAtMost('query', 2);
  });

  test('an image on a page takes at most 4 actions', async () => {
    await goToSteps(2);
    await act(page.getByRole('link', { name: 'Transform an image' }).click());
    await act(button('Copy the HTML').click());
    let markup = '';
    await eventually(async () => {
      markup = await page.evaluate(() => navigator.clipboard.readText());
      expect(markup).toMatch(/^<picture>/);
    });
    const other = await stage.context.newPage();
    await other.goto(`${stage.server.origin}/services`);
    await act(other.evaluate((html) => document.body.insertAdjacentHTML('afterbegin', html), markup));
    await other.waitForFunction(() => (document.querySelector('img')?.naturalWidth ?? 0) > 0);
    await other.close();
    expectAtMost('image', 4);
  });

  test('a secret in a process takes at most 6 actions', async () => {
    await goToSteps(3);
    await act(page.getByRole('link', { name: 'Store a secret' }).click());
    await act(page.getByLabel('Name', { exact: true }).fill('api-key'));
    await act(page.getByLabel('Value', { exact: true }).fill('the first value'));
    await act(button('Save secret').click());
    await act(button('Copy the commands').click());
    const commands = await page.evaluate(() => navigator.clipboard.readText());
    const env = readExports(commands);
    const [, ...args] = commands.split('\n').at(-1)!.split(' ');
    const child = spawnNode(['dist/cli.js', ...args], { env: { PATH: process.env.PATH, ...env } });
    const output = Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
    await act(output);
    expect((await output).slice(0, 2)).toEqual(['the first value\n', '']);
    expectAtMost('secret', 6);
    await goToSteps(4);
    await expectAccessible(page);
    await button('Hide this list').click();
    await steps().waitFor({ state: 'detached' });
    await page.reload();
    await page.getByText('This server runs the services below.').waitFor();
    expect(await steps().count()).toBe(0);
  });
});
