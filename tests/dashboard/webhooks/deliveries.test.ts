import '../../seed.js';
import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import type { SessionCaller } from '../../../src/accounts/callers.js';
import type { ForgeName } from '../../../src/dashboard/forges/forge.js';
import { GITHUB_EVENTS } from '../../../src/dashboard/forges/github/github-forge.js';
import { createDeliveries, type Deliveries } from '../../../src/dashboard/webhooks/deliveries.js';
import { createServerKey } from '../../../src/storage/server-key.js';
import { forgejoDelivery } from '../../forges/forgejo.js';
import { githubDelivery } from '../../forges/github.js';
import { gitlabDelivery } from '../../forges/gitlab.js';
import { openDashboard, type TestDashboard } from '../test-dashboard.js';
import { readExamples } from './examples.js';

const SHOP = { repository: { full_name: 'acme/shop' } };

let dashboard: TestDashboard;
let deliveries: Deliveries;
/** The reads that deliveries caused. */
let reads: string[];
let failures: unknown[];

beforeEach(async () => {
  dashboard = await openDashboard();
  reads = [];
  failures = [];
  deliveries = open();
  await follow(dashboard.ada, 'github', 'acme/shop');
});
afterEach(async () => {
  await deliveries.close();
  await dashboard.database.destroy();
});

/** Opens the deliveries of one of several processes. */
function open(): Deliveries {
  return createDeliveries({
    database: dashboard.database,
    key: createServerKey('k'.repeat(43)),
    refresher: {
      refresh: async () => void reads.push('the board'),
      rebuildBoard: () => Promise.resolve(),
      refreshRepository: async (_personId, forge, fullName) => void reads.push(`${forge} ${fullName}`),
    },
    report: (error) => void failures.push(error),
  });
}

async function follow({ personId }: SessionCaller, forge: ForgeName, fullName: string): Promise<void> {
  const numbers = { is_unsettled: 0, is_cut: 0, yours_only: 0, pull_requests: 0, read_at: 0, changed_at: 0 };
  const texts = { repository_id: fullName, full_name: fullName, revision: '', facts: '{}' };
  await dashboard.database
    .insertInto('forge_readings')
    .values({ person_id: personId, forge, ...numbers, ...texts })
    .execute();
}

