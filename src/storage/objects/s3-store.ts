import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createCredentialsLoader } from './aws-credentials.js';
import {
  type ByteRange,
  type ObjectContent,
  type ObjectInfo,
  type ObjectStore,
  type PutOptions,
  DAMAGED,
  ObjectStoreError,
  readElement,
  toConnectionError,
} from './object-store.js';
import {
  readDocument,
  type S3Client,
  type S3Request,
  type S3Response,
  targetOf,
  createS3Client,
  uploadParts,
} from './s3-client.js';
import { type AwsEnvironment, parseS3Url } from './s3-location.js';

/** The digest of the whole object, which also servers without checksums of their own return. */
const DIGEST_HEADER = 'x-amz-meta-sha256';

/** A larger file is stored in parts, so that a lost connection costs one part, and memory stays bounded. */
const PART_BYTES = 16 * 2 ** 20;

/** Responses of servers without conditional writes. */
const UNSUPPORTED = ['NotImplemented', 'InvalidArgument', 501];

/** The error code for an upload that is complete or was cancelled. */
const NO_UPLOAD = 'NoSuchUpload';

export function createS3Store(client: S3Client): ObjectStore {
  const { prefix, address } = client.location;
  let hasConditions = true;

  async function head(key: string, signal?: AbortSignal): Promise<ObjectInfo | undefined> {
    const response = await client.send({ method: 'HEAD', key: prefix + key, signal, accept: [404] });
    if (response.status !== 404) return toInfo(key, response);
    // A response to HEAD does not distinguish a missing key from a missing bucket.
    await listPage(client, { prefix: prefix + key, limit: 1 });
    return undefined;
  }

  /** Stores the content with a condition if the server supports one. */
  async function send(key: string, content: ObjectContent, { ifAbsent = false, signal }: PutOptions): Promise<boolean> {
    const condition: Record<string, string> = ifAbsent && hasConditions ? { 'if-none-match': '*' } : {};
    const { bytes, sha256 } = await measure(content);
    const headers = { 'content-type': 'application/octet-stream', [DIGEST_HEADER]: sha256 };
    const accept = ifAbsent ? [412, ...(hasConditions ? UNSUPPORTED : [])] : [];
    const target = { key: prefix + key, signal, accept };
    let response: S3Response;
    if (bytes > PART_BYTES && 'file' in content) {
      response = await uploadParts(client, {
        ...target,
        file: content.file,
        bytes,
        partBytes: PART_BYTES,
        headers,
        condition,
        accept: [...accept, NO_UPLOAD],
      });
      if (response.code === NO_UPLOAD) return assertStored(key, sha256, signal);
    } else {
      const body = 'file' in content ? await readWhole(content.file, bytes) : content;
      const md5 = createHash('md5').update(body).digest('base64');
      response = await client.send({
        ...target,
        method: 'PUT',
        body,
        headers: { ...headers, ...condition, 'content-md5': md5 },
      });
      await response.body.dump();
    }
    if (response.status === 412) return false;
    if (response.status < 300) return true;
    hasConditions = false;
    return put(key, content, { ifAbsent, ...(signal && { signal }) });
  }

  /** The response to an earlier request may have been lost, which has stored the object and ended the upload. */
  async function assertStored(key: string, sha256: string, signal?: AbortSignal): Promise<true> {
    if ((await head(key, signal))?.sha256 === sha256) return true;
    throw new ObjectStoreError(`The upload of ${prefix}${key} was ended by the server.`, { isTemporary: true });
  }

  async function put(key: string, content: ObjectContent, options: PutOptions = {}): Promise<boolean> {
    if (options.ifAbsent && !hasConditions && (await head(key, options.signal)) !== undefined) return false;
    return send(key, content, options);
  }

  async function replace(
    key: string,
    content: Uint8Array,
    expected: string | undefined,
    signal?: AbortSignal,
  ): Promise<string | undefined> {
    const condition = expected === undefined ? { 'if-none-match': '*' } : { 'if-match': expected };
    if (!hasConditions && (await head(key, signal))?.etag !== expected) return undefined;
    const { sha256 } = await measure(content);
    const md5 = createHash('md5').update(content).digest('base64');
    const headers = { 'content-type': 'application/json', [DIGEST_HEADER]: sha256, 'content-md5': md5 };
    const response = await client.send({
      method: 'PUT',
      key: prefix + key,
      body: content,
      signal,
      headers: hasConditions ? { ...headers, ...condition } : headers,
      accept: [412, 'NoSuchKey', ...(hasConditions ? UNSUPPORTED : [])],
    });
    if (response.status < 300) {
      await response.body.dump();
      return headerOf(response, 'etag') || (await head(key, signal))?.etag;
    }
    // Ceph compares the ETag of a condition with its quotation marks, so that no object has it.
    const isUnequal = response.status === 412 || response.code === 'NoSuchKey';
    const isMisread =
      isUnequal && hasConditions && expected !== undefined && (await head(key, signal))?.etag === expected;
    if (isUnequal && !isMisread) return undefined;
    hasConditions = false;
    return replace(key, content, expected, signal);
  }

  return {
    address,
    head,
    put,
    async getChanged(key, etag, signal) {
      const request: S3Request = { method: 'GET', key: prefix + key, signal };
      const headers = etag === undefined ? undefined : { 'if-none-match': etag };
      const response = await client.send({ ...request, ...(headers && { headers }), accept: ['NoSuchKey', 304] });
      if (response.code === 'NoSuchKey') return undefined;
      if (response.status === 304) return 'unchanged';
      const info = toInfo(key, response);
      return { ...info, body: readBody(client, { request, response, info, range: undefined }) };
    },
    replace,
    async get(key, { range, signal } = {}) {
      const request: S3Request = { method: 'GET', key: prefix + key, signal };
      const headers = range && { range: formatRange(range) };
      const response = await client.send({ ...request, ...(headers && { headers }), accept: ['NoSuchKey'] });
      if (response.code === 'NoSuchKey') return undefined;
      const info = toInfo(key, response);
      return { ...info, body: readBody(client, { request, response, info, range }) };
    },
    async delete(key) {
      const response = await client.send({ method: 'DELETE', key: prefix + key, accept: ['NoSuchKey'] });
      if (response.status < 300) await response.body.dump();
    },
    async *list(below) {
      let continuation: string | undefined;
      do {
        const page = await listPage(client, { prefix: prefix + below, continuation });
        for (const found of page.objects) yield { ...found, key: found.key.slice(prefix.length) };
        continuation = page.continuation;
      } while (continuation !== undefined);
    },
    close: () => client.close(),
  };
}

