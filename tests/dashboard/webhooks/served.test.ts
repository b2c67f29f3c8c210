/** Webhook deliveries over HTTP, from a forge through the server to the subscribers of a board. */
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { readEvents, type StreamEvent } from '@trellis/client/events';
import type { Board } from '../../../src/dashboard/boards/board.js';
import type { DashboardClient } from '../../../src/generated/dashboard/client.js';
import { openStage, type Member, type Stage } from '../../contract/dashboard/fixtures.js';
import { githubPullRequest, githubRepository } from '../../forges/github-state.js';
import { githubDelivery, GITHUB_TOKEN, startGithub, type TestGithub } from '../../forges/github.js';

const MAX_BYTES = 5 * 1024 ** 2;
const SHOP = { repository: { full_name: 'acme/shop' } };
const SHOP_TEXT = JSON.stringify(SHOP);

let github: TestGithub;
let stage: Stage;
let ada: Member;
let client: DashboardClient;
let webhook: { readonly token: string; readonly secret: string };

beforeEach(async () => {
  const repository = githubRepository('acme/shop', { viewerPermission: 'ADMIN', pullRequests: [githubPullRequest(1)] });
  github = await startGithub([repository]);
  stage = await openStage();
  ada = await stage.addUser();
  client = stage.client(ada);
  const body = { githubUrl: github.url, githubToken: GITHUB_TOKEN, githubUsername: 'mona' };
  const { data } = await client.PUT('/api/settings', { body });
  webhook = { token: data!.webhookToken!, secret: data!.webhookSecret! };
  await stage.server.dashboard.refresher.refresh(ada.person.id);
  github.seen.length = 0;
});
afterEach(async () => {
  await stage.server.close();
  await github.close();
});

interface Sent {
  readonly body: Buffer | string;
  readonly headers: Readonly<Record<string, string>>;
}

const address = () => `${stage.server.url}/api/webhooks/github/${webhook.token}`;

async function send({ body, headers }: Sent, url = address()): Promise<number> {
  const sent = typeof body === 'string' ? body : new Uint8Array(body);
  const all = { 'content-type': 'application/json', ...headers };
  const response = await fetch(url, { method: 'POST', body: sent, headers: all });
  await response.text();
  return response.status;
}

/** Signs a body as GitHub does. The body need not be a valid payload. */
function signed(body: string, secret = webhook.secret): Sent {
  const signature = `sha256=${hmac('sha256', secret, body)}`;
  return { body, headers: { 'x-github-event': 'pull_request', 'x-hub-signature-256': signature } };
}

function rename(title: string): void {
  const [one] = github.repositories[0]!.pullRequests;
  Object.assign(one!, { title, updatedAt: new Date().toISOString() });
}

/** Waits until all deliveries have been processed. No more deliveries are accepted afterwards. */
const settle = () => stage.server.dashboard.deliveries.close();

const titles = (board: Board | undefined) => board?.pullRequests.map(({ title }) => title);

const readBoard = async () => (await client.GET('/api/dashboard')).data;

type Events = AsyncGenerator<StreamEvent<Board>, void, undefined>;

/** Subscribes to the board, and consumes its current version. */
async function follow(): Promise<Events> {
  const events = readEvents<Board>((init) => client.GET('/api/dashboard/stream', init), { reconnectMs: 1 });
  await events.next();
  return events;
}

async function untilTitled(events: Events, title: string): Promise<Board> {
  for (;;) {
    const { data } = (await events.next()).value!;
    if (titles(data)?.includes(title)) return data;
  }
}

test('webhook delivery: is acknowledged before the forge is read, and updates the board of subscribers', async () => {
  const events = await follow();
  rename('Pay by card');
  let answerNow = (): void => undefined;
  const held = new Promise<void>((resolve) => (answerNow = resolve));
  github.beforeSending = () => held;
  expect(await send(githubDelivery(webhook.secret, SHOP))).toBe(204);
  answerNow();
  const board = await untilTitled(events, 'Pay by card');
  expect(board.repos).toMatchObject([{ fullName: 'acme/shop', hasWebhook: true }]);
  await events.return();
});

