import { findFreePort } from '../../contract/free-port.js';
import { eventually } from '../../eventually.js';
import { type Notified, openNotified } from './fixtures.js';
import { type MailServer, startMailServer } from './receivers.js';

let mail: MailServer;
let notified: Notified;

beforeEach(async () => {
  mail = await startMailServer();
  notified = await openNotified({ smtp: { url: mail.url, from: 'trellis@example.org' } });
  notified.notifications.worker.start();
});
afterEach(async () => {
  await notified.notifications.worker.close();
  await notified.database.destroy();
  await mail.close();
});

/** Creates an address and confirms it with the code that it receives. */
async function addAddress(address = 'ada@example.org'): Promise<string> {
  const { id } = await notified.add({ kind: 'email', address });
  const count = mail.mails.length;
  await eventually(() => expect(mail.mails.length).toBeGreaterThan(count));
  const [, code = ''] = /^([0-9A-Z]{8})\r?$/m.exec(mail.mails.at(-1)!.text) ?? [];
  await notified.notifications.channels.confirm(notified.ada, id, ` ${code.toLowerCase()} `);
  mail.mails.length = 0;
  return id;
}

test('e-mail: nothing but the code is sent before the confirmation', async () => {
  const { id, state } = await notified.add({ kind: 'email', address: 'ada@example.org' });
  expect(state).toBe('unconfirmed');
  await eventually(() => expect(mail.mails).toHaveLength(1));
  expect(mail.mails[0]).toMatchObject({ to: ['ada@example.org'] });
  await notified.show({});
  await notified.show({ reviewRequestedFromMe: true });
  const wrong = notified.notifications.channels.confirm(notified.ada, id, 'AAAAAAAA');
  await expect(wrong).rejects.toMatchObject({ code: 'invalid_input', field: 'code' });
  expect(await notified.log()).toMatchObject([{ kind: 'confirmation' }]);
});

test('e-mail: ten wrong codes are allowed', async () => {
  const { id } = await notified.add({ kind: 'email', address: 'ada@example.org' });
  const guess = () => notified.notifications.channels.confirm(notified.ada, id, 'AAAAAAAA');
  for (let tries = 0; tries < 10; tries += 1) await expect(guess()).rejects.toMatchObject({ code: 'invalid_input' });
  await expect(guess()).rejects.toMatchObject({ code: 'conflict' });
});

test('e-mail: a message has the event, its link and the id of the delivery', async () => {
  await addAddress();
  await notified.show({});
  await notified.show({ reviewRequestedFromMe: true });
  await eventually(() => expect(mail.mails).toHaveLength(1));
  const { text } = mail.mails[0]!;
  expect(text).toContain('Subject: Review requested: acme/shop #17');
  expect(text).toContain('https://github.com/acme/shop/pull/17');
  expect(text).toContain('From: trellis@example.org');
  const [latest] = await notified.log();
  expect(text).toContain(`Message-ID: <${latest!.id}@localhost>`);
  await eventually(async () => expect((await notified.log())[0]).toMatchObject({ state: 'sent', attempts: 1 }));
});

test('e-mail: a title with line breaks adds no header', async () => {
  await addAddress();
  await notified.show({});
  await notified.show({ reviewRequestedFromMe: true, title: 'x\r\nBcc: eve@example.org', repo: 'acme/shop' });
  await eventually(() => expect(mail.mails).toHaveLength(1));
  expect(mail.mails[0]!.to).toEqual(['ada@example.org']);
  const [head = ''] = mail.mails[0]!.text.split('\r\n\r\n');
  expect(head).not.toMatch(/^Bcc/m);
});

test('e-mail: 4xx is repeated with a longer delay, and the message arrives once', async () => {
  await addAddress();
  mail.refusal = { responseCode: 451, message: 'Greylisted, try again later' };
  await notified.show({});
  await notified.show({ reviewRequestedFromMe: true });
  const latest = async () => (await notified.log())[0];
  await eventually(async () => expect(await latest()).toMatchObject({ state: 'waiting', attempts: 1 }));
  expect((await latest())?.error).toMatch(/^The mail server responded: .*451/);
  notified.wait(31_000);
  await eventually(async () => expect(await latest()).toMatchObject({ state: 'waiting', attempts: 2 }));
  mail.refusal = undefined;
  notified.wait(121_000);
  await eventually(async () => expect(await latest()).toMatchObject({ state: 'sent', attempts: 3 }));
  expect(mail.mails).toHaveLength(1);
});

test('e-mail: 5xx is not repeated', async () => {
  await addAddress();
  mail.refusal = { responseCode: 550, message: '5.1.1 No such user' };
  await notified.show({});
  await notified.show({ reviewRequestedFromMe: true });
  await eventually(async () => expect((await notified.log())[0]).toMatchObject({ state: 'failed', attempts: 1 }));
  expect((await notified.log())[0]?.error).toContain('No such user');
});

