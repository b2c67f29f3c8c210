import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createDashboard } from '../../../src/dashboard/dashboard.js';
import {
  claimDelivery,
  claimDueDeliveries,
  collectDueEvents,
  endAttempt,
} from '../../../src/dashboard/notifications/outbox.js';
import { DeliveryError } from '../../../src/dashboard/notifications/transports.js';
import { createNotificationWorker } from '../../../src/dashboard/notifications/worker.js';
import { openDatabase } from '../../../src/storage/open-database.js';
import { createServerKey } from '../../../src/storage/server-key.js';
import { spawnNode } from '../../child-process.js';
import { eventually } from '../../eventually.js';
import { LOOPBACK } from '../../forges/forge-server.js';
import { createDatabaseTarget } from '../../storage/engine.js';
import { type Notified, openNotified } from './fixtures.js';
import { type HttpReceiver, startHttpReceiver } from './receivers.js';

let receiver: HttpReceiver;
let notified: Notified;
let extra: { close(): Promise<void> }[];

beforeEach(async () => {
  extra = [];
  receiver = await startHttpReceiver();
  notified = await openNotified();
});
afterEach(async () => {
  for (const worker of [...extra, notified.notifications.worker]) await worker.close();
  await notified.database.destroy();
  await receiver.close();
});

/** Starts the worker of a further process on the same database. @param ahead How far its clock is ahead. */
function startWorker(ahead = 0): void {
  const { worker } = createDashboard({
    database: notified.database,
    key: createServerKey('k'.repeat(43)),
    origin: () => 'http://localhost:4000',
    notificationAllow: LOOPBACK,
    notificationLookMs: 20,
    now: () => Date.now() + ahead,
  }).notifications;
  worker.start();
  extra.push(worker);
}

const requested = { reviewRequestedFromMe: true };
const ids = () => receiver.requests.map(({ headers }) => String(headers['webhook-id']));
const numbers = () =>
  receiver.requests
    .map(({ body }) => JSON.parse(body.toString()) as { data: { events?: { number: number }[] } })
    .flatMap(({ data }) => (data.events ?? []).map(({ number }) => number));

test('the outbox: events that are stored before the server ends are sent after it starts', async () => {
  await notified.add({ kind: 'webhook', url: receiver.url });
  await notified.show({ number: 1 });
  await notified.show({ number: 1, ...requested }, { number: 2, ...requested });
  expect(receiver.requests).toEqual([]);
  startWorker();
  await eventually(() => expect(numbers()).toEqual([1, 2]));
});

test('the outbox: a board that is not saved has no events', async () => {
  const { boards, ada, database } = notified;
  await notified.add({ kind: 'webhook', url: receiver.url });
  await notified.show({ number: 1 });
  const failed = boards.compose(ada.personId, () => Promise.reject(new Error('lost lease')));
  await expect(failed).rejects.toThrow('lost lease');
  expect(await database.selectFrom('notification_events').selectAll().execute()).toEqual([]);
});

test('the outbox: several processes send each message once', async () => {
  await notified.add({ kind: 'webhook', url: receiver.url });
  for (let process = 0; process < 3; process += 1) startWorker();
  await notified.show();
  const rows = Array.from({ length: 20 }, (_, index) => ({ number: index + 1, ...requested }));
  for (let count = 1; count <= rows.length; count += 1) await notified.show(...rows.slice(0, count));
  await eventually(() => expect(numbers().toSorted((a, b) => a - b)).toEqual(rows.map(({ number }) => number)));
  await eventually(async () => {
    expect((await notified.log()).every(({ state, attempts }) => state === 'sent' && attempts === 1)).toBe(true);
  });
  expect(new Set(ids()).size).toBe(receiver.requests.length);
});

test('the outbox: a process that finds a message after a different one failed to send it does not repeat it at once', async () => {
  await notified.add({ kind: 'webhook', url: receiver.url });
  await notified.show({ number: 1 });
  await notified.show({ number: 1, ...requested });
  const { database } = notified;
  const at = Date.now() + 1_000;
  await collectDueEvents(database, at);
  const [claimed] = await claimDueDeliveries(database, { at, most: 1 });
  await endAttempt(database, claimed!, { error: new DeliveryError('No response.'), at });
  expect(await claimDelivery(database, { id: claimed!.id, at })).toBeUndefined();
  const later = at + 30_000;
  expect(await claimDelivery(database, { id: claimed!.id, at: later })).toMatchObject({ attempts: 2 });
});