test('ensureWebhook: the forge first sends a ping, then deliveries', async () => {
  await client.POST('/api/webhooks/ensure', { body: { forge: 'github', fullName: 'acme/shop' } });
  const [hook] = github.repositories[0]!.hooks;
  // Replaces the origin, as a reverse proxy would.
  hook!.url = hook!.url.replace(/^.*(?=\/api)/, stage.server.url);
  rename('Pay by card');
  expect(await github.deliver('acme/shop', {})).toEqual([204]);
  await settle();
  expect(titles(await readBoard())).toEqual(['Pay by card']);
});

test('webhook delivery: a repeated one is acknowledged without another read of the forge', async () => {
  const delivery = githubDelivery(webhook.secret, SHOP, { delivery: 'd1' });
  expect([await send(delivery), await send(delivery), await send(delivery)]).toEqual([204, 204, 204]);
  await settle();
  const asked = github.seen.length;
  expect(asked).toBeGreaterThan(0);
  github.seen.length = 0;
  await stage.server.dashboard.refresher.refreshRepository(ada.person.id, 'github', 'acme/shop');
  expect(asked).toBe(github.seen.length);
});

const FORGED: Readonly<Record<string, () => Promise<Sent> | Sent>> = {
  'signed with a wrong secret': () => signed(SHOP_TEXT, 'wrong'),
  'signed with an empty secret': () => signed(SHOP_TEXT, ''),
  'with a truncated signature': () => changed((signature) => signature.slice(0, 39)),
  'with a signature of double length': () => changed((signature) => signature + signature.slice(7)),
  'with a signature of zeros': () => changed(() => `sha256=${'0'.repeat(64)}`),
  'with a different body': () => ({ ...signed(SHOP_TEXT), body: `${SHOP_TEXT} ` }),
  'without a signature': () => ({ body: SHOP_TEXT, headers: {} }),
  'signed with SHA-1 only': () => ({ body: SHOP_TEXT, headers: { 'x-hub-signature': `sha1=${hmac('sha1')}` } }),
  'signed like a Forgejo delivery': () => ({ body: SHOP_TEXT, headers: { 'x-forgejo-signature': hmac('sha256') } }),
  "signed with a different user's secret": async () => {
    const { data } = await stage.client(await stage.addUser()).GET('/api/settings');
    return signed(SHOP_TEXT, data!.webhookSecret);
  },
};

test('webhook delivery: a forged one is rejected and changes nothing', async () => {
  rename('Never seen');
  const before = await readBoard();
  const statuses: Record<string, number> = {};
  for (const [reason, make] of Object.entries(FORGED)) statuses[reason] = await send(await make());
  expect(statuses).toEqual(Object.fromEntries(Object.keys(FORGED).map((reason) => [reason, 401])));
  await settle();
  expect([github.seen.length, await readBoard()]).toEqual([0, before]);
});

test('webhook delivery: a forged one does not block a later one with the same id', async () => {
  expect(await send(githubDelivery('wrong', SHOP, { delivery: 'd1' }))).toBe(401);
  rename('Pay by card');
  expect(await send(githubDelivery(webhook.secret, SHOP, { delivery: 'd1' }))).toBe(204);
  await settle();
  expect(titles(await readBoard())).toEqual(['Pay by card']);
});

function changed(change: (signature: string) => string): Sent {
  const { body, headers } = signed(SHOP_TEXT);
  return { body, headers: { ...headers, 'x-hub-signature-256': change(headers['x-hub-signature-256']!) } };
}

const hmac = (algorithm: string, secret = webhook.secret, body = SHOP_TEXT): string =>
  createHmac(algorithm, secret).update(body).digest('hex');

