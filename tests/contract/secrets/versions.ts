import { generateSigningKey, parseSigningKey, readSignatureHeader, signValue } from '../../../src/sealing/secrets.js';
import { ageValue } from '../../secrets/age-files.js';
import type { Stage } from './fixtures.js';

const signer = parseSigningKey(generateSigningKey());

export function versionsTests(stage: () => Stage): void {
  const put = (slug: string, payload: string) => {
    const body = { value: ageValue({ payload }) };
    return stage()
      .client()
      .PUT('/objects/{slug}', { params: { path: { slug } }, body });
  };
  const listVersions = (slug: string) =>
    stage()
      .client()
      .GET('/objects/{slug}/versions', { params: { path: { slug } } });
  const readVersion = async (slug: string, version: number) => {
    const init = { params: { path: { slug, version } }, parseAs: 'text' } as const;
    const { data, response } = await stage().client().GET('/objects/{slug}/versions/{version}', init);
    return { status: response.status, text: data };
  };
  const restore = (slug: string, version: number, body?: { signature: string }) => {
    const params = { path: { slug, version } };
    return stage().client().POST('/objects/{slug}/versions/{version}/restore', { params, body });
  };
  const addRotated = async () => {
    const { slug } = await stage().addObject({ value: ageValue({ payload: 'v1' }), used_by: ['web'] });
    await put(slug, 'v2');
    await put(slug, 'v3');
    return slug;
  };

  test('listObjectVersions returns the previous values, newest first', async () => {
    const slug = await addRotated();
    const { data, response } = await listVersions(slug);
    expect(data?.map(({ version }) => version)).toEqual([2, 1]);
    expect(data?.[1]).toMatchObject({
      created_by: { type: 'token' },
      replaced_by: { type: 'token' },
      recipient_count: 1,
    });
    expect(response.headers.get('x-total-count')).toBe('2');
  });

  test('getObjectVersion returns previous values only', async () => {
    const slug = await addRotated();
    expect(await readVersion(slug, 1)).toEqual({
      status: 200,
      text: Buffer.from(ageValue({ payload: 'v1' }), 'base64').toString(),
    });
    expect((await readVersion(slug, 3)).status).toBe(404);
    expect((await readVersion(slug, 9)).status).toBe(404);
  });

  test('restoreObjectVersion makes a previous value the current one', async () => {
    const slug = await addRotated();
    const { data, response } = await restore(slug, 1);
    expect([response.status, data]).toMatchObject([200, { slug, used_by: ['web'] }]);
    expect((await listVersions(slug)).data?.map(({ version }) => version)).toEqual([3, 2, 1]);
    expect((await readVersion(slug, 3)).text).toContain('v3');
    expect((await restore(slug, 9)).response.status).toBe(404);
  });

  test('restoreObjectVersion stores a signature of the restored value with its new number', async () => {
    const slug = await addRotated();
    const { data: [{ id } = { id: '' }] = [] } = await stage()
      .client()
      .GET('/objects', { params: { query: { slug } } });
    const sealed = Buffer.from(ageValue({ payload: 'v1' }), 'base64');
    const sign = (change = {}) => signValue(signer, { slug, id, version: 4, sealed, ...change });
    expect((await restore(slug, 1, { signature: await sign({ version: 3 }) })).response.status).toBe(412);
    expect((await restore(slug, 2, { signature: await sign() })).response.status).toBe(422);
    expect((await restore(slug, 1, { signature: 'x' })).response.status).toBe(422);
    const signature = await sign();
    expect((await restore(slug, 1, { signature })).response.status).toBe(200);
    const init = { params: { path: { slug } }, parseAs: 'text' } as const;
    const { response } = await stage().client().GET('/objects/{slug}', init);
    expect(readSignatureHeader(response.headers)).toBe(signature);
    const list = async (query: { signatures?: boolean }) => {
      const { data: [object] = [] } = await stage()
        .client()
        .GET('/objects', { params: { query: { slug, ...query } } });
      return object?.signature;
    };
    expect([await list({}), await list({ signatures: false }), await list({ signatures: true })]).toEqual([
      undefined,
      undefined,
      signature,
    ]);
    await put(slug, 'v5');
    expect((await listVersions(slug)).data?.map((each) => each.signature)).toEqual([
      signature,
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('deleteObjectVersions destroys one or all previous values, and records each', async () => {
    const slug = await addRotated();
    const destroy = async (query: { version?: number }) => {
      const params = { path: { slug }, query };
      return (await stage().client().DELETE('/objects/{slug}/versions', { params })).response.status;
    };
    const numbers = async () => (await listVersions(slug)).data?.map(({ version }) => version);
    expect([await destroy({ version: 3 }), await destroy({ version: 9 })]).toEqual([404, 404]);
    await put(slug, 'v4');
    expect([await destroy({ version: 2 }), await numbers()]).toEqual([204, [3, 1]]);
    expect([(await readVersion(slug, 2)).status, (await restore(slug, 2)).response.status]).toEqual([404, 404]);
    expect([await destroy({}), await numbers(), await destroy({})]).toEqual([204, [], 204]);
    expect(
      (
        await stage()
          .client()
          .GET('/objects/{slug}', { params: { path: { slug } }, parseAs: 'text' })
      ).data,
    ).toContain('v4');
    const { data: entries = [] } = await stage()
      .client()
      .GET('/audit-log', { params: { query: { object_id: slug } } });
    const deleted = entries.filter(({ action }) => action === 'delete');
    expect(deleted.map(({ version, actor_type }) => [version, actor_type])).toEqual(
      [2, 1, 3].map((each) => [each, 'token']),
    );
    const { data: verified } = await stage()
      .client()
      .GET('/audit-log/verify', { params: { query: { full: true } } });
    expect([verified?.intact, verified?.values?.altered]).toEqual([true, []]);
    await put(slug, 'v5');
    expect(await numbers()).toEqual([4]);
  });

  test('Operations on versions require an id if the slug has several variants', async () => {
    const slug = stage().newSlug();
    for (const consumer of ['web', 'db']) await stage().addObject({ slug, used_by: [consumer] });
    expect((await listVersions(slug)).response.status).toBe(409);
    expect((await readVersion(slug, 1)).status).toBe(409);
    expect((await restore(slug, 1)).response.status).toBe(409);
    const destroyed = await stage()
      .client()
      .DELETE('/objects/{slug}/versions', { params: { path: { slug } } });
    expect(destroyed.response.status).toBe(409);
    expect((await listVersions('unknown')).response.status).toBe(404);
  });
}
