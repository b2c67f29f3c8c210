import { DatabaseSync } from '@photostructure/sqlite';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import type { Page } from 'playwright-core';
import type { BoardForges } from '../../tests/e2e/board/board-forges.js';
import { forgejoPullRequest, forgejoRepository } from '../../tests/forges/forgejo-state.js';
import { FORGEJO_TOKEN, startForgejo } from '../../tests/forges/forgejo.js';
import {
  githubIssue,
  githubPullRequest,
  type GithubPullRequest,
  githubRepository,
  githubRun,
  type GithubRun,
  githubStatus,
} from '../../tests/forges/github-state.js';
import { GITHUB_TOKEN, startGithub } from '../../tests/forges/github.js';
import { gitlabMergeRequest, gitlabProject } from '../../tests/forges/gitlab-state.js';
import { GITLAB_TOKEN, startGitlab } from '../../tests/forges/gitlab.js';

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
  await page.locator('.pull').first().click();
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

/** Returns an ISO 8601 time relative to now. Pages show its age, so screenshots stay the same over time. */
const ago = (hours: number): string => new Date(Date.now() - hours * HOUR_MS).toISOString();

const LABELS = {
  bug: { name: 'bug', color: 'd73a4a' },
  billing: { name: 'billing', color: '0e8a16' },
  dependencies: { name: 'dependencies', color: '0366d6' },
  docs: { name: 'docs', color: 'fbca04' },
  speed: { name: 'speed', color: '5319e7' },
};

const passing = githubRun();
const running = githubRun({ databaseId: 3, name: 'browser tests', status: 'IN_PROGRESS', conclusion: null });
const failing: GithubRun = githubRun({
  databaseId: 2,
  name: 'unit tests',
  conclusion: 'FAILURE',
  steps: [{ name: 'Run npm test', conclusion: 'failure' }],
  log: 'taxes › rounds half a cent up\n  Expected 3, received 4\n',
});

/** Returns a pull request that was created and last updated the given hours ago. */
function pull(
  number: number,
  title: string,
  [made, touched]: readonly [number, number],
  change: Partial<GithubPullRequest> = {},
): GithubPullRequest {
  const [additions, deletions] = [(number * 37) % 263, (number * 11) % 47];
  return githubPullRequest(number, {
    ...{ title, additions, deletions, createdAt: ago(made), updatedAt: ago(touched) },
    ...change,
  });
}

/** GitHub reports this state if a required check fails. */
const blocked = { mergeStateStatus: 'BLOCKED' };

const bot = { author: 'dependabot', labels: [LABELS.dependencies] };

const shop = () =>
  githubRepository('acme/shop', {
    viewerPermission: 'ADMIN',
    pullRequests: [
      pull(418, 'Send receipts as PDF', [20, 1], { labels: [LABELS.billing], checks: [passing, githubStatus()] }),
      pull(417, 'Round taxes as the tax office does', [30, 3], {
        ...blocked,
        labels: [LABELS.bug],
        checks: [passing, failing],
      }),
      pull(415, 'Name the columns of an export', [54, 2], { author: 'lisa', requested: ['mona'] }),
      pull(411, 'Keep a basket for thirty days', [90, 26], { mergeStateStatus: 'BEHIND' }),
      pull(409, 'Bump lodash from 4.17.20 to 4.17.21', [100, 40], bot),
      pull(402, 'Try another search', [200, 50], { isDraft: true, labels: [LABELS.speed] }),
      pull(371, 'Drop the old checkout', [900, 300], { mergeStateStatus: 'DIRTY', mergeable: 'CONFLICTING' }),
    ],
    issues: [
      githubIssue(20, { title: 'Receipts miss the tax number', labels: [LABELS.bug], createdAt: ago(8) }),
      githubIssue(21, { title: 'Search forgets umlauts', labels: [LABELS.speed], createdAt: ago(130) }),
      githubIssue(22, { title: 'Say which card was used', author: 'lisa', createdAt: ago(400) }),
    ],
  });

const kitchen = () =>
  githubRepository('acme/kitchen', {
    pullRequests: [
      pull(88, 'Show products that are out of stock', [6, 1], { ...blocked, checks: [running] }),
      pull(87, 'Print orders in two columns', [28, 5], { author: 'ravi', requested: ['mona'] }),
      pull(80, 'Bump undici from 7.1.0 to 7.2.1', [260, 60], { ...bot, ...blocked, checks: [failing] }),
    ],
    issues: [githubIssue(9, { title: 'The printer queue stops at midnight', createdAt: ago(60) })],
  });

const handbook = () =>
  githubRepository('acme/handbook', {
    pullRequests: [
      pull(14, 'Explain how to give a refund', [3, 1], { labels: [LABELS.docs], author: 'lisa', requested: ['mona'] }),
      pull(12, 'List who is on call', [70, 22], { labels: [LABELS.docs], checks: [] }),
    ],
  });

/** Starts one forge of each kind, as busy as those of a small team. */
export async function startDocsForges(): Promise<BoardForges> {
  const github = await startGithub([shop(), kitchen(), handbook()]);
  const forgejo = await startForgejo([
    forgejoRepository('mona/tools', {
      pullRequests: [
        forgejoPullRequest(31, { title: 'Sharpen the saw', createdAt: ago(15), updatedAt: ago(4) }),
        forgejoPullRequest(29, { title: 'Measure twice', createdAt: ago(500), updatedAt: ago(120) }),
      ],
    }),
  ]);
  const gitlab = await startGitlab([
    gitlabProject('mona/site', {
      mergeRequests: [
        gitlabMergeRequest(7, { title: 'Show the way to the shop', createdAt: ago(10), updatedAt: ago(6) }),
        gitlabMergeRequest(5, { title: 'Load fonts from our own server', createdAt: ago(80), updatedAt: ago(30) }),
      ],
    }),
  ]);
  return {
    ...{ github, forgejo, gitlab },
    async close() {
      await Promise.all([github.close(), forgejo.close(), gitlab.close()]);
    },
  };
}
