import { randomBytes } from 'node:crypto';
import { createAccounts } from '../../src/accounts/accounts.js';
import { ORIGIN } from '../contract/contract-server.js';
import { codeOf, openStage } from './stage.js';
import type { Stage } from './stage.js';
import type { Reply } from './visitor.js';

let stage: Stage;
beforeEach(async () => (stage = await openStage()));
afterEach(() => stage.server.close());

describe('a link', () => {
  test('for setting up works once', async () => {
    expect(codeOf(await stage.visitor().register('eve', stage.setup))).toEqual([403, 'forbidden']);
    expect(await stage.server.accounts.setupLink.create()).toBeUndefined();
  });

  test.each<[string, () => Promise<string> | string, string]>([
    ['that nobody made', () => randomBytes(32).toString('base64url'), 'eve'],
    ['without a secret', () => '', 'eve'],
    ['for another name', async () => await stage.invite('eve'), 'mallory'],
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
  ])('%s is refused alike', async (_reason, makeLink, username) => {
    const reply = await stage.visitor().beginToRegister(username, await makeLink());
    expect(codeOf(reply)).toEqual([403, 'forbidden']);
    expect((reply.body as { error: string }).error).toBe(
      'Expected a setup link or an invitation for this username that still holds. Ask for a new one.',
    );
  });

  test('begun by two is finished by one', async () => {
    const token = await stage.invite('eve');
    const [one, two] = [stage.visitor(), stage.visitor()];
    const begun = await Promise.all([one, two].map((each) => each.beginToRegister('eve', token)));
    const [first, second] = [one, two].map((each, index) => each.passkey.create(begun[index]!.body as never));
    const replies = await Promise.all([one.finishToRegister('eve', first), two.finishToRegister('eve', second)]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400]);
  });

  test('that was begun and given up takes no name away', async () => {
    const token = await stage.invite('eve');
    await stage.visitor().beginToRegister('eve', token);
    expect((await stage.visitor().register('eve', token)).status).toBe(200);
  });

  test('that was revoked while somebody used it lets nobody in', async () => {
    const eve = stage.visitor();
    const begun = await eve.beginToRegister('eve', await stage.invite('eve'));
    await stage.server.database.deleteFrom('invitations').execute();
    expect((await eve.finishToRegister('eve', eve.passkey.create(begun.body as never))).status).toBe(400);
  });
});

describe('who has an account', () => {
  test('is not told by beginning to sign in', async () => {
    const [known, unknown, none] = await Promise.all([
      stage.visitor().beginToSignIn({ username: 'ada' }),
      stage.visitor().beginToSignIn({ username: 'nobody' }),
      stage.visitor().beginToSignIn(),
    ]);
    const told = ({ status, body }: Reply) => [status, { ...(body as object), challenge: 'another each time' }];
    expect(told(known)).toEqual(told(unknown));
    expect(told(known)).toEqual(told(none));
    expect(known.body).toMatchObject({ allowCredentials: [] });
  });

  test('is not told by registering without a link', async () => {
    const [taken, free] = [
      await stage.visitor().beginToRegister('ada', 'x'),
      await stage.visitor().beginToRegister('nobody', 'x'),
    ];
    const { requestId: one, ...known } = taken.body as Record<string, unknown>;
    const { requestId: other, ...unknown } = free.body as Record<string, unknown>;
    expect([taken.status, known]).toEqual([free.status, unknown]);
    expect(one).not.toBe(other);
  });

  test('is not told by the work that it takes to refuse', async () => {
    const statements: string[] = [];
    const counting = stage.server.database.withPlugin({
      transformQuery({ node }) {
        statements.push(node.kind);
        return node;
      },
      transformResult: async ({ result }) => result,
    });
    const { registration } = createAccounts(counting, { origin: () => ORIGIN });
    const workFor = async (username: string) => {
      statements.length = 0;
      await expect(registration.begin({ username, displayName: 'x', inviteToken: 'x' })).rejects.toThrow('Expected');
      return [...statements];
    };
    expect(await workFor('ada')).toEqual(['SelectQueryNode']);
    expect(await workFor('nobody')).toEqual(['SelectQueryNode']);
  });
});
