import { Webhook } from 'standardwebhooks';
import { createDashboard } from '../../../src/dashboard/dashboard.js';
import { toDigestMessage, toEventsMessage, toSlackText } from '../../../src/dashboard/notifications/messages.js';
import { createServerKey } from '../../../src/storage/server-key.js';
import { eventually } from '../../eventually.js';
import { pullRequest } from '../pull-request.js';
import { type Notified, openNotified } from './fixtures.js';
import { type HttpReceiver, startHttpReceiver } from './receivers.js';

let receiver: HttpReceiver;
let notified: Notified;

beforeEach(async () => {
  receiver = await startHttpReceiver();
  notified = await openNotified();
  notified.notifications.worker.start();
});
afterEach(async () => {
  await notified.notifications.worker.close();
  await notified.database.destroy();
  await receiver.close();
});

const request = async (title = 'Send receipts as PDF') => {
  await notified.show({});
  await notified.show({ reviewRequestedFromMe: true, title });
};
const latest = async () => (await notified.log())[0];

test('webhook: the library of Standard Webhooks verifies the request', async () => {
  const { secret } = await notified.add({ kind: 'webhook', url: `${receiver.url}/hook` });
  await request();
  await eventually(() => expect(receiver.requests).toHaveLength(1));
  const [{ path, headers, body }] = receiver.requests as [HttpReceiver['requests'][0]];
  expect(path).toBe('/hook');
  const payload = new Webhook(secret!).verify(body.toString(), headers as Record<string, string>);
  expect(payload).toMatchObject({
    type: 'events',
    data: {
      title: 'Review requested: acme/shop #17',
      events: [
        {
          ...{ event: 'review_requested', isTeam: false, forge: 'github', repo: 'acme/shop', number: 17 },
          ...{ title: 'Send receipts as PDF', url: 'https://github.com/acme/shop/pull/17', author: 'mona' },
        },
      ],
    },
  });
  expect(headers['webhook-id']).toBe((await latest())?.id);
  const other = new Webhook(`whsec_${Buffer.alloc(32).toString('base64')}`);
  expect(() => other.verify(body.toString(), headers as Record<string, string>)).toThrow('No matching signature');
});

test('a channel is not created for a session that has ended while its host was looked up', async () => {
  const { database, ada } = notified;
  await database.deleteFrom('sessions').where('person_id', '=', ada.personId).execute();
  const added = notified.add({ kind: 'webhook', url: receiver.url });
  await expect(added).rejects.toMatchObject({ code: 'unauthenticated' });
  expect(await database.selectFrom('notification_channels').selectAll().execute()).toEqual([]);
});

test('webhook: the secret and the URL are stored encrypted and not shown again', async () => {
  const { id, secret } = await notified.add({ kind: 'webhook', url: `${receiver.url}/very-secret` });
  const { channels } = await notified.notifications.read(notified.ada);
  expect(channels).toEqual([expect.objectContaining({ id, target: new URL(receiver.url).host })]);
  expect(JSON.stringify(channels)).not.toContain('secret');
  const row = await notified.database.selectFrom('notification_channels').selectAll().executeTakeFirstOrThrow();
  const stored = Buffer.from(row.sealed).toString('latin1') + JSON.stringify({ ...row, sealed: '' });
  expect(stored).not.toContain('very-secret');
  expect(stored).not.toContain(secret);
});

test('webhook: a repeated request has the same id and body', async () => {
  await notified.add({ kind: 'webhook', url: receiver.url });
  receiver.response = { status: 503 };
  await request();
  await eventually(async () => expect(await latest()).toMatchObject({ attempts: 1, state: 'waiting' }));
  expect((await latest())?.error).toBe('The address responded with status 503.');
  receiver.response = { status: 204 };
  notified.wait(31_000);
  await eventually(async () => expect(await latest()).toMatchObject({ attempts: 2, state: 'sent' }));
  const [first, second] = receiver.requests;
  expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
  expect(second?.body.equals(first!.body)).toBe(true);
});

test.each([
  [200, { state: 'sent', attempts: 1 }],
  [410, { state: 'failed', error: 'The address responded with status 410.' }],
])('webhook: status %d counts although the connection ends within the body', async (status, outcome) => {
  await notified.add({ kind: 'webhook', url: receiver.url });
  receiver.response = { status, headers: { 'Content-Length': '100', Connection: 'close' } };
  await request();
  await eventually(async () => expect(await latest()).toMatchObject(outcome));
});

test('webhook: Retry-After postpones the next attempt', async () => {
  await notified.add({ kind: 'webhook', url: receiver.url });
  receiver.response = { status: 429, headers: { 'Retry-After': '600' } };
  await request();
  await eventually(async () => expect(await latest()).toMatchObject({ attempts: 1, state: 'waiting' }));
  const { createdAt, nextAttemptAt } = (await latest())!;
  expect(Date.parse(nextAttemptAt!) - Date.parse(createdAt)).toBeGreaterThanOrEqual(600_000);
});