test('e-mail: after an outage of the mail server, each message arrives once', async () => {
  await addAddress();
  const port = Number(new URL(mail.url).port);
  await mail.close();
  await notified.show({});
  await notified.show({ reviewRequestedFromMe: true });
  await eventually(async () => expect((await notified.log())[0]).toMatchObject({ kind: 'events', attempts: 1 }));
  await notified.show({ reviewRequestedFromMe: true }, { number: 18, reviewRequestedFromMe: true });
  await eventually(async () => {
    const [last, first] = await notified.log();
    expect([last, first]).toMatchObject([
      { kind: 'events', state: 'waiting', attempts: 1 },
      { kind: 'events', state: 'waiting', attempts: 1 },
    ]);
  });
  mail = await startMailServer({ port });
  notified.wait(31_000);
  await eventually(() => expect(mail.mails).toHaveLength(2));
  await eventually(async () => expect((await notified.log()).every(({ state }) => state === 'sent')).toBe(true));
  expect(mail.mails).toHaveLength(2);
});

test('e-mail: a message that could not be sent for a day has failed', async () => {
  await addAddress();
  mail.refusal = { responseCode: 451, message: 'Try again later' };
  await notified.show({});
  await notified.show({ reviewRequestedFromMe: true });
  const latest = async () => (await notified.log())[0];
  await eventually(async () => expect(await latest()).toMatchObject({ kind: 'events', attempts: 1, state: 'waiting' }));
  notified.wait(86_400_000);
  await eventually(async () => expect(await latest()).toMatchObject({ attempts: 2, state: 'failed' }));
});

test.each([
  ['without an account', { responseCode: 530, message: '5.7.0 Authentication Required' }],
  ['from an address that the account does not own', { responseCode: 553, message: '5.7.1 Sender address rejected' }],
])('e-mail: a rejection of messages %s is repeated, as an operator can correct it', async (_reason, refusal) => {
  await addAddress();
  mail.senderRefusal = refusal;
  await notified.show({});
  await notified.show({ reviewRequestedFromMe: true });
  const latest = async () => (await notified.log())[0];
  await eventually(async () => expect(await latest()).toMatchObject({ kind: 'events', attempts: 1, state: 'waiting' }));
  expect((await latest())?.error).toContain(refusal.message);
  mail.senderRefusal = undefined;
  notified.wait(31_000);
  await eventually(async () => expect(await latest()).toMatchObject({ attempts: 2, state: 'sent' }));
});

test('e-mail: a wrong password of the server is repeated, as an operator can correct it', async () => {
  await addAddress();
  await notified.notifications.worker.close();
  const wrong = mail.url.replace('s3cret', 'wrong');
  const other = await openNotified({ smtp: { url: wrong, from: 'trellis@example.org' } });
  const { id } = await other.add({ kind: 'email', address: 'ada@example.org' });
  other.notifications.worker.start();
  await eventually(async () => expect(await other.log()).toMatchObject([{ state: 'waiting', attempts: 1 }]));
  expect(await other.notifications.test(other.ada, id)).toMatchObject({ state: 'failed', kind: 'confirmation' });
  await other.notifications.worker.close();
  await other.database.destroy();
});

test('e-mail: the error names the reason why the mail server could not be reached', async () => {
  const untrusted = await startMailServer({ offersTls: true });
  const closed = await findFreePort();
  for (const [url, reason] of [
    [untrusted.url, /^The mail server could not be reached \([a-z -]*certificate[a-z -]*\)$/],
    [`smtp://127.0.0.1:${closed}`, /^The mail server could not be reached \(ECONNREFUSED\)$/],
    [
      mail.url.replace('smtp:', 'smtps:'),
      /^The mail server could not be reached \([a-z ]*(?:packet|version)[a-z ]*\)$/,
    ],
  ] as const) {
    const other = await openNotified({ smtp: { url, from: 'trellis@example.org' } });
    const { id } = await other.add({ kind: 'email', address: 'ada@example.org' });
    expect((await other.notifications.test(other.ada, id)).error).toMatch(reason);
    await other.notifications.worker.close();
    await other.database.destroy();
  }
  await untrusted.close();
});

test('e-mail: a user cannot send more than 20 codes in an hour, also to several addresses', async () => {
  const { notifications, ada, bob } = notified;
  const email = (address: string) => notified.add({ kind: 'email', address });
  const { id } = await email('eve@example.org');
  for (let count = 1; count < 20; count += 1) await notifications.test(ada, id);
  await expect(notifications.test(ada, id)).rejects.toMatchObject({ code: 'rate_limited' });
  await notifications.channels.delete(ada, id);
  await expect(email('eve@example.org')).rejects.toMatchObject({ code: 'rate_limited' });
  const channel = { kind: 'email', label: 'x', events: [], digest: false } as const;
  await notifications.channels.create(bob, { ...channel, address: 'bob@example.org' });
  notified.wait(3_600_000);
  await email('ada@example.org');
});

test('a server without a mail server refuses addresses', async () => {
  const other = await openNotified();
  expect((await other.notifications.read(other.ada)).emailAvailable).toBe(false);
  await expect(other.add({ kind: 'email', address: 'ada@example.org' })).rejects.toMatchObject({ field: 'kind' });
  await other.database.destroy();
});
