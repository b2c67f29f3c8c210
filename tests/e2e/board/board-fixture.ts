import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { eventually as untilPassed } from '../../eventually.js';
import { FORGEJO_TOKEN } from '../../forges/forgejo.js';
import { GITHUB_TOKEN } from '../../forges/github.js';
import { GITLAB_TOKEN } from '../../forges/gitlab.js';
import { openForgeFixture, type ForgeFixture } from '../support/forge-fixture.js';
import { pressAndConfirm } from '../support/page-actions.js';
import type { BoardForges } from './board-forges.js';

/** A signed-in browser whose board is filled by one test forge of each kind. */
export interface BoardFixture extends ForgeFixture {
  readonly at: BoardActions;
}

/** Locators and actions of the board's pages. */
export interface BoardActions {
  readonly rows: Locator;
  readonly row: (title: string) => Locator;
  /** The button of a row. Opens the "More" menu if the button is in it. */
  readonly button: (title: string, name: string) => Promise<Locator>;
  readonly titles: () => Promise<string[]>;
  /** Waits until the filters leave `count` rows. */
  readonly shown: (count: number) => Promise<void>;
  readonly said: (text: RegExp | string) => Promise<void>;
  /** Presses a button and confirms. */
  readonly confirm: (button: Locator, question: string) => Promise<void>;
  readonly open: (path: string, heading: string) => Promise<void>;
  readonly select: (label: string, option: string) => Promise<unknown>;
}

/** Opens the board. `fill` changes the data of the forges before they are read. The default `device` is a computer. */
export async function openBoardFixture(
  fill: (forges: BoardForges) => void = () => undefined,
  device: BrowserContextOptions = {},
): Promise<BoardFixture> {
  const stage = await openForgeFixture({ device });
  const { forges } = stage;
  fill(forges);
  await saveForges(stage);
  const { page } = stage;
  const at = createBoardActions(page, stage.server.origin);
  await at.open('/', 'Pull requests');
  await at.rows.first().waitFor();
  // A wide screen remembers that the filters are open.
  if (device.viewport === undefined) await page.getByRole('button', { name: 'Filters' }).click();
  return { ...stage, at };
}

/** Saves the settings through the API; the settings page has its own tests. */
export async function saveForges({ page, server: { origin }, forges }: ForgeFixture): Promise<void> {
  const { github, forgejo, gitlab } = forges;
  const settings = {
    ...{ githubUrl: github.url, githubToken: GITHUB_TOKEN, githubUsername: 'mona' },
    ...{ forgejoUrl: forgejo.url, forgejoToken: FORGEJO_TOKEN, forgejoUsername: 'mona' },
    ...{ gitlabUrl: gitlab.url, gitlabToken: GITLAB_TOKEN, gitlabUsername: 'mona' },
  };
  const response = await page.request.put(`${origin}/api/settings`, { data: settings, headers: { Origin: origin } });
  expect([response.status(), await response.text()]).toEqual([200, expect.any(String)]);
  // Rows that arrive after the first ones would wait behind the updates bar.
  await eventuallyEquals(async () => {
    const board = await page.request.get(`${origin}/api/dashboard`);
    const { forges = [] } = (await board.json()) as { forges?: readonly { repoCount: number }[] };
    return forges.filter(({ repoCount }) => repoCount > 0).length;
  }, 3);
}

export function createBoardActions(page: Page, origin: string): BoardActions {
  const rows = page.locator('.pull');
  const row = (title: string): Locator => rows.filter({ hasText: title });
  return {
    rows,
    row,
    async button(title, name) {
      const wanted = row(title).getByRole('button', { name });
      // A menu closes shortly after the message about its action appears.
      await row(title).locator('details[open]').waitFor({ state: 'detached' });
      if ((await wanted.count()) === 0) {
        await row(title)
          .getByLabel(/^More for/)
          .click();
      }
      return wanted;
    },
    titles: () => page.locator('.pull a.open').allTextContents(),
    shown: (count) => page.getByText(new RegExp(`^${count} of \\d+ (?:shown|match)$`)).waitFor(),
    said: (text) => page.locator('.toast').filter({ hasText: text }).first().waitFor(),
    confirm: pressAndConfirm,
    async open(path, heading) {
      await page.goto(origin + path);
      await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
    },
    async select(label, option) {
      const select = page.getByRole('combobox', { name: label, exact: true });
      if (!(await select.isVisible())) {
        const filters = page.getByRole('button', { name: /^Filters/ });
        // A page that is still loading may open them.
        await filters.waitFor();
        if ((await filters.getAttribute('aria-expanded')) === 'false') await filters.click();
      }
      return select.selectOption(option);
    },
  };
}

/** Waits until a value of the page equals `wanted`. */
export const eventuallyEquals = <T>(read: () => Promise<T> | T, wanted: T): Promise<void> =>
  untilPassed(async () => expect(await read()).toEqual(wanted));
