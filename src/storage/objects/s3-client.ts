import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { AwsV4Signer } from 'aws4fetch';
import { Agent, type Dispatcher, request } from 'undici';
import type { S3Credentials } from './aws-credentials.js';
import {
  type ErrorResponse,
  ObjectStoreError,
  toConnectionError,
  toStoreError,
  readElement,
  readDocumentText,
} from './object-store.js';
import type { S3Location } from './s3-location.js';

export interface S3Request {
  readonly method: 'DELETE' | 'GET' | 'HEAD' | 'POST' | 'PUT';
  /** The whole key; empty for the bucket. */
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly signal?: AbortSignal;
  /** Error codes and statuses that are results rather than errors. */
  readonly accept?: readonly (number | string)[];
}

export interface S3Response {
  readonly status: number;
  readonly headers: ErrorResponse['headers'];
  readonly body: Dispatcher.ResponseData['body'];
  /** The error code of an accepted error. */
  readonly code: string | undefined;
}

/** Sends signed requests to one bucket. */
export interface S3Client {
  readonly location: S3Location;
  /** @throws ObjectStoreError after the last attempt. */
  send(request: S3Request): Promise<S3Response>;
  /** Sends a request whose response is read in each attempt, as a connection may be lost before its end. */
  sendAndRead<T>(request: S3Request, read: (response: S3Response) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Waits of 0.1, 0.2 and 0.4 seconds outlast a dropped connection. Longer failures are reported. */
const ATTEMPTS = 4;
const FIRST_DELAY_MS = 100;

/** How long a server may take to accept a connection, to respond, and between two parts of a body. */
const CONNECT_MS = 3_000;
const IDLE_MS = 15_000;

export function createS3Client(location: S3Location, loadCredentials: () => Promise<S3Credentials>): S3Client {
  const agent = new Agent({
    connect: { timeout: CONNECT_MS },
    headersTimeout: IDLE_MS,
    bodyTimeout: IDLE_MS,
    connections: 32,
  });
  /** The signing keys of the day. */
  const cache = new Map<string, ArrayBuffer>();

  async function sendOnce(wanted: S3Request): Promise<S3Response> {
    const { method, body, signal } = wanted;
    const { url, headers } = await sign(wanted);
    const target = targetOf(location, wanted);
    const response = await request(url, {
      method,
      headers,
      dispatcher: agent,
      ...(body && { body }),
      ...(signal && { signal }),
    }).catch((error: unknown) => {
      signal?.throwIfAborted();
      throw toConnectionError(target, error);
    });
    if (response.statusCode < 300) return { ...response, status: response.statusCode, code: undefined };
    const { statusCode: status, headers: fields } = response;
    const text = await readDocumentText(response.body).catch((error: unknown) => {
      throw toConnectionError(target, error);
    });
    const error = toStoreError(target, { status, headers: fields, body: text });
    const { accept = [] } = wanted;
    if (!accept.includes(status) && !accept.includes(error.code ?? '')) throw error;
    return { ...response, status, code: error.code };
  }

  async function sign({ method, key, query = {}, headers = {}, body }: S3Request) {
    const credentials = await loadCredentials();
    // Servers such as Ceph verify the signature of a plus sign, which stands for a space, as that of a plus sign.
    const search = new URLSearchParams(query).toString().replaceAll('+', '%20');
    const signer = new AwsV4Signer({
      method,
      url: `${location.url}/${encodeKey(key)}${search && `?${search}`}`,
      headers: {
        ...headers,
        'x-amz-content-sha256': createHash('sha256')
          .update(body ?? '')
          .digest('hex'),
      },
      ...credentials,
      service: 's3',
      region: location.region,
      cache,
    });
    const signed = await signer.sign();
    return { url: signed.url, headers: Object.fromEntries(signed.headers) };
  }

  return {
    location,
    send: (wanted) => retryRequest(() => sendOnce(wanted), wanted.signal),
    sendAndRead: (wanted, read) => retryRequest(async () => read(await sendOnce(wanted)), wanted.signal),
    close: () => agent.destroy(),
  };
}

/** Calls a function until it succeeds, fails for good, or has failed in every attempt. */
async function retryRequest<T>(run: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      if (attempt === ATTEMPTS || !(error instanceof ObjectStoreError && error.isTemporary)) throw error;
    }
    // Clients that fail together should not return together.
    await delay(FIRST_DELAY_MS * 2 ** (attempt - 1) * (0.5 + Math.random()), undefined, { ...(signal && { signal }) });
  }
}

