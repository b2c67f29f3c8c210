import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { AwsV4Signer } from 'aws4fetch';
import { Agent, type Dispatcher, request } from 'undici';
import type { S3Credentials, S3Location } from './s3-location.js';
import { type ErrorResponse, ObjectStoreError, toConnectionError, toStoreError } from './store-errors.js';

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
  close(): Promise<void>;
}

/** Waits of 0.1, 0.2 and 0.4 seconds outlast a dropped connection. Longer failures are reported. */
const ATTEMPTS = 4;
const FIRST_DELAY_MS = 100;

/** How long a server may take to accept a connection, to respond, and between two parts of a body. */
const CONNECT_MS = 3_000;
const IDLE_MS = 15_000;

/** Error documents are below a kilobyte. */
const MAX_ERROR_BYTES = 64 * 1024;

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
    const text = await readText(response.body).catch((error: unknown) => {
      throw toConnectionError(target, error);
    });
    const error = toStoreError(target, { status, headers: fields, body: text });
    const { accept = [] } = wanted;
    if (!accept.includes(status) && !accept.includes(error.code ?? '')) throw error;
    return { ...response, status, code: error.code };
  }

  async function sign({ method, key, query = {}, headers = {}, body }: S3Request) {
    const credentials = await loadCredentials();
    const search = new URLSearchParams(query).toString();
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
    close: () => agent.destroy(),
  };
}

/** Calls a function until it succeeds, fails for good, or has failed in every attempt. */
export async function retryRequest<T>(run: () => Promise<T>, signal?: AbortSignal): Promise<T> {
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

async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes > MAX_ERROR_BYTES) break;
  }
  return Buffer.concat(chunks).toString();
}
