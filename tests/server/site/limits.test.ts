import { serveTrellis, type TrellisServer } from '../../client/trellis-server.js';

let server: TrellisServer;
afterEach(() => server.close());

const start = async (flags: Readonly<Record<string, string>>): Promise<void> => {
  server = await serveTrellis({ flags: { services: 'site,dashboard', watch: 'false', trustProxy: '1', ...flags } });
};

const ask = (query: string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${server.url}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ query }),
  });

const limitsOf = ({ headers }: Response) => [
  headers.get('ratelimit-limit'),
  headers.get('ratelimit-remaining'),
  headers.get('ratelimit-policy'),
];

/** Links to an image in each of these widths, none of which exists yet. */
async function findImages(widths: readonly number[], headers: Readonly<Record<string, string>> = {}) {
  const fields = widths.map((width) => `w${width}: resize(width: ${width}) { src }`).join(' ');
  const response = await ask(`{ imageProc { ${fields} } }`, headers);
  const { data } = (await response.json()) as { data: { imageProc: Record<string, { src: string }> } };
  return Object.values(data.imageProc).map(({ src }) => server.url + src);
}

describe('the limit of requests to the site', () => {
  test('counts queries and pages of one address together', async () => {
    await start({ siteRateLimit: '3' });
    expect(limitsOf(await ask('{ __typename }'))).toEqual(['3', '2', '3;w=60']);
    expect(limitsOf(await fetch(`${server.url}/site`))).toEqual(['3', '1', '3;w=60']);
    const page = await fetch(`${server.url}/graphql`, { headers: { Accept: 'text/html' } });
    expect([page.status, ...limitsOf(page)]).toEqual([200, '3', '0', '3;w=60']);
    const refused = await fetch(`${server.url}/site`);
    expect([refused.status, refused.headers.get('cache-control')]).toEqual([429, 'no-store']);
    expect(await refused.json()).toMatchObject({ code: 'rate_limited' });
  });

  test('rejects a query with a GraphQL error and the time to wait', async () => {
    await start({ siteRateLimit: '1' });
    await ask('{ __typename }');
    const refused = await ask('{ __typename }');
    expect(refused.status).toBe(429);
    expect(limitsOf(refused)).toEqual(['1', '0', '1;w=60']);
    expect(refused.headers.get('retry-after')).toBe(refused.headers.get('ratelimit-reset'));
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refused.json()).toEqual({
      errors: [
        {
          message: expect.stringMatching(
            /^Rate limit exceeded: at most 1 requests per minute\. Retry in \d+ s\.$/,
          ) as string,
          extensions: { code: 'rate_limited', requestId: refused.headers.get('x-request-id') },
        },
      ],
    });
    const get = await fetch(`${server.url}/graphql?query={__typename}`);
    expect(get.status).toBe(429);
  });

  test('counts each address separately, and an IPv6 network as one', async () => {
    await start({ siteRateLimit: '1' });
    const statusFrom = async (address: string) => (await ask('{ __typename }', { 'X-Forwarded-For': address })).status;
    expect(await statusFrom('203.0.113.1')).toBe(200);
    expect(await statusFrom('203.0.113.1')).toBe(429);
    expect(await statusFrom('203.0.113.2')).toBe(200);
    expect(await statusFrom('2001:db8::1')).toBe(200);
    expect(await statusFrom('2001:db8::2')).toBe(429);
    expect(await statusFrom('2001:db8:0:1::1')).toBe(200);
  });

  test('counts requests before it checks the credential', async () => {
    await start({ siteRateLimit: '1', siteAccess: 'people' });
    expect((await ask('{ __typename }')).status).toBe(401);
    expect((await ask('{ __typename }')).status).toBe(429);
  });

  test('does not count health checks, scripts and files', async () => {
    await start({ siteRateLimit: '1' });
    const document = await (await fetch(`${server.url}/site`)).text();
    expect((await fetch(`${server.url}/site`)).status).toBe(429);
    const [, script = ''] = /src="(\/pages\/assets\/[^"]+\.js)"/.exec(document) ?? [];
    for (const path of ['/healthz', '/readyz', script]) {
      expect([path, (await fetch(server.url + path)).status]).toEqual([path, 200]);
    }
  });

  test('is turned off together with all other limits', async () => {
    await start({ siteRateLimit: '1', imageRateLimit: '1', rateLimit: '0' });
    for (const url of await findImages([31, 32])) {
      const image = await fetch(url);
      expect([image.status, image.headers.get('ratelimit-limit')]).toEqual([200, null]);
    }
  });
});

describe('the limit of generated images', () => {
  const IMMUTABLE = 'public, max-age=31536000, immutable';

  test('counts the images that do not exist yet, and serves those that do', async () => {
    await start({ imageRateLimit: '2' });
    const [first = '', second = '', third = ''] = await findImages([41, 42, 43]);
    // A shared cache would send the counts of one client to others.
    for (const url of [first, second]) {
      const { status, headers } = await fetch(url);
      expect([status, headers.get('cache-control'), headers.get('ratelimit-limit')]).toEqual([200, IMMUTABLE, null]);
    }
    const refused = await fetch(third);
    expect([refused.status, refused.headers.get('cache-control')]).toEqual([429, 'no-store']);
    expect(refused.headers.get('retry-after')).toBe(refused.headers.get('ratelimit-reset'));
    expect(await refused.json()).toMatchObject({
      error: expect.stringMatching(
        /^Rate limit exceeded: at most 2 generated images per minute\. Retry in \d+ s\.$/,
      ) as string,
    });
    for (const url of [first, second, first]) {
      const image = await fetch(url);
      expect([image.status, image.headers.get('ratelimit-limit')]).toEqual([200, null]);
    }
    const elsewhere = await fetch(third, { headers: { 'X-Forwarded-For': '203.0.113.9' } });
    expect(elsewhere.status).toBe(200);
    expect((await fetch(third)).status).toBe(200);
  });
});
