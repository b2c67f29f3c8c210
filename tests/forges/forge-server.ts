import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ForgeName } from '../../src/dashboard/forges/forge.js';
import { findCall } from './calls.js';

/** The addresses of test forges, for `TRELLIS_FORGE_ALLOW`. */
export const LOOPBACK = ['127.0.0.0/8', '::1'] as const;

export interface RecordedRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface TestResponse {
  readonly status?: number;
  /** Sent as JSON; a string is sent unchanged. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Replaces the normal response. `reset` closes the connection, `cut` does so within the body, and `undefined` keeps the
 * normal response.
 */
export type TestFault = (seen: RecordedRequest) => TestResponse | Promise<TestResponse> | 'cut' | 'reset' | undefined;

export interface ForgeServerOptions {
  /** The forge whose listed calls are accepted; without one, every request is. */
  readonly forge?: ForgeName;
  readonly answer: (seen: RecordedRequest) => TestResponse | Promise<TestResponse>;
  /** Returns the headers of every response, such as rate limits. */
  readonly headersOf: (seen: RecordedRequest, status: number) => Readonly<Record<string, string>>;
}

export interface ForgeServer {
  readonly url: string;
  /** All requests, including those that failed. */
  readonly seen: RecordedRequest[];
  /** Returns the number of accepted connections. */
  readonly connections: () => number;
  /** Returns the total size of the response bodies. */
  readonly bytes: () => number;
  /** Makes the next matching requests fail. */
  failNext(fault: TestResponse | TestFault, only?: { readonly times?: number; readonly path?: RegExp }): void;
  /** Replaces the body of every response. */
  distort?: (body: unknown) => unknown;
  /** Receives each request with its response, except responses with 304. */
  exchanged?: (seen: RecordedRequest, response: { readonly status: number; readonly body: unknown }) => void;
  /** Called after a response is computed and before it is sent. */
  beforeSending?: (seen: RecordedRequest) => Promise<void>;
  /** Fails if a request was none of the listed calls. */
  close(): Promise<void>;
}

/** Starts an HTTP server for a test forge on a free port. Supports ETags and records the requests. */
export async function serveForge({ forge, answer, headersOf }: ForgeServerOptions): Promise<ForgeServer> {
  const seen: RecordedRequest[] = [];
  const unlisted: string[] = [];
  const faults: TestFault[] = [];
  let bytes = 0;

  async function listen(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const asked = await readRequest(request);
    seen.push(asked);
    if (!isListed(forge, asked)) unlisted.push(`${asked.method} ${asked.path}`);
    const instead = findFault(faults, asked);
    if (instead === 'reset') return void response.socket?.destroy();
    if (instead === 'cut') {
      cutBody(response);
      return;
    }
    const given = await (instead ?? answer(asked));
    const { body: whole = '', headers } = given;
    const body = served.distort === undefined ? whole : served.distort(whole);
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const etag = `W/"${createHash('sha256').update(text).digest('hex')}"`;
    const { status = 200 } = given;
    const isKnown = asked.method === 'GET' && status === 200 && asked.headers['if-none-match'] === etag;
    const sent = isKnown ? '' : text;
    bytes += sent.length;
    const type = { 'Content-Type': typeof body === 'string' ? 'text/plain' : 'application/json', ETag: etag };
    const code = isKnown ? 304 : status;
    if (!isKnown) served.exchanged?.(asked, { status, body });
    await served.beforeSending?.(asked);
    response.writeHead(code, { ...type, ...headersOf(asked, code), ...headers }).end(sent);
  }

  let connections = 0;
  const server = createServer((request, response) => void listen(request, response)).listen(0, '127.0.0.1');
  server.on('connection', () => (connections += 1));
  await once(server, 'listening');
  const served: ForgeServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    connections: () => connections,
    bytes: () => bytes,
    failNext(fault, { times = 1, path = /^/ } = {}) {
      let left = times;
      faults.push((asked) => {
        if (left === 0 || !path.test(asked.path)) return undefined;
        left -= 1;
        return typeof fault === 'function' ? fault(asked) : fault;
      });
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      if (unlisted.length > 0) throw new Error(`These calls are not listed in calls.ts: ${unlisted.join(', ')}`);
    },
  };
  return served;
}

/** The storage of logs and GraphQL are not part of the REST API. */
function isListed(forge: ForgeName | undefined, { method, path }: RecordedRequest): boolean {
  if (forge === undefined || /\/graphql$|^\/log-storage\//.test(path)) return true;
  // The name that a caller sends may have three parts; the forge then responds with 404.
  const paths = [path, path.replace(/(\/repos\/[^/]+)\/[^/]+(?=\/[^/]+\/)/, '$1')];
  return paths.some((each) => findCall(forge, method, each) !== undefined);
}

function cutBody(response: ServerResponse): void {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '1000' });
  response.write('{"data":', () => response.socket?.destroy());
}

/** Finds the first fault for a request. Faults that it adds apply to later requests. */
function findFault(faults: readonly TestFault[], asked: RecordedRequest): ReturnType<TestFault> {
  for (const fault of [...faults]) {
    const instead = fault(asked);
    if (instead !== undefined) return instead;
  }
  return undefined;
}

async function readRequest(request: IncomingMessage): Promise<RecordedRequest> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  const { method = '', url = '', headers } = request;
  const { pathname: path, searchParams: query } = new URL(url, 'http://forge');
  return { method, path, query, headers, body };
}
