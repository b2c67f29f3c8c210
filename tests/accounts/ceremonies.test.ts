import { ORIGIN } from '../contract/contract-server.js';
import { Passkey } from '../contract/passkey.js';
import { toStatusAndCode, openStage, type Stage } from './fixtures.js';

let stage: Stage;
beforeEach(async () => (stage = await openStage()));
afterEach(() => stage.server.close());

interface Listed {
  readonly id: string;
  readonly label: string;
}
const listOwn = async () => (await stage.ada.send('GET', '/api/auth/credentials')).body as readonly Listed[];

async function addPasskey(label: string): Promise<Passkey> {
  const begun = await stage.ada.send('POST', '/api/auth/credentials/begin');
  const passkey = new Passkey(ORIGIN);
  const path = `/api/auth/credentials/finish?label=${encodeURIComponent(label)}`;
  expect((await stage.ada.send('POST', path, passkey.create(begun.body as never))).status).toBe(201);
  return passkey;
}

describe('Passkeys', () => {
  test('can be added under a name, and each signs in', async () => {
    const phone = await addPasskey('  phone ');
    expect((await listOwn()).map(({ label }) => label)).toEqual(['First passkey', 'phone']);
    const begun = await stage.visitor().beginToSignIn();
    const reply = await stage.visitor().finishToSignIn(phone.get(begun.body as never));
    expect(reply).toMatchObject({ status: 200, body: { username: 'ada' } });
  });

  test('of a user are excluded from creation, and share one user handle', async () => {
    const { body } = await stage.ada.send('POST', '/api/auth/credentials/begin');
    const { id } = (await listOwn())[0]!;
    expect(body).toMatchObject({ excludeCredentials: [{ id, type: 'public-key' }] });
    const handles = await stage.server.database.selectFrom('passkeys').select(['id', 'user_handle']).execute();
    expect(body).toMatchObject({ user: { id: handles.find((row) => row.id === id)!.user_handle } });
    expect(Buffer.from(handles[0]!.user_handle, 'base64url')).toHaveLength(32);
  });

  test('can be removed, except the last one', async () => {
    await addPasskey('phone');
    const [first, second] = (await listOwn()) as [Listed, Listed];
    expect((await stage.ada.send('DELETE', `/api/auth/credentials/${first.id}`)).status).toBe(204);
    expect((await stage.ada.signIn()).status).toBe(400);
    expect((await stage.ada.send('DELETE', '/api/auth/credentials/unknown')).status).toBe(204);
    expect((await stage.ada.send('DELETE', `/api/auth/credentials/${second.id}`)).status).toBe(400);
    expect(await listOwn()).toHaveLength(1);
  });

  test('are limited to 20 per user', async () => {
    const [row] = await stage.server.database.selectFrom('passkeys').selectAll().execute();
    const person = (await stage.server.accounts.users.findByUsername('ada'))!;
    const more = Array.from({ length: 19 }, (_, index) => ({ ...row!, person_id: person.id, id: `x${index}` }));
    await stage.server.database.insertInto('passkeys').values(more).execute();
    const begun = await stage.ada.send('POST', '/api/auth/credentials/begin');
    const credential = new Passkey(ORIGIN).create(begun.body as never);
    const reply = await stage.ada.send('POST', '/api/auth/credentials/finish?label=x', credential);
    const error = 'You have reached the limit of 20 passkeys. Remove one first.';
    expect(reply).toMatchObject({ status: 400, body: { error } });
  });
});

describe('An account', () => {
  test('is restored by an invitation after its access was revoked', async () => {
    const before = (await stage.server.accounts.users.findByUsername('bob'))!;
    const { database } = stage.server;
    const channel = { id: 'c', person_id: before.id, kind: 'webhook', label: 'Team', target: 'example.org' };
    const rules = { events: '[]', digest: 0, created_at: 0, confirmed_at: 0, code_tries: 0 };
    await database
      .insertInto('notification_channels')
      .values({ ...channel, ...rules, sealed: new Uint8Array() })
      .execute();
    await stage.ada.send('POST', '/api/admin/users/bob/revoke');
    expect(await database.selectFrom('notification_channels').select('id').execute()).toEqual([]);
    expect((await stage.bob.signIn()).status).toBe(400);
    const again = stage.visitor();
    expect((await again.register('bob', await stage.invite('bob'))).status).toBe(200);
    expect(await stage.server.accounts.users.findByUsername('bob')).toEqual(before);
  });

  test('frees its username when it is removed, and is not restored by an invitation', async () => {
    const before = (await stage.server.accounts.users.findByUsername('bob'))!;
    await stage.ada.send('DELETE', '/api/admin/users/bob');
    expect((await stage.visitor().register('bob', await stage.invite('bob'))).status).toBe(200);
    expect((await stage.server.accounts.users.findByUsername('bob'))!.id).not.toBe(before.id);
  });
});

describe('An invitation', () => {
  test('determines the names of the account, not the request of the invited user', async () => {
    const token = await stage.invite('Eve');
    const body = { username: 'EVE', displayName: 'Different', inviteToken: token };
    const eve = stage.visitor();
    const begun = await eve.send('POST', '/api/auth/register/begin', body);
    const reply = await eve.finishToRegister('eve', eve.passkey.create(begun.body as never));
    expect(reply).toMatchObject({ status: 200, body: { username: 'Eve', displayName: 'Eve' } });
  });

  test.each([
    ['that is taken', 'bob', 409, 'conflict'],
    ['that is taken, regardless of case', 'BOB', 409, 'conflict'],
    ['that is blank', '  ', 400, 'invalid_input'],
    ['with a right-to-left override', 'a\u202eb', 400, 'invalid_input'],
    // Clients resolve it in the addresses that revoke the access of the user or remove the account.
    ['that is a part of a path', '..', 400, 'invalid_input'],
  ])('cannot be created for a username %s', async (_reason, username, status, code) => {
    const person = { username, displayName: 'x' };
    expect(toStatusAndCode(await stage.ada.send('POST', '/api/admin/invites', person))).toEqual([status, code]);
  });
});

test.each([
  ['Persian with a joiner', 'علی\u200cرضا', 201],
  ['an emoji of several characters', 'Zoë 👩🏽\u200d🔬', 201],
  ['a joiner alone', '\u200d', 400],
  ['a right-to-left override', 'a\u202eb', 400],
])('A display name may have joiners between visible characters: %s', async (_what, displayName, status) => {
  expect((await stage.ada.send('POST', '/api/admin/invites', { username: 'zoe', displayName })).status).toBe(status);
  // Joiners could make different usernames look the same.
  expect(
    (await stage.ada.send('POST', '/api/admin/invites', { username: `z${displayName}`, displayName })).status,
  ).toBe(400);
});

test('A username is normalised to NFC and trimmed', async () => {
  const token = await stage.invite(' Ame\u0301lie ');
  const visitor = stage.visitor();
  const begun = await visitor.beginToRegister('am\u00e9lie', token);
  const credential = visitor.passkey.create(begun.body as never);
  const reply = await visitor.finishToRegister(encodeURIComponent('AMÉLIE'), credential);
  expect(reply.body).toMatchObject({ username: 'Am\u00e9lie' });
});
