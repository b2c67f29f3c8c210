import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createCredentialsLoader } from '../../../src/storage/objects/aws-credentials.js';
import type { ObjectInfo, ObjectStore } from '../../../src/storage/objects/object-store.js';
import { createS3Client } from '../../../src/storage/objects/s3-client.js';
import { parseS3Url } from '../../../src/storage/objects/s3-location.js';
import { createS3Store } from '../../../src/storage/objects/s3-store.js';
import { BUCKET, errorDocument, type Fault, type S3TestServer, startS3Server } from './s3-server.js';

let server: S3TestServer;
let store: ObjectStore;
const stores: ObjectStore[] = [];

beforeAll(async () => {
  server = await startS3Server();
  store = openStore();
});
afterEach(() => {
  server.fault = undefined;
  server.requests.length = 0;
});
afterAll(async () => {
  await Promise.all(stores.map((each) => each.close()));
  await server.close();
});

function openStore(url = `s3://${BUCKET}/trellis/a%20b`, changes: Record<string, string> = {}): ObjectStore {
  const env = { ...server.env, ...changes };
  const opened = createS3Store(createS3Client(parseS3Url(url, env), createCredentialsLoader(env)));
  stores.push(opened);
  return opened;
}

async function read(key: string, options?: Parameters<ObjectStore['get']>[1]): Promise<Buffer | undefined> {
  const found = await store.get(key, options);
  if (found === undefined) return undefined;
  const chunks: Uint8Array[] = [];
  for await (const chunk of found.body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function listAll(listed: ObjectStore, prefix = ''): Promise<object[]> {
  const objects: object[] = [];
  for await (const object of listed.list(prefix)) objects.push(object);
  return objects;
}

const digestOf = (content: Uint8Array) => createHash('sha256').update(content).digest('hex');
const like = (text: RegExp) => expect.stringMatching(text) as string;

/** Injects a fault into the next requests. */
function fail(count: number, fault: Fault): void {
  server.requests.length = 0;
  server.fault = (_line, number) => (number <= count ? fault : undefined);
}

describe('object store', () => {
  test('stores, finds, reads in part, lists and deletes objects below the prefix only', async () => {
    const content = randomBytes(100_000);
    const key = "images/0a/it's (50%) + ü&<>.webp";
    await openStore(`s3://${BUCKET}`).put('trellis/a bc', Buffer.from('not below the prefix'));
    expect(await store.put(key, content)).toBe(true);
    const info = { key, bytes: 100_000, sha256: digestOf(content) };
    expect(await store.head(key)).toMatchObject(info);
    expect(await read(key)).toEqual(content);
    expect(await read(key, { range: { start: 10, end: 19 } })).toEqual(content.subarray(10, 20));
    expect(await read(key, { range: { start: 99_990 } })).toEqual(content.subarray(99_990));
    expect(await listAll(store)).toMatchObject([{ key, bytes: 100_000 }]);
    await store.delete(key);
    await store.delete(key);
    expect(await store.head(key)).toBeUndefined();
    expect(await read(key)).toBeUndefined();
  });

  test('continues a list of several pages', async () => {
    const page = (key: string, rest: string) => {
      const contents = `<Contents><Key>trellis/a b/${key}</Key><Size>1</Size></Contents>`;
      return { status: 200, body: `<ListBucketResult>${contents}${rest}</ListBucketResult>` };
    };
    // s3rver can't create its tokens with this version of Node.js.
    server.fault = (line) =>
      line.includes('continuation-token=a+/=')
        ? page('b &amp; c', '<IsTruncated>false</IsTruncated>')
        : page('a', '<IsTruncated>true</IsTruncated><NextContinuationToken>a+/=</NextContinuationToken>');
    expect(await listAll(store)).toMatchObject([{ key: 'a', bytes: 1 }, { key: 'b & c' }]);
  });

  if (process.env.TEST_S3) {
    test('lists 1,005 objects of a server that has pages', async () => {
      for (let index = 0; index < 1_005; index += 15) {
        await Promise.all(Array.from({ length: 15 }, (_, each) => store.put(`many/${index + each}`, Buffer.from('x'))));
      }
      const keys = (await listAll(store, 'many/')).map((object) => (object as ObjectInfo).key);
      expect(new Set(keys).size).toBe(1_005);
    }, 60_000);
  }

  test('stores a large file in parts, and resumes a part that was lost', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'trellis-upload-'));
    const file = path.join(folder, 'large');
    const content = randomBytes(40 * 2 ** 20);
    await writeFile(file, content);
    server.fault = (line, number) => (line.includes('partNumber=2') && number < 4 ? 'reset' : undefined);
    expect(await store.put('large', { file }, { ifAbsent: true })).toBe(true);
    expect(server.requests.filter((line) => line.includes('partNumber'))).toHaveLength(4);
    expect(digestOf((await read('large')) ?? Buffer.of())).toBe(digestOf(content));
    await rm(folder, { recursive: true });
  });

  // s3rver fails for an upload that is complete; this is the response of the API reference.
  const noUpload: Fault = { status: 404, body: errorDocument('NoSuchUpload') };

  test.each<[string, Fault[]]>([
    ['whose response is lost', ['truncate', noUpload]],
    ['that reports an internal error at its end', [{ status: 200, body: errorDocument('InternalError') }]],
  ])('stores a large file also with a completion %s', async (_what, faults) => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'trellis-upload-'));
    const file = path.join(folder, 'large');
    const content = randomBytes(17 * 2 ** 20);
    await writeFile(file, content);
    const next = faults.values();
    server.fault = (line) => (/^POST .*uploadId=/.test(line) ? next.next().value : undefined);
    expect(await store.put('completed', { file })).toBe(true);
    expect(server.requests.filter((line) => line.startsWith('POST '))).toHaveLength(3);
    expect((await store.head('completed'))?.sha256).toBe(digestOf(content));
    await rm(folder, { recursive: true });
  });

  test('reports an upload that the server has ended without storing the object', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'trellis-upload-'));
    const file = path.join(folder, 'large');
    await writeFile(file, randomBytes(17 * 2 ** 20));
    server.fault = (line) => (/^POST .*uploadId=/.test(line) ? noUpload : undefined);
    await expect(store.put('ended', { file })).rejects.toThrow(
      'The upload of trellis/a b/ended was ended by the server.',
    );
    await rm(folder, { recursive: true });
  });

  test('does not replace an existing object on request, and continues with servers that refuse the condition', async () => {
    await store.put('kept', Buffer.from('old'));
    // s3rver ignores the condition, so both responses are those that the API reference describes.
    fail(1, { status: 412, body: errorDocument('PreconditionFailed') });
    expect(await store.put('kept', Buffer.from('new'), { ifAbsent: true })).toBe(false);
    const older = openStore();
    fail(1, { status: 501, body: errorDocument('NotImplemented') });
    expect(await older.put('kept', Buffer.from('new'), { ifAbsent: true })).toBe(false);
    server.fault = undefined;
    expect(await older.put('other', Buffer.from('new'), { ifAbsent: true })).toBe(true);
    expect(String(await read('kept'))).toBe('old');
  });

  test('replaces an object with the expected ETag on a server that finds no ETag equal', async () => {
    await store.put('head', Buffer.from('1'));
    const etag = (await store.head('head'))?.etag;
    const other = openStore();
    fail(1, { status: 412, body: errorDocument('PreconditionFailed') });
    const replaced = await other.replace('head', Buffer.from('2'), etag);
    expect(replaced).toBe((await store.head('head'))?.etag);
    expect(await other.replace('head', Buffer.from('3'), etag)).toBeUndefined();
    expect(String(await read('head'))).toBe('2');
    server.fault = (line) =>
      line.startsWith('PUT ') ? { status: 412, body: errorDocument('PreconditionFailed') } : undefined;
    expect(await openStore().replace('head', Buffer.from('4'), replaced)).toBeUndefined();
  });

  test.each<[string, Fault]>([
    ['an overloaded server', { status: 503, body: errorDocument('SlowDown') }],
    ['an internal error', { status: 500, body: errorDocument('InternalError') }],
    ['a lost connection', 'reset'],
  ])('repeats a request after %s', async (_reason, fault) => {
    const content = Buffer.from('again');
    fail(2, fault);
    expect(await store.put('retried', content)).toBe(true);
    expect(server.requests).toHaveLength(3);
    fail(2, fault);
    expect(await read('retried')).toEqual(content);
    expect(server.requests).toHaveLength(3);
  });

  test('repeats a list three times, as all requests, while the server is overloaded', async () => {
    fail(Infinity, { status: 503, body: errorDocument('SlowDown') });
    await expect(listAll(store)).rejects.toMatchObject({ name: 'ObjectStoreError', code: 'SlowDown' });
    expect(server.requests).toHaveLength(4);
  });

  test('resumes a truncated body where it ended', async () => {
    const content = randomBytes(500_000);
    await store.put('resumed', content);
    fail(2, 'truncate');
    expect(await read('resumed')).toEqual(content);
    expect(server.requests).toHaveLength(3);
  });

  test('detects a body that differs from the stored one', async () => {
    await store.put('damaged', randomBytes(1_000));
    server.fault = () => 'damage';
    await expect(read('damaged')).rejects.toThrow('The object trellis/a b/damaged is damaged.');
  });

  test('ends a request that its caller cancels', async () => {
    server.fault = () => 'hang';
    await expect(store.head('slow', AbortSignal.timeout(50))).rejects.toThrow(/timeout/);
  });

  test.each<[string, Fault, RegExp]>([
    [
      'lost permission',
      { status: 403, body: errorDocument('AccessDenied') },
      /^Access denied to GET trellis\/a b\/x\. .*s3:GetObject/,
    ],
    ['an expired token', { status: 400, body: errorDocument('ExpiredToken') }, /^The session token has expired\.$/],
    [
      'a different region',
      { status: 301, body: errorDocument('PermanentRedirect'), headers: { 'x-amz-bucket-region': 'eu-west-1' } },
      /^The bucket "photos" is in the region eu-west-1, not in us-east-1\. Set AWS_REGION=eu-west-1\.$/,
    ],
    [
      'a signature for a different region',
      { status: 400, body: errorDocument('AuthorizationHeaderMalformed', '<Region>eu-west-1</Region>') },
      /is in the region eu-west-1/,
    ],
    [
      'a wrong clock',
      {
        status: 403,
        body: errorDocument('RequestTimeTooSkewed'),
        headers: { date: new Date(Date.now() - 3_600_000).toUTCString() },
      },
      /^The clock of this machine is wrong: it is 60 minutes ahead of the storage\.$/,
    ],
    [
      'a response of a different kind',
      { status: 418, body: 'teapot' },
      /responded to GET trellis\/a b\/x with status 418\.$/,
    ],
    ['lost connections', 'reset', /^The connection to 127\.0\.0\.1:\d+ failed during GET/],
  ])('reports %s', async (_reason, fault, message) => {
    server.fault = () => fault;
    await expect(store.get('x')).rejects.toMatchObject({ name: 'ObjectStoreError', message: like(message) });
  });

  test.each<[string, string, Record<string, string>, RegExp]>([
    ['a missing bucket', 's3://other/x', {}, /^No bucket named "other" at 127\.0\.0\.1:\d+\.$/],
    [
      'an unknown access key',
      `s3://${BUCKET}`,
      { AWS_ACCESS_KEY_ID: 'OTHER' },
      /does not know the access key|not valid for the access key/,
    ],
    ['a wrong secret', `s3://${BUCKET}`, { AWS_SECRET_ACCESS_KEY: 'hush-hush' }, /^The secret access key is not valid/],
  ])('reports %s, as the server refuses it', async (_reason, url, env, message) => {
    const refused = openStore(url, env);
    for (const request of [() => refused.get('x'), () => refused.put('x', Buffer.from('x')), () => listAll(refused)]) {
      const error: unknown = await request().then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(error).toMatchObject({ name: 'ObjectStoreError', message: like(message), isTemporary: false });
      expect(JSON.stringify(error) + String((error as Error).stack)).not.toMatch(/hush-hush|S3RVER/);
    }
  });
});

