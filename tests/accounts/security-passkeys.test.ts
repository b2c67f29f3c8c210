import { randomBytes } from 'node:crypto';
import { readChallenge } from '../../src/accounts/ceremony.js';
import { ORIGIN } from '../contract/contract-server.js';
import { Passkey } from '../contract/passkey.js';
import { openStage, type Stage } from './fixtures.js';
import type { Reply } from './visitor.js';

let stage: Stage;
beforeEach(async () => (stage = await openStage()));
afterEach(() => stage.server.close());

describe('A passkey response', () => {
  const MESSAGE = 'Passkey verification failed or took longer than 5 minutes. Start again.';
  const expectRejected = ({ status, body }: Reply) =>
    expect([status, body]).toMatchObject([400, { code: 'invalid_input', error: MESSAGE }]);

  const challengeOf = async () => (await stage.visitor().beginToSignIn()).body as never;

  test('signs in once', async () => {
    const answer = stage.ada.passkey.get(await challengeOf());
    expect((await stage.visitor().finishToSignIn(answer)).status).toBe(200);
    expectRejected(await stage.visitor().finishToSignIn(answer));
  });

  test('of an admin must have verified its user, unlike that of another user', async () => {
    const signIn = async ({ passkey }: { readonly passkey: Passkey }) => {
      passkey.isVerifying = false;
      return stage.visitor().finishToSignIn(passkey.get(await challengeOf()));
    };
    const reason = expect.stringContaining('Admins need a passkey with a PIN or biometrics.') as string;
    expect(await signIn(stage.ada)).toMatchObject({ status: 400, body: { code: 'invalid_input', error: reason } });
    expect((await signIn(stage.bob)).status).toBe(200);
  });

  test('sent twice at once signs in once', async () => {
    const answer = stage.ada.passkey.get(await challengeOf());
    const replies = await Promise.all([stage.visitor().finishToSignIn(answer), stage.visitor().finishToSignIn(answer)]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400]);
  });

  test('with a wrong signature uses up its challenge', async () => {
    const challenge = await challengeOf();
    const answer = stage.ada.passkey.get(challenge);
    const forged = { ...answer, response: { ...answer.response, signature: 'MAYCAQECAQE' } };
    expectRejected(await stage.visitor().finishToSignIn(forged));
    expectRejected(await stage.visitor().finishToSignIn(answer));
  });

  test('to an expired challenge is rejected', async () => {
    const answer = stage.ada.passkey.get(await challengeOf());
    await stage.expire('challenges');
    expectRejected(await stage.visitor().finishToSignIn(answer));
  });

  test('with a decreased counter is rejected, as the passkey may be a copy', async () => {
    const [first, second] = [stage.ada.passkey.get(await challengeOf()), stage.ada.passkey.get(await challengeOf())];
    expect((await stage.visitor().finishToSignIn(second)).status).toBe(200);
    expectRejected(await stage.visitor().finishToSignIn(first));
  });

  test('with the counter of another one at the same time is rejected, as the passkey may be a copy', async () => {
    const challenges = [await challengeOf(), await challengeOf()];
    const [one, copy] = challenges.map((challenge) => stage.ada.passkey.get(challenge, 7));
    const replies = await Promise.all([stage.visitor().finishToSignIn(one), stage.visitor().finishToSignIn(copy)]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400]);
  });

  test.each<[string, (challenge: never) => unknown]>([
    ['of an unknown passkey', (challenge) => new Passkey(ORIGIN).get(challenge)],
    ['to an unknown challenge', () => stage.ada.passkey.get({ challenge: randomBytes(32).toString('base64url') })],
    [
      'signed by a different passkey',
      (challenge) => ({ ...stage.bob.passkey.get(challenge), id: stage.ada.passkey.id, rawId: stage.ada.passkey.id }),
    ],
    [
      'with the user handle of a different user',
      (challenge) => {
        const { userHandle } = stage.ada.passkey.get(challenge).response;
        const answer = stage.bob.passkey.get(challenge);
        return { ...answer, response: { ...answer.response, userHandle } };
      },
    ],
    [
      'without a user handle',
      (challenge) => {
        const answer = stage.ada.passkey.get(challenge);
        // JSON omits fields that are undefined.
        return { ...answer, response: { ...answer.response, userHandle: undefined } };
      },
    ],
    [
      'with an invalid clientDataJSON',
      (challenge) => {
        const answer = stage.ada.passkey.get(challenge);
        return { ...answer, response: { ...answer.response, clientDataJSON: 'bnVsbA' } };
      },
    ],
  ])('%s is rejected', async (_reason, respondTo) => {
    expectRejected(await stage.visitor().finishToSignIn(respondTo(await challengeOf())));
  });

  test('of a user other than the expected one is rejected', async () => {
    expectRejected(await stage.visitor().finishToSignIn(stage.bob.passkey.get(await challengeOf()), '?username=ada'));
    expect(
      (await stage.visitor().finishToSignIn(stage.bob.passkey.get(await challengeOf()), '?username=BOB')).status,
    ).toBe(200);
  });

  test.each([
    ['port', 'http://localhost:4001'],
    ['scheme', 'https://localhost:4000'],
    ['host', 'http://evil.example:4000'],
  ])('for an origin with a different %s is rejected in every ceremony', async (_reason, origin) => {
    const token = await stage.invite('eve');
    const eve = stage.visitor(origin);
    const begun = await stage.visitor().beginToRegister('eve', token);
    expectRejected(await stage.visitor().finishToRegister('eve', eve.passkey.create(begun.body as never)));
    const adding = await stage.ada.send('POST', '/api/auth/credentials/begin');
    const added = eve.passkey.create(adding.body as never);
    expectRejected(await stage.ada.send('POST', '/api/auth/credentials/finish?label=x', added));
    expectRejected(await stage.visitor().finishToSignIn(eve.passkey.get(await challengeOf())));
  });

  test('to the challenge of a different ceremony is rejected', async () => {
    const token = await stage.invite('eve');
    const registering = (await stage.visitor().beginToRegister('eve', token)).body as never;
    expectRejected(await stage.visitor().finishToSignIn(stage.ada.passkey.get(registering)));
    const adding = (await stage.bob.send('POST', '/api/auth/credentials/begin')).body as never;
    expectRejected(await stage.visitor().finishToRegister('bob', new Passkey(ORIGIN).create(adding)));
  });

  test('to the challenge of a different user adds no passkey', async () => {
    const begun = (await stage.ada.send('POST', '/api/auth/credentials/begin')).body as never;
    const mine = new Passkey(ORIGIN).create(begun);
    expectRejected(await stage.bob.send('POST', '/api/auth/credentials/finish?label=x', mine));
  });

  test('with a credential that a user already has adds no passkey', async () => {
    const begun = (await stage.bob.send('POST', '/api/auth/credentials/begin')).body as never;
    expectRejected(
      await stage.bob.send('POST', '/api/auth/credentials/finish?label=x', stage.ada.passkey.create(begun)),
    );
  });

  test('from a page embedded in a different site is rejected', () => {
    const toCredential = (data: object) => {
      const clientDataJSON = Buffer.from(JSON.stringify(data)).toString('base64url');
      return { response: { clientDataJSON } };
    };
    expect(readChallenge(toCredential({ challenge: 'abc', crossOrigin: false }))).toBe('abc');
    expect(() => readChallenge(toCredential({ challenge: 'abc', crossOrigin: true }))).toThrow(MESSAGE);
  });
});

