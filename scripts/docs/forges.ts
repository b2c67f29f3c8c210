import type { BoardForges } from '../../tests/e2e/board/board-forges.js';
import { forgejoPullRequest, forgejoRepository } from '../../tests/forges/forgejo-state.js';
import { startForgejo } from '../../tests/forges/forgejo.js';
import {
  githubIssue,
  githubPullRequest,
  type GithubPullRequest,
  githubRepository,
  githubRun,
  type GithubRun,
  githubStatus,
} from '../../tests/forges/github-state.js';
import { startGithub } from '../../tests/forges/github.js';
import { gitlabMergeRequest, gitlabProject } from '../../tests/forges/gitlab-state.js';
import { startGitlab } from '../../tests/forges/gitlab.js';

const HOUR_MS = 3_600_000;

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
