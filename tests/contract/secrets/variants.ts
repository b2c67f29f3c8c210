/** Tests how operations on one secret select a variant, and which details of the request their audit entries record. */
import { ageValue } from '../../secrets/age-files.js';
import { secretsContract } from '../contract.js';
import type { Stage } from './fixtures.js';

const ABSENT_ID = '00000000-0000-4000-8000-000000000000';

export function variantsTests(stage: () => Stage): void {
  async function send(method: string, path: string, headers: Readonly<Record<string, string>> = {}) {
    const body = { PUT: { value: ageValue() }, PATCH: { slug: stage().newSlug() } }[method];
    const response = await fetch(`${stage().server.url}/secrets${path}`, {
      method,
      headers: { authorization: `Bearer ${stage().token}`, 'content-type': 'application/json', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isError = response.headers.get('content-type')?.startsWith('application/json') && response.status >= 400;
    return { status: response.status, ...(isError && (JSON.parse(text) as { error: string; field?: string })) };
  }

  const ON_ONE = secretsContract.documented
    .filter(({ spec }) => spec.path.startsWith('/objects/{slug}') && !spec.path.includes('{version}'))
    .map(({ id, spec }) => [id, spec.method.toUpperCase(), spec.path] as const);

  test.each(ON_ONE)('%s requires the id of a variant if the slug has several', async (_id, method, path) => {
    const slug = stage().newSlug();
    const first = await stage().addObject({ slug, used_by: ['web'] });
    await stage().addObject({ slug, used_by: ['db'] });
    const other = await stage().addObject();
    const ask = (query = '') => send(method, path.replace('{slug}', slug) + query);
    expect(await ask()).toMatchObject({ status: 409, field: 'id' });
    expect(await ask('?id=web')).toMatchObject({ status: 400, field: 'id' });
    for (const id of [ABSENT_ID, other.id]) {
      expect(await ask(`?id=${id}`)).toMatchObject({ status: 404, error: 'unknown object' });
    }
    expect((await ask(`?id=${first.id.toUpperCase()}`)).status).toBeLessThan(300);
  });

  test('listObjects returns each variant of a slug, oldest first', async () => {
    const slug = stage().newSlug();
    const first = await stage().addObject({ slug, used_by: ['web'] });
    const second = await stage().addObject({ slug, used_by: ['db'] });
    const { data } = await stage()
      .client()
      .GET('/objects', { params: { query: { limit: 500 } } });
    const found = data!.filter((object) => object.slug === slug);
    expect(found.map(({ id, used_by }) => [id, used_by])).toEqual([
      [first.id, ['web']],
      [second.id, ['db']],
    ]);
  });

  test('An audit entry records the address of the peer regardless of headers, and the name that the client gave itself', async () => {
    const { slug } = await stage().addObject();
    const claims = { 'X-Forwarded-For': '203.0.113.9', Forwarded: 'for=203.0.113.9', 'X-Caller': 'acme/deploy' };
    await send('GET', `/objects/${slug}`, claims);
    const { data } = await stage()
      .client()
      .GET('/audit-log', { params: { query: { object_id: slug, order: 'desc', limit: 1 } } });
    expect(data).toMatchObject([{ action: 'read', ip: '127.0.0.1', caller: 'acme/deploy', actor_type: 'token' }]);
  });

  test.each([
    ['accepts an X-Caller of 128 characters', { 'X-Caller': 'x'.repeat(128) }, 200],
    ['rejects an X-Caller of 129 characters', { 'X-Caller': 'x'.repeat(129) }, 422],
  ])('getObject %s', async (_behaviour, headers, status) => {
    const { slug } = await stage().addObject();
    expect((await send('GET', `/objects/${slug}`, headers)).status).toBe(status);
  });

  test.each([
    ['/audit-log?limit=501', 400],
    ['/audit-log?after=-1', 400],
    ['/audit-log?order=up', 400],
    ['/audit-log?from=yesterday', 400],
    [`/audit-log?from=${'2'.repeat(65)}`, 422],
    [`/audit-log?caller=${'x'.repeat(129)}`, 422],
    [`/audit-log?actor=${'x'.repeat(129)}`, 422],
    ['/consumers?page=0', 400],
    ['/consumers?page_size=101', 400],
    [`/consumers?q=${'x'.repeat(129)}`, 422],
    ['/consumer-tokens?limit=501', 400],
    ['/consumer-tokens?offset=-1', 400],
  ])('Lists reject parameters outside their limits: %s', async (path, status) => {
    expect((await send('GET', path)).status).toBe(status);
  });
}
