import { mkdir, writeFile } from 'node:fs/promises';
import type { Locator, Page } from 'playwright-core';
import sharp from 'sharp';
import { eventually } from '../../eventually.js';
import { githubPullRequest, githubRepository } from '../../forges/github-state.js';
import { expectAccessible } from '../support/axe.js';
import { describeInBrowser } from '../support/chromium.js';
import { openBoardFixture, type BoardActions, type BoardFixture } from './board-fixture.js';
import type { BoardForges } from './board-forges.js';

const day = (number: number): string => `2026-05-${String(number).padStart(2, '0')}T08:00:00Z`;

/** Adds a repository with a merge queue, one with a ruleset, and one with a review that a team is asked for. */
function fill({ github }: BoardForges): void {
  const pull = (number: number, title: string, change: Parameters<typeof githubPullRequest>[1] = {}) =>
    githubPullRequest(number, { title, updatedAt: day(24), ...change });
  github.teams = ['core'];
  github.repositories.push(
    githubRepository('acme/queue', {
      usesMergeQueue: true,
      pullRequests: [pull(31, 'Cache the prices'), pull(30, 'Warm the cache', { queued: true, updatedAt: day(23) })],
    }),
    githubRepository('acme/ledger', {
      ruleViolations: ['Changes must be made through a pull request.', 'Required workflow "audit" is not successful.'],
      pullRequests: [pull(40, 'Book refunds twice')],
    }),
    githubRepository('acme/handbook', {
      pullRequests: [
        pull(50, 'Explain the on-call rota', { author: 'lisa', requested: ['team:core'], codeOwners: ['team:core'] }),
      ],
      requiredApprovals: [2],
    }),
  );
}

/** With the environment variable `BOARD_SCREENS=write`, saves a screenshot for the documentation. */
async function show(page: Page, name: string, subject: Locator): Promise<void> {
  if (process.env.BOARD_SCREENS !== 'write') return;
  await page.setViewportSize({ width: 1200, height: 850 });
  await subject.evaluate((element) => element.scrollIntoView({ block: 'center' }));
  const picture = await sharp(await page.screenshot())
    .png({ palette: true, colours: 64, effort: 10 })
    .toBuffer();
  await mkdir('docs/screens', { recursive: true });
  await writeFile(`docs/screens/${name}-desktop-light.png`, picture);
}

describeInBrowser('the rules of a forge on the board', () => {
  let stage: BoardFixture;
  let page: Page;
  let board: BoardActions;

  beforeAll(async () => {
    stage = await openBoardFixture(fill);
    ({ page, at: board } = stage);
  }, 180_000);
  afterAll(() => stage.close());

  const pullOf = (title: string) =>
    stage.forges.github.repositories.flatMap(({ pullRequests }) => pullRequests).find((one) => one.title === title)!;
  const openPanel = async (title: string) => {
    await board.row(title).locator('.where').click();
    const panel = page.getByRole('dialog', { name: title });
    await panel.waitFor();
    return panel;
  };

  test('a merge goes through the queue: enqueue, its place, and leave', async () => {
    await board.row('Warm the cache').getByText('position 1 in the merge queue').waitFor();
    await board.confirm(await board.button('Cache the prices', 'Add to merge queue #31'), 'Enqueue #31?');
    await board.said('acme/queue #31 is in the merge queue.');
    expect(pullOf('Cache the prices').queued).toBe(true);
    await board.open('/', 'Pull requests');
    await board
      .row('Cache the prices')
      .getByText(/position \d in the merge queue/)
      .waitFor();
    await show(page, 'merge-queue', board.row('Cache the prices'));
    await board.confirm(await board.button('Cache the prices', 'Leave merge queue #31'), 'Dequeue #31?');
    await board.said('acme/queue #31 is no longer in the merge queue.');
    expect(pullOf('Cache the prices').queued).toBe(false);
    expect(stage.takeComplaints()).toEqual([]);
  });

  test('a merge by the method that the user chooses', async () => {
    await board.confirm(await board.button('Drop an old flag', 'Merge: squash #7'), 'Squash and merge #7?');
    await board.said('acme/shop #7 was merged.');
    expect(pullOf('Drop an old flag')).toMatchObject({ state: 'MERGED', mergedBy: 'squash' });
    expect(stage.takeComplaints()).toEqual([]);
  });

  test("a merge that a ruleset rejects shows GitHub's reason on its row, and the row stays", async () => {
    await board.confirm(await board.button('Book refunds twice', 'Merge #40'), 'Merge #40?');
    const outcome = board.row('Book refunds twice').locator('.outcome');
    await outcome.getByText(/The rules of the repository are not met/).waitFor();
    await outcome.getByText(/Repository rule violations found/).waitFor();
    await show(page, 'ruleset', board.row('Book refunds twice'));
    expect(pullOf('Book refunds twice').state).toBe('OPEN');
    expect(stage.takeComplaints()).toEqual([expect.stringMatching(/^409 POST \/api\/pull-requests\/merge$/)]);
  });

  test('a requested review of a team differs from a personal one, and the panel submits it', async () => {
    await board.open('/', 'Pull requests');
    const panel = await openPanel('Explain the on-call rota');
    await panel.getByText('Review requested from your team.').waitFor();
    await panel.getByText('0 of 2 required approvals').waitFor();
    await panel.getByText('Waits for the code owners acme/core.').waitFor();
    await panel.getByLabel('Comment', { exact: true }).fill('Please add the phone number.');
    await show(page, 'team-review', panel.getByLabel('Comment', { exact: true }));
    await expectAccessible(page);
    await board.confirm(panel.getByRole('button', { name: 'Request changes #50' }), 'Request changes #50?');
    await board.said('acme/handbook #50 has requested changes.');
    expect(pullOf('Explain the on-call rota').submitted).toMatchObject([
      { author: 'mona', state: 'CHANGES_REQUESTED' },
    ]);
    await panel.getByRole('region', { name: 'Reviewers' }).getByText('Changes requested').waitFor();
    expect(stage.takeComplaints()).toEqual([]);
  });

  test('the panel adds a reviewer, and Undo removes the request', async () => {
    const panel = page.getByRole('dialog', { name: 'Explain the on-call rota' });
    pullOf('Explain the on-call rota').author = 'ada';
    await panel.getByLabel('Name', { exact: true }).fill('lisa');
    await panel.getByRole('button', { name: 'Add', exact: true }).click();
    await board.said('lisa was added to acme/handbook #50.');
    expect(pullOf('Explain the on-call rota').requested).toEqual(['team:core', 'lisa']);
    await page.getByRole('button', { name: 'Undo' }).click();
    await eventually(async () => expect(pullOf('Explain the on-call rota').requested).toEqual(['team:core']));
    await page.getByRole('button', { name: 'Close details' }).click();
    expect(stage.takeComplaints()).toEqual([]);
  });

  test('checks that the token may not read are unknown, and the settings name the missing permission', async () => {
    stage.forges.github.hiddenChecks = 'statusCheckRollup';
    for (const repository of stage.forges.github.repositories) repository.pushedAt = day(28);
    await page.goto(`${stage.server.origin}/settings`);
    await page.getByRole('button', { name: 'Test GitHub' }).click();
    const group = page.getByRole('group', { name: 'GitHub', exact: true });
    const missing = group.getByText('to read the results of checks');
    await missing.waitFor();
    await show(page, 'missing-permission', missing);
    expect(stage.takeComplaints()).toEqual([]);
  });
});
