import type { Locator, Page } from 'playwright-core';
import { eventually as untilPassed } from '../eventually.js';
import { FORGEJO_TOKEN } from '../forges/forgejo.js';
import { GITHUB_TOKEN } from '../forges/github.js';
import { GITLAB_TOKEN } from '../forges/gitlab.js';
import { confirm } from './acts.js';
import type { BoardForges } from './board-forges.js';
import { openForgeStage } from './forge-stage.js';
import type { ForgeStage } from './forge-stage.js';

/** A stage whose board is filled by one forge of each kind. */
export interface BoardStage extends ForgeStage {
  readonly at: BoardPage;
}

/** Where things of the board are in a page, and what is done with them. */
export interface BoardPage {
  readonly rows: Locator;
  readonly row: (title: string) => Locator;
  /** The button of a row; opened first when it is behind "More". */
  readonly button: (title: string, name: string) => Promise<Locator>;
  readonly titles: () => Promise<string[]>;
  /** Waits until so many rows are selected. */
  readonly shown: (count: number) => Promise<void>;
  readonly said: (text: RegExp | string) => Promise<void>;
  /** Presses a button that asks whether that was meant, and says yes. */
  readonly confirm: (button: Locator, question: string) => Promise<void>;
  readonly open: (path: string, heading: string) => Promise<void>;
  readonly select: (label: string, option: string) => Promise<unknown>;
}

/** `fill` changes what the forges have before they are read. */
export async function openBoardStage(fill: (forges: BoardForges) => void = () => undefined): Promise<BoardStage> {
  const stage = await openForgeStage();
  const { forges } = stage;
  fill(forges);
  await saveForges(stage.page, forges);
  const at = boardPage(stage.page, stage.server.origin);
  await at.open('/', 'Pull requests');
  await at.rows.first().waitFor();
  return { ...stage, at };
}

/** As the settings would; they have tests of their own. */
async function saveForges(page: Page, { github, forgejo, gitlab }: BoardForges): Promise<void> {
  const settings = {
    ...{ githubUrl: github.url, githubToken: GITHUB_TOKEN, githubUsername: 'mona' },
    ...{ forgejoUrl: forgejo.url, forgejoToken: FORGEJO_TOKEN, forgejoUsername: 'mona' },
    ...{ gitlabUrl: gitlab.url, gitlabToken: GITLAB_TOKEN, gitlabUsername: 'mona' },
  };
  const { origin } = new URL(page.url());
  const answer = await page.request.put(`${origin}/api/settings`, { data: settings, headers: { Origin: origin } });
  expect([answer.status(), await answer.text()]).toEqual([200, expect.any(String)]);
  // What comes after the first rows would wait behind the bar.
  await eventually(async () => {
    const board = await page.request.get(`${origin}/api/dashboard`);
    const { forges = [] } = (await board.json()) as { forges?: readonly { repoCount: number }[] };
    return forges.filter(({ repoCount }) => repoCount > 0).length;
  }, 3);
}

export function boardPage(page: Page, origin: string): BoardPage {
  const rows = page.locator('li.pull');
  const row = (title: string): Locator => rows.filter({ hasText: title });
  return {
    rows,
    row,
    async button(title, name) {
      const wanted = row(title).getByRole('button', { name });
      // A menu closes a moment after what was done in it is told of.
      await row(title).locator('details[open]').waitFor({ state: 'detached' });
      if ((await wanted.count()) === 0) {
        await row(title)
          .getByLabel(/^More for/)
          .click();
      }
      return wanted;
    },
    titles: () => page.locator('li.pull a.open').allTextContents(),
    shown: (count) => page.getByText(new RegExp(`^${count} of \\d+ (?:shown|match)$`)).waitFor(),
    said: (text) => page.locator('.toast').filter({ hasText: text }).first().waitFor(),
    confirm,
    async open(path, heading) {
      await page.goto(origin + path);
      await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
    },
    select: (label, option) => page.getByRole('combobox', { name: label, exact: true }).selectOption(option),
  };
}

/** Asks again until it is so: what a page shows follows what is done to it, and not at once. */
export const eventually = <T>(read: () => Promise<T> | T, wanted: T): Promise<void> =>
  untilPassed(async () => expect(await read()).toEqual(wanted));
