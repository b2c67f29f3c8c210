import { once } from 'node:events';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describeSigner, generateSigningKey, parseSigningKey, seal, signValue } from '../../../src/sealing/secrets.js';
import { eventually } from '../../eventually.js';
import { newName, openSecretsCli, type SecretsCli, type SecretsCommandResult } from './secrets-cli.js';

/** The machine of the writer, one that only reads, and an attacker's key. */
let cli: SecretsCli;
let writerHome: string;
let readerHome: string;
let writerKey: string;
const attacker = parseSigningKey(generateSigningKey());
let name: string;

/** Passes requests on to the service; an attacker who controls the server replaces its responses. */
let server: Server;
let url: string;
const replaced = new Map<string, Response>();
/** The paths of the requests so far. */
const requested: string[] = [];

beforeAll(async () => {
  cli = await openSecretsCli();
  [writerHome, readerHome] = [join(cli.folder, 'writer'), join(cli.folder, 'reader')];
  for (const home of [writerHome, readerHome]) await mkdir(home);
  server = createServer((request, response) => {
    requested.push(request.url ?? '');
    const target = `${new URL(cli.server).origin}${request.url ?? ''}`;
    const authorization = request.headers.authorization ?? '';
    const answer = replaced.get(request.url ?? '')?.clone() ?? fetch(target, { headers: { authorization } });
    void Promise.resolve(answer).then(async (found) => {
      const body = Buffer.from(await found.arrayBuffer());
      const headers = ['x-object-id', 'x-object-signature', 'etag', 'content-type'];
      for (const header of headers) response.setHeader(header, found.headers.get(header) ?? '');
      if (!found.headers.has('x-object-signature')) response.removeHeader('x-object-signature');
      response.writeHead(found.status).end(body);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/secrets`;
  const created = await writer('keygen');
  expect(created.code).toBe(0);
  writerKey = created.out.trim();
});
afterAll(async () => {
  server.close();
  await cli.close();
});
beforeEach(async () => {
  name = newName();
  replaced.clear();
});

const writer = (...args: string[]): Promise<SecretsCommandResult> => write(args);
const write = (args: readonly string[], stdin = ''): Promise<SecretsCommandResult> =>
  cli.run(args, { stdin, env: { HOME: writerHome } });
const reader = (...args: string[]): Promise<SecretsCommandResult> =>
  cli.run(args, { env: { HOME: readerHome, TRELLIS_SECRETS_SERVER: url } });

async function put(value = 'first', slug = name): Promise<void> {
  expect(await write(['put', slug, '--recipient', cli.recipient], value)).toMatchObject({ code: 0 });
}

async function rotate(value: string): Promise<void> {
  expect(await write(['rotate', name, '--recipient', cli.recipient], value)).toMatchObject({ code: 0 });
}

async function findObject(slug = name) {
  const [object] = (await cli.client.GET('/objects', { params: { query: { slug } } })).data ?? [];
  if (object === undefined) throw new Error(`No secret ${slug}.`);
  return { ...object, version: object.version ?? 0 };
}

const params = () => ({ path: { slug: name } });
const sealBait = () => seal('bait', [cli.recipient]);
const toBase64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

/** Reads a value as the reader does, after which it knows the writer and the number of the value. */
async function readOnce(value: string): Promise<void> {
  expect(await reader('get', name)).toMatchObject({ code: 0, out: value, err: '' });
}

test('audit --verify finds a signature that an attacker removed from the database', async () => {
  await put();
  expect((await cli.run(['audit', '--verify'])).code).toBe(0);
  const { id } = await findObject();
  const stored = cli.database.updateTable('secret_object_values').where('object_id', '=', id);
  await stored.set({ signature: null }).execute();
  const found = await cli.run(['audit', '--verify']);
  expect([found.code, found.err]).toEqual([
    1,
    expect.stringContaining(`${name} (${id}), version 1: its signature was removed or replaced`),
  ]);
  expect((await cli.run(['delete', name, '--yes'])).code).toBe(0);
});

describe('run --watch', () => {
  test('keeps the command running while a new value must not be used, and reports it once', async () => {
    await put();
    const [log, done] = [join(cli.folder, newName()), join(cli.folder, newName())];
    const script = `echo "$KEY" >> ${log}; while ! test -e ${done}; do sleep 0.05; done; exit 9`;
    const running = reader('run', '--watch', '1', '--secret', `KEY=${name}`, '--', 'sh', '-c', script);
    await eventually(async () => expect(await readFile(log, 'utf8')).toBe('first\n'));
    const reads = (): number => requested.filter((path) => path.startsWith(`/secrets/objects/${name}`)).length;
    const before = reads();
    await cli.client.PUT('/objects/{slug}', { params: params(), body: { value: toBase64(await sealBait()) } });
    // The second attempt begins after the first was rejected.
    await eventually(() => expect(reads()).toBeGreaterThanOrEqual(before + 2));
    expect(await readFile(log, 'utf8')).toBe('first\n');
    await rotate('third');
    await eventually(async () => expect(await readFile(log, 'utf8')).toBe('first\nthird\n'));
    await writeFile(done, '');
    const { code, err } = await running;
    expect(code).toBe(9);
    expect(err.split('A value has changed, but the command keeps running with the previous values').length).toBe(2);
    expect(err).toContain(`${name} is not signed by a trusted writer`);
    expect(err).toMatch(/\nA value has changed; the command is restarted\.\n$/);
  });
});

describe('a write token without a signing key', () => {
  test.each<[attack: string, run: () => Promise<unknown>, message: string]>([
    [
      'replaces the value',
      async () => cli.client.PUT('/objects/{slug}', { params: params(), body: { value: toBase64(await sealBait()) } }),
      'is not signed by a trusted writer',
    ],
    [
      'replaces the value with a signature of its own',
      async () => {
        const { id, version } = await findObject();
        const sealed = await sealBait();
        const signature = await signValue(attacker, { slug: name, id, version: version + 1, sealed });
        const body = { value: toBase64(sealed), signature };
        return cli.client.PUT('/objects/{slug}', { params: params(), body });
      },
      'is signed by a key that is not trusted',
    ],
    [
      'signs the value with a key of its own',
      async () => {
        const object = await findObject();
        const { bytes: sealed } = await cli.run(['get', name, '--sealed'], { env: { HOME: writerHome } });
        const signature = await signValue(attacker, { ...object, sealed });
        return cli.client.PATCH('/objects/{slug}', { params: params(), body: { signature } });
      },
      'is signed by a key that is not trusted',
    ],
    [
      'restores an older value',
      () =>
        cli.client.POST('/objects/{slug}/versions/{version}/restore', {
          params: { path: { slug: name, version: 1 } },
          body: {},
        }),
      'is not signed by a trusted writer',
    ],
    [
      'puts a different signed secret in its place',
      async () => {
        const other = newName();
        await put('other', other);
        await cli.client.DELETE('/objects/{slug}', { params: params() });
        const body = { slug: name };
        return cli.client.PATCH('/objects/{slug}', { params: { path: { slug: other } }, body });
      },
      'is wrong: it is for the name s-',
    ],
  ])('is rejected by the reader if it %s', async (_attack, attack, message) => {
    await put();
    await rotate('second');
    await readOnce('second');
    expect(await attack()).toMatchObject({ response: { status: 200 } });
    const { code, out, err } = await reader('get', name);
    expect([code, out]).toEqual([7, '']);
    expect(err).toContain(message);
  });

  test('stores no signature of a different value, number, name or variant', async () => {
    await put();
    const { id, version } = await findObject();
    const sealed = await sealBait();
    const value = { slug: name, id, version: version + 1, sealed };
    const send = async (change: Partial<typeof value>) => {
      const body = { value: toBase64(sealed), signature: await signValue(attacker, { ...value, ...change }) };
      return (await cli.client.PUT('/objects/{slug}', { params: params(), body })).response.status;
    };
    expect(await send({ sealed: Buffer.from('x') })).toBe(422);
    expect(await send({ slug: 'other' })).toBe(422);
    expect(await send({ id: '6f1b2a0c-3d0e-4f9b-9a51-0d1c2b3a4e5f' })).toBe(422);
    expect(await send({ version })).toBe(412);
    const edited = (await signValue(attacker, value)).replace(/time: 20../, 'time: 2001');
    const body = { value: toBase64(sealed), signature: edited };
    expect((await cli.client.PUT('/objects/{slug}', { params: params(), body })).response.status).toBe(422);
    expect(await send({})).toBe(200);
  });

  test('cannot create a secret with the id of a different one, even of a deleted one', async () => {
    await put();
    const { id } = await findObject();
    const create = async (slug: string, version = 1) => {
      const sealed = await sealBait();
      const signature = await signValue(attacker, { slug, id, version, sealed });
      const { response } = await cli.client.POST('/objects', { body: { slug, value: toBase64(sealed), signature } });
      return response.status;
    };
    expect(await create(newName())).toBe(409);
    expect(await create(newName(), 2)).toBe(422);
    await cli.client.DELETE('/objects/{slug}', { params: params() });
    expect(await create(name)).toBe(409);
  });
});

describe('write access to the database', () => {
  const values = () => cli.database.updateTable('secret_object_values');

  /** copies the current value of a second secret of the same writer, with its signature. */
  async function copyOther(): Promise<void> {
    const other = newName();
    await put('other', other);
    const source = cli.database.selectFrom('secret_object_values').select(['sealed', 'signature']);
    const row = await source.where('object_id', '=', (await findObject(other)).id).executeTakeFirstOrThrow();
    await values()
      .set(row)
      .where('object_id', '=', (await findObject()).id)
      .execute();
  }

  test.each<[attack: string, run: (id: string) => Promise<unknown>, message: string]>([
    [
      'edits the value',
      async (id) =>
        values()
          .set({ sealed: await sealBait() })
          .where('object_id', '=', id)
          .execute(),
      'is wrong: it is for a different value',
    ],
    [
      'puts an older value back',
      (id) => cli.database.updateTable('secret_objects').set({ version: 1 }).where('id', '=', id).execute(),
      'is an older value than the one used before',
    ],
    ['copies the value of a different secret', copyOther, 'is wrong: it is for the name s-'],
    [
      'removes the signature',
      (id) => values().set({ signature: null }).where('object_id', '=', id).execute(),
      'is not signed by a trusted writer',
    ],
    [
      'damages the signature',
      (id) => values().set({ signature: 'x' }).where('object_id', '=', id).execute(),
      'is wrong: it has an unknown format',
    ],
    [
      'signs with a different key',
      async (id) => {
        const sealed = await sealBait();
        const signature = await signValue(attacker, { slug: name, id, version: 2, sealed });
        await values().set({ sealed, signature }).where('object_id', '=', id).execute();
      },
      'is signed by a key that is not trusted',
    ],
    [
      'edits the value and deletes the log with all traces of it',
      async (id) => {
        await values()
          .set({ sealed: await sealBait() })
          .where('object_id', '=', id)
          .execute();
        for (const table of ['audit_pending', 'audit_checkpoints', 'audit_log', 'audit_head'] as const)
          await cli.database.deleteFrom(table).execute();
      },
      'is wrong: it is for a different value',
    ],
  ])('is found by the reader if an attacker %s', async (_attack, attack, message) => {
    await put();
    await rotate('second');
    await readOnce('second');
    await attack((await findObject()).id);
    for (const args of [
      ['get', name],
      ['run', '--secret', `V=${name}`, '--', 'true'],
      ['verify', name],
    ]) {
      const { code, out, err } = await reader(...args);
      expect([code, out + err]).toEqual([7, expect.stringContaining(args[0] === 'verify' ? 'rejected' : message)]);
    }
  });

  test('to the recorded recipients is found before a value is encrypted again', async () => {
    await put();
    const { id } = await findObject();
    const recipient = cli.recipient.replace(/.$/, (last) => (last === 'q' ? 'p' : 'q'));
    await cli.database.updateTable('secret_object_recipients').set({ recipient }).where('object_id', '=', id).execute();
    for (const args of [
      ['rotate', name, '--reseal'],
      ['verify', name],
    ]) {
      const { code, out, err } = await writer(...args);
      expect([code, out + err]).toEqual([7, expect.stringContaining('other recorded')]);
    }
  });
});

describe('a server that an attacker controls', () => {
  test('cannot return an older value, nor one of a deleted secret with the same name', async () => {
    const path = new URL(`${url}/objects/${name}`).pathname;
    const record = async () =>
      replaced.set(
        path,
        await fetch(`${cli.server}/objects/${name}`, { headers: { authorization: `Bearer ${cli.token}` } }),
      );
    await put('first');
    await record();
    const [first] = replaced.values();
    replaced.clear();
    await rotate('second');
    await readOnce('second');
    replaced.set(path, first!);
    expect(await reader('get', name)).toMatchObject({ code: 7, out: '' });
    replaced.clear();
    await cli.client.DELETE('/objects/{slug}', { params: params() });
    await put('third');
    await readOnce('third');
    replaced.set(path, first!);
    expect(await reader('get', name)).toMatchObject({
      code: 7,
      err: expect.stringContaining('is an older value') as string,
    });
  });

  test('can return an older value to a machine that has used no newer one', async () => {
    await put('first');
    await rotate('second');
    await cli.database
      .updateTable('secret_objects')
      .set({ version: 1 })
      .where('id', '=', (await findObject()).id)
      .execute();
    expect(await reader('get', name)).toMatchObject({ code: 0, out: 'first' });
  });
});

describe('signed values', () => {
  test('are read by name, template and map, and keep their signature when they are renamed, restored or edited', async () => {
    await put();
    await readOnce('first');
    const renamed = newName();
    expect(await writer('rename', name, renamed)).toMatchObject({ code: 0 });
    name = renamed;
    await readOnce('first');
    await rotate('second');
    await readOnce('second');
    expect(await writer('restore', name, '1')).toMatchObject({ code: 0 });
    await readOnce('first');
    const env = { HOME: writerHome, EDITOR: "sed -i 's/first/edited/'" };
    expect(await cli.run(['edit', name], { env })).toMatchObject({ code: 0 });
    await readOnce('edited');
    expect(await reader('get', name, '--at-version', '2')).toMatchObject({ code: 0, out: 'second' });
    const { version } = await findObject();
    expect(version).toBe(4);
  });

  test('may be replaced by an earlier value without a signature, which can be signed afterwards', async () => {
    const unsigned = { stdin: 'first', env: { HOME: readerHome } };
    expect(await cli.run(['put', name, '--consumer', cli.consumer], unsigned)).toMatchObject({ code: 0 });
    await rotate('second');
    const previous = await writer('get', name, '--at-version', '1');
    expect([previous.code, previous.err]).toEqual([
      7,
      expect.stringMatching(`\nIf the value is right, restore it, .*: trellis secrets restore ${name} 1\n$`),
    ]);
    const { code, err } = await writer('restore', name, '1');
    expect([code, err]).toEqual([0, expect.stringContaining(`Sign it: trellis secrets sign ${name}\n`)]);
    expect((await writer('get', name)).code).toBe(7);
    expect(await writer('sign', name, '--yes')).toMatchObject({ code: 0 });
    expect(await writer('get', name)).toMatchObject({ code: 0, out: 'first' });
  });

  test('are not expected of a restored value that was never signed', async () => {
    const unsigned = { stdin: 'first', env: { HOME: readerHome } };
    await cli.run(['put', name, '--consumer', cli.consumer], unsigned);
    await cli.run(['rotate', name], { ...unsigned, stdin: 'second' });
    expect(await writer('restore', name, '1')).toMatchObject({ code: 0 });
    expect(await writer('get', name)).toMatchObject({ code: 0, out: 'first' });
  });

  test('are signed when they are imported or stored encrypted', async () => {
    const imported = newName().replaceAll('-', '_');
    const consumer = ['--consumer', cli.consumer];
    const dotenv = ['import', '-', '--format', 'dotenv', ...consumer, '--replace'];
    const sealed = Buffer.from(await sealBait()).toString('latin1');
    for (const value of ['one', 'two']) {
      expect(await write(dotenv, `${imported}=${value}\n`)).toMatchObject({ code: 0 });
    }
    expect(await write(['put', name, '--sealed'], sealed)).toMatchObject({ code: 0 });
    expect(await write(['rotate', name, '--sealed'], sealed)).toMatchObject({ code: 0 });
    const { out } = await reader('verify', name, imported, '--json');
    expect(JSON.parse(out)).toMatchObject([
      { slug: name, version: 2, result: 'signed' },
      { slug: imported, version: 2, result: 'signed' },
    ]);
  });

  test('have their digest, recipients and the fingerprint of the signer in the audit log', async () => {
    await put();
    const { fingerprint } = await describeSigner(parseSigningKey(await readFile(signingKeyFile(), 'utf8')));
    const { data } = await cli.client.GET('/audit-log', { params: { query: { object_id: name } } });
    const recipients = [expect.stringMatching(/^SHA256:/) as string];
    expect(data).toMatchObject([{ action: 'create', value_version: 1, signer: fingerprint, recipients }]);
  });
});

const signingKeyFile = (): string => join(writerHome, '.config/trellis/signing-key');

describe('trusted writers', () => {
  test('are required for the names that they may sign, from the first read on', async () => {
    const key = join(cli.folder, 'writer.pub');
    await writeFile(key, `${writerKey} ada@example.org\n`);
    const prefix = `p${newName()}`;
    expect(await reader('writers', 'add', key, '--name', `${prefix}*`)).toMatchObject({ code: 0 });
    name = `${prefix}-db`;
    await cli.run(['put', name, '--recipient', cli.recipient], { stdin: 'unsigned' });
    expect(await reader('get', name)).toMatchObject({ code: 7, out: '' });
    expect(await reader('verify', name)).toMatchObject({ code: 7 });
    expect(await writer('sign', name)).toMatchObject({ code: 2, err: expect.stringContaining('--yes') as string });
    expect(await writer('sign', name, '--yes')).toMatchObject({ code: 0 });
    await readOnce('unsigned');
    expect((await reader('writers', 'list')).out).toContain(`${prefix}*`);
    expect(await reader('writers', 'remove', writerKey)).toMatchObject({ code: 0 });
    expect(await reader('writers', 'remove', writerKey)).toMatchObject({ code: 3 });
  });

  test('are replaced with --accept-key, after which the key is known', async () => {
    await put();
    await readOnce('first');
    const env = { HOME: join(cli.folder, 'second'), TRELLIS_SECRETS_SIGNING_KEY: generateSigningKey() };
    const { fingerprint } = await describeSigner(parseSigningKey(env.TRELLIS_SECRETS_SIGNING_KEY));
    await cli.run(['rotate', name, '--recipient', cli.recipient], { stdin: 'second', env });
    const refused = await reader('get', name);
    expect([refused.code, refused.err]).toEqual([7, expect.stringContaining(fingerprint)]);
    expect(await reader('get', name, '--accept-key', fingerprint)).toMatchObject({ code: 0, out: 'second' });
    await readOnce('second');
  });

  test('are required for all names with --require-signatures', async () => {
    await cli.run(['put', name, '--recipient', cli.recipient], { stdin: 'unsigned' });
    expect(await reader('get', name)).toMatchObject({ code: 0, out: 'unsigned' });
    expect(await reader('get', name, '--require-signatures')).toMatchObject({ code: 7, out: '' });
  });

  test('cause a warning if a machine without a key replaces a value', async () => {
    await put();
    const { code, err } = await cli.run(['rotate', name, '--reseal'], { env: { HOME: readerHome } });
    expect([code, err]).toEqual([0, expect.stringContaining(`${name} is stored without a signature`)]);
  });

  test('accept an older value with --accept-older', async () => {
    await put();
    await rotate('second');
    await readOnce('second');
    const { id } = await findObject();
    await cli.database.updateTable('secret_objects').set({ version: 1 }).where('id', '=', id).execute();
    expect(await reader('verify', name)).toMatchObject({ code: 7 });
    expect(await reader('verify', name, '--accept-older')).toMatchObject({ code: 0 });
    await readOnce('first');
  });
});

describe('keygen', () => {
  test('creates a private file once', async () => {
    expect((await stat(signingKeyFile())).mode & 0o777).toBe(0o600);
    expect(await writer('keygen')).toMatchObject({ code: 5, out: '' });
  });

  test('is followed by an error if the key is damaged, and stores nothing', async () => {
    const file = join(cli.folder, 'damaged');
    await writeFile(file, 'x', { mode: 0o600 });
    const env = { TRELLIS_SECRETS_SIGNING_KEY_FILE: file };
    const { code, err } = await cli.run(['put', name, '--recipient', cli.recipient], { stdin: 'x', env });
    expect([code, err]).toEqual([2, expect.stringContaining('without a passphrase; received something else')]);
    expect((await reader('get', name)).code).toBe(3);
    await rm(file);
  });
});
