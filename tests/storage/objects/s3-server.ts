/**
 * An S3 server of others behind a proxy that injects faults: `s3rver`, or the server of `TEST_S3`. As s3rver does not
 * verify signatures, the proxy compares them with those of the signer that Amazon publishes. As it ignores conditions of
 * writes, the proxy checks them as RFC 9110 describes, one write of an object at a time. As it replaces the bytes of an
 * object before its metadata, a read waits for the write before it, and the next write for the read: Amazon S3 replaces
 * both at once.
 */
import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, request as sendRequest, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { createS3Client } from '../../../src/storage/objects/s3-client.js';
import { parseS3Url } from '../../../src/storage/objects/s3-location.js';
import { importFromTool } from '../../../tools/install.js';

interface S3rver {
  run(): Promise<AddressInfo>;
  close(): Promise<void>;
}

type S3rverConstructor = new (options: {
  readonly address: string;
  readonly port: number;
  readonly silent: boolean;
  readonly directory: string;
  readonly vhostBuckets: boolean;
  readonly configureBuckets: readonly { readonly name: string }[];
}) => S3rver;

const tool = (await importFromTool('tools/s3', 's3rver')) as { default: S3rverConstructor };

/** A response instead of that of the server, or an event on the connection. */
export type Fault =
  | 'hang'
  | 'reset'
  /** Sends half of the body, then closes the connection. */
  | 'truncate'
  /** Changes the first byte of the body. */
  | 'damage'
  /** Ignores `If-Match` and `If-None-Match` of writes, as s3rver does. */
  | 'unconditional'
  | { readonly status: number; readonly body: string; readonly headers?: Readonly<Record<string, string>> };

export interface S3TestServer {
  /** The environment variables that lead to the server. */
  readonly env: Readonly<Record<string, string>>;
  /** The requests since the last reset: `GET /bucket/key`. */
  readonly requests: string[];
  /** Chooses the fault of a request. */
  fault: ((line: string, count: number) => Fault | undefined) | undefined;
  close(): Promise<void>;
}

export const BUCKET = 'photos';