const formatRange = ({ start, end = '' }: { readonly start: number; readonly end?: number | string }): string =>
  `bytes=${start}-${end}`;

const headerOf = ({ headers }: S3Response, name: string): string => String(headers[name] ?? '');

function toInfo(key: string, response: S3Response): ObjectInfo {
  const sha256 = headerOf(response, DIGEST_HEADER);
  const whole = /\/(\d+)$/.exec(headerOf(response, 'content-range'))?.[1];
  return {
    key,
    bytes: Number(whole ?? headerOf(response, 'content-length')),
    modifiedAt: new Date(headerOf(response, 'last-modified')),
    etag: headerOf(response, 'etag'),
    ...(/^[\da-f]{64}$/.test(sha256) && { sha256 }),
  };
}

async function measure(content: ObjectContent): Promise<{ bytes: number; sha256: string }> {
  const digest = createHash('sha256');
  if (!('file' in content)) return { bytes: content.byteLength, sha256: digest.update(content).digest('hex') };
  await pipeline(createReadStream(content.file), digest);
  return { bytes: (await stat(content.file)).size, sha256: digest.digest('hex') };
}

async function readWhole(file: string, bytes: number): Promise<Uint8Array> {
  const handle = await open(file);
  try {
    const content = Buffer.alloc(bytes);
    await handle.read(content, 0, bytes, 0);
    return content;
  } finally {
    await handle.close();
  }
}

interface Reading {
  readonly request: S3Request;
  /** The response to the first request. */
  readonly response: S3Response;
  readonly info: ObjectInfo;
  readonly range: ByteRange | undefined;
}

