import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What `TRELLIS_FORGE_ALLOW` has to list, so that a server reads forges of this kind. */
export const LOOPBACK = ['127.0.0.0/8', '::1'] as const;

export interface Seen {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface Answer {
  readonly status?: number;
  /** Sent as JSON; a text is sent as it is. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What happens instead of an answer; `reset` ends the connection. Without, the forge answers as it would. */
export type Fault = (seen: Seen) => Answer | Promise<Answer> | 'reset' | undefined;

export interface ForgeServerOptions {
  readonly answer: (seen: Seen) => Answer | Promise<Answer>;
  /** What every answer carries, by its status: limits, mostly. */
  readonly headersOf: (seen: Seen, status: number) => Readonly<Record<string, string>>;
}

export interface ForgeServer {
  readonly url: string;
  /** Everything that was asked, faults included. */
  readonly seen: Seen[];
  /** How many connections were accepted. */
  readonly connections: () => number;
  /** How much was sent in bodies. */
  readonly bytes: () => number;
  /** The next requests that match fail. */
  failNext(fault: Answer | Fault, only?: { readonly times?: number; readonly path?: RegExp }): void;
  /** What is sent in place of the body that would be. */
  distort?: (body: unknown) => unknown;
  /** What happens between making an answer and sending it. */
  beforeSending?: (seen: Seen) => Promise<void>;
  close(): Promise<void>;
}

/** A forge's HTTP: on a free port, with ETags, remembering what it was asked. */
export async function serveForge({ answer, headersOf }: ForgeServerOptions): Promise<ForgeServer> {
  const seen: Seen[] = [];
  const faults: Fault[] = [];
  let bytes = 0;

  async function listen(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const asked = await readRequest(request);
    seen.push(asked);
    const instead = findFault(faults, asked);
    if (instead === 'reset') return void response.socket?.destroy();
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
    },
  };
  return served;
}

/** The first that fails; those that it adds are for later requests. */
function findFault(faults: readonly Fault[], asked: Seen): ReturnType<Fault> {
  for (const fault of [...faults]) {
    const instead = fault(asked);
    if (instead !== undefined) return instead;
  }
  return undefined;
}

async function readRequest(request: IncomingMessage): Promise<Seen> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  const { method = '', url = '', headers } = request;
  const { pathname: path, searchParams: query } = new URL(url, 'http://forge');
  return { method, path, query, headers, body };
}
