import { createAccounts, type Accounts } from '../../src/accounts/accounts.js';
import { createTokenCallers } from '../../src/accounts/bearer-tokens.js';
import type { Database } from '../../src/storage/database.js';
import { openTestDatabase } from '../storage/engine.js';

const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;
const FROM = '203.0.113.7';

let at: number;
let database: Database;
let accounts: Accounts;

beforeEach(async () => {
  at = Date.parse('2026-05-01T08:00:00Z');
  database = await openTestDatabase();
  accounts = createAccounts(database, { origin: () => 'https://trellis.example', now: () => at });
});
afterEach(() => database.destroy());

const count = async (table: 'account_events' | 'challenges' | 'invitations' | 'sessions' | 'tokens') =>
  (await database.selectFrom(table).selectAll().execute()).length;

test('sweep deletes each kind of row after its retention time', async () => {
  await accounts.setupLink.create();
  await accounts.signIn.begin();
  const { id } = await accounts.users.add({ username: 'ada', displayName: 'Ada' });
  const ada = await accounts.sessions.findCaller(await accounts.sessions.start(id));
  await accounts.tokens.create(ada, { label: 'x', expiresAt: new Date(at + DAY) }, FROM);
  const counts = async () => {
    await accounts.deleteExpired();
    return {
      challenges: await count('challenges'),
      invitations: await count('invitations'),
      sessions: await count('sessions'),
      tokens: await count('tokens'),
      events: await count('account_events'),
    };
  };
  const all = { challenges: 1, invitations: 1, sessions: 1, tokens: 1, events: 1 };
  expect(await counts()).toEqual(all);
  at += 5 * MINUTE;
  expect(await counts()).toEqual({ ...all, challenges: 0 });
  at += 55 * MINUTE;
  expect(await counts()).toEqual({ ...all, challenges: 0, invitations: 0 });
  at += 30 * DAY;
  expect(await counts()).toEqual({ challenges: 0, invitations: 0, sessions: 0, tokens: 1, events: 1 });
  at += DAY;
  expect(await counts()).toEqual({ challenges: 0, invitations: 0, sessions: 0, tokens: 0, events: 1 });
  at += 400 * DAY;
  expect(await counts()).toEqual({ challenges: 0, invitations: 0, sessions: 0, tokens: 0, events: 0 });
});

test('A session ends 90 days after its start, however often it is used', async () => {
  const { id } = await accounts.users.add({ username: 'ada', displayName: 'Ada' });
  const session = await accounts.sessions.start(id);
  for (let day = 1; day < 89; day += 1) {
    at += DAY;
    expect(await accounts.sessions.findCaller(session)).toMatchObject({ personId: id });
  }
  at += 2 * DAY;
  expect(await accounts.sessions.findCaller(session)).toBeUndefined();
  expect(await accounts.sessions.findCaller(await accounts.sessions.start(id))).toMatchObject({ personId: id });
});

test('The use of a session is recorded once an hour', async () => {
  const { id } = await accounts.users.add({ username: 'ada', displayName: 'Ada' });
  const session = await accounts.sessions.start(id);
  const readUse = async () => {
    const caller = await accounts.sessions.findCaller(session);
    const [listed] = await accounts.sessions.list(caller);
    return (listed!.lastUsedAt!.getTime() - at) / MINUTE;
  };
  at += 59 * MINUTE;
  expect(await readUse()).toBe(-59);
  at += MINUTE;
  expect(await readUse()).toBe(0);
});

test('A list of sessions has the current one first, and at most 100', async () => {
  const { id } = await accounts.users.add({ username: 'ada', displayName: 'Ada' });
  const caller = await accounts.sessions.findCaller(await accounts.sessions.start(id));
  for (let number = 0; number < 101; number += 1) {
    at += MINUTE;
    await accounts.sessions.start(id);
  }
  const listed = await accounts.sessions.list(caller);
  expect(listed).toHaveLength(100);
  expect(listed.map(({ isCurrent }) => isCurrent).indexOf(true)).toBe(0);
  expect(listed[1]!.createdAt.getTime()).toBe(at);
});

test('A session that an earlier release extended beyond 90 days has ended', async () => {
  const { id } = await accounts.users.add({ username: 'ada', displayName: 'Ada' });
  const session = await accounts.sessions.start(id);
  await database
    .updateTable('sessions')
    .set({ created_at: at - 90 * DAY, expires_at: at + 30 * DAY })
    .execute();
  expect(await accounts.sessions.findCaller(session)).toBeUndefined();
});

test('An API token is valid until its expiry', async () => {
  const { id } = await accounts.users.add({ username: 'ada', displayName: 'Ada' });
  const ada = await accounts.sessions.findCaller(await accounts.sessions.start(id));
  const { token } = await accounts.tokens.create(ada, { label: 'x', expiresAt: new Date(at + DAY) }, FROM);
  const findCaller = createTokenCallers(database, ['personal']);
  expect(await findCaller(token, { at: at + DAY - 1, address: '' })).toMatchObject({ kind: 'token', personId: id });
  expect(await findCaller(token, { at: at + DAY, address: '' })).toBeUndefined();
});

test('Several setup links are valid, until an account exists', async () => {
  const begin = (inviteToken: string) =>
    accounts.registration.begin({ username: 'ada', displayName: 'Ada', inviteToken });
  const [first, second] = [(await accounts.setupLink.create())!, (await accounts.setupLink.create())!];
  expect(await accounts.setupLink.create(first)).toBe(first);
  expect(await begin(first)).toMatchObject({ user: { name: 'ada' } });
  expect(await begin(second)).toMatchObject({ rp: { id: 'trellis.example' }, user: { name: 'ada' } });
  await accounts.users.add({ username: 'bob', displayName: 'Bob' });
  await expect(begin(second)).rejects.toMatchObject({ code: 'forbidden' });
  expect(await accounts.setupLink.create()).toBeUndefined();
  expect(await accounts.registration.isOpen()).toBe(false);
});

test('A setup link expires after an hour', async () => {
  const inviteToken = (await accounts.setupLink.create())!;
  const begin = () => accounts.registration.begin({ username: 'ada', displayName: 'Ada', inviteToken });
  at += 60 * MINUTE - 1;
  await expect(begin()).resolves.toBeDefined();
  at += 1;
  await expect(begin()).rejects.toMatchObject({ code: 'forbidden' });
});

test('The session cookie is restricted to https and this host over https', () => {
  expect(accounts.cookies.set('abc')).toBe(
    '__Host-trellis_session=abc; Path=/; HttpOnly; SameSite=Lax; Max-Age=34560000; Secure',
  );
  expect(accounts.cookies.clear()).toBe('__Host-trellis_session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0; Secure');
});