describe('a webhook delivery of 5 MiB', () => {
  const ofLength = (length: number): string => {
    const empty = JSON.stringify({ ...SHOP, padding: '' });
    return JSON.stringify({ ...SHOP, padding: 'x'.repeat(length - empty.length) });
  };

  test('is accepted', async () => {
    rename('Pay by card');
    expect(await send(signed(ofLength(MAX_BYTES)))).toBe(204);
    await settle();
    expect(titles(await readBoard())).toEqual(['Pay by card']);
  });

  test('plus one byte is rejected, with or without a declared length', async () => {
    const body = ofLength(MAX_BYTES + 1);
    const { headers } = signed(body);
    expect(await send({ body, headers })).toBe(413);
    expect(await sendInChunks(body, headers)).toBe(413);
    expect(await send({ body, headers }, `${stage.server.url}/api/webhooks/github/${'x'.repeat(22)}`)).toBe(404);
    await settle();
    expect(github.seen).toEqual([]);
  });
});

async function sendInChunks(body: string, headers: Record<string, string>): Promise<number> {
  const all = { 'content-type': 'application/json', ...headers };
  const stream = new Blob([body]).stream();
  const response = await fetch(address(), {
    method: 'POST',
    body: stream,
    headers: all,
    duplex: 'half',
  } as RequestInit);
  await response.text();
  return response.status;
}

/** Like {@link send}, but with less overhead. */
async function sendSwiftly({ body, headers }: Sent, agent: Agent): Promise<number> {
  const all = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...headers };
  const sent = request(address(), { method: 'POST', agent, headers: all }).end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  await once(response.resume(), 'end');
  return response.statusCode!;
}

test('webhook delivery: a thousand at once are acknowledged, and a few reads show the last state', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 50 });
  const statuses = Array.from({ length: 1_000 }, (_, number) => {
    rename(`Change ${number}`);
    return sendSwiftly(githubDelivery(webhook.secret, SHOP), agent);
  });
  expect(new Set(await Promise.all(statuses))).toEqual(new Set([204]));
  rename('The last');
  expect(await sendSwiftly(githubDelivery(webhook.secret, SHOP), agent)).toBe(204);
  agent.destroy();
  await settle();
  expect(titles(await readBoard())).toEqual(['The last']);
  const spent = github.seen.length;
  github.seen.length = 0;
  await stage.server.dashboard.refresher.refreshRepository(ada.person.id, 'github', 'acme/shop');
  // At once, then with delays that double from two seconds on, and at the end: ten reads cover more than a minute.
  expect(spent / github.seen.length).toBeLessThanOrEqual(10);
});

test.each([
  ['a small delivery', ''],
  ['a delivery larger than the socket buffers', 'x'.repeat(300_000)],
])('webhook delivery: is processed even if the sender disconnects at once: %s', async (_reason, padding) => {
  const events = await follow();
  rename('Pay by card');
  const { body, headers } = signed(JSON.stringify({ ...SHOP, padding }));
  const all = { host: 'localhost', 'content-type': 'application/json', 'content-length': body.length, ...headers };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const socket = connect(stage.server.port, '127.0.0.1');
  await once(socket, 'connect');
  socket.end(`POST ${new URL(address()).pathname} HTTP/1.1\r\n${head.join('')}\r\n${String(body)}`);
  await untilTitled(events, 'Pay by card');
  socket.destroy();
  await events.return();
});

test('log: contains no webhook tokens or feed tokens', async () => {
  const feed = 'f'.repeat(43);
  await send(githubDelivery(webhook.secret, SHOP));
  await send(githubDelivery('wrong', SHOP));
  await send(githubDelivery(webhook.secret, SHOP), `${address()}/more`);
  await send({ body: 'x'.repeat(MAX_BYTES + 1), headers: {} });
  for (const kind of ['atom', 'badge']) await (await fetch(`${stage.server.url}/api/feeds/${feed}/${kind}`)).text();
  await settle();
  const lines = JSON.stringify(stage.server.lines);
  expect(lines).toContain('deliverGithub');
  for (const secret of [webhook.token, webhook.secret, feed]) expect(lines).not.toContain(secret);
});
