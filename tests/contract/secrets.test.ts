import { createSecretsClient } from '../../src/generated/secrets/client.js';
import type { SecretsClient } from '../../src/generated/secrets/client.js';
import { startContractServer } from './contract-server.js';
import type { ContractServer } from './contract-server.js';
import { ageValue } from '../secrets/age-files.js';

let server: ContractServer;
let owner: Awaited<ReturnType<ContractServer['addPerson']>>;
let token: string;
let secrets: SecretsClient;

beforeEach(async () => {
  server = await startContractServer();
  owner = await server.addPerson('ada');
  token = await server.issueToken('write', owner.person);
  secrets = client(token);
});
afterEach(() => server.close());

function client(credential: string): SecretsClient {
  return createSecretsClient(`${server.url}/secrets`, { token: credential, retry: { maxRetries: 0 } });
}

const START = Date.parse('2026-05-01T08:00:00Z');

/** Adds objects as the owner, a second apart. */
async function seed(...objects: readonly { slug: string; tags?: string[]; usedBy?: string[] }[]): Promise<void> {
  const caller = await server.accounts.sessions.findCaller(owner.cookie.split('=')[1]!);
  for (const [index, object] of objects.entries()) {
    const origin = { caller, callerName: 'acme/deploy', ip: '192.0.2.7', at: START + index * 1_000 };
    await server.objects.create({ value: ageValue(), ...object }, origin);
  }
}

const slugs = (objects: readonly { readonly slug: string }[] | undefined) => objects?.map(({ slug }) => slug);

describe('getHealth and getReadiness', () => {
  test('answer anybody', async () => {
    expect((await client('').GET('/healthz')).data).toEqual({ status: 'ok', version: '1.2.3', environment: 'test' });
    expect((await client('').GET('/readyz')).data).toEqual({ status: 'ok' });
  });

  test('say when the server is told to stop', async () => {
    server.readiness.stop();
    const { response, error } = await client('').GET('/readyz');
    expect([response.status, error]).toEqual([503, { status: 'unavailable' }]);
  });

  test('are refused to a client that takes no JSON', async () => {
    expect((await client('').GET('/healthz', { headers: { accept: 'text/html' } })).response.status).toBe(406);
  });
});

describe('getAuthStatus', () => {
  test('says whether anybody owns the service', async () => {
    expect((await client('').GET('/auth/status')).data).toEqual({ bootstrapped: true });
    await server.database.deleteFrom('people').execute();
    expect((await client('').GET('/auth/status')).data).toEqual({ bootstrapped: false });
  });

  test('is refused to a client that takes no JSON', async () => {
    expect((await client('').GET('/auth/status', { headers: { accept: 'text/html' } })).response.status).toBe(406);
  });
});

describe('getIdentity', () => {
  test('gives the first key that was set', async () => {
    expect((await secrets.GET('/auth/identity')).data).toEqual({});
    const origin = { caller: 'machine', ip: 'x', at: START } as const;
    await server.owner.setKeys({ publicKey: 'age1first' }, origin);
    await server.owner.setKeys({ publicKey: 'age1second' }, origin);
    expect((await secrets.GET('/auth/identity')).data).toEqual({ public_key: 'age1first' });
  });
});

describe('every operation on stored data', () => {
  const paths = ['/auth/identity', '/objects', '/consumers', '/audit-log'] as const;

  test.each(paths)('refuses anybody without a credential: %s', async (path) => {
    const { error, response } = await client('').GET(path);
    expect([response.status, error?.code]).toEqual([401, 'unauthenticated']);
  });

  test.each(paths)('refuses a consumer token like an unknown one: %s', async (path) => {
    const consumer = await server.issueToken('consumer', owner.person);
    expect((await client(consumer).GET(path)).response.status).toBe(401);
  });

  test.each(paths)('refuses a personal token: %s', async (path) => {
    const personal = await server.issueToken('personal', owner.person);
    expect((await client(personal).GET(path)).response.status).toBe(401);
  });

  test.each(paths)('takes the session of the owner, and of nobody else: %s', async (path) => {
    const bob = await server.addPerson('bob');
    const get = (cookie: string) => fetch(`${server.url}/secrets${path}`, { headers: { cookie } });
    expect([(await get(owner.cookie)).status, (await get(bob.cookie)).status]).toEqual([200, 403]);
  });
});