/** Yields the bytes of an object. A lost connection is resumed at the last received byte of the same version. */
async function* readBody(
  client: S3Client,
  { request, response: first, info, range }: Reading,
): AsyncGenerator<Uint8Array> {
  const start = range?.start ?? 0;
  const end = Math.min(range?.end ?? Infinity, info.bytes - 1);
  const digest = range === undefined && info.sha256 !== undefined ? createHash('sha256') : undefined;
  const target = targetOf(client.location, request);
  let position = start;
  let response: S3Response | undefined = first;
  for (let failures = 0; position <= end;) {
    const before = position;
    try {
      response ??= await resume(client, request, { range: { start: position, end }, etag: info.etag });
      for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
        position += chunk.byteLength;
        digest?.update(chunk);
        yield chunk;
      }
      if (position <= end) throw toConnectionError(target, { code: 'INCOMPLETE' });
    } catch (error) {
      request.signal?.throwIfAborted();
      failures = position > before ? 1 : failures + 1;
      const known = error instanceof ObjectStoreError ? error : toConnectionError(target, error);
      if (failures > MAX_RESUMED || !known.isTemporary) throw known;
      response = undefined;
    }
  }
  const isDamaged = position !== end + 1 || (digest && digest.digest('hex') !== info.sha256);
  if (isDamaged)
    throw new ObjectStoreError(`The object ${request.key} is damaged.`, { isTemporary: false, code: DAMAGED });
}

/** How often a body is resumed without having received a byte in between. */
const MAX_RESUMED = 3;

async function resume(
  client: S3Client,
  request: S3Request,
  { range, etag }: { readonly range: ByteRange; readonly etag: string },
): Promise<S3Response> {
  const headers = { range: formatRange(range), ...(etag && { 'if-match': etag }) };
  const response = await client.send({ ...request, headers });
  if (response.status === 206) return response;
  await response.body.dump();
  throw new ObjectStoreError(`${new URL(client.location.url).host} ignores ranges.`, { isTemporary: false });
}

interface ListRequest {
  readonly prefix: string;
  readonly continuation?: string;
  readonly limit?: number;
}

interface ListPage {
  readonly objects: readonly ObjectInfo[];
  readonly continuation: string | undefined;
}

async function listPage(client: S3Client, { prefix, continuation, limit = 1000 }: ListRequest): Promise<ListPage> {
  const query = {
    'list-type': '2',
    'encoding-type': 'url',
    'max-keys': String(limit),
    prefix,
    ...(continuation !== undefined && { 'continuation-token': continuation }),
  };
  const request = { method: 'GET', key: '', query } as const;
  const text = await client.sendAndRead(request, (response) => readDocument(client, request, response));
  // Some servers ignore the encoding that the request asks for.
  const decode = readElement(text, 'EncodingType') === 'url' ? decodeKey : (key: string) => key;
  const objects = [...text.matchAll(/<Contents>(.*?)<\/Contents>/gs)].map(([, xml = '']) =>
    toListedObject(xml, decode),
  );
  const isTruncated = readElement(text, 'IsTruncated') === 'true';
  return { objects, continuation: isTruncated ? readElement(text, 'NextContinuationToken') : undefined };
}

const decodeKey = (key: string): string => decodeURIComponent(key.replace(/\+/g, ' '));

const toListedObject = (xml: string, decode: (key: string) => string): ObjectInfo => ({
  key: decode(readElement(xml, 'Key') ?? ''),
  bytes: Number(readElement(xml, 'Size')),
  modifiedAt: new Date(readElement(xml, 'LastModified') ?? ''),
  etag: readElement(xml, 'ETag') ?? '',
});

/**
 * Opens the store at `s3://bucket/prefix`. Sends no request.
 *
 * @param env The variables with the credentials, the region and the endpoint.
 * @throws ObjectStoreError for an invalid address.
 */
export const openObjectStore = (url: string, env: AwsEnvironment): ObjectStore =>
  createS3Store(createS3Client(parseS3Url(url, env), createCredentialsLoader(env)));