/** An error document as the API reference of Amazon S3 shows it. */
export const errorDocument = (code: string, details = ''): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>No.</Message>${details}</Error>`;

interface Origin {
  readonly host: string;
  readonly port: number;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Whether the proxy verifies the signatures. */
  readonly isLenient: boolean;
  close(): Promise<void>;
}

export async function startS3Server(): Promise<S3TestServer> {
  const origin = await openOrigin(process.env.TEST_S3);
  const proxy = createServer((request, response) => {
    const line = `${request.method} ${decodeURIComponent(request.url ?? '')}`;
    running.requests.push(line);
    const fault = running.fault?.(line, running.requests.length);
    if (typeof fault === 'object') response.writeHead(fault.status, fault.headers).end(fault.body);
    else if (fault === 'reset') request.socket.resetAndDestroy();
    else if (fault !== 'hang') {
      forward(origin, { request, response, fault }).catch(() => request.socket.destroy());
    }
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const running: S3TestServer = {
    env: {
      AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
      AWS_ACCESS_KEY_ID: origin.accessKeyId,
      AWS_SECRET_ACCESS_KEY: origin.secretAccessKey,
    },
    requests: [],
    fault: undefined,
    async close() {
      proxy.close().closeAllConnections();
      await origin.close();
    },
  };
  return running;
}

/** Starts s3rver unless `url` has the address and the keys of a server: `http://key:secret@host:port`. */
async function openOrigin(url: string | undefined): Promise<Origin> {
  if (url !== undefined) {
    const { hostname: host, port, username, password } = new URL(url);
    const keys = { accessKeyId: decodeURIComponent(username), secretAccessKey: decodeURIComponent(password) };
    const location = parseS3Url(`s3://${BUCKET}?endpoint=http://${host}:${port}`, {});
    const client = createS3Client(location, async () => keys);
    await client.send({ method: 'PUT', key: '', accept: [409] });
    await client.close();
    return { ...keys, host, port: Number(port), isLenient: false, close: async () => undefined };
  }
  const directory = await mkdtemp(path.join(os.tmpdir(), 'trellis-s3-'));
  const options = { address: '127.0.0.1', port: 0, silent: true, directory, vhostBuckets: false };
  const server = new tool.default({ ...options, configureBuckets: [{ name: BUCKET }] });
  const { port } = await server.run();
  const keys = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };
  return {
    ...keys,
    host: '127.0.0.1',
    port,
    isLenient: true,
    async close() {
      await server.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** With `none`, the response is read to its end before it is passed on. */
  readonly fault: 'damage' | 'none' | 'truncate' | 'unconditional' | undefined;
}

async function forward(origin: Origin, { request, response, fault }: Exchange): Promise<void> {
  const body = await readAll(request);
  const refused = origin.isLenient ? await findRefusal(origin, request, body) : undefined;
  if (refused !== undefined) return void response.writeHead(refused.status).end(refused.body);
  const { url = '' } = request;
  const isTurn = origin.isLenient && fault !== 'unconditional' && (isConditional(request) || lastTurns.has(url));
  if (!isTurn) return sendOn(origin, { request, response, fault }, body);
  const turn = (lastTurns.get(url) ?? Promise.resolve()).then(async () => {
    if (!isConditional(request) || (await isConditionMet(origin, request))) {
      return sendOn(origin, { request, response, fault: fault ?? 'none' }, body);
    }
    response.writeHead(412).end(errorDocument('PreconditionFailed'));
    return undefined;
  });
  lastTurns.set(
    url,
    turn.catch(() => undefined),
  );
  return turn;
}

/** The end of the last request for each object that has had a conditional write. */
const lastTurns = new Map<string, Promise<unknown>>();

const isConditional = ({ method, headers }: IncomingMessage): boolean =>
  method === 'PUT' && (headers['if-match'] ?? headers['if-none-match']) !== undefined;

async function isConditionMet({ host, port }: Origin, { url, headers }: IncomingMessage): Promise<boolean> {
  const head = sendRequest({
    host,
    port,
    method: 'HEAD',
    path: url,
    headers: headersOfHead(headers),
    agent: false,
  }).end();
  const [found] = (await once(head, 'response')) as [IncomingMessage];
  found.resume();
  const etag = found.statusCode === 200 ? found.headers.etag : undefined;
  return headers['if-match'] === undefined ? etag === undefined : etag === headers['if-match'];
}

const headersOfHead = ({ host, authorization, ...headers }: IncomingMessage['headers']) => ({
  ...{ host, authorization },
  'x-amz-date': headers['x-amz-date'],
  'x-amz-content-sha256': headers['x-amz-content-sha256'],
});

async function sendOn(origin: Origin, { request, response, fault }: Exchange, body: Buffer): Promise<void> {
  const { method, url: target, headers } = request;
  const { host, port } = origin;
  const onward = sendRequest({ host, port, method, path: target, headers, agent: false });
  // Swift sends more after its last response on a connection.
  onward.on('error', () => undefined);
  onward.end(body);
  const [answered] = (await once(onward, 'response')) as [IncomingMessage];
  response.writeHead(answered.statusCode ?? 502, answered.headers);
  if (fault === undefined || fault === 'unconditional') return void answered.pipe(response);
  const content = await readAll(answered);
  if (fault === 'none') {
    response.end(content);
  } else if (fault === 'damage') {
    response.end(Buffer.concat([Buffer.from([(content[0] ?? 0) ^ 1]), content.subarray(1)]));
  } else {
    response.write(content.subarray(0, content.length / 2), () => request.socket.destroy());
  }
}

async function readAll(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The hash interface that the signer of Amazon expects. */
class Sha256 {
  readonly #hash;
  constructor(key?: Uint8Array | string) {
    this.#hash = key === undefined ? createHash('sha256') : createHmac('sha256', key);
  }
  update(data: Uint8Array | string) {
    this.#hash.update(data);
  }
  async digest() {
    return new Uint8Array(this.#hash.digest());
  }
}

interface SignedRequest {
  readonly headers: Readonly<Record<string, string>>;
}

interface Signer {
  sign(request: object, options: { readonly signingDate: Date }): Promise<SignedRequest>;
}

const signing = (await importFromTool('tools/s3', '@smithy/signature-v4')) as {
  SignatureV4: new (options: object) => Signer;
};

/** Returns the response of Amazon S3 to a request whose signature or whose content is not valid. */
async function findRefusal(origin: Origin, request: IncomingMessage, body: Buffer) {
  const { authorization = '', ...headers } = request.headers as Record<string, string>;
  const [, accessKeyId, region, signed] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/\d{8}\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), /.exec(
      authorization,
    ) ?? [];
  // The server refuses a different key.
  if (accessKeyId !== origin.accessKeyId) return undefined;
  if (createHash('sha256').update(body).digest('hex') !== headers['x-amz-content-sha256']) {
    return { status: 400, body: errorDocument('XAmzContentSHA256Mismatch') };
  }
  // A plus sign in a query stands for itself, as Ceph verifies signatures, and not for a space.
  const { pathname, searchParams } = new URL((request.url ?? '').replaceAll('+', '%2B'), 'http://host');
  const options = {
    service: 's3',
    region,
    credentials: origin,
    sha256: Sha256,
    uriEscapePath: false,
    applyChecksum: false,
  };
  const date = String(headers['x-amz-date']).replace(/^(....)(..)(..T..)(..)/, '$1-$2-$3:$4:');
  const names = signed?.split(';') ?? [];
  const expected = await new signing.SignatureV4(options).sign(
    {
      method: request.method,
      path: pathname,
      query: Object.fromEntries(searchParams),
      headers: Object.fromEntries(Object.entries(headers).filter(([name]) => names.includes(name))),
    },
    { signingDate: new Date(date) },
  );
  if (expected.headers.authorization === authorization) return undefined;
  return { status: 403, body: errorDocument('SignatureDoesNotMatch') };
}