test('the outbox: a message that takes longer to send than the lease is sent once', async () => {
  await notified.add({ kind: 'webhook', url: receiver.url });
  await notified.show({ number: 1 });
  await notified.show({ number: 1, ...requested });
  const { database } = notified;
  let [ahead, sent] = [0, 0];
  let accept = (): void => undefined;
  const accepted = new Promise<void>((resolve) => (accept = resolve));
  const worker = createNotificationWorker({
    ...{ database, key: createServerKey('k'.repeat(43)), now: () => Date.now() + ahead, lookMs: 20 },
    senders: {
      send() {
        sent += 1;
        return accepted;
      },
    },
    report: (error) => expect(error).toBeUndefined(),
    getForges: async () => new Map(),
  });
  extra.push(worker);
  worker.start();
  const deliveries = database.selectFrom('notification_deliveries').selectAll();
  await eventually(() => expect(sent).toBe(1));
  for (const seconds of [40, 80, 120]) {
    ahead = seconds * 1_000;
    const until = Date.now() + ahead + 50_000;
    await eventually(async () =>
      expect((await deliveries.executeTakeFirstOrThrow()).lease_until).toBeGreaterThan(until),
    );
  }
  accept();
  await eventually(async () => expect(await deliveries.execute()).toMatchObject([{ state: 'sent', attempts: 1 }]));
  expect(sent).toBe(1);
});

test('the outbox: messages do not wait for a forge that does not respond', async () => {
  const channel = await notified.add({ kind: 'webhook', url: receiver.url });
  await notified.show({ number: 1 });
  await notified.show({ number: 1, ...requested });
  const { database, ada } = notified;
  const event = { kind: 'merged', forge: 'github', repo: 'acme/shop', number: 2, title: 'x', url: 'https://x.example' };
  await database
    .insertInto('notification_events')
    .values({
      ...{ channel_id: channel.id, event_key: 'k', person_id: ada.personId, event: JSON.stringify(event) },
      ...{ is_unconfirmed: 1, created_at: 0, due_at: 0 },
    })
    .execute();
  const seen: string[] = [];
  const worker = createNotificationWorker({
    ...{ database, key: createServerKey('k'.repeat(43)), now: Date.now, lookMs: 20 },
    senders: { send: async () => void seen.push('sent') },
    report: (error) => expect(error).toBeUndefined(),
    async getForges() {
      seen.push('asked');
      await sleep(8_000, undefined, { ref: false });
      seen.push('answered');
      return new Map();
    },
  });
  extra.push(worker);
  worker.start();
  await eventually(() => expect(seen.toSorted()).toEqual(['asked', 'sent']));
});

test('the outbox: a row that disappears for a while is not reported again', async () => {
  await notified.add({ kind: 'webhook', url: receiver.url });
  startWorker();
  const row = { number: 1, headSha: 'a'.repeat(40), ...requested };
  await notified.show();
  await notified.show(row);
  await eventually(() => expect(numbers()).toEqual([1]));
  await notified.show();
  await notified.show(row);
  await notified.show(row, { number: 2, ...requested });
  await eventually(() => expect(numbers()).toEqual([1, 2]));
});

test('batches: events wait for further ones', async () => {
  await notified.add({ kind: 'webhook', url: receiver.url });
  await notified.notifications.save(notified.ada, { staleDays: 7, batchMinutes: 5 });
  notified.notifications.worker.start();
  await notified.show();
  await notified.show({ number: 1, ...requested });
  notified.wait(60_000);
  await notified.show({ number: 1, ...requested }, { number: 2, ...requested });
  expect(await notified.log()).toEqual([]);
  notified.wait(250_000);
  await eventually(() => expect(numbers()).toEqual([1, 2]));
  expect(receiver.requests).toHaveLength(1);
  expect(JSON.parse(receiver.requests[0]!.body.toString())).toMatchObject({
    data: { title: '2 notifications: Review requested' },
  });
});

/** Returns the time of day in UTC, as preferences contain it. */
const clock = (at: number): string => new Date(at).toISOString().slice(11, 16);

