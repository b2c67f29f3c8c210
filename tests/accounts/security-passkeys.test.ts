import { randomBytes } from 'node:crypto';
import { readChallenge } from '../../src/accounts/credential-json.js';
import { ORIGIN } from '../contract/contract-server.js';
import { Passkey } from '../contract/passkey.js';
import { openStage } from './stage.js';
import type { Stage } from './stage.js';
import type { Reply } from './visitor.js';

let stage: Stage;
beforeEach(async () => (stage = await openStage()));
afterEach(() => stage.server.close());

describe("a passkey's answer", () => {
  const REFUSED = "Expected a passkey's answer to a challenge of the last 5 minutes. Begin again.";
  const expectRefused = ({ status, body }: Reply) =>
    expect([status, body]).toMatchObject([400, { code: 'invalid_input', error: REFUSED }]);

  const challengeOf = async () => (await stage.visitor().beginToSignIn()).body as never;

  test('signs in once', async () => {
    const answer = stage.ada.passkey.get(await challengeOf());
    expect((await stage.visitor().finishToSignIn(answer)).status).toBe(200);
    expectRefused(await stage.visitor().finishToSignIn(answer));
  });

  test('of two at once holds once', async () => {
    const answer = stage.ada.passkey.get(await challengeOf());
    const replies = await Promise.all([stage.visitor().finishToSignIn(answer), stage.visitor().finishToSignIn(answer)]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400]);
  });

  test('that was wrong has used its challenge up', async () => {
    const challenge = await challengeOf();
    const answer = stage.ada.passkey.get(challenge);
    const forged = { ...answer, response: { ...answer.response, signature: 'MAYCAQECAQE' } };
    expectRefused(await stage.visitor().finishToSignIn(forged));
    expectRefused(await stage.visitor().finishToSignIn(answer));
  });

  test('too late is refused', async () => {
    const answer = stage.ada.passkey.get(await challengeOf());
    await stage.expire('challenges');
    expectRefused(await stage.visitor().finishToSignIn(answer));
  });

  test('with a counter that went back is refused: the passkey was copied', async () => {
    const [first, second] = [stage.ada.passkey.get(await challengeOf()), stage.ada.passkey.get(await challengeOf())];
    expect((await stage.visitor().finishToSignIn(second)).status).toBe(200);
    expectRefused(await stage.visitor().finishToSignIn(first));
  });

  test.each<[string, (challenge: never) => unknown]>([
    ['of a passkey that nobody has', (challenge) => new Passkey(ORIGIN).get(challenge)],
    [
      'to a challenge that we never made',
      () => stage.ada.passkey.get({ challenge: randomBytes(32).toString('base64url') }),
    ],
    [
      'signed by another passkey',
      (challenge) => ({ ...stage.bob.passkey.get(challenge), id: stage.ada.passkey.id, rawId: stage.ada.passkey.id }),
    ],
    [
      'that claims to be of another person',
      (challenge) => {
        const { userHandle } = stage.ada.passkey.get(challenge).response;
        const answer = stage.bob.passkey.get(challenge);
        return { ...answer, response: { ...answer.response, userHandle } };
      },
    ],
    [
      'that does not say of whom it is',
      (challenge) => {
        const answer = stage.ada.passkey.get(challenge);
        // JSON has no undefined: the field is left out.
        return { ...answer, response: { ...answer.response, userHandle: undefined } };
      },
    ],
    [
      'with a clientDataJSON that is none',
      (challenge) => {
        const answer = stage.ada.passkey.get(challenge);
        return { ...answer, response: { ...answer.response, clientDataJSON: 'bnVsbA' } };
      },
    ],
  ])('%s is refused', async (_reason, answerTo) => {
    expectRefused(await stage.visitor().finishToSignIn(answerTo(await challengeOf())));
  });

  test('is refused for a person who is expected to be another', async () => {
    expectRefused(await stage.visitor().finishToSignIn(stage.bob.passkey.get(await challengeOf()), '?username=ada'));
    expect(
      (await stage.visitor().finishToSignIn(stage.bob.passkey.get(await challengeOf()), '?username=BOB')).status,
    ).toBe(200);
  });

  test.each([
    ['another port', 'http://localhost:4001'],
    ['another scheme', 'https://localhost:4000'],
    ['another host', 'http://evil.example:4000'],
  ])('made for %s is refused, in every ceremony', async (_reason, origin) => {
    const token = await stage.invite('eve');
    const eve = stage.visitor(origin);
    const begun = await stage.visitor().beginToRegister('eve', token);
    expectRefused(await stage.visitor().finishToRegister('eve', eve.passkey.create(begun.body as never)));
    const adding = await stage.ada.send('POST', '/api/auth/credentials/begin');
    const added = eve.passkey.create(adding.body as never);
    expectRefused(await stage.ada.send('POST', '/api/auth/credentials/finish?label=x', added));
    expectRefused(await stage.visitor().finishToSignIn(eve.passkey.get(await challengeOf())));
  });

  test('is of one ceremony: no challenge serves another', async () => {
    const token = await stage.invite('eve');
    const registering = (await stage.visitor().beginToRegister('eve', token)).body as never;
    expectRefused(await stage.visitor().finishToSignIn(stage.ada.passkey.get(registering)));
    const adding = (await stage.bob.send('POST', '/api/auth/credentials/begin')).body as never;
    expectRefused(await stage.visitor().finishToRegister('bob', new Passkey(ORIGIN).create(adding)));
  });

  test('adds nothing to the account of whoever did not ask', async () => {
    const begun = (await stage.ada.send('POST', '/api/auth/credentials/begin')).body as never;
    const mine = new Passkey(ORIGIN).create(begun);
    expectRefused(await stage.bob.send('POST', '/api/auth/credentials/finish?label=x', mine));
  });

  test('adds no passkey that somebody has already', async () => {
    const begun = (await stage.bob.send('POST', '/api/auth/credentials/begin')).body as never;
    expectRefused(
      await stage.bob.send('POST', '/api/auth/credentials/finish?label=x', stage.ada.passkey.create(begun)),
    );
  });

  test('made inside the page of another site is refused, whoever signed it', () => {
    const answerOf = (data: object) => {
      const clientDataJSON = Buffer.from(JSON.stringify(data)).toString('base64url');
      return { response: { clientDataJSON } };
    };
    expect(readChallenge(answerOf({ challenge: 'abc', crossOrigin: false }))).toBe('abc');
    expect(() => readChallenge(answerOf({ challenge: 'abc', crossOrigin: true }))).toThrow(REFUSED);
  });
});