test.each([
  ['404', { status: 404, body: 'no_service' }, 'The address responded with status 404 (no_service).'],
  [
    'a redirect',
    { status: 302, headers: { Location: 'http://127.0.0.1:9/' } },
    'The address responded with status 302.',
  ],
  ['a page', { status: 403, body: '<h1>internal page</h1>' }, 'The address responded with status 403.'],
])('webhook: %s is not repeated, and its body is not shown', async (_reason, response, error) => {
  await notified.add({ kind: 'webhook', url: receiver.url });
  receiver.response = response;
  await request();
  await eventually(async () => expect(await latest()).toMatchObject({ attempts: 1, state: 'failed', error }));
});

test.each([
  ['a private address', 'http://10.0.0.7/hook', 'Expected url to be a URL with a public address.'],
  ['the metadata service', 'http://169.254.169.254/latest', 'Expected url to be a URL with a public address.'],
  ['a mapped address', 'http://[::ffff:192.168.1.1]/', 'Expected url to be a URL with a public address.'],
  ['a file', 'file:///etc/passwd', 'Expected url to be an http or https URL without credentials.'],
  ['credentials', 'http://a:b@127.0.0.1/', 'Expected url to be an http or https URL without credentials.'],
])('webhook: %s is refused when the channel is created', async (_reason, url, message) => {
  await expect(notified.add({ kind: 'slack', url })).rejects.toMatchObject({ code: 'invalid_input', message });
  expect(await notified.database.selectFrom('notification_channels').selectAll().execute()).toEqual([]);
});

test('webhook: an address that has become private is refused when the request is sent', async () => {
  await notified.add({ kind: 'webhook', url: receiver.url });
  await notified.notifications.worker.close();
  await request();
  const { database } = notified;
  const strict = createDashboard({ database, key: createServerKey('k'.repeat(43)), origin: () => 'http://localhost' });
  strict.notifications.worker.start();
  await eventually(async () => expect(await latest()).toMatchObject({ state: 'failed', attempts: 1 }));
  expect((await latest())?.error).toMatch(/^The address is in a private or reserved range/);
  expect(receiver.requests).toEqual([]);
  await strict.notifications.worker.close();
});

test('Slack: the text has the links and escapes of incoming webhooks', async () => {
  await notified.add({ kind: 'slack', url: receiver.url });
  await request('Fix <b> & "x" | y for @all');
  await eventually(() => expect(receiver.requests).toHaveLength(1));
  const payload = JSON.parse(receiver.requests[0]!.body.toString()) as object;
  expect(receiver.requests[0]!.headers['content-type']).toBe('application/json');
  expect(payload).toEqual({
    text: 'Review requested: <https://github.com/acme/shop/pull/17|acme/shop #17: Fix &lt;b&gt; &amp; "x" ¦ y for @\u200Ball> by mona',
  });
});

/** Converts links as the incoming webhooks of Mattermost do. */
const toMattermost = (text: string): string => text.replaceAll(/<([^\n<|>]+)\|([^|\n>]+)>/g, '[$2]($1)');

test.each([
  ['a link', 'Fix](https://phish.example) [x', ['https://github.com/acme/shop/pull/17']],
  ['an image', '![x](https://track.example/a.png)', ['https://github.com/acme/shop/pull/17']],
])('Mattermost: a title with the Markdown of %s has only the link of its pull request', (_what, title, urls) => {
  const { forge, repo, number, url, author } = pullRequest();
  const message = toEventsMessage([{ kind: 'approved', forge, repo, number, url, author, title }]);
  const text = toMattermost(toSlackText(message, 'http://localhost:4000/'));
  expect([...text.matchAll(/\]\(([^)]*)\)/g)].map(([, target]) => target)).toEqual(urls);
});

test('Slack: a digest counts the pull requests that it leaves out', () => {
  const rows = Array.from({ length: 25 }, (_, number) => pullRequest({ number, section: 'needs_your_review' }));
  const ready = [pullRequest({ number: 30, section: 'ready_to_merge' })];
  const lastLine = (pullRequests: readonly ReturnType<typeof pullRequest>[]) =>
    toSlackText(toDigestMessage(pullRequests)!, 'http://localhost:4000/').split('\n').at(-1);
  expect(lastLine(rows)).toBe('and 5 more');
  expect(lastLine([...rows, ...ready])).toBe('and 6 more');
  expect(lastLine(ready)).toContain('#30');
});

test('a test message is sent once and at once', async () => {
  const { id } = await notified.add({ kind: 'slack', url: receiver.url });
  const { ada, bob, notifications } = notified;
  expect(await notifications.test(ada, id)).toMatchObject({ kind: 'test', state: 'sent', attempts: 1 });
  receiver.response = { status: 500 };
  expect(await notifications.test(ada, id)).toMatchObject({ kind: 'test', state: 'failed', attempts: 1 });
  expect(receiver.requests).toHaveLength(2);
  await expect(notifications.test(bob, id)).rejects.toMatchObject({ code: 'not_found' });
});