test('quiet hours: events wait until their end, or until they are removed', async () => {
  await notified.add({ kind: 'webhook', url: receiver.url });
  const quietHours = { from: clock(Date.now() - 3_600_000), to: clock(Date.now() + 7_200_000) };
  const preferences = { staleDays: 7, batchMinutes: 0 };
  await notified.notifications.save(notified.ada, { ...preferences, quietHours });
  notified.notifications.worker.start();
  await notified.show();
  await notified.show({ number: 1, ...requested });
  const due = () => notified.database.selectFrom('notification_events').select('due_at').executeTakeFirstOrThrow();
  await eventually(async () => expect(clock((await due()).due_at!)).toBe(quietHours.to));
  expect(await notified.log()).toEqual([]);
  await notified.notifications.save(notified.ada, preferences);
  await eventually(() => expect(numbers()).toEqual([1]));
});

test('quiet hours: a pass ends while many channels have more events than a message', async () => {
  const { database, ada } = notified;
  const at = Date.now();
  const quietHours = { from: clock(at - 3_600_000), to: clock(at + 7_200_000) };
  await notified.notifications.save(ada, { staleDays: 7, batchMinutes: 0, quietHours });
  const { id } = await notified.add({ kind: 'webhook', url: receiver.url });
  const channel = await database
    .selectFrom('notification_channels')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const further = Array.from({ length: 49 }, (_, index) => ({ ...channel, id: `channel ${index}` }));
  await database.insertInto('notification_channels').values(further).execute();
  const event = JSON.stringify({ kind: 'rotation_due', secret: 'x', url: 'https://x.example' });
  for (const { id: channel_id } of [channel, ...further]) {
    const rows = Array.from({ length: 51 }, (_, index) => ({
      ...{ channel_id, event_key: `${index}`, person_id: ada.personId, event },
      ...{ is_unconfirmed: 0, created_at: at, due_at: at },
    }));
    await database.insertInto('notification_events').values(rows).execute();
  }
  expect(await collectDueEvents(database, at)).toBe(true);
  expect(await collectDueEvents(database, at)).toBe(false);
});

test('the digest: is sent once at its time, by one of several processes', async () => {
  await notified.add({ kind: 'webhook', url: receiver.url, events: [] });
  await notified.show(
    { number: 1, section: 'needs_your_review' },
    { number: 2, section: 'ready_to_merge' },
    { number: 3, section: 'waiting_for_others' },
  );
  const digest = { at: clock(Date.now() + 3_600_000), weekdays: [1, 2, 3, 4, 5, 6, 7] };
  await notified.notifications.save(notified.ada, { staleDays: 7, batchMinutes: 0, digest });
  const ahead = 3_700_000;
  for (let process = 0; process < 3; process += 1) startWorker(ahead);
  await eventually(() => expect(receiver.requests).toHaveLength(1));
  expect(JSON.parse(receiver.requests[0]!.body.toString())).toMatchObject({
    type: 'digest',
    data: {
      title: 'Pull requests: 1 needs your review, 1 ready to merge',
      sections: [
        { section: 'needs_your_review', pullRequests: [{ number: 1 }], more: 0 },
        { section: 'ready_to_merge', pullRequests: [{ number: 2 }], more: 0 },
      ],
    },
  });
  const { digest_at } = await notified.database
    .selectFrom('notification_preferences')
    .select('digest_at')
    .executeTakeFirstOrThrow();
  expect(digest_at).toBeGreaterThan(Date.now() + 86_400_000 / 2);
  expect(receiver.requests).toHaveLength(1);
});

