import { eventually } from '../../eventually.js';
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

const DAY_MS = 86_400_000;
const SECRET = { id: '5d3a6d0f-4a57-4d53-8a49-0c2d9e7b8f11', slug: 'db-password', version: 1 };

const remind = (version = 1) => notified.notifications.recordRotations([{ ...SECRET, version }]);
const bodies = () => receiver.requests.map(({ body }) => JSON.parse(body.toString()) as object);
const received = (count: number) => eventually(() => expect(receiver.requests).toHaveLength(count));
/** Counts the stored reminders: those that are sent, and those that are about to be. */
const countStored = async () =>
  (await notified.database.selectFrom('notification_events').selectAll().execute()).length;

test('rotations: the owner of the secrets gets the name of a due secret, and a link to its page', async () => {
  await notified.add({ kind: 'webhook', url: receiver.url });
  await remind();
  await received(1);
  expect(bodies()).toMatchObject([
    {
      type: 'events',
      data: {
        title: 'Secret due for rotation: db-password',
        events: [
          { event: 'rotation_due', secret: 'db-password', url: 'http://localhost:4000/vault/objects/db-password' },
        ],
      },
    },
  ]);
});

test('rotations: a message to Slack links to the secret', async () => {
  await notified.add({ kind: 'slack', url: receiver.url });
  await remind();
  await received(1);
  expect(bodies()).toEqual([
    { text: 'Secret due for rotation: <http://localhost:4000/vault/objects/db-password|db-password>' },
  ]);
});

test('rotations: several due secrets are one message', async () => {
  await notified.add({ kind: 'webhook', url: receiver.url });
  await notified.notifications.recordRotations(['a', 'b'].map((slug) => ({ id: slug, slug, version: 1 })));
  await received(1);
  expect(bodies()).toMatchObject([{ data: { title: '2 notifications: Secret due for rotation' } }]);
});

test('rotations: a reminder is repeated after a week, and not before', async () => {
  await notified.add({ kind: 'webhook', url: receiver.url });
  await Promise.all([remind(), remind()]);
  await received(1);
  // A message whose result is not stored yet is sent again after its lease.
  await eventually(async () => expect(await notified.log()).toMatchObject([{ state: 'sent' }]));
  notified.wait(6.9 * DAY_MS);
  await remind();
  expect(await countStored()).toBe(1);
  notified.wait(0.2 * DAY_MS);
  await remind();
  await received(2);
  await remind();
  expect(await countStored()).toBe(2);
});

test('rotations: the next value has a reminder of its own', async () => {
  await notified.add({ kind: 'webhook', url: receiver.url });
  await remind(1);
  await received(1);
  await remind(2);
  await received(2);
});

test.each([
  ['a channel without this kind of event', 'ada', ['stale' as const]],
  ['a user who does not own the secrets', 'bob', ['rotation_due' as const]],
] as const)('rotations: nothing is stored for %s', async (_reason, username, events) => {
  const channel = { kind: 'webhook', url: receiver.url, label: 'x', events: [...events], digest: false } as const;
  await notified.notifications.channels.create(notified[username], channel);
  await remind();
  expect(await countStored()).toBe(0);
});
