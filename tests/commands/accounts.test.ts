import { dirname } from 'node:path';
import { type Accounts, createAccounts } from '../../src/accounts/accounts.js';
import { accountsCommand } from '../../src/commands/accounts.js';
import type { Database, DatabaseTarget } from '../../src/storage/database.js';
import { openDatabase } from '../../src/storage/open-database.js';
import { Passkey } from '../contract/passkey.js';
import { createMigratedTarget } from '../storage/engine.js';
import { runCommand } from './run-command.js';

const ORIGIN = 'https://trellis.example';
const FROM = '203.0.113.7';

let place: DatabaseTarget;
let database: Database;
let accounts: Accounts;

beforeEach(async () => {
  place = await createMigratedTarget();
  database = await openDatabase(place);
  accounts = createAccounts(database, { origin: () => ORIGIN });
});
afterEach(() => database.destroy());

const recover = (user: string) => {
  const where = 'url' in place ? ['--database-url', place.url] : ['--state', dirname(place.file)];
  return runCommand(accountsCommand, ['recover', '--user', user, '--public-url', ORIGIN, ...where]);
};

async function register(passkey: Passkey, inviteToken: string) {
  const options = await accounts.registration.begin({ username: 'Ada', displayName: 'Ada', inviteToken });
  return accounts.registration.finish({ username: 'Ada', credential: passkey.create(options) }, FROM);
}

const signIn = async (passkey: Passkey) =>
  accounts.signIn.finish({ credential: passkey.get(await accounts.signIn.begin()) }, FROM);

test('accounts recover: prints a link that restores access to the same account and keeps its API tokens', async () => {
  const [lost, found] = [new Passkey(ORIGIN), new Passkey(ORIGIN)];
  const { user, sessionId } = await register(lost, (await accounts.setupLink.create())!);
  const ada = await accounts.sessions.findCaller(sessionId);
  await accounts.tokens.create(ada, { label: 'x', expiresAt: new Date(Date.now() + 60_000) }, FROM);

  const { code, out, err } = await recover('ada');
  expect([code, err]).toEqual([0, expect.stringContaining('Ada was signed out')]);
  const [, secret = ''] = /^https:\/\/trellis\.example\/sign-in#invite=([\w-]{43})&username=Ada\n$/.exec(out) ?? [];
  expect(await accounts.sessions.findCaller(sessionId)).toBeUndefined();
  await expect(signIn(lost)).rejects.toMatchObject({ code: 'invalid_input' });

  expect((await register(found, secret)).user).toEqual(user);
  expect((await signIn(found)).user).toMatchObject({ id: user.id, isAdmin: true });
  expect(await accounts.tokens.list(ada)).toHaveLength(1);
  const events = await database.selectFrom('account_events').select(['action', 'actor_type']).execute();
  expect(events).toContainEqual({ action: 'account_recovered', actor_type: 'machine' });
});

test('accounts recover: makes earlier recovery links of the user invalid', async () => {
  await register(new Passkey(ORIGIN), (await accounts.setupLink.create())!);
  const [first, second] = [await recover('ada'), await recover('ada')].map(
    ({ out }) => /#invite=([\w-]{43})/.exec(out)![1]!,
  );
  await expect(register(new Passkey(ORIGIN), first!)).rejects.toMatchObject({ code: 'forbidden' });
  expect((await register(new Passkey(ORIGIN), second!)).user).toMatchObject({ isAdmin: true });
});

test('accounts recover: fails for an unknown username', async () => {
  expect(await recover('eve')).toEqual({
    code: 1,
    out: '',
    err: 'No user named "eve"\n',
  });
});

const createAdmin = (user: string) => {
  const where = 'url' in place ? ['--database-url', place.url] : ['--state', dirname(place.file)];
  return runCommand(accountsCommand, ['create-admin', '--user', user, ...where]);
};

test('accounts create-admin: creates the first account, whose passkey comes from a recovery link', async () => {
  const setupLink = (await accounts.setupLink.create())!;
  const said = await createAdmin('Ada');
  expect([said.code, said.err]).toEqual([0, expect.stringContaining('Created the admin Ada')]);
  await expect(register(new Passkey(ORIGIN), setupLink)).rejects.toMatchObject({ code: 'forbidden' });
  const { out } = await recover('ada');
  const [, secret = ''] = /#invite=([\w-]{43})/.exec(out) ?? [];
  expect((await register(new Passkey(ORIGIN), secret)).user).toMatchObject({ username: 'Ada', isAdmin: true });
  const events = await database.selectFrom('account_events').select(['action', 'actor_type']).execute();
  expect(events).toContainEqual({ action: 'account_created', actor_type: 'machine' });
});

test('accounts create-admin: fails with an account, and for an invalid name', async () => {
  const invalid = await createAdmin('x'.repeat(1000));
  expect([invalid.code, invalid.err]).toEqual([1, expect.stringMatching(/^Expected/)]);
  await createAdmin('Ada');
  expect(await createAdmin('Eve')).toMatchObject({ code: 1, err: 'The server has an account already\n' });
});