describe('s3 location', () => {
  const parse = (url: string, env = {}) => {
    const { url: address, region, prefix } = parseS3Url(url, env);
    return { address, region, prefix };
  };

  test.each<[string, object, object]>([
    ['s3://b-1/a/b/', {}, { address: 'https://b-1.s3.us-east-1.amazonaws.com', region: 'us-east-1', prefix: 'a/b/' }],
    [
      's3://dot.ted',
      { AWS_REGION: 'eu-west-1' },
      { address: 'https://s3.eu-west-1.amazonaws.com/dot.ted', region: 'eu-west-1', prefix: '' },
    ],
    [
      's3://b-1?region=cn-north-1',
      {},
      { address: 'https://b-1.s3.cn-north-1.amazonaws.com.cn', region: 'cn-north-1', prefix: '' },
    ],
    [
      's3://b-1',
      { AWS_ENDPOINT_URL: 'http://minio:9000' },
      { address: 'http://minio:9000/b-1', region: 'us-east-1', prefix: '' },
    ],
    [
      's3://b-1?endpoint=https://p.supabase.co/storage/v1/s3/',
      {},
      { address: 'https://p.supabase.co/storage/v1/s3/b-1', region: 'us-east-1', prefix: '' },
    ],
    [
      's3://b-1?endpoint=https://r.example&region=auto&style=host',
      { AWS_ENDPOINT_URL: 'http://minio:9000' },
      { address: 'https://b-1.r.example', region: 'auto', prefix: '' },
    ],
  ])('reads %s', (url, env, expected) => expect(parse(url, env)).toEqual(expected));

  test.each([
    's3://key:secret@bucket/x',
    's3://b-1?zone=x',
    's3://b-1?endpoint=ftp://x',
    's3://b-1?style=x',
    's3://b-1?endpoint=https://p.example/s3&style=host',
    's3://b-1?endpoint=https://p.example/a?b',
    'https://b-1',
  ])('refuses %s', (url) => expect(() => parse(url)).toThrow(/expected|unknown parameter/));

  test('reads the credentials of a profile, and again when the file has changed', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'trellis-credentials-'));
    const env = { AWS_SHARED_CREDENTIALS_FILE: path.join(folder, 'credentials'), AWS_PROFILE: 'trellis' };
    await expect(createCredentialsLoader(env)()).rejects.toThrow(/^No credentials: set AWS_ACCESS_KEY_ID/);
    await writeFile(
      env.AWS_SHARED_CREDENTIALS_FILE,
      '[default]\naws_access_key_id = A\n# comment\n[trellis]\r\naws_access_key_id=B\naws_secret_access_key = s=/+\naws_session_token = t\n',
    );
    expect(await createCredentialsLoader(env)()).toEqual({
      accessKeyId: 'B',
      secretAccessKey: 's=/+',
      sessionToken: 't',
    });
    await expect(createCredentialsLoader({ ...env, AWS_PROFILE: 'default' })()).rejects.toThrow(
      /no access key for the profile "default"/,
    );
    await rm(folder, { recursive: true });
  });
});
