import { ageHeader, ageValue } from '../../secrets/age-files.js';
import type { ObjectBody, Stage } from './fixtures.js';

const UNKNOWN_ID = '6f1b2a0c-3d0e-4f9b-9a51-0d1c2b3a4e5f';

const toBytes = (value: string): Buffer => Buffer.from(value, 'base64');
const slugs = (objects: readonly { readonly slug: string }[] | undefined) => objects?.map(({ slug }) => slug);

/** Headers with conditions for a change. */
interface Conditions {
  readonly 'If-Match'?: string;
  readonly 'Idempotency-Key'?: string;
}

export function objectsTests(stage: () => Stage): void {
  const read = async (slug: string, { id, token = stage().token }: { id?: string; token?: string } = {}) => {
    const params = { path: { slug }, query: { ...(id && { id }) } };
    const init = { params, parseAs: 'arrayBuffer' } as const;
    const { data, response, error } = await stage().client({ token }).GET('/objects/{slug}', init);
    return { status: response.status, bytes: data && Buffer.from(data), response, error };
  };
  const update = (slug: string, body: ObjectBody, id?: string, header: Conditions = {}) => {
    const params = { path: { slug }, query: { ...(id && { id }) }, header };
    return stage()
      .client()
      .PUT('/objects/{slug}', { params, body: { value: ageValue(), ...body } });
  };
  const rename = (from: string, to: string, id?: string) => {
    const params = { path: { slug: from }, query: { ...(id && { id }) } };
    return stage()
      .client()
      .PATCH('/objects/{slug}', { params, body: { slug: to } });
  };
  const list = async (query: object) => (await stage().client().GET('/objects', { params: { query } })).data!;
  const addTwo = async () => {
    const slug = stage().newSlug();
    const first = await stage().addObject({ slug, used_by: ['web'], value: ageValue({ payload: 'web' }) });
    const second = await stage().addObject({ slug, used_by: ['db'], value: ageValue({ payload: 'db' }) });
    return { slug, first, second };
  };

  test('createObject returns metadata without times, and listObjects includes them', async () => {
    const slug = stage().newSlug();
    const body = {
      slug,
      value: ageValue({ recipients: 2 }),
      used_by: ['web-1', 'acme/shop', 'web-1'],
      tags: ['Prod', 'prod', 'db'],
      description: 'Opens the shop.',
      keep_readable_copy: true,
      rotate_after_days: 90,
      recipients: ['age1abc'],
    };
    const { data, response } = await stage().client().POST('/objects', { body });
    const known = {
      id: expect.any(String) as string,
      slug,
      etag: data?.etag,
      version: 1,
      tags: ['db', 'prod'],
      used_by: ['acme/shop', 'web-1'],
      description: 'Opens the shop.',
      rotate_after_days: 90,
      recipient_count: 2,
      recipients: ['age1abc'],
    };
    expect([response.status, data]).toEqual([201, { ...known, keep_readable_copy: true }]);
    expect(data?.etag).toBe(`"${data?.id}.1"`);
    const [listed] = await list({ slug });
    const actor = { type: 'token', id: expect.stringMatching(/^[0-9a-f]{16}$/) as string };
    const time = expect.any(String) as string;
    expect(listed).toEqual({
      ...known,
      ...{ created_at: time, updated_at: listed!.created_at, created_by: actor, updated_by: listed!.created_by },
      ...{ rotation_due: false, rotation_due_at: time },
    });
  });

  test('createObject: repeats the first response for the same Idempotency-Key', async () => {
    const body = { slug: stage().newSlug(), value: ageValue() };
    const create = () =>
      stage()
        .client()
        .POST('/objects', { params: { header: { 'Idempotency-Key': body.slug } }, body });
    const first = await create();
    expect(await create()).toMatchObject({ data: first.data, response: { status: 201 } });
    expect(await list({ slug: body.slug })).toHaveLength(1);
  });

  test('createObject creates a variant of an existing slug; returns 409 without unused consumers', async () => {
    const { slug } = await addTwo();
    const create = (used_by: string[]) =>
      stage()
        .client()
        .POST('/objects', { body: { slug, used_by, value: ageValue() } });
    expect((await create(['cache'])).response.status).toBe(201);
    for (const taken of [['web'], ['new', 'db'], []]) {
      const { response, error } = await create(taken);
      expect([response.status, error]).toMatchObject([409, { error: 'object already exists', code: 'conflict' }]);
    }
  });

  test('getObject returns the stored bytes', async () => {
    const value = ageValue({ payload: '\r\n\0é' });
    const { slug, id } = await stage().addObject({ value });
    const { status, bytes, response } = await read(slug);
    expect([status, bytes]).toEqual([200, toBytes(value)]);
    const { headers } = response;
    expect([headers.get('content-type'), headers.get('x-object-id')]).toEqual(['application/octet-stream', id]);
  });

  test('getObject requires an id if the slug has several variants', async () => {
    const { slug, first, second } = await addTwo();
    expect(await read(slug)).toMatchObject({ status: 409, error: { code: 'conflict', field: 'id' } });
    expect((await read(slug, { id: second.id })).bytes).toEqual(toBytes(ageValue({ payload: 'db' })));
    expect((await read(slug, { id: first.id.toUpperCase() })).bytes).toEqual(toBytes(ageValue({ payload: 'web' })));
    expect(await read(slug, { id: UNKNOWN_ID })).toMatchObject({ status: 404, error: { error: 'unknown object' } });
    expect(await read(slug, { id: 'first' })).toMatchObject({ status: 400, error: { field: 'id' } });
  });

  test('getObject returns only the variant of its consumer for a consumer token', async () => {
    const { slug, first, second } = await addTwo();
    const other = await stage().addObject({ used_by: ['cache'] });
    const token = await stage().consumerToken('web');
    expect((await read(slug, { token })).bytes).toEqual(toBytes(ageValue({ payload: 'web' })));
    expect((await read(slug, { token, id: first.id })).status).toBe(200);
    const refusals = await Promise.all([
      read(slug, { token, id: second.id }),
      read(other.slug, { token }),
      read('unknown', { token }),
    ]);
    for (const { status, error } of refusals) {
      expect([status, error]).toMatchObject([404, { error: 'unknown object', code: 'not_found' }]);
    }
  });

  test('updateObject replaces the value and the given fields', async () => {
    const { slug, id } = await stage().addObject({ used_by: ['web'], tags: ['prod'], rotate_after_days: 30 });
    const kept = await update(slug, { value: ageValue({ payload: 'second' }) });
    const etag = `"${id}.2"`;
    const same = { id, slug, etag, tags: ['prod'], used_by: ['web'], rotate_after_days: 30, recipient_count: 1 };
    expect([kept.response.status, kept.data]).toEqual([200, { ...same, version: 2 }]);
    expect((await read(slug)).bytes).toEqual(toBytes(ageValue({ payload: 'second' })));
    const cleared = await update(slug, { used_by: [], tags: [], rotate_after_days: null, keep_readable_copy: true });
    const bare = { id, slug, etag: `"${id}.3"`, tags: [], keep_readable_copy: true, recipient_count: 1 };
    expect(cleared.data).toEqual({ ...bare, version: 3 });
  });

  test('updateObject: returns 409 for a consumer of a different variant, and changes nothing', async () => {
    const { slug, first } = await addTwo();
    const { response, error } = await update(slug, { used_by: ['web', 'db'] }, first.id);
    expect([response.status, error?.code]).toEqual([409, 'conflict']);
    expect((await read(slug, { id: first.id })).bytes).toEqual(toBytes(ageValue({ payload: 'web' })));
    expect((await update(slug, {})).response.status).toBe(409);
    expect((await update('unknown', {})).response.status).toBe(404);
  });

  test('updateObject replaces only the value that If-Match names', async () => {
    const { slug, first, second } = await addTwo();
    const seen = (await read(slug, { id: first.id })).response.headers.get('etag')!;
    expect(seen).toBe(first.etag);
    const payload = async (id: string) => (await read(slug, { id })).bytes?.toString().slice(-3);
    const replace = (etag: string, value = ageValue({ payload: 'new' })) =>
      update(slug, { value }, first.id, { 'If-Match': etag });
    expect(await replace(second.etag!)).toMatchObject({ response: { status: 412 } });
    expect(await payload(first.id)).toBe('web');
    const replaced = await replace(`${second.etag}, ${seen}`);
    expect(replaced.response.status).toBe(200);
    const { response, error } = await replace(seen, ageValue({ payload: 'old' }));
    const refusal = {
      error: 'The secret was changed by another request; reload it.',
      code: 'precondition_failed',
      field: 'If-Match',
    };
    expect([response.status, error]).toMatchObject([412, refusal]);
    expect(await payload(first.id)).toBe('new');
    expect((await replace(`W/${replaced.data!.etag}`)).response.status).toBe(200);
    expect((await replace('*')).response.status).toBe(200);
  });

  test('renameObject and deleteObject change only the value that If-Match names', async () => {
    const { slug, etag } = await stage().addObject();
    await update(slug, {});
    const at = (tag: string) => ({ params: { path: { slug }, header: { 'If-Match': tag } } });
    const [client, renamed] = [stage().client(), { slug: stage().newSlug() }];
    const stale = await client.DELETE('/objects/{slug}', at(etag!));
    expect([stale.response.status, stale.error?.code]).toEqual([412, 'precondition_failed']);
    expect((await client.PATCH('/objects/{slug}', { ...at(etag!), body: renamed })).response.status).toBe(412);
    const [listed] = await list({ slug });
    expect((await client.DELETE('/objects/{slug}', at(listed!.etag!))).response.status).toBe(204);
  });

  test('renameObject changes labels without a new value, and rejects a request without a change', async () => {
    const { slug, first, second } = await addTwo();
    const [before] = await list({ slug, used_by: 'web' });
    const patch = (body: object) =>
      stage()
        .client()
        .PATCH('/objects/{slug}', { params: { path: { slug }, query: { id: first.id } }, body });
    const labels = { tags: ['Prod'], used_by: ['cron'], description: 'Opens the shop.', rotate_after_days: 9 };
    const { data } = await patch(labels);
    expect(data).toMatchObject({ ...labels, id: first.id, etag: first.etag, tags: ['prod'] });
    const [after] = await list({ slug, used_by: 'cron' });
    expect(after).toMatchObject({
      updated_at: before!.updated_at,
      updated_by: before!.updated_by,
      description: 'Opens the shop.',
    });
    expect((await patch({ used_by: ['db'], tags: [] })).response.status).toBe(409);
    expect((await patch({ description: null, rotate_after_days: null })).data).toEqual({
      ...first,
      ...{ tags: ['prod'], used_by: ['cron'] },
    });
    for (const [body, status] of [
      [{}, 400],
      [{ tags: ['a b'] }, 400],
      [{ description: 'x'.repeat(1001) }, 422],
    ] as const) {
      expect((await patch(body)).response.status).toBe(status);
    }
    expect(await update(slug, { description: 'New.' }, second.id)).toMatchObject({ data: { description: 'New.' } });
    const { data: entries } = await stage()
      .client()
      .GET('/audit-log', { params: { query: { object_id: slug } } });
    expect(entries?.map(({ action }) => action)).toEqual(['create', 'create', 'update', 'update', 'update']);
  });

  test('updateObject: returns 412 for the ETag of a deleted secret with the same slug', async () => {
    const { slug, etag } = await stage().addObject();
    await stage()
      .client()
      .DELETE('/objects/{slug}', { params: { path: { slug } } });
    await stage().addObject({ slug });
    expect((await update(slug, {}, undefined, { 'If-Match': etag! })).response.status).toBe(412);
  });

  test('updateObject, renameObject and deleteObject: repeat the first response for the same Idempotency-Key', async () => {
    const { slug } = await stage().addObject();
    const to = stage().newSlug();
    const [client, header] = [stage().client(), { 'Idempotency-Key': slug }];
    const at = { params: { path: { slug }, header } };
    const [first, again] = [await update(slug, {}, undefined, header), await update(slug, {}, undefined, header)];
    expect([first.response.status, again.data]).toEqual([200, first.data]);
    const renamed = () => client.PATCH('/objects/{slug}', { ...at, body: { slug: to } });
    expect([(await renamed()).response.status, (await renamed()).response.status]).toEqual([200, 200]);
    const removed = () => client.DELETE('/objects/{slug}', { params: { path: { slug: to }, header } });
    expect([(await removed()).response.status, (await removed()).response.status]).toEqual([204, 204]);
    const { data } = await client.GET('/audit-log', { params: { query: { object_id: to } } });
    expect(data?.map(({ action }) => action)).toEqual(['rename', 'delete']);
  });

  test('renameObject changes nothing except the slug', async () => {
    const { slug, id } = await stage().addObject({ used_by: ['web'], tags: ['prod'] });
    const [before] = await list({ slug });
    const to = stage().newSlug();
    const { data, response } = await rename(slug, to);
    expect([response.status, data]).toMatchObject([200, { id, slug: to, tags: ['prod'], used_by: ['web'] }]);
    expect(await list({ slug: to })).toEqual([{ ...before, slug: to }]);
    expect((await read(slug)).status).toBe(404);
    expect((await rename(slug, to)).response.status).toBe(404);
    expect((await rename(to, to)).response.status).toBe(200);
  });

  test('renameObject: returns 409 for a shared or missing consumer under the new slug', async () => {
    const { slug, first } = await addTwo();
    const [sharing, unused] = [await stage().addObject({ used_by: ['db'] }), await stage().addObject()];
    const apart = await stage().addObject({ used_by: ['cache'] });
    for (const from of [sharing, unused]) {
      expect(await rename(from.slug, slug)).toMatchObject({
        response: { status: 409 },
        error: { error: 'object already exists' },
      });
    }
    expect((await rename(first.slug, unused.slug, first.id)).response.status).toBe(409);
    expect((await rename(apart.slug, slug)).response.status).toBe(200);
    expect((await rename(slug, 'elsewhere')).response.status).toBe(409);
  });

  test('deleteObject deletes one variant', async () => {
    const { slug, first } = await addTwo();
    const remove = (id?: string) => {
      const params = { path: { slug }, query: { ...(id && { id }) } };
      return stage().client().DELETE('/objects/{slug}', { params });
    };
    expect((await remove()).response.status).toBe(409);
    expect((await remove(first.id)).response.status).toBe(204);
    expect((await remove(first.id)).response.status).toBe(404);
    expect((await read(slug)).bytes).toEqual(toBytes(ageValue({ payload: 'db' })));
  });

  test('getObjectUsedBy returns the consumers of the variant', async () => {
    const { slug, first } = await addTwo();
    const usedBy = async (id?: string) => {
      const params = { path: { slug }, query: { ...(id && { id }) } };
      return stage().client().GET('/objects/{slug}/used-by', { params });
    };
    expect((await usedBy(first.id)).data).toEqual({ used_by: ['web'] });
    expect((await usedBy()).response.status).toBe(409);
    expect((await usedBy(UNKNOWN_ID)).response.status).toBe(404);
  });

  test('listObjects returns the secrets that match all filters, in pages', async () => {
    const tag = `t-${stage().newSlug()}`;
    for (const used_by of [['web'], ['web'], ['db']]) await stage().addObject({ tags: [tag, 'x'], used_by });
    const all = await list({ tag: [tag] });
    expect(all).toHaveLength(3);
    expect(slugs(await list({ tag: [tag.toUpperCase(), 'x'], used_by: 'web' }))).toEqual(slugs(all.slice(0, 2)));
    const query = { tag: [tag], limit: 2, rotation_due: false };
    const { data, response } = await stage().client().GET('/objects', { params: { query } });
    expect([slugs(data), response.headers.get('x-total-count')]).toEqual([slugs(all.slice(0, 2)), '3']);
    const next = /^<\/secrets(.*)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1];
    expect(new URLSearchParams(next?.split('?')[1]).get('cursor')).not.toBe(null);
  });

  test.each([
    ['limit=501', 400, 'limit'],
    ['offset=-1', 400, 'offset'],
    ['tag=a%20b', 400, 'tag.0'],
    [`tag=${'x'.repeat(33)}`, 400, 'tag.0'],
    [`tag=${'x'.repeat(129)}`, 422, 'tag.0'],
    [Array.from({ length: 11 }, (_, index) => `tag=t${index}`).join('&'), 400, 'tag'],
    [`used_by=${'x'.repeat(129)}`, 422, 'used_by'],
    ['rotation_due=soon', 400, 'rotation_due'],
  ])('listObjects: rejects ?%s', async (query, status, field) => {
    const headers = { authorization: `Bearer ${stage().token}` };
    const response = await fetch(`${stage().server.url}/secrets/objects?${query}`, { headers });
    expect([response.status, await response.json()]).toMatchObject([status, { field }]);
  });

  const post = async (body: BodyInit, rest: object = {}) => {
    const headers = { authorization: `Bearer ${stage().token}`, 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body, ...rest };
    const response = await fetch(`${stage().server.url}/secrets/objects`, init);
    return [response.status, ((await response.json()) as { code?: string }).code];
  };

  test('createObject uses the last of two fields with the same name', async () => {
    const [slug, value] = [stage().newSlug(), JSON.stringify(ageValue())];
    expect(await post(`{"slug":"-","slug":"${slug}","value":"%","value":${value}}`)).toEqual([201, undefined]);
    expect(await post(`{"slug":"${slug}-2","slug":"-","value":${value}}`)).toEqual([400, 'invalid_input']);
    expect(slugs(await list({ slug }))).toEqual([slug]);
  });

  test('createObject accepts bodies of up to 1.5 MiB, with or without Content-Length', async () => {
    const MAX_BYTES = 1.5 * 1024 ** 2;
    const fill = (bytes: number): string => '{}'.padEnd(bytes);
    const inPieces = (text: string) => ({ body: new Blob([text]).stream(), duplex: 'half' });
    expect(await post(fill(MAX_BYTES))).toEqual([400, 'invalid_input']);
    expect(await post(fill(MAX_BYTES + 1))).toEqual([413, 'too_large']);
    expect(await post('', inPieces(fill(MAX_BYTES)))).toEqual([400, 'invalid_input']);
    expect(await post('', inPieces(fill(MAX_BYTES + 1)))).toEqual([413, 'too_large']);
  });

  describe('errors of the body, in the order in which they are checked', () => {
    const LIMIT = { used_by: Array.from({ length: 101 }, (_, index) => `c${index}`) };
    const BIG = { value: Buffer.alloc(1024 ** 2 + 1).toString('base64') };
    const toValue = (text: string) => ({ value: Buffer.from(text).toString('base64') });
    const TAGS = { tags: ['!'] };
    const order: readonly (readonly [string, object | string, number, string | undefined])[] = [
      ['malformed JSON', '{', 400, undefined],
      ['a field of the wrong type', { ...TAGS, value: 5 }, 400, 'value'],
      ['a list above its limit', { ...LIMIT, ...TAGS }, 422, 'used_by'],
      ['a missing value', TAGS, 400, 'value'],
      ['an empty value', { value: '', ...TAGS }, 400, 'value'],
      ['a value that is too large', { ...BIG, ...TAGS }, 413, 'value'],
      ['a value that is not base64', { value: '%%%', ...TAGS }, 422, 'value'],
      ['a value that is not an age file', { ...toValue('hello'), ...TAGS }, 422, 'value'],
      ['a value without a recipient', { ...toValue(ageHeader('')), ...TAGS }, 422, 'value'],
      ['an invalid tag', { value: ageValue(), ...TAGS }, 400, 'tags.0'],
    ];

    test.each(order)('createObject: %s', async (_reason, body, status, field) => {
      const { slug } = await stage().addObject();
      const sent = typeof body === 'string' ? body : JSON.stringify({ slug, ...body });
      const { error, response } = await stage()
        .client()
        .POST('/objects', { body: sent as never, bodySerializer: (text: unknown) => text as string });
      expect([response.status, error?.field]).toEqual([status, field]);
      expect(await list({ slug })).toHaveLength(1);
    });

    test.each([...order, ['an unknown slug', { value: ageValue() }, 404, undefined]] as const)(
      'updateObject: %s',
      async (_reason, body, status, field) => {
        const sent = typeof body === 'string' ? body : JSON.stringify(body);
        const params = { path: { slug: 'unknown' } };
        const init = { params, body: sent as never, bodySerializer: (text: unknown) => text as string };
        const { error, response } = await stage().client().PUT('/objects/{slug}', init);
        expect([response.status, error?.field]).toEqual([status, field]);
      },
    );
  });
}
