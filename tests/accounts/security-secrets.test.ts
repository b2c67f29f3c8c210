import { openStage, type Stage } from './fixtures.js';

const HOUR = 3_600_000;
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

let stage: Stage;
beforeEach(async () => (stage = await openStage()));
afterEach(() => stage.server.close());

test('Secrets appear neither in the log, nor in the database, nor in responses other than the intended one', async () => {
  const invitation = await stage.invite('eve');
  const eve = stage.visitor();
  await eve.register('eve', invitation);
  const { token } = await stage.makeToken(eve, { 'idempotency-key': 'once' });
  const challenge = ((await stage.visitor().beginToSignIn()).body as { challenge: string }).challenge;
  const secrets = { setup: stage.setup, invitation, token, session: eve.cookie.split('=')[1]! };

  const wrong = { inviteToken: invitation.repeat(7), username: 'eve', displayName: 'Eve' };
  await stage.visitor().send('POST', '/api/auth/register/begin', wrong);
  await stage.visitor().send('GET', `/api/tokens?${token}`, undefined, bearer(`${token}x`));
  await stage.visitor().send('POST', '/api/tokens', { label: token, expiresAt: token }, bearer(token));
  await eve.send('POST', '/api/tokens', { label: 'y', expiresAt: token });
  await stage.visitor().send('GET', `/api/tokens/${secrets.session}`, undefined, {
    cookie: `trellis_session=${secrets.session}x`,
  });
  await stage.expire('invitations');

  const logged = JSON.stringify(stage.server.lines);
  const stored = await dump();
  for (const [name, secret] of Object.entries({ ...secrets, challenge })) {
    expect(secret.length).toBeGreaterThan(40);
    expect([name, logged.includes(secret)]).toEqual([name, false]);
    expect([name, stored.includes(secret)]).toEqual([name, false]);
  }
  const responseCounts = Object.fromEntries(
    Object.entries(secrets).map(([name, secret]) => [name, stage.heard.filter((text) => text.includes(secret)).length]),
  );
  // The session is sent in a cookie, and the setup link is printed on the terminal.
  expect(responseCounts).toEqual({ setup: 0, invitation: 1, token: 1, session: 0 });
  expect(logged).toContain('createToken');
  expect(stored).toContain('eve');
});

/** Returns all values of all tables as text. */
async function dump(): Promise<string> {
  const texts: string[] = [];
  for (const { name } of await stage.server.database.introspection.getTables()) {
    const rows = await stage.server.database
      .selectFrom(name as 'people')
      .selectAll()
      .execute();
    for (const value of rows.flatMap((row): unknown[] => Object.values(row))) {
      texts.push(value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value));
    }
  }
  return texts.join('\n');
}

test('Account events record the actor, the action, the time and the address', async () => {
  const { id } = await stage.makeToken(stage.bob);
  const events = await stage.server.database.selectFrom('account_events').selectAll().orderBy('at').execute();
  expect(events.map(({ action }) => action).sort()).toEqual(
    ['account_created', 'account_created', 'invitation_created', 'token_created'].sort(),
  );
  const created = events.find(({ action }) => action === 'token_created')!;
  const person = (await stage.server.accounts.users.findByUsername('bob'))!;
  expect(created).toMatchObject({ person_id: person.id, actor_type: 'session', actor_id: person.id, subject: id });
  expect(created.address).toBe('127.0.0.1');
  expect(Math.abs(created.at - Date.now())).toBeLessThan(HOUR);
});
