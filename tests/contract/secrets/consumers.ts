import { toFingerprint } from '../../../src/sealing/secrets.js';
import { sendRaw } from '../../server/raw-request.js';
import type { Stage } from './fixtures.js';

const KEY = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p';
const OTHER_KEY = 'age1lggyhqrw2nlhcxprm67z43rta597azn8gknawjehu9d9dl0jq3yqqvfafg';

export function consumersTests(stage: () => Stage): void {
  const client = () => stage().client();
  let count = 0;
  const newName = () => `acme/consumer-${(count += 1)}`;
  const at = (name: string) => ({ params: { path: { name } } });
  const update = (name: string, body: { name?: string; public_key?: string }) =>
    client().PATCH('/consumers/{name}', { ...at(name), body });
  /** Replaces a public key in the session of the owner. */
  const replaceKey = (name: string, publicKey: string) =>
    stage()
      .client(stage().owner)
      .PATCH('/consumers/{name}', { ...at(name), body: { public_key: publicKey } });
  const names = async () => (await client().GET('/consumers')).data as string[];
  const entry = async (name: string) => {
    const { data } = await client().GET('/consumers', { params: { query: { q: name, page_size: 100 } } });
    return (data as { consumers: { name: string }[] }).consumers.find((found) => found.name === name);
  };
  const usedBy = async (slug: string, id: string) => {
    const { data } = await client().GET('/objects/{slug}/used-by', { params: { path: { slug }, query: { id } } });
    return data!.used_by;
  };
  /** Lists the audit entries about a consumer, oldest first. */
  const listEntries = async (name: string) => {
    const { data } = await client().GET('/audit-log', { params: { query: { subject_type: 'consumer', limit: 500 } } });
    const own = data!.filter(({ subject_id }) => subject_id === name);
    return own.map(({ action, previous_slug }) => [action, previous_slug].filter(Boolean).join(' '));
  };

  test('are those that were added and those that secrets name, without duplicates', async () => {
    const [added, named] = [newName(), newName()];
    await client().POST('/consumers', { body: { name: added, public_key: KEY } });
    await stage().addObject({ used_by: [added, named, named] });
    await stage().addObject({ used_by: [named] });
    const all = await names();
    expect(all.filter((name) => name === added || name === named)).toHaveLength(2);
    expect(all).toEqual([...all].sort());
    expect(await entry(added)).toEqual({ name: added, secret_count: 1, public_key: KEY });
    expect(await entry(named)).toEqual({ name: named, secret_count: 2 });
  });

  test('are listed as names without parameters, and as pages with one', async () => {
    await client().POST('/consumers', { body: { name: newName() } });
    expect(Array.isArray((await client().GET('/consumers', { params: { query: { q: '' } } })).data)).toBe(true);
    const query = { page: 1, page_size: 1 };
    const { data, response } = await client().GET('/consumers', { params: { query } });
    const { consumers, total } = data as { consumers: unknown[]; total: number };
    expect([consumers.length, total]).toEqual([1, (await names()).length]);
    expect(response.headers.get('x-total-count')).toBe(String(total));
    expect(response.headers.get('link')).toBe('</secrets/consumers?page=2&page_size=1>; rel="next"');
  });

  test('are found by a literal part of their name, regardless of case', async () => {
    await client().POST('/consumers', { body: { name: 'Älg_%' } });
    const find = async (q: string) =>
      ((await client().GET('/consumers', { params: { query: { q } } })).data as { total: number }).total;
    expect([await find('äLG'), await find('_%'), await find('%%')]).toEqual([1, 1, 0]);
  });

  test('cannot be added twice', async () => {
    const name = newName();
    const added = await client().POST('/consumers', { body: { name, public_key: '' } });
    expect([added.response.status, added.data]).toEqual([201, { name, secret_count: 0 }]);
    const again = await client().POST('/consumers', { body: { name } });
    expect([again.response.status, again.error?.error]).toEqual([409, 'consumer already exists']);
    const used = newName();
    await stage().addObject({ used_by: [used] });
    expect((await client().POST('/consumers', { body: { name: used } })).response.status).toBe(409);
  });

  test('are renamed in all secrets and tokens', async () => {
    const [from, to] = [newName(), newName()];
    const object = await stage().addObject({ used_by: [from, 'other'] });
    const token = await stage().consumerToken(from);
    await update(from, { public_key: KEY });
    const { data } = await update(from, { name: to });
    expect(data).toEqual({ name: to, secret_count: 1, public_key: KEY });
    expect(await names()).not.toContain(from);
    expect(await usedBy(object.slug, object.id)).toEqual([to, 'other'].sort());
    const read = await stage()
      .client({ token })
      .GET('/objects/{slug}', { params: { path: { slug: object.slug } }, parseAs: 'arrayBuffer' });
    expect(read.response.status).toBe(200);
    expect(await listEntries(to)).toEqual([`rename ${from}`]);
  });

  test.each([
    ['the public key of the new name wins', KEY, OTHER_KEY, OTHER_KEY],
    ['the public key of the old name is used if the new one has none', KEY, undefined, KEY],
  ])('are merged when they are renamed to an existing name: %s', async (_what, own, others, kept) => {
    const [from, to] = [newName(), newName()];
    const shared = await stage().addObject({ used_by: [from, to] });
    await stage().addObject({ used_by: [from] });
    await update(from, { public_key: own });
    if (others !== undefined) await update(to, { public_key: others });
    const { data } = await update(from, { name: to });
    expect(data).toEqual({ name: to, secret_count: 2, public_key: kept });
    expect(await usedBy(shared.slug, shared.id)).toEqual([to]);
    expect((await listEntries(to)).at(-1)).toBe(`merge ${from}`);
  });

  test('are not merged when they belong to different variants of a slug', async () => {
    const [from, to, slug] = [newName(), newName(), stage().newSlug()];
    const own = await stage().addObject({ slug, used_by: [from] });
    const other = await stage().addObject({ slug, used_by: [to] });
    await update(from, { public_key: KEY });
    const { response, error } = await update(from, { name: to, public_key: OTHER_KEY });
    expect([response.status, error?.code]).toEqual([409, 'conflict']);
    expect([await usedBy(slug, own.id), await usedBy(slug, other.id)]).toEqual([[from], [to]]);
    expect(await entry(from)).toMatchObject({ public_key: KEY });
    expect(await listEntries(to)).toEqual([]);
  });

  test('can replace their public key, but not remove it', async () => {
    const name = newName();
    expect((await update(name, { public_key: KEY })).data).toEqual({ name, secret_count: 0, public_key: KEY });
    expect((await replaceKey(name, OTHER_KEY)).data).toMatchObject({ public_key: OTHER_KEY });
    expect((await update(name, { public_key: '', name: '' })).response.status).toBe(400);
    expect((await update(name, { public_key: OTHER_KEY })).data).toMatchObject({ public_key: OTHER_KEY });
    expect(await listEntries(name)).toEqual(['create', 'update']);
    const { data } = await client().GET('/audit-log', { params: { query: { subject_type: 'consumer', limit: 500 } } });
    const [created, replaced] = data!.filter(({ subject_id }) => subject_id === name);
    expect([created?.key, created?.previous_key]).toEqual([await toFingerprint(KEY), undefined]);
    expect([replaced?.key, replaced?.previous_key]).toEqual([await toFingerprint(OTHER_KEY), await toFingerprint(KEY)]);
  });

  test.each<[string, (name: string) => Promise<unknown>]>([
    ['an update', async () => undefined],
    ['deleting the consumer and adding it again', (name) => client().DELETE('/consumers/{name}', at(name))],
    ['renaming the consumer and adding the name again', (name) => update(name, { name: newName() })],
  ])('keep their public key from a write token, also by %s', async (_how, prepare) => {
    const name = newName();
    await client().POST('/consumers', { body: { name, public_key: KEY } });
    await prepare(name);
    for (const { response, error } of [
      await update(name, { public_key: OTHER_KEY }),
      ...((await names()).includes(name)
        ? []
        : [await client().POST('/consumers', { body: { name, public_key: OTHER_KEY } })]),
    ]) {
      expect([response.status, error?.code, error?.field]).toEqual([403, 'session_required', 'public_key']);
    }
    const source = newName();
    await client().POST('/consumers', { body: { name: source, public_key: OTHER_KEY } });
    if (!(await names()).includes(name)) {
      expect((await update(source, { name })).error?.code).toBe('session_required');
    }
    expect((await update(name, { public_key: KEY })).data).toMatchObject({ public_key: KEY });
    expect((await replaceKey(name, OTHER_KEY)).data).toMatchObject({ public_key: OTHER_KEY });
  });

  test('are renamed before their public key is set', async () => {
    const [from, to] = [newName(), newName()];
    await client().POST('/consumers', { body: { name: from } });
    expect((await update(from, { name: to, public_key: KEY })).data).toMatchObject({ name: to, public_key: KEY });
    const unknown = await update(from, { name: newName(), public_key: KEY });
    expect([unknown.response.status, unknown.error?.error]).toEqual([404, 'unknown consumer']);
  });

  test('are renamed and deleted once for repeated requests with one Idempotency-Key', async () => {
    const [from, to] = [newName(), newName()];
    await client().POST('/consumers', { body: { name: from } });
    const header = { 'Idempotency-Key': from };
    const rename = () =>
      client().PATCH('/consumers/{name}', { params: { path: { name: from }, header }, body: { name: to } });
    expect([(await rename()).response.status, (await rename()).response.status]).toEqual([200, 200]);
    const remove = () => client().DELETE('/consumers/{name}', { params: { path: { name: to }, header } });
    expect([(await remove()).response.status, (await remove()).response.status]).toEqual([204, 204]);
    expect(await listEntries(to)).toEqual([`rename ${from}`, 'delete']);
  });

  test('are removed from all secrets when they are deleted, and their tokens are revoked', async () => {
    const name = newName();
    const object = await stage().addObject({ used_by: [name] });
    const token = await stage().consumerToken(name);
    expect((await client().DELETE('/consumers/{name}', at(name))).response.status).toBe(204);
    expect(await usedBy(object.slug, object.id)).toEqual([]);
    expect(await names()).not.toContain(name);
    expect(await listEntries(name)).toEqual(['delete']);
    const { data } = await client().GET('/consumer-tokens', { params: { query: { limit: 500 } } });
    expect(data!.find(({ consumer }) => consumer === name)).toMatchObject({ status: 'revoked' });
    const path = { slug: object.slug };
    expect((await stage().client({ token }).GET('/objects/{slug}', { params: { path } })).response.status).toBe(401);
    expect((await client().DELETE('/consumers/{name}', at(name))).response.status).toBe(404);
  });

  describe('with unusual names', () => {
    const send = (method: string, path: string, body?: object) =>
      fetch(`${stage().server.url}/secrets/consumers/${path}`, {
        method,
        headers: { authorization: `Bearer ${stage().token}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });

    test.each([
      ['a slash, encoded or not', 'acme%2Fslash', 'acme/slash'],
      ['a full-width slash, which is a different name', 'acme%EF%BC%8Fslash', 'acme／slash'],
      ['letters that look alike', '%D0%B0cme/slash', 'аcme/slash'],
      ['a decomposed letter', 'cafe%CC%81', 'cafe\u0301'],
      ['the same letter composed', 'caf%C3%A9', 'caf\u00e9'],
      ['dots that are not alone', 'a..b/...', 'a..b/...'],
      ['the characters of a query and fragment', 'a%3Fq=1%23x', 'a?q=1#x'],
      ['an escape of an escape', 'a%252Fb', 'a%2Fb'],
    ])('are accepted exactly as written: %s', async (_what, path, name) => {
      expect((await send('PATCH', path, { public_key: KEY })).status).toBe(200);
      expect(await entry(name)).toEqual({ name, secret_count: 0, public_key: KEY });
      expect((await send('DELETE', path)).status).toBe(204);
      expect(await entry(name)).toBeUndefined();
    });

    test.each([
      ['.. at the start', '%2e%2e%2fobjects', 400],
      ['.. in the middle', 'a%2F%2e%2e%2Fb', 400],
      ['an empty segment', 'a%2F%2Fb', 400],
      ['a slash at the end', 'a%2F', 400],
      ['NUL', 'a%00b', 400],
      ['invalid UTF-8', 'a%ffb', 400],
      ['a line break', 'a%0ab', 400],
      ['a direction mark', 'a%E2%80%AEb', 400],
      ['white space around', '%20a', 400],
      ['more than 128 characters', 'a'.repeat(129), 422],
    ])('are rejected for %s', async (_what, path, status) => {
      const before = await names();
      expect((await send('PATCH', path, { public_key: KEY })).status).toBe(status);
      expect(await names()).toEqual(before);
    });

    // These requests use a raw connection, because fetch normalises paths.
    test.each(['../objects', 'a/../../objects', '%2e%2e/tokens', './x'])(
      'do not resolve path segments: %s',
      async (path) => {
        const before = await names();
        const head = ['Host: x', `Authorization: Bearer ${stage().token}`, 'Connection: close'].join('\r\n');
        const { status, body } = await sendRaw(
          stage().server.port,
          `DELETE /secrets/consumers/${path} HTTP/1.1\r\n${head}\r\n\r\n`,
        );
        expect([status, body]).toMatchObject([404, { error: 'unknown consumer' }]);
        expect(await names()).toEqual(before);
      },
    );

    test('are limited in characters, not bytes', async () => {
      const name = '😀'.repeat(128);
      expect((await client().POST('/consumers', { body: { name } })).response.status).toBe(201);
      expect((await client().DELETE('/consumers/{name}', at(name))).response.status).toBe(204);
    });

    test.each(['..', 'a/../b', 'a//b', '\u0000', 'a\u200b', ' a'])(
      'are rejected on creation and renaming: %j',
      async (name) => {
        const from = newName();
        await client().POST('/consumers', { body: { name: from } });
        expect((await update(from, { name })).response.status).toBe(400);
        expect((await client().POST('/consumers', { body: { name } })).response.status).toBe(400);
      },
    );

    test.each([
      ['rot13', 'something else'],
      ['AGE1', 'something else'],
      ['age1 x', 'something else'],
      ['AGE-SECRET-KEY-1QQ', 'an identity, which must stay secret'],
      ['age1x', 'a damaged one'],
      [KEY.replace(/.$/, 'q'), 'a damaged one'],
      [KEY.slice(0, -1), 'a damaged one'],
      ['ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ', 'an SSH key, which clients of this service cannot encrypt to'],
      ['age1yubikey1q2w7u3vpya839jxxuq8g0sedh3d740d4xvn639sqhr95ejj8vu3hyfumptt', 'a key of an age plugin'],
    ])('have no public key that clients cannot use: %s', async (key, reason) => {
      const { response, error } = await update(newName(), { public_key: key });
      expect([response.status, error?.field]).toEqual([400, 'public_key']);
      expect(error?.error).toContain(`; received ${reason}`);
    });
  });
}
