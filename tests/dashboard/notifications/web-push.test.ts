import { createECDH, createPublicKey, createVerify, randomBytes } from 'node:crypto';
import { decrypt } from 'http_ece';
import { toEventsMessage, toPushNotification } from '../../../src/dashboard/notifications/messages.js';
import { eventually } from '../../eventually.js';
import { pullRequest } from '../pull-request.js';
import { type Notified, openNotified } from './fixtures.js';
import { type HttpReceiver, startHttpReceiver, startPushServer } from './receivers.js';

let service: HttpReceiver;
let notified: Notified;

beforeEach(async () => {
  service = await startHttpReceiver();
  service.response = { status: 201 };
  notified = await openNotified();
  notified.notifications.worker.start();
});
afterEach(async () => {
  await notified.notifications.worker.close();
  await notified.database.destroy();
  await service.close();
});

/** The keys of a browser. */
function createBrowser() {
  const privateKey = createECDH('prime256v1');
  const p256dh = privateKey.generateKeys('base64url');
  const auth = randomBytes(16).toString('base64url');
  const subscription = { endpoint: `${service.url}/push/1`, keys: { p256dh, auth } };
  const read = (body: Buffer): unknown =>
    JSON.parse(decrypt(body, { version: 'aes128gcm', privateKey, authSecret: auth }).toString());
  return { subscription, read };
}

const latest = async () => (await notified.log())[0];
const request = async () => {
  await notified.show({});
  await notified.show({ reviewRequestedFromMe: true });
};

test('web push: the browser decrypts the notification', async () => {
  const { subscription, read } = createBrowser();
  await notified.add({ kind: 'web_push', subscription });
  await request();
  await eventually(() => expect(service.requests).toHaveLength(1));
  const [{ path, headers, body }] = service.requests as [HttpReceiver['requests'][0]];
  const { id } = (await latest())!;
  expect(path).toBe('/push/1');
  expect(headers).toMatchObject({ 'content-encoding': 'aes128gcm', ttl: '86400', topic: id.replaceAll('-', '') });
  expect(read(body)).toEqual({
    id,
    title: 'Review requested: acme/shop #17',
    body: 'acme/shop #17: Send receipts as PDF',
    url: 'https://github.com/acme/shop/pull/17',
  });
});

test('web push: the push service can verify the server by the key of the subscription', async () => {
  const { subscription } = createBrowser();
  const { pushPublicKey } = await notified.notifications.read(notified.ada);
  await notified.add({ kind: 'web_push', subscription });
  await request();
  await eventually(() => expect(service.requests).toHaveLength(1));
  const [, token = '', key] = /^vapid t=([\w.-]+), k=([\w-]+)$/.exec(service.requests[0]!.headers.authorization!)!;
  expect(key).toBe(pushPublicKey);
  const [head = '', claims = '', signature = ''] = token.split('.');
  const point = Buffer.from(pushPublicKey, 'base64url');
  const jwk = {
    kty: 'EC',
    crv: 'P-256',
    x: point.subarray(1, 33).toString('base64url'),
    y: point.subarray(33).toString('base64url'),
  };
  const verifier = createVerify('sha256').update(`${head}.${claims}`);
  const publicKey = createPublicKey({ key: jwk, format: 'jwk' });
  expect(verifier.verify({ key: publicKey, dsaEncoding: 'ieee-p1363' }, signature, 'base64url')).toBe(true);
  const { aud, sub } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<string, string>;
  expect([aud, sub]).toEqual([service.url, 'mailto:admin@localhost']);
});

test('web push: the key pair is created once', async () => {
  const read = async () => (await notified.notifications.read(notified.ada)).pushPublicKey;
  const [first, second] = await Promise.all([read(), read()]);
  expect(first).toBe(second);
  expect(await notified.database.selectFrom('push_keys').select('public_key').execute()).toEqual([
    { public_key: first },
  ]);
});

test.each([404, 410])('web push: %i removes the subscription, and the log says why', async (status) => {
  const { subscription } = createBrowser();
  await notified.add({ kind: 'web_push', subscription });
  service.response = { status };
  await request();
  await eventually(async () => expect(await latest()).toMatchObject({ state: 'failed', attempts: 1 }));
  expect((await latest())?.error).toBe(`The address responded with status ${status}.`);
  expect((await notified.notifications.read(notified.ada)).channels).toEqual([]);
});

test('web push: 429 is repeated when the service allows it', async () => {
  const { subscription } = createBrowser();
  await notified.add({ kind: 'web_push', subscription });
  service.response = { status: 429, headers: { 'Retry-After': '300' } };
  await request();
  await eventually(async () => expect(await latest()).toMatchObject({ state: 'waiting', attempts: 1 }));
  service.response = { status: 201 };
  notified.wait(301_000);
  await eventually(async () => expect(await latest()).toMatchObject({ state: 'sent', attempts: 2 }));
  expect(service.requests[1]?.headers.topic).toBe(service.requests[0]?.headers.topic);
});

test('web push: the largest notification fits into a message', async () => {
  const { subscription, read } = createBrowser();
  await notified.add({ kind: 'web_push', subscription });
  await notified.show();
  const title = '€'.repeat(1_000);
  const rows = Array.from({ length: 60 }, (_, number) => ({ number: number + 1, reviewRequestedFromMe: true, title }));
  await notified.show(...rows);
  await eventually(() => expect(service.requests).toHaveLength(2));
  for (const { body } of service.requests) {
    expect(body.length).toBeLessThanOrEqual(4_096);
    expect(read(body)).toHaveProperty('title');
  }
});

test.each([0, 1])('web push: a long title is not cut within a character, after %d letters', (letters) => {
  const { forge, repo, number, url, author } = pullRequest();
  const title = 'a'.repeat(letters) + '🌱'.repeat(100);
  const message = toEventsMessage([{ kind: 'approved', forge, repo, number, url, author, title }]);
  const { body } = toPushNotification('1', message, 'http://localhost:4000/');
  expect(body).toMatch(/^acme\/shop #17: a?(🌱)+…$/u);
});

test('web push: a push server verifies and decrypts each notification, once after an outage, until the subscription ends', async () => {
  const server = await startPushServer();
  const { pushPublicKey: applicationServerKey } = await notified.notifications.read(notified.ada);
  const { endpoint, keys, clientHash } = await server.subscribe({ applicationServerKey });
  const titles = () =>
    server.getNotifications({ clientHash }).messages.map((text) => (JSON.parse(text) as { title: string }).title);
  await notified.add({ kind: 'web_push', subscription: { endpoint, keys } });
  await request();
  await eventually(async () => expect(await latest()).toMatchObject({ state: 'sent', attempts: 1 }));
  await server.stop();
  await notified.show({ number: 18, reviewRequestedFromMe: true });
  await eventually(async () => expect(await latest()).toMatchObject({ state: 'waiting', attempts: 1 }));
  await server.start();
  notified.wait(600_000);
  await eventually(async () => expect(await latest()).toMatchObject({ state: 'sent', attempts: 2 }));
  expect(titles()).toEqual(['Review requested: acme/shop #17', 'Review requested: acme/shop #18']);
  server.expireSubscription(clientHash);
  await notified.show({ number: 19, reviewRequestedFromMe: true });
  await eventually(async () => expect(await latest()).toMatchObject({ state: 'failed', attempts: 1 }));
  expect((await notified.notifications.read(notified.ada)).channels).toEqual([]);
  await server.stop();
});