interface Sent {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/** Sends a delivery to a user's webhook. @returns `taken` or an error code. */
async function deliver(forge: ForgeName, make: (secret: string) => Sent, to = dashboard.ada): Promise<string> {
  const { webhookToken: token = '', webhookSecret = '' } = await dashboard.settings.read(to);
  const { body, headers } = make(webhookSecret);
  const delivery = { forge, token, headers, read: () => Promise.resolve(body) };
  return deliveries.receive(delivery).then(
    () => 'taken',
    (error: unknown) => (error as { readonly code: string }).code,
  );
}

/** Returns all reads after the pending ones have run. */
async function allReads(): Promise<string[]> {
  await deliveries.close();
  return reads;
}

const github =
  (payload: object = SHOP, about?: Parameters<typeof githubDelivery>[2]) =>
  (secret: string) =>
    githubDelivery(secret, payload, about);

describe('a delivery causes a read of its repository', () => {
  test.each<[string, ForgeName, string, (secret: string) => Sent]>([
    ['GitHub', 'github', 'acme/shop', github()],
    ['Forgejo', 'forgejo', 'acme/shop', (secret) => forgejoDelivery(secret, SHOP)],
    ['Gitea', 'forgejo', 'acme/shop', (secret) => forgejoDelivery(secret, SHOP, { server: 'gitea' })],
    [
      'GitLab',
      'gitlab',
      'acme/web/shop',
      (secret) => gitlabDelivery(secret, { project: { path_with_namespace: 'acme/web/shop' } }),
    ],
  ])('from %s', async (_name, forge, fullName, make) => {
    if (forge !== 'github') await follow(dashboard.ada, forge, fullName);
    expect(await deliver(forge, make)).toBe('taken');
    expect(await allReads()).toEqual([`${forge} ${fullName}`]);
    const marks = await dashboard.database.selectFrom('repository_marks').selectAll().execute();
    expect(marks).toMatchObject([{ person_id: dashboard.ada.personId, forge, repo: fullName }]);
    expect(marks[0]?.webhook_seen_at).toBeGreaterThan(0);
  });

  test('at most a few times for a thousand deliveries', async () => {
    const { webhookToken: token = '', webhookSecret = '' } = await dashboard.settings.read(dashboard.ada);
    const take = () => {
      const { body, headers } = githubDelivery(webhookSecret, SHOP);
      return deliveries.receive({ forge: 'github', token, headers, read: () => Promise.resolve(body) });
    };
    await Promise.all(Array.from({ length: 1_000 }, take));
    // At once and at the end, and with growing delays in between on slow machines.
    expect((await allReads()).length).toBeLessThanOrEqual(10);
    expect(new Set(reads)).toEqual(new Set(['github acme/shop']));
  });

  test('only once if the delivery is repeated to any process', async () => {
    const once = github(SHOP, { delivery: 'd1' });
    expect(await deliver('github', once)).toBe('taken');
    await allReads();
    deliveries = open();
    expect(await deliver('github', once)).toBe('taken');
    expect(await allReads()).toEqual(['github acme/shop']);
  });

  test('after a forged delivery with the same id', async () => {
    await deliver('github', () => githubDelivery('wrong', SHOP, { delivery: 'd1' }));
    await deliver('github', github(SHOP, { delivery: 'd1' }));
    expect(await allReads()).toEqual(['github acme/shop']);
  });

  test('except for events that never change a board', async () => {
    for (const event of ['star', 'watch', 'fork', 'gollum', 'discussion']) {
      expect(await deliver('github', github(SHOP, { event }))).toBe('taken');
    }
    expect(await allReads()).toEqual([]);
  });

  test('for every published payload of the events that webhooks subscribe to; all others are accepted too', async () => {
    const examples = readExamples().flatMap(({ name, examples: payloads }) =>
      payloads.map((payload) => ({ name, payload })),
    );
    const names = new Set(examples.map(({ payload }) => payload.repository?.full_name));
    for (const name of names) if (name !== undefined) await follow(dashboard.ada, 'github', name);
    const subscribed = examples.filter(({ name }) => GITHUB_EVENTS.includes(name));
    for (const { name, payload } of subscribed) {
      deliveries = open();
      reads = [];
      expect([name, await deliver('github', github(payload, { event: name }))]).toEqual([name, 'taken']);
      expect(await allReads()).toEqual([`github ${payload.repository?.full_name ?? ''}`]);
    }
    deliveries = open();
    for (const { name, payload } of examples)
      expect([name, await deliver('github', github(payload, { event: name }))]).toEqual([name, 'taken']);
    await allReads();
    expect([examples.length >= 300, subscribed.length >= 100, failures]).toEqual([true, true, []]);
    const kinds = new Set(subscribed.map(({ name }) => name));
    expect(GITHUB_EVENTS.filter((name) => !kinds.has(name))).toEqual([]);
  });

  test("only for the webhook's own user", async () => {
    expect(await deliver('github', github(), dashboard.bob)).toBe('taken');
    // The repository is not on Bob's board.
    expect(await allReads()).toEqual(['the board']);
  });
});

describe('a delivery causes a refresh of the whole board', () => {
  test.each([
    ['a ping of an organization', { zen: 'Keep it logically awesome.' }],
    ['a new repository', { repository: { full_name: 'acme/new' } }],
    ['a name with a path in it', { repository: { full_name: '../../etc/passwd' } }],
    ['a name with a query', { repository: { full_name: 'acme/shop?ref=x' } }],
    ['a name with NUL', { repository: { full_name: 'acme/shop\0' } }],
    ['an extremely long name', { repository: { full_name: 'a/'.repeat(1_000_000) } }],
  ])('for %s', async (_reason, payload) => {
    expect(await deliver('github', github(payload))).toBe('taken');
    expect(await allReads()).toEqual(['the board']);
    expect(failures).toEqual([]);
  });

  test('once for many repositories that are not on the board, and not again for the same repository', async () => {
    for (let index = 0; index < 50; index += 1) {
      await deliver('github', github({ repository: { full_name: `other/${index % 5}` } }));
    }
    const all = await allReads();
    expect(all.filter((read) => read === 'the board').length).toBeLessThanOrEqual(2);
    expect(new Set(all)).toEqual(new Set(['the board']));
  });
});

describe('a delivery is rejected', () => {
  test.each<[string, string, (secret: string) => Sent]>([
    ['signed with a wrong secret', 'unauthenticated', () => githubDelivery('wrong', SHOP)],
    ['if it has no signature', 'unauthenticated', (secret) => ({ ...githubDelivery(secret, SHOP), headers: {} })],
    [
      'if the signature is too short',
      'unauthenticated',
      (secret) => changed(githubDelivery(secret, SHOP), (text) => text.slice(0, -1)),
    ],
    [
      'if the signature is too long',
      'unauthenticated',
      (secret) => changed(githubDelivery(secret, SHOP), (text) => `${text}0`),
    ],
    [
      'if the body differs from the signed one',
      'unauthenticated',
      (secret) => ({ ...githubDelivery(secret, SHOP), body: Buffer.from('{"repository":{"full_name":"acme/site"}}') }),
    ],
  ])('%s', async (_reason, code, make) => {
    expect(await deliver('github', make)).toBe(code);
    expect(await allReads()).toEqual([]);
    expect(await dashboard.database.selectFrom('webhook_deliveries').selectAll().execute()).toEqual([]);
  });

  test("if it is signed with a different user's secret", async () => {
    const { webhookSecret = '' } = await dashboard.settings.read(dashboard.bob);
    expect(await deliver('github', () => githubDelivery(webhookSecret, SHOP))).toBe('unauthenticated');
    expect(await allReads()).toEqual([]);
  });

  test('if its token is unknown, before the body is read', async () => {
    const read = () => Promise.reject(new Error('The body was read.'));
    const delivery = { forge: 'github', token: 'x'.repeat(22), headers: {}, read } as const;
    await expect(deliveries.receive(delivery)).rejects.toMatchObject({ code: 'not_found' });
  });
});

/** Signs a body that need not be JSON. */
function signed(secret: string, body: Buffer): Sent {
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  return { body, headers: { 'x-hub-signature-256': `sha256=${signature}` } };
}

const changed = (sent: Sent, change: (signature: string) => string): Sent => ({
  ...sent,
  headers: { ...sent.headers, 'x-hub-signature-256': change(sent.headers['x-hub-signature-256']!) },
});

test('deliveries: accept any signed JSON or bytes, and read only repositories on the board', async () => {
  const name = fc.oneof(
    fc.jsonValue(),
    fc.string(),
    fc.constantFrom('acme/shop', '__proto__', '../..', 'acme/../shop'),
  );
  const repository = fc.dictionary(fc.constantFrom('full_name', '__proto__', 'constructor'), name, {
    noNullPrototype: true,
  });
  const payload = fc.dictionary(fc.constantFrom('repository', 'project', '__proto__'), fc.oneof(repository, name), {
    noNullPrototype: true,
  });
  const text = fc.oneof(
    payload.map((value) => JSON.stringify(value)),
    fc.json(),
    fc.string(),
    fc.integer({ min: 1, max: 100_000 }).map((depth) => `${'['.repeat(depth)}${']'.repeat(depth)}`),
    fc.integer({ min: 1, max: 20_000 }).map((depth) => `${'{"repository":'.repeat(depth)}1${'}'.repeat(depth)}`),
    fc.tuple(name, name).map(([a, b]) => {
      const [one, other] = [JSON.stringify(a), JSON.stringify(b)];
      return `{"repository":{"full_name":${one},"full_name":${other}},"repository":{"full_name":${other}}}`;
    }),
  );
  const bytes = fc.oneof(
    text.map((value) => Buffer.from(value)),
    fc.uint8Array().map((array) => Buffer.from(array)),
  );
  await fc.assert(
    fc.asyncProperty(bytes, async (body) => {
      expect(await deliver('github', (secret) => signed(secret, body))).toBe('taken');
    }),
    { numRuns: 500 },
  );
  const all = await allReads();
  expect(all.filter((read) => read !== 'the board' && read !== 'github acme/shop')).toEqual([]);
  expect(failures).toEqual([]);
  expect({}).not.toHaveProperty('full_name');
});