/** Names the request as messages show it. */
export const targetOf = ({ bucket, region, url }: S3Location, { method, key }: Pick<S3Request, 'key' | 'method'>) => ({
  action: `${method} ${key || bucket}`,
  bucket,
  region,
  host: new URL(url).host,
});

/** Encodes every character that the path of a signed request must not contain unencoded. */
const encodeKey = (key: string): string =>
  key
    .split('/')
    .map((part) =>
      encodeURIComponent(part).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`),
    )
    .join('/');

interface Upload extends Pick<S3Request, 'accept' | 'key' | 'signal'> {
  readonly file: string;
  readonly bytes: number;
  readonly partBytes: number;
  /** The headers of the object. */
  readonly headers: Readonly<Record<string, string>>;
  /** The headers that the request to complete it has. */
  readonly condition: Readonly<Record<string, string>>;
}

/** S3 accepts no more parts of one object. */
const MAX_PARTS = 10_000;

/** Stores a file in parts, one at a time. A failed upload is cancelled, as its parts would cost storage. */
export async function uploadParts(client: S3Client, upload: Upload): Promise<S3Response> {
  const { key, signal, headers } = upload;
  const request = { method: 'POST', key, signal, headers, query: { uploads: '' } } as const;
  const started = await client.sendAndRead(request, (response) => readDocument(client, request, response));
  const uploadId = readElement(started, 'UploadId');
  if (uploadId === undefined) {
    throw new ObjectStoreError(`${new URL(client.location.url).host} started no upload.`, { isTemporary: false });
  }
  try {
    const etags = await sendParts(client, upload, uploadId);
    const response = await complete(client, upload, { uploadId, etags });
    if (response.status >= 300) await cancel(client, { key, uploadId });
    return response;
  } catch (error) {
    await cancel(client, { key, uploadId });
    throw error;
  }
}

async function sendParts(
  client: S3Client,
  { file, bytes, key, partBytes, signal }: Upload,
  uploadId: string,
): Promise<string[]> {
  const size = Math.max(partBytes, Math.ceil(bytes / MAX_PARTS));
  const etags: string[] = [];
  const handle = await open(file);
  try {
    for (let position = 0; position < bytes; position += size) {
      const body = Buffer.alloc(Math.min(size, bytes - position));
      const { bytesRead } = await handle.read(body, 0, body.length, position);
      if (bytesRead !== body.length) throw new ObjectStoreError(`${file} has changed.`, { isTemporary: false });
      const query = { partNumber: String(etags.length + 1), uploadId };
      const headers = { 'content-md5': createHash('md5').update(body).digest('base64') };
      const response = await client.send({ method: 'PUT', key, signal, query, headers, body });
      await response.body.dump();
      etags.push(String(response.headers.etag));
    }
    return etags;
  } finally {
    await handle.close();
  }
}

interface StartedUpload {
  readonly uploadId: string;
  readonly etags: readonly string[];
}

async function complete(
  client: S3Client,
  { key, signal, condition, accept }: Upload,
  { uploadId, etags }: StartedUpload,
): Promise<S3Response> {
  const parts = etags.map((etag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${etag}</ETag></Part>`);
  const body = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`);
  const headers = { ...condition, 'content-type': 'application/xml' };
  const request = { method: 'POST', key, signal, query: { uploadId }, headers, body, accept: accept ?? [] } as const;
  return client.sendAndRead(request, async (response) => {
    if (response.status >= 300) return response;
    // The status was sent before the parts were joined, so an error is in the document.
    const text = await readDocument(client, request, response);
    if (!text.includes('<Error>')) return response;
    throw toStoreError(targetOf(client.location, request), { ...response, status: 500, body: text });
  });
}

/** Reads the document of a response. @throws ObjectStoreError if the connection fails. */
export function readDocument({ location }: S3Client, request: S3Request, { body }: S3Response): Promise<string> {
  return body.text().catch((error: unknown) => {
    request.signal?.throwIfAborted();
    throw toConnectionError(targetOf(location, request), error);
  });
}

/** Deletes the parts. A failure is ignored, as the reason of the failed upload matters more. */
async function cancel(client: S3Client, { key, uploadId }: { readonly key: string; readonly uploadId: string }) {
  await client.send({ method: 'DELETE', key, query: { uploadId } }).then(
    ({ body }) => body.dump(),
    () => undefined,
  );
}