describe('listObjects', () => {
  test('answers metadata by slug, each consumer and tag once', async () => {
    await seed(
      { slug: 'zeta' },
      { slug: 'Alpha', tags: ['Prod', 'prod', 'db'], usedBy: ['web-1', 'acme/shop', 'web-1'] },
    );
    const { data, response } = await secrets.GET('/objects');
    expect(slugs(data)).toEqual(['Alpha', 'zeta']);
    expect(data![0]).toMatchObject({
      tags: ['db', 'prod'],
      used_by: ['acme/shop', 'web-1'],
      created_at: '2026-05-01T08:00:01.000Z',
      updated_at: '2026-05-01T08:00:01.000Z',
      created_by: { type: 'session', id: 'admin' },
    });
    expect(data![1]).not.toHaveProperty('used_by');
    expect([response.headers.get('x-total-count'), response.headers.get('link')]).toEqual(['2', null]);
  });

  test('answers only what every filter lets through', async () => {
    await seed(
      { slug: 'a', tags: ['prod', 'db'], usedBy: ['web'] },
      { slug: 'b', tags: ['prod'], usedBy: ['web'] },
      { slug: 'c', tags: ['prod', 'db'] },
    );
    const list = async (query: object) => slugs((await secrets.GET('/objects', { params: { query } })).data);
    expect(await list({ tag: ['PROD', 'db'] })).toEqual(['a', 'c']);
    expect(await list({ used_by: 'web' })).toEqual(['a', 'b']);
    expect(await list({ used_by: 'web', tag: ['db'] })).toEqual(['a']);
  });

  test('leads from page to page', async () => {
    await seed(...['a', 'b', 'c', 'd', 'e'].map((slug) => ({ slug, tags: ['x'] })));
    const found: string[] = [];
    let next: string | undefined = '/secrets/objects?limit=2&tag=x';
    while (next !== undefined) {
      const response: Response = await fetch(server.url + next, { headers: { authorization: `Bearer ${token}` } });
      found.push(...slugs((await response.json()) as { slug: string }[])!);
      expect(response.headers.get('x-total-count')).toBe('5');
      next = /^<(.*)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1];
    }
    expect(found).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  test.each([
    ['limit=501', 400, 'limit'],
    ['limit=0', 400, 'limit'],
    ['offset=-1', 400, 'offset'],
    ['tag=a%20b', 400, 'tag.0'],
    [Array.from({ length: 11 }, (_, index) => `tag=t${index}`).join('&'), 400, 'tag'],
    [`used_by=${'x'.repeat(129)}`, 422, 'used_by'],
  ])('is refused for ?%s', async (query, status, field) => {
    const response = await fetch(`${server.url}/secrets/objects?${query}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect([response.status, await response.json()]).toMatchObject([status, { field }]);
  });
});

describe('listConsumers', () => {
  beforeEach(async () => {
    await seed({ slug: 'a', usedBy: ['web', 'Älg'] }, { slug: 'b', usedBy: ['web'] });
    await secrets.POST('/consumers', { body: { name: 'new-host', public_key: 'age1host' } });
  });

  test('answers plain names without a parameter, or with an empty one', async () => {
    const names = ['new-host', 'web', 'Älg'];
    expect((await secrets.GET('/consumers')).data).toEqual(names);
    expect((await secrets.GET('/consumers', { params: { query: { q: '' } } })).data).toEqual(names);
  });

  test('answers a page with one', async () => {
    const { data, response } = await secrets.GET('/consumers', { params: { query: { page_size: 2 } } });
    expect(data).toEqual({
      consumers: [
        { name: 'new-host', secret_count: 0, public_key: 'age1host' },
        { name: 'web', secret_count: 2 },
      ],
      total: 3,
    });
    expect(response.headers.get('link')).toBe('</secrets/consumers?page_size=2&page=2>; rel="next"');
  });

  test('finds part of a name in either case', async () => {
    expect((await secrets.GET('/consumers', { params: { query: { q: 'äL' } } })).data).toMatchObject({ total: 1 });
    expect((await secrets.GET('/consumers', { params: { query: { q: '%' } } })).data).toEqual({
      consumers: [],
      total: 0,
    });
  });

  test('is refused for a page that is none', async () => {
    const { response } = await secrets.GET('/consumers', { params: { query: { page: 0 } } });
    expect(response.status).toBe(400);
  });
});

describe('queryAuditLog', () => {
  beforeEach(() => seed({ slug: 'a' }, { slug: 'b' }, { slug: 'c' }));

  const query = async (parameters: object) => {
    const { data, response } = await secrets.GET('/audit-log', { params: { query: parameters } });
    return {
      ids: data?.map(({ id }) => id),
      total: response.headers.get('x-total-count'),
      link: response.headers.get('link'),
    };
  };

  test('answers what happened, and who did it', async () => {
    const { data } = await secrets.GET('/audit-log', { params: { query: { object_id: 'b' } } });
    expect(data).toEqual([
      {
        id: 2,
        object_id: 'b',
        subject_type: 'object',
        variant_id: expect.any(String) as string,
        action: 'create',
        timestamp: '2026-05-01T08:00:01.000Z',
        ip: '192.0.2.7',
        caller: 'acme/deploy',
        actor_type: 'session',
        actor_id: 'admin',
      },
    ]);
  });

  test.each([
    [{ caller: 'acme/deploy' }, [1, 2, 3]],
    [{ caller: 'someone' }, []],
    [{ actor: 'admin' }, [1, 2, 3]],
    [{ actor: 'none' }, []],
    [{ from: '2026-05-01T08:00:01Z' }, [2, 3]],
    [{ to: '2026-05-01T10:00:01+02:00' }, [1]],
    [{ order: 'desc' }, [3, 2, 1]],
    [{ order: 'desc', after: 3 }, [2, 1]],
    [{ after: 2 }, [3]],
  ])('answers %j with entries %j', async (parameters, ids) => {
    expect((await query(parameters)).ids).toEqual(ids);
  });

  test('leads to the next page behind its last entry', async () => {
    expect(await query({ limit: 2 })).toEqual({
      ids: [1, 2],
      total: '3',
      link: '</secrets/audit-log?limit=2&order=asc&after=2>; rel="next"',
    });
  });

  test.each([{ from: 'yesterday' }, { order: 'up' }, { after: -1 }])('is refused for %j', async (parameters) => {
    expect((await secrets.GET('/audit-log', { params: { query: parameters as never } })).response.status).toBe(400);
  });
});