describe('A sensitive change', () => {
  const KEY = (last: string) => `age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8${last}`;
  const changes: Record<string, () => Promise<Reply>> = {
    'an API token': () =>
      stage.ada.send('POST', '/api/tokens', { label: 'x', expiresAt: new Date(Date.now() + 86_400_000).toISOString() }),
    'a write token': () => stage.ada.send('POST', '/secrets/tokens', { description: 'x' }),
    'a consumer token': () =>
      stage.ada.send('POST', '/secrets/consumer-tokens', { consumer: 'shop', description: 'x' }),
    'a passkey': () => stage.ada.send('POST', '/api/auth/credentials/begin'),
    'a passkey of the owner': () => stage.ada.send('POST', '/secrets/auth/register/begin'),
    'an invitation': () => stage.ada.send('POST', '/api/admin/invites', { username: 'eve', displayName: 'Eve' }),
    'a workload rule': () =>
      stage.ada.send('PUT', '/secrets/workload-rules/jobs', {
        issuer: 'https://issuer.example.org',
        audience: 'trellis',
        claims: [{ name: 'repository', patterns: ['acme/shop'] }],
        consumer: 'shop',
      }),
    'a new key of a consumer': async () => {
      const { server } = stage;
      await server.database
        .insertInto('secret_consumers')
        .values({ name: 'shop', public_key: KEY('q') })
        .execute();
      const reply = await stage.ada.send('PATCH', '/secrets/consumers/shop', { public_key: KEY('p') });
      await server.database.deleteFrom('secret_consumers').execute();
      return reply;
    },
  };

  test.each(Object.keys(changes))('(%s) requires a sign-in in the last 10 minutes', async (name) => {
    const change = changes[name]!;
    const started = Date.now() - 10 * 60_000;
    await stage.server.database
      .updateTable('sessions')
      .set({ created_at: started - 1_000 })
      .execute();
    expect((await stage.ada.send('GET', '/api/auth/session')).status).toBe(200);
    const { status, body, headers } = await change();
    expect([status, body]).toMatchObject([401, { code: 'unauthenticated' }]);
    expect(headers.get('www-authenticate')).toBe('Bearer error="insufficient_user_authentication", max_age=600');
    const begun = await stage.ada.beginToSignIn();
    expect((await stage.ada.finishToSignIn(stage.ada.passkey.get(begun.body as never))).status).toBe(200);
    expect((await change()).status).toBeLessThan(300);
  });

  const WITH_BODY = Object.keys(changes).filter((name) => !name.startsWith('a passkey'));

  test.each(WITH_BODY)('(%s) is rejected if its session ends before its body has arrived', async (name) => {
    const { database } = stage.server;
    stage.ada.beforeBody = async () => {
      // The server stores the time of use when it accepts the session.
      const used = database.selectFrom('sessions').select('id_hash').where('last_used_at', '>', 0);
      while ((await used.execute()).length === 0) await new Promise(setImmediate);
      await database.deleteFrom('sessions').execute();
    };
    await database.updateTable('sessions').set({ last_used_at: 0 }).execute();
    const { status, body } = await changes[name]!();
    expect([status, body]).toMatchObject([401, { code: 'unauthenticated' }]);
    for (const table of ['tokens', 'invitations', 'workload_rules'] as const) {
      expect(await database.selectFrom(table).selectAll().execute()).toEqual([]);
    }
  });

  test('is rejected if its token is revoked before its body has arrived', async () => {
    const { database } = stage.server;
    const { id, value } = (await stage.ada.send('POST', '/secrets/tokens', { description: 'x' })).body as {
      readonly id: string;
      readonly value: string;
    };
    const script = stage.visitor();
    script.beforeBody = async () => {
      const used = database.selectFrom('tokens').select('id').where('last_used_at', 'is not', null);
      while ((await used.execute()).length === 0) await new Promise(setImmediate);
      expect((await stage.ada.send('DELETE', `/secrets/tokens/${id}`)).status).toBe(204);
    };
    const change = { consumer: 'shop', description: 'x' };
    const { status, body } = await script.send('POST', '/secrets/consumer-tokens', change, {
      authorization: `Bearer ${value}`,
    });
    expect([status, body]).toMatchObject([401, { code: 'unauthenticated' }]);
    expect(await database.selectFrom('tokens').select('id').execute()).toEqual([{ id }]);
  });
});
