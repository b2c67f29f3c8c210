import type { ForgeName } from '../../../src/dashboard/forges/forge.js';
import { forgejoDelivery } from '../../forges/forgejo.js';
import { githubRepository } from '../../forges/github-state.js';
import { githubDelivery, GITHUB_TOKEN, startGithub, type TestGithub } from '../../forges/github.js';
import { gitlabDelivery } from '../../forges/gitlab.js';
import type { SignedDelivery } from '../../forges/hooks.js';
import { ORIGIN } from '../contract-server.js';
import { documented } from '../contract.js';
import type { ExampleResponse, Member, Stage } from './fixtures.js';

const PAYLOADS = {
  github: { repository: { full_name: 'acme/shop' } },
  forgejo: { repository: { full_name: 'acme/shop' } },
  gitlab: { project: { path_with_namespace: 'acme/shop' } },
};

const SIGNERS: Readonly<Record<ForgeName, (secret: string) => SignedDelivery>> = {
  github: (secret) => githubDelivery(secret, PAYLOADS.github),
  forgejo: (secret) => forgejoDelivery(secret, PAYLOADS.forgejo),
  gitlab: (secret) => gitlabDelivery(secret, PAYLOADS.gitlab),
};

const FORGES = Object.keys(SIGNERS) as ForgeName[];

const TOO_LARGE = 'x'.repeat(5 * 1024 ** 2 + 1);

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
    const member = await stage().addUser();
    const { data } = await stage().client(member).GET('/api/settings');
    return { token: data!.webhookToken!, secret: data!.webhookSecret! };
  };
  const deliver = (
    forge: ForgeName,
    token: string,
    { body, headers }: Partial<SignedDelivery>,
  ): Promise<ExampleResponse> => {
    const operation = documented.find(({ spec }) => spec.path === `/api/webhooks/${forge}/{webhookToken}`)!;
    return stage().send(operation, {}, { path: { webhookToken: token }, headers, text: body?.toString() ?? '' });
  };

  describe.each(FORGES)('a delivery from %s', (forge) => {
    test('is accepted', async () => {
      const { token, secret } = await receive();
      expect((await deliver(forge, token, SIGNERS[forge](secret))).response.status).toBe(204);
    });

    test.each<[string, number, string, (secret: string) => Partial<SignedDelivery>]>([
      ['signed with a wrong secret', 401, 'unauthenticated', () => SIGNERS[forge]('wrong')],
      ['without a signature', 401, 'unauthenticated', (secret) => ({ body: SIGNERS[forge](secret).body })],
      ['without a body', 400, 'malformed_body', (secret) => ({ headers: SIGNERS[forge](secret).headers })],
      ['with a body that is too large', 413, 'too_large', () => ({ body: Buffer.from(TOO_LARGE) })],
      [
        'as a form',
        415,
        'unsupported_media_type',
        (secret) => ({
          ...SIGNERS[forge](secret),
          headers: { ...SIGNERS[forge](secret).headers, 'content-type': 'application/x-www-form-urlencoded' },
        }),
      ],
    ])('%s is rejected with %i', async (_reason, status, code, make) => {
      const { token, secret } = await receive();
      const { response, error } = await deliver(forge, token, make(secret));
      expect([response.status, error?.code]).toEqual([status, code]);
    });

    test('to an unknown path is rejected, whatever its length', async () => {
      const { response, error } = await deliver(forge, 'x'.repeat(22), { body: Buffer.from(TOO_LARGE) });
      expect([response.status, error?.code]).toEqual([404, 'not_found']);
    });
  });

  describe('rotateWebhook', () => {
    test('returns a new token and secret, and accepts deliveries with the former ones for a day', async () => {
      const member = await stage().addUser();
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
      // Each path has its own secret.
      expect(await statusOf(rotated!.webhookToken, webhookSecret)).toBe(401);
      expect(await statusOf(webhookToken, rotated!.webhookSecret)).toBe(401);
      await stage().server.database.updateTable('retired_webhooks').set({ expires_at: Date.now() }).execute();
      expect(await statusOf(webhookToken, webhookSecret)).toBe(404);
      expect(await statusOf(rotated!.webhookToken, rotated!.webhookSecret)).toBe(204);
    });

    test('returns valid credentials to both of two concurrent requests', async () => {
      const member = await stage().addUser();
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
      const member = await stage().addUser();
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

    test('creates one webhook with the path and secret of the settings', async () => {
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

    test('returns 400 without a credential for the forge', async () => {
      expect(await ensure(await settle(), 'acme/shop', 'gitlab')).toEqual([400, 'invalid_input']);
    });

    test.each([
      ['the credential lacks permission', 'acme/site', 403, 'permission'],
      ['the forge has no such repository', 'acme/nothing', 404, 'unknown'],
    ])('returns an error if %s', async (_reason, fullName, status, code) => {
      expect(await ensure(await settle(), fullName)).toEqual([status, code]);
    });

    test('returns 409 while a request with the same idempotency key may be in progress', async () => {
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

    test('returns 502 if the forge does not respond', async () => {
      github.failNext(() => 'reset', { path: /hooks/, times: 10 });
      expect(await ensure(await settle())).toEqual([502, 'unknown']);
    });
  });
}
