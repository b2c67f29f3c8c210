import { randomBytes } from 'node:crypto';
import { createAccounts } from '../../src/accounts/accounts.js';
import { ORIGIN } from '../contract/contract-server.js';
import { toStatusAndCode, openStage, type Stage } from './fixtures.js';
import type { Reply } from './visitor.js';

let stage: Stage;
beforeEach(async () => (stage = await openStage()));
afterEach(() => stage.server.close());

describe('A setup or invitation link', () => {
  test('for setup works once', async () => {
    expect(toStatusAndCode(await stage.visitor().register('eve', stage.setup))).toEqual([403, 'forbidden']);
    expect(await stage.server.accounts.setupLink.create()).toBeUndefined();
  });

  test.each<[string, () => Promise<string> | string, string]>([
    ['with an unknown secret', () => randomBytes(32).toString('base64url'), 'eve'],
    ['without a secret', () => '', 'eve'],
    ['for a different username', async () => await stage.invite('eve'), 'mallory'],
    [
      'that has expired',
      async () => {
        const token = await stage.invite('eve');
        await stage.expire('invitations');
        return token;
      },
      'eve',
    ],
    [
      'that was revoked',
      async () => {
        const token = await stage.invite('eve');
        const [{ id }] = (await stage.ada.send('GET', '/api/admin/invites')).body as [{ id: string }];
        expect((await stage.ada.send('POST', `/api/admin/invites/${id}/revoke`)).status).toBe(204);
        return token;
      },
      'eve',
    ],
    [
      'that was used',
      async () => {
        const token = await stage.invite('eve');
        expect((await stage.visitor().register('eve', token)).status).toBe(200);
        await stage.ada.send('DELETE', '/api/admin/users/eve');
        return token;
      },
      'eve',
    ],
    [
      'of a user whose access was revoked since',
      async () => {
        await stage.ada.send('POST', '/api/admin/users/bob/revoke');
        const token = await stage.invite('bob');
        await stage.ada.send('POST', '/api/admin/users/bob/revoke');
        return token;
      },
      'bob',
    ],
    [
      'of a user who was removed since',
      async () => {
        await stage.ada.send('POST', '/api/admin/users/bob/revoke');
        const token = await stage.invite('bob');
        await stage.ada.send('DELETE', '/api/admin/users/bob');
        return token;
      },
      'bob',
    ],
  ])('%s gets the same error', async (_reason, createLink, username) => {
    const reply = await stage.visitor().beginToRegister(username, await createLink());
    expect(toStatusAndCode(reply)).toEqual([403, 'forbidden']);
    expect((reply.body as { error: string }).error).toBe(
      'No valid setup link or invitation for this username. It may have expired. Ask for a new one.',
    );
  });

  test('used by two visitors at once creates one account', async () => {
    const token = await stage.invite('eve');
    const [one, two] = [stage.visitor(), stage.visitor()];
    const begun = await Promise.all([one, two].map((each) => each.beginToRegister('eve', token)));
    const [first, second] = [one, two].map((each, index) => each.passkey.create(begun[index]!.body as never));
    const replies = await Promise.all([one.finishToRegister('eve', first), two.finishToRegister('eve', second)]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400]);
  });

  test('can be used again after an abandoned registration', async () => {
    const token = await stage.invite('eve');
    await stage.visitor().beginToRegister('eve', token);
    expect((await stage.visitor().register('eve', token)).status).toBe(200);
  });

  test('revoked during a registration creates no account', async () => {
    const eve = stage.visitor();
    const begun = await eve.beginToRegister('eve', await stage.invite('eve'));
    await stage.server.database.deleteFrom('invitations').execute();
    expect((await eve.finishToRegister('eve', eve.passkey.create(begun.body as never))).status).toBe(400);
  });
});

describe('The existence of an account', () => {
  test('is not revealed by starting to sign in', async () => {
    const [known, unknown, none] = await Promise.all([
      stage.visitor().beginToSignIn({ username: 'ada' }),
      stage.visitor().beginToSignIn({ username: 'unknown' }),
      stage.visitor().beginToSignIn(),
    ]);
    const withoutChallenge = ({ status, body }: Reply) => [status, { ...(body as object), challenge: 'random' }];
    expect(withoutChallenge(known)).toEqual(withoutChallenge(unknown));
    expect(withoutChallenge(known)).toEqual(withoutChallenge(none));
    expect(known.body).toMatchObject({ allowCredentials: [] });
  });

  test('is not revealed by registering without a link', async () => {
    const [taken, free] = [
      await stage.visitor().beginToRegister('ada', 'x'),
      await stage.visitor().beginToRegister('unknown', 'x'),
    ];
    const { requestId: one, ...known } = taken.body as Record<string, unknown>;
    const { requestId: other, ...unknown } = free.body as Record<string, unknown>;
    expect([taken.status, known]).toEqual([free.status, unknown]);
    expect(one).not.toBe(other);
  });

  test('is not revealed by the database statements of a rejected registration', async () => {
    const statements: string[] = [];
    const counting = stage.server.database.withPlugin({
      transformQuery({ node }) {
        statements.push(node.kind);
        return node;
      },
      transformResult: async ({ result }) => result,
    });
    const { registration } = createAccounts(counting, { origin: () => ORIGIN });
    const statementsFor = async (username: string) => {
      statements.length = 0;
      await expect(registration.begin({ username, displayName: 'x', inviteToken: 'x' })).rejects.toThrow('No valid');
      return [...statements];
    };
    expect(await statementsFor('ada')).toEqual(['SelectQueryNode']);
    expect(await statementsFor('unknown')).toEqual(['SelectQueryNode']);
  });
});
