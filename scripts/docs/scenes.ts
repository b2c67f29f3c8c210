import { DatabaseSync } from '@photostructure/sqlite';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import type { Page } from 'playwright-core';
import type { BoardForges } from '../../tests/e2e/board/board-forges.js';
import { FORGEJO_TOKEN } from '../../tests/forges/forgejo.js';
import { GITHUB_TOKEN } from '../../tests/forges/github.js';
import { GITLAB_TOKEN } from '../../tests/forges/gitlab.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The age of the board, in days. */
const DAYS = 75;

/** Returns the link of an invitation, in the form of the admin page. */
export async function invite(page: Page, origin: string): Promise<string> {
  const data = { username: 'hubot', displayName: 'Hubot' };
  const made = await page.request.post(`${origin}/api/admin/invites`, { data, headers: { Origin: origin } });
  const { token } = (await made.json()) as { token: string };
  return `${origin}/sign-in#${new URLSearchParams({ invite: token, username: data.username }).toString()}`;
}

export async function openRecipe(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'garden-at-dawn.jpg' }).click();
  await page.getByRole('link', { name: 'Transform image' }).click();
  await page.getByRole('combobox', { name: 'Transform' }).selectOption('fluid');
  await page.getByLabel('maxWidth').fill('300');
}

/** Opens the details of a pull request whose checks fail. */
export async function openDetails(page: Page): Promise<void> {
  await page.locator('li.pull').first().click();
}

export async function pasteVariables(page: Page): Promise<void> {
  const text = 'DB_PASSWORD=hunter2\nMAIL_KEY="a b c"\ndatabase-password=new\n';
  await page.getByLabel('Variables').fill(text);
}

export async function tryOut(page: Page): Promise<void> {
  await page.locator('.opblock').getByText('Get the running release').click();
  await page.getByRole('button', { name: 'Try it out' }).click();
  await page.getByRole('button', { name: 'Execute' }).click();
}

/** Saves forge settings, so that a board exists. */
export async function setUp(page: Page, origin: string, { github, forgejo, gitlab }: BoardForges): Promise<void> {
  const data = {
    ...{ githubUrl: github.url, githubUsername: 'mona', githubToken: GITHUB_TOKEN },
    ...{ forgejoUrl: forgejo.url, forgejoUsername: 'mona', forgejoToken: FORGEJO_TOKEN },
    ...{ gitlabUrl: gitlab.url, gitlabUsername: 'mona', gitlabToken: GITLAB_TOKEN },
  };
  const headers = { Origin: origin };
  const saved = await page.request.put(`${origin}/api/settings`, { data, headers });
  const read = await page.request.post(`${origin}/api/dashboard/refresh`, { headers });
  if (!saved.ok() || !read.ok()) throw new Error(`The board could not be read: ${saved.status()}, ${read.status()}.`);
}

/** Saves example values, sealed to keys that are discarded. */
export async function storeSecrets(page: Page, origin: string): Promise<void> {
  for (const name of ['shop', 'backup-host']) {
    await page.goto(`${origin}/vault/consumers`);
    const form = page.locator('form').last();
    await form.getByLabel('Name').fill(name);
    await form.getByLabel('Public key').fill(await identityToRecipient(await generateX25519Identity()));
    await form.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText(`Consumer “${name}” added.`).waitFor();
  }
  for (const slug of ['database-password', 'mail-key', 'signing-key']) {
    await page.goto(`${origin}/vault/new`);
    await page.getByLabel('Name').fill(slug);
    await page.getByLabel('Value', { exact: true }).fill('not a secret');
    await page.getByLabel('shop').check();
    if (slug !== 'mail-key') await page.getByLabel('backup-host').check();
    await page.getByRole('button', { name: 'Save secret' }).click();
    await page.getByRole('heading', { name: slug, level: 1 }).waitFor();
  }
}

/** Inserts the counts of some weeks of refreshes, lower at weekends, so that the charts have data. */
export function keepDays(file: string): void {
  const database = new DatabaseSync(file);
  database.exec('PRAGMA busy_timeout = 5000');
  const day = database.prepare(
    `INSERT INTO throughput_days (person_id, day, opened_count, left_count, open_count)
      SELECT id, ?, ?, ?, ? FROM people WHERE true ON CONFLICT DO NOTHING`,
  );
  let open = 22;
  for (let ago = DAYS; ago > 0; ago -= 1) {
    const date = new Date(Date.now() - ago * DAY_MS);
    const isWeekend = date.getUTCDay() % 6 === 0;
    const opened = isWeekend ? 0 : 1 + ((ago * 7) % 5);
    const left = isWeekend ? ago % 2 : Math.min(open, 1 + ((ago * 11) % 5));
    open += opened - left;
    day.run(date.toISOString().slice(0, 10), opened, left, open);
  }
  database.close();
}

const TEAM = ['mona', 'lisa', 'ravi'] as const;

/** How many merged pull requests have a history. */
const HISTORIES = 44;

/** Inserts the review times of merged pull requests in two repositories, so that the charts of reviews have data. */
export function keepReviews(file: string): void {
  const database = new DatabaseSync(file);
  database.exec('PRAGMA busy_timeout = 5000');
  const history = database.prepare(
    `INSERT INTO pull_request_histories (person_id, forge, repository_id, number, title, url, author, author_is_bot,
        is_draft, times, closed_at, updated_at)
      SELECT id, 'github', ?, ?, ?, ?, ?, 0, 0, ?, ?, ? FROM people WHERE true ON CONFLICT DO NOTHING`,
  );
  for (let index = 0; index < HISTORIES; index += 1) {
    const repository = index % 3 === 0 ? 'acme/kitchen' : 'acme/shop';
    const number = 100 + index;
    const openedAt = Date.now() - (4 + index * 1.6) * DAY_MS;
    const reviewedAt = openedAt + (1 + ((index * 7) % 30)) * HOUR_MS;
    const approvedAt = reviewedAt + ((index * 5) % 22) * HOUR_MS;
    const mergedAt = approvedAt + (1 + ((index * 3) % 12)) * HOUR_MS;
    const login = TEAM[(index + 1) % 3];
    const reviewer = { login, requestedAt: openedAt, reviewedAt, lastReviewedAt: approvedAt, isPending: false };
    const times = { openedAt, readyAt: openedAt, reviewedAt, approvedAt, mergedAt, closedAt: mergedAt };
    const url = `https://github.com/${repository}/pull/${number}`;
    const title = `Improve the shop, step ${index + 1}`;
    const text = JSON.stringify({ ...times, reviewers: [reviewer] });
    history.run(`R_${repository}`, number, title, url, TEAM[index % 3] ?? '', text, mergedAt, mergedAt);
  }
  database.close();
}
