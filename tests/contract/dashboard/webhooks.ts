import type { ForgeName } from '../../../src/dashboard/forges/facts.js';
import { forgejoDelivery } from '../../forges/forgejo.js';
import { githubDelivery, GITHUB_TOKEN, startGithub } from '../../forges/github.js';
import type { TestGithub } from '../../forges/github.js';
import { githubRepository } from '../../forges/github-state.js';
import { gitlabDelivery } from '../../forges/gitlab.js';
import type { Sent } from '../../forges/hooks.js';
import { ORIGIN } from '../contract-server.js';
import { documented } from '../contract.js';
import type { Answer, Member, Stage } from './stage.js';

const PAYLOADS = {
  github: { repository: { full_name: 'acme/shop' } },
  forgejo: { repository: { full_name: 'acme/shop' } },
  gitlab: { project: { path_with_namespace: 'acme/shop' } },
};

const SIGNERS: Readonly<Record<ForgeName, (secret: string) => Sent>> = {
  github: (secret) => githubDelivery(secret, PAYLOADS.github),
  forgejo: (secret) => forgejoDelivery(secret, PAYLOADS.forgejo),
  gitlab: (secret) => gitlabDelivery(secret, PAYLOADS.gitlab),
};

const FORGES = Object.keys(SIGNERS) as ForgeName[];

/** Of any length: only what is signed is looked at. */
const TOO_LONG = 'x'.repeat(5 * 1024 ** 2 + 1);