test.each(['Asia/Kathmandu', 'Pacific/Apia', 'UTC'])(
  'the digest: has its time in a new time zone: %s',
  async (timezone) => {
    const { notifications, preferences, database, ada } = notified;
    await preferences.saveTimezone(ada, 'Europe/Berlin');
    const digest = { at: '09:00', weekdays: [1, 2, 3, 4, 5, 6, 7] };
    await notifications.save(ada, { staleDays: 7, batchMinutes: 0, digest });
    await preferences.saveTimezone(ada, timezone);
    const schedule = database.selectFrom('notification_preferences').select('digest_at');
    const { digest_at } = await schedule.executeTakeFirstOrThrow();
    const inZone = { timeZone: timezone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
    expect(new Intl.DateTimeFormat('en', inZone).format(digest_at!)).toBe('09:00');
  },
);

test('the digest: is skipped when nothing waits for the user', async () => {
  await notified.add({ kind: 'webhook', url: receiver.url });
  await notified.show({ section: 'waiting_for_others' });
  const digest = { at: clock(Date.now() + 3_600_000), weekdays: [1, 2, 3, 4, 5, 6, 7] };
  await notified.notifications.save(notified.ada, { staleDays: 7, batchMinutes: 0, digest });
  const schedule = notified.database.selectFrom('notification_preferences').select('digest_at');
  const before = await schedule.executeTakeFirstOrThrow();
  startWorker(3_700_000);
  await eventually(async () => expect((await schedule.executeTakeFirstOrThrow()).digest_at).not.toBe(before.digest_at));
  expect(await notified.log()).toEqual([]);
});

test('the digest: leaves out snoozed pull requests, as the board does', async () => {
  await notified.add({ kind: 'webhook', url: receiver.url, events: [] });
  const numbered = [1, 2, 3].map((number) => ({ number, section: 'needs_your_review' as const }));
  await notified.show(...numbered);
  const snooze = { forge: 'github', fullName: 'acme/shop', untilChange: false } as const;
  const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000);
  await notified.snoozes.save(notified.ada, { ...snooze, number: 1, until: inHours(48) });
  await notified.snoozes.save(notified.ada, { ...snooze, number: 2, until: inHours(0.5) });
  const digest = { at: clock(Date.now() + 3_600_000), weekdays: [1, 2, 3, 4, 5, 6, 7] };
  await notified.notifications.save(notified.ada, { staleDays: 7, batchMinutes: 0, digest });
  startWorker(3_700_000);
  await eventually(() => expect(receiver.requests).toHaveLength(1));
  expect(JSON.parse(receiver.requests[0]!.body.toString())).toMatchObject({
    data: { title: 'Pull requests: 2 needs your review', sections: [{ pullRequests: [{ number: 2 }, { number: 3 }] }] },
  });
});

test('deleting a channel ends its waiting deliveries', async () => {
  const { id } = await notified.add({ kind: 'webhook', url: receiver.url });
  receiver.response = { status: 500 };
  notified.notifications.worker.start();
  await notified.show();
  await notified.show({ number: 1, ...requested });
  await eventually(async () => expect(await notified.log()).toMatchObject([{ state: 'waiting', attempts: 1 }]));
  await notified.notifications.channels.delete(notified.bob, id);
  expect(await notified.log()).toMatchObject([{ state: 'waiting' }]);
  await notified.notifications.channels.delete(notified.ada, id);
  expect(await notified.log()).toMatchObject([{ state: 'failed', error: 'The channel was deleted.' }]);
});

test('jobs: list the queue', async () => {
  await notified.add({ kind: 'webhook', url: receiver.url });
  receiver.response = { status: 500 };
  notified.notifications.worker.start();
  await notified.show();
  await notified.show({ number: 1, ...requested });
  await eventually(async () => expect(await notified.log()).toMatchObject([{ attempts: 1, state: 'waiting' }]));
  const { notifications } = await notified.jobs.list(notified.ada);
  expect(notifications).toMatchObject({
    ...{ collecting: 0, waiting: 1, failed: 0 },
    deliveries: [{ username: 'ada', kind: 'webhook', state: 'waiting', attempts: 1 }],
  });
});

test('a killed server: the message that it was sending is sent again with the same id', async () => {
  const place = await createDatabaseTarget();
  const database = await openDatabase(place);
  let isReceived = false;
  const stuck = await startHttpReceiver();
  const own = await openNotified({ database });
  await own.add({ kind: 'webhook', url: stuck.url });
  await own.show();
  await own.show({ number: 1, ...requested });
  stuck.hold = () => (isReceived = true);
  const script = fileURLToPath(new URL('./send-in-child.ts', import.meta.url));
  const child = spawnNode(['--conditions=trellis-source', '--import', 'tsx', script, JSON.stringify(place)]);
  child.stderr.pipe(process.stderr);
  await eventually(() => expect(isReceived).toBe(true));
  child.kill('SIGKILL');
  await once(child, 'exit');
  stuck.hold = undefined;
  own.notifications.worker.start();
  expect(await own.log()).toMatchObject([{ state: 'sending', attempts: 1 }]);
  own.wait(61_000);
  await eventually(async () => expect(await own.log()).toMatchObject([{ state: 'sent', attempts: 2 }]));
  expect(new Set(stuck.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  await own.notifications.worker.close();
  await database.destroy();
  await stuck.close();
});
