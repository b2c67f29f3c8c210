import { hash } from 'node:crypto';
import { startSession } from '../../../src/accounts/authentication.js';
import type { ForgeName } from '../../../src/dashboard/forges/forge.js';
import type { WebhookDelivery } from '../../../src/dashboard/webhooks/verify-delivery.js';
import { eventually } from '../../eventually.js';
import { LOOPBACK } from '../../forges/forge-server.js';
import { forgejoPullRequest, forgejoRepository } from '../../forges/forgejo-state.js';
import { githubPullRequest, githubRepository, githubRun } from '../../forges/github-state.js';
import { githubDelivery } from '../../forges/github.js';
import { gitlabMergeRequest, gitlabProject } from '../../forges/gitlab-state.js';
import { gitlabDelivery } from '../../forges/gitlab.js';
import { openStage, type Stage } from '../refresh/fixtures.js';
import { settingsFor } from '../refresh/forges.js';
import { EVENTS } from './fixtures.js';
import { type HttpReceiver, startHttpReceiver } from './receivers.js';

let receiver: HttpReceiver;
let stage: Stage;

beforeEach(async () => {
  receiver = await startHttpReceiver();
  stage = await openStage({ notificationAllow: LOOPBACK, notificationLookMs: 20 });
  const { dashboard, ada } = stage;
  const usernames = { githubUsername: 'mona', forgejoUsername: 'mona', gitlabUsername: 'mona' };
  await dashboard.settings.save(ada, { ...settingsFor(stage), ...usernames });
  await dashboard.notifications.save(ada, { staleDays: 7, batchMinutes: 0 });
  const channel = { kind: 'webhook', url: receiver.url, label: 'x', events: [...EVENTS], digest: false } as const;
  const { personId } = ada;
  const sessionId = hash('sha256', await startSession(stage.database, { personId, at: Date.now() }));
  await dashboard.notifications.channels.create({ ...ada, sessionId }, channel);
});
afterEach(async () => {
  await stage.dashboard.notifications.worker.close();
  await stage.close();
  await receiver.close();
});

const events = () =>
  receiver.requests
    .map(({ body }) => JSON.parse(body.toString()) as { data: { events?: { event: string; number: number }[] } })
    .flatMap(({ data }) => (data.events ?? []).map(({ event, number }) => `${event} ${number}`));
const unconfirmed = async () =>
  (await stage.database.selectFrom('notification_events').select('event_key').where('is_unconfirmed', '=', 1).execute())
    .length;

const FORGES = [
  [
    'GitHub',
    () => {
      const pulls = [1, 2].map((number) => githubPullRequest(number));
      stage.github.repositories.push(githubRepository('acme/shop', { pullRequests: pulls }));
      return () => void ((pulls[0]!.state = 'MERGED'), (pulls[1]!.state = 'CLOSED'));
    },
  ],
  [
    'Forgejo',
    () => {
      const pulls = [1, 2].map((number) => forgejoPullRequest(number));
      stage.forgejo.repositories.push(forgejoRepository('acme/shop', { pullRequests: pulls }));
      return () => {
        Object.assign(pulls[0]!, { state: 'closed', merged: true });
        pulls[1]!.state = 'closed';
      };
    },
  ],
  [
    'GitLab',
    () => {
      const requests = [1, 2].map((iid) => gitlabMergeRequest(iid));
      stage.gitlab.projects.push(gitlabProject('acme/shop', { mergeRequests: requests }));
      return () => void ((requests[0]!.state = 'merged'), (requests[1]!.state = 'closed'));
    },
  ],
] as const;

test.each(FORGES)('%s: own merged pull requests are reported, closed ones are not', async (_name, prepare) => {
  const end = prepare();
  await stage.refresh();
  end();
  await stage.refresh();
  expect(await unconfirmed()).toBe(2);
  stage.dashboard.notifications.worker.start();
  await eventually(() => expect(events()).toEqual(['merged 1']));
  await eventually(async () => expect(await unconfirmed()).toBe(0));
});

