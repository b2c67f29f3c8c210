import * as oauth from 'oauth4webapi';
import type { components } from '../../../src/generated/secrets/types.js';
import { AUDIENCE, type OidcProvider, startOidcProvider } from '../../secrets/oidc-provider.js';
import { recorder, type Stage } from './fixtures.js';

type Rule = components['schemas']['PutWorkloadRuleRequest'];

export function workloadIdentityTests(stage: () => Stage): void {
  let provider: OidcProvider;
  beforeAll(async () => {
    provider = await startOidcProvider();
  });
  afterAll(() => provider.close());

  const owner = () => stage().client(stage().owner);

  const put = (name: string, rule: Partial<Rule> = {}) =>
    owner().PUT('/workload-rules/{name}', {
      params: { path: { name } },
      body: {
        ...{ issuer: provider.issuer, audience: AUDIENCE, consumer: 'acme/job' },
        claims: [{ name: 'repository', patterns: [`acme/${name}`] }],
        ...rule,
      },
    });

  const exchange = async (repository: string, claims: object = {}) =>
    stage()
      .client({})
      .POST('/auth/token', {
        body: {
          grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
          subject_token: await provider.issue({ claims: { repository, ...claims } }),
          subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
        },
      });

  test('putWorkloadRule: stores a rule, which listWorkloadRules returns', async () => {
    const claims = [
      { name: 'repository', patterns: ['acme/one', 'acme/two'] },
      { name: 'ref', patterns: ['refs/heads/release/*'] },
    ];
    const access = { permissions: ['list' as const], name_prefix: 'shop-', tags: ['prod'], addresses: ['10.0.0.0/8'] };
    const rule = { claims, access, ttl_seconds: 60, single_use: true };
    const { data } = await put('stored', { ...rule, consumer: undefined });
    expect(data).toEqual({
      ...{ name: 'stored', issuer: provider.issuer, audience: AUDIENCE, ...rule },
      created_at: expect.any(String) as string,
    });
    const { data: all, response } = await owner().GET('/workload-rules');
    expect(all).toContainEqual(data);
    expect(response.headers.get('x-total-count')).toBe(String(all?.length));
  });

  test('putWorkloadRule: rejects an invalid rule', async () => {
    const { error, response } = await put('invalid', { claims: [{ name: 'sub', patterns: ['**'] }] });
    expect([response.status, error?.code, error?.field]).toEqual([400, 'invalid_input', 'claims']);
    const long = await put('invalid', { audience: 'a'.repeat(257) });
    expect(long.response.status).toBe(422);
  });

  test('deleteWorkloadRule: deletes a rule and ends its tokens', async () => {
    await put('deleted');
    const { data } = await exchange('acme/deleted');
    const client = stage().client({ token: data!.access_token });
    expect((await client.GET('/objects')).response.status).toBe(200);
    const params = { path: { name: 'deleted' } };
    expect((await owner().DELETE('/workload-rules/{name}', { params })).response.status).toBe(204);
    expect((await client.GET('/objects')).response.status).toBe(401);
    expect((await owner().DELETE('/workload-rules/{name}', { params })).error?.code).toBe('not_found');
  });

  test('exchangeToken: issues a token, which is listed with its rule and cannot be rotated', async () => {
    await put('job');
    await stage().addObject({ slug: 'of-job', used_by: ['acme/job'] });
    const { data } = await exchange('acme/job');
    expect(data).toEqual({
      access_token: expect.stringMatching(/^trc_/) as string,
      issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      ...{ token_type: 'Bearer', expires_in: 900, rule: 'job' },
    });
    const { data: secrets } = await stage().client({ token: data!.access_token }).GET('/objects');
    expect(secrets?.map(({ slug }) => slug)).toEqual(['of-job']);
    const { data: tokens } = await owner().GET('/consumer-tokens', { params: { query: { limit: 500 } } });
    const issued = tokens!.filter(({ rule }) => rule === 'job');
    expect(issued).toMatchObject([{ consumer: 'acme/job', allowed_actions: ['revoke'] }]);
    const id = issued[0]!.id;
    const rotated = await owner().POST('/consumer-tokens/{id}/rotate', { params: { path: { id } }, body: {} });
    expect(rotated.error?.code).toBe('not_found');
    const query = { subject_type: 'consumer_token', order: 'desc', limit: 1 } as const;
    const { data: entries } = await owner().GET('/audit-log', { params: { query } });
    expect(entries).toMatchObject([
      {
        ...{ action: 'create', subject_id: id, rule: 'job' },
        ...{ token_issuer: provider.issuer, token_subject: 'repo:acme/shop:ref:refs/heads/main' },
      },
    ]);
  });

  test('exchangeToken: a foreign client gets a token by the form of RFC 8693', async () => {
    await put('form');
    const token_endpoint = `${stage().server.url.replace('http:', 'https:')}/secrets/auth/token`;
    const server = { issuer: AUDIENCE, token_endpoint };
    const client = { client_id: 'ci' };
    const subject_token = await provider.issue({ claims: { repository: 'acme/form' } });
    const response = await oauth.genericTokenEndpointRequest(
      server,
      client,
      oauth.None(),
      'urn:ietf:params:oauth:grant-type:token-exchange',
      { subject_token, subject_token_type: 'urn:ietf:params:oauth:token-type:jwt' },
      {
        // The client requires https.
        [oauth.customFetch]: (url: string, init: RequestInit) =>
          recorder.fetch(new Request(url.replace('https:', 'http:'), init)),
      },
    );
    const issued = await oauth.processGenericTokenEndpointResponse(server, client, response);
    expect(issued).toMatchObject({ access_token: expect.stringMatching(/^trc_/) as string, rule: 'form' });
  });

  test('exchangeToken: 400 for an invalid token, 403 for other claims, 409 for several rules', async () => {
    await put('one', { claims: [{ name: 'repository', patterns: ['acme/both'] }] });
    await put('two', { claims: [{ name: 'repository', patterns: ['acme/both'] }] });
    const codes = [];
    for (const made of [
      await exchange('acme/both', { aud: 'https://other.example' }),
      await exchange('acme/none'),
      await exchange('acme/both'),
    ]) {
      codes.push([made.response.status, made.error?.code]);
    }
    expect(codes).toEqual([
      [400, 'invalid_input'],
      [403, 'forbidden'],
      [409, 'conflict'],
    ]);
  });

  test('exchangeToken: 503 while the issuer is away', async () => {
    const other = await startOidcProvider();
    await put('away', { issuer: other.issuer });
    const subject_token = await other.issue({ claims: { repository: 'acme/away' } });
    await other.close();
    const { error, response } = await stage()
      .client({})
      .POST('/auth/token', {
        body: {
          grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
          ...{ subject_token, subject_token_type: 'urn:ietf:params:oauth:token-type:jwt' },
        },
      });
    expect([response.status, error?.code]).toEqual([503, 'unavailable']);
    expect(error?.error).toContain('could not be reached');
  });
}