export function webhooksTests(stage: () => Stage): void {
  let github: TestGithub;
  beforeAll(async () => {
    github = await startGithub([
      githubRepository('acme/shop', { viewerPermission: 'ADMIN' }),
      githubRepository('acme/site', { viewerPermission: 'WRITE' }),
    ]);
  });
  afterAll(() => github.close());

  const receive = async () => {
    const member = await stage().newPerson();
    const { data } = await stage().client(member).GET('/api/settings');
    return { token: data!.webhookToken!, secret: data!.webhookSecret! };
  };
  const deliver = (forge: ForgeName, token: string, { body, headers }: Partial<Sent>): Promise<Answer> => {
    const operation = documented.find(({ spec }) => spec.path === `/api/webhooks/${forge}/{webhookToken}`)!;
    return stage().send(operation, {}, { path: { webhookToken: token }, headers, text: body?.toString() ?? '' });
  };

  describe.each(FORGES)('a delivery of %s', (forge) => {
    test('is taken', async () => {
      const { token, secret } = await receive();
      expect((await deliver(forge, token, SIGNERS[forge](secret))).response.status).toBe(204);
    });

    test.each<[string, number, string, (secret: string) => Partial<Sent>]>([
      ['signed with another secret', 401, 'unauthenticated', () => SIGNERS[forge]('another')],
      ['without a signature', 401, 'unauthenticated', (secret) => ({ body: SIGNERS[forge](secret).body })],
      ['without a body', 400, 'malformed_body', (secret) => ({ headers: SIGNERS[forge](secret).headers })],
      ['that is too long', 413, 'too_large', () => ({ body: Buffer.from(TOO_LONG) })],
      [
        'as a form',
        415,
        'unsupported_media_type',
        (secret) => ({
          ...SIGNERS[forge](secret),
          headers: { ...SIGNERS[forge](secret).headers, 'content-type': 'application/x-www-form-urlencoded' },
        }),
      ],
    ])('%s is refused with %i', async (_reason, status, code, make) => {
      const { token, secret } = await receive();
      const { response, error } = await deliver(forge, token, make(secret));
      expect([response.status, error?.code]).toEqual([status, code]);
    });

    test('to a path that nobody has is refused, however long it is', async () => {
      const { response, error } = await deliver(forge, 'x'.repeat(22), { body: Buffer.from(TOO_LONG) });
      expect([response.status, error?.code]).toEqual([404, 'not_found']);
    });
  });

  describe('rotateWebhook', () => {
    test('gives another token and secret, while deliveries with the former ones are taken for a day', async () => {
      const member = await stage().newPerson();
      const client = stage().client(member);
      const { data: former } = await client.GET('/api/settings');
      const { data: rotated } = await client.POST('/api/webhooks/rotate');
      const { data: settings } = await client.GET('/api/settings');
      expect(settings).toEqual({
        ...former,
        webhookToken: rotated!.webhookToken,
        webhookSecret: rotated!.webhookSecret,
      });
      expect(Date.parse(rotated!.formerUntil) - Date.now()).toBeGreaterThan(86_000_000);
      const statusOf = async (token: string, secret: string) =>
        (await deliver('github', token, SIGNERS.github(secret))).response.status;
      const { webhookToken = '', webhookSecret = '' } = former!;
      expect(await statusOf(webhookToken, webhookSecret)).toBe(204);
      expect(await statusOf(rotated!.webhookToken, rotated!.webhookSecret)).toBe(204);
      // Each path has a secret of its own.
      expect(await statusOf(rotated!.webhookToken, webhookSecret)).toBe(401);
      expect(await statusOf(webhookToken, rotated!.webhookSecret)).toBe(401);
      await stage().server.database.updateTable('retired_webhooks').set({ expires_at: Date.now() }).execute();
      expect(await statusOf(webhookToken, webhookSecret)).toBe(404);
      expect(await statusOf(rotated!.webhookToken, rotated!.webhookSecret)).toBe(204);
    });

    test('gives each of two requests at once what holds or held', async () => {
      const member = await stage().newPerson();
      const client = stage().client(member);
      const rotate = async () => (await client.POST('/api/webhooks/rotate')).data!;
      for (const { webhookToken, webhookSecret } of await Promise.all([rotate(), rotate()])) {
        const { response } = await deliver('github', webhookToken, SIGNERS.github(webhookSecret));
        expect(response.status).toBe(204);
      }
    });
  });

  describe('ensureWebhook', () => {
    const settle = async (githubToken = GITHUB_TOKEN): Promise<Member> => {
      const member = await stage().newPerson();
      const body = { githubUrl: github.url, githubToken, githubUsername: 'mona' };
      await stage().client(member).PUT('/api/settings', { body });
      return member;
    };
    const ensure = async (member: Member, fullName = 'acme/shop', forge: ForgeName = 'github') => {
      const { error, response } = await stage()
        .client(member)
        .POST('/api/webhooks/ensure', { body: { forge, fullName } });
      return [response.status, error?.code];
    };

    test('has the forge deliver to the path and with the secret of the settings, once', async () => {
      const member = await settle();
      expect([await ensure(member), await ensure(member)]).toEqual([
        [204, undefined],
        [204, undefined],
      ]);
      const { data } = await stage().client(member).GET('/api/settings');
      const url = `${ORIGIN}/api/webhooks/github/${data!.webhookToken}`;
      const own = github.repositories[0]!.hooks.filter((hook) => hook.url === url);
      expect(own).toMatchObject([{ secret: data!.webhookSecret, active: true, contentType: 'json' }]);
    });

    test('replaces the former webhook after a rotation', async () => {
      const member = await settle();
      await ensure(member);
      const { hooks } = github.repositories[0]!;
      const count = hooks.length;
      const { data } = await stage().client(member).POST('/api/webhooks/rotate');
      expect(await ensure(member)).toEqual([204, undefined]);
      expect(hooks).toHaveLength(count);
      const url = `${ORIGIN}/api/webhooks/github/${data!.webhookToken}`;
      expect(hooks.at(-1)).toMatchObject({ url, secret: data!.webhookSecret, active: true });
    });

    test('is refused without a credential for the forge', async () => {
      expect(await ensure(await settle(), 'acme/shop', 'gitlab')).toEqual([400, 'invalid_input']);
    });

    test.each([
      ['the credential may not', 'acme/site', 403, 'permission'],
      ['the forge has no such repository', 'acme/nothing', 404, 'unknown'],
    ])('is refused when %s', async (_reason, fullName, status, code) => {
      expect(await ensure(await settle(), fullName)).toEqual([status, code]);
    });

    test('is refused while a request of the same key may be under way elsewhere', async () => {
      const client = stage().client(await settle());
      const request = {
        params: { header: { 'Idempotency-Key': 'one-of-its-own' } },
        body: { forge: 'github' as const, fullName: 'acme/shop' },
      };
      await client.POST('/api/webhooks/ensure', request);
      await stage().server.database.updateTable('replays').set({ claimed_at: Date.now() }).execute();
      const { error, response } = await client.POST('/api/webhooks/ensure', request);
      expect([response.status, error?.code]).toEqual([409, 'in_progress']);
    });

    test('is refused when the forge does not answer', async () => {
      github.failNext(() => 'reset', { path: /hooks/, times: 10 });
      expect(await ensure(await settle())).toEqual([502, 'unknown']);
    });
  });
}