test('GitHub: while it does not respond, a merge stays unconfirmed, and is reported later', async () => {
  const end = FORGES[0][1]();
  await stage.refresh();
  end();
  await stage.refresh();
  stage.github.failNext({ status: 502 }, { times: 2, path: /pulls\/\d$/ });
  stage.dashboard.notifications.worker.start();
  await eventually(async () => {
    const query = stage.database.selectFrom('notification_events').select('due_at').where('is_unconfirmed', '=', 1);
    expect((await query.execute()).every(({ due_at }) => due_at! > Date.now() + 200_000)).toBe(true);
  });
  expect(events()).toEqual([]);
  stage.wait(301_000);
  stage.dashboard.notifications.worker.wake();
  await eventually(() => expect(events()).toEqual(['merged 1']));
});

test('GitHub: a pull request with an unusable response does not hold up the messages about others', async () => {
  const end = FORGES[0][1]();
  await stage.refresh();
  end();
  await stage.refresh();
  stage.github.failNext({ body: 'null' }, { times: 1000, path: /pulls\/2$/ });
  stage.dashboard.notifications.worker.start();
  await eventually(() => expect(events()).toEqual(['merged 1']));
  await eventually(async () => expect(await unconfirmed()).toBe(1));
});

test('GitHub: failed checks of an own pull request are reported', async () => {
  const pulls = [1, 2].map((number) => githubPullRequest(number));
  stage.github.repositories.push(githubRepository('acme/shop', { pullRequests: pulls }));
  await stage.refresh();
  pulls[0]!.checks = [githubRun({ conclusion: 'FAILURE' })];
  stage.wait(1_300_000);
  await stage.refresh();
  stage.dashboard.notifications.worker.start();
  await eventually(() => expect(events()).toEqual(['checks_failed 1']));
});

async function deliver(forge: ForgeName, { headers, body }: WebhookDelivery): Promise<void> {
  const { webhookToken } = await stage.dashboard.settings.read(stage.ada);
  await stage.dashboard.deliveries.receive({ forge, token: webhookToken!, headers, read: () => Promise.resolve(body) });
}

const githubComment = (body: string) => ({
  action: 'created',
  repository: { full_name: 'acme/shop' },
  issue: { number: 7, title: 'Round taxes', html_url: 'https://github.com/acme/shop/pull/7', pull_request: {} },
  comment: { body, html_url: 'https://github.com/acme/shop/pull/7#issuecomment-1', user: { login: 'lisa' } },
});

test('GitHub: a mention is reported once, although the delivery is repeated', async () => {
  const { webhookSecret: secret = '' } = await stage.dashboard.settings.read(stage.ada);
  const metadata = { event: 'issue_comment' };
  await deliver('github', githubDelivery(secret, githubComment('@mona, what do you think?'), metadata));
  await deliver('github', githubDelivery(secret, githubComment('@mona, what do you think?'), metadata));
  await deliver('github', githubDelivery(secret, githubComment('nobody'), metadata));
  stage.dashboard.notifications.worker.start();
  await eventually(() => expect(events()).toEqual(['mentioned 7']));
});

test('GitLab: a mention in a note is reported', async () => {
  const { webhookSecret: secret = '' } = await stage.dashboard.settings.read(stage.ada);
  const note = {
    object_kind: 'note',
    project: { path_with_namespace: 'acme/shop' },
    user: { username: 'lisa' },
    object_attributes: { note: 'Ask @mona', url: 'https://gitlab.com/acme/shop/-/merge_requests/3#note_1' },
    merge_request: { iid: 3, title: 'Round taxes' },
  };
  await deliver('gitlab', gitlabDelivery(secret, note));
  stage.dashboard.notifications.worker.start();
  await eventually(() => expect(events()).toEqual(['mentioned 3']));
});
