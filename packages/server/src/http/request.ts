import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError } from '@trellis/core/errors';
import type { RequestHandler, Response } from 'express';
import { type DestinationStream, type Logger, pino } from 'pino';
import { type Caller, toCallerId } from './security.js';
import { openLineOutput } from './terminal-log.js';

/** The data for the log line of a request. Handlers add the operation and the caller. */
interface RequestContext {
  readonly requestId: string;
  /** An `operationId`, or a name for other requests, such as `graphql`. */
  operation?: string;
  /** The path with its parameters as placeholders, because the path itself may contain a secret. */
  route?: string;
  caller?: Caller;
  /** The name of the GraphQL operation, which the client has chosen. */
  queryName?: string;
  /** Where the image of the response came from. */
  imageFrom?: 'disk' | 'generator' | 'memory';
  /** Whether the response lasts as long as the client listens. */
  isStream?: boolean;
}

/** A request whose response is complete, or whose client has disconnected. */
export interface CompletedRequest extends Readonly<RequestContext> {
  readonly method: string;
  readonly status: number;
  readonly seconds: number;
  /** The bytes that were sent, headers included. */
  readonly bytes: number;
}

export interface RequestContextOptions {
  readonly log: Log;
  /** Whether a proxy in front of the server sets `X-Request-Id`. The ids of other clients might not be unique. */
  readonly trustsRequestIds?: boolean;
  /** Called when a response is complete. */
  readonly onComplete?: (request: CompletedRequest) => void;
}

/** Enough for the ids of proxies, and harmless in logs and headers. */
const REQUEST_ID = /^[\w.:=+/@-]{8,128}$/;

/**
 * Assigns an id to a request, and logs one line when the response is complete. The caller sends the id as
 * `X-Request-Id`.
 */
type TrackRequest = (request: IncomingMessage, response: TrackedResponse) => RequestContext;

/** A response of Node. Express keeps `locals`. */
export type TrackedResponse = ServerResponse & { locals?: Record<string, unknown> };

/** Creates the function that tracks requests, for listeners that respond to some of them without Express. */
export function createRequestTracker({
  log,
  trustsRequestIds = false,
  onComplete,
}: RequestContextOptions): TrackRequest {
  // These lines contain no headers, and redaction would take as long as writing the line. The level is that of `log`,
  // which may change.
  const lines = log.child({}, { redact: [], level: 'trace' });
  return (request, response) => {
    const given = trustsRequestIds ? request.headers['x-request-id'] : undefined;
    const isUsable = typeof given === 'string' && REQUEST_ID.test(given);
    const context: RequestContext = { requestId: isUsable ? given : randomUUID() };
    const startedAt = performance.now();
    const { socket } = request;
    const writtenBefore = socket.bytesWritten;
    const client = getClientAddress(request);
    (response.locals ??= {}).context = context;
    // The event occurs once; 'once' would wrap the listener.
    response.on('close', () => {
      const milliseconds = performance.now() - startedAt;
      const bytes = socket.bytesWritten - writtenBefore;
      const { method = '' } = request;
      const status = response.statusCode;
      onComplete?.({ ...context, method, status, seconds: milliseconds / 1000, bytes });
      if (!log.isLevelEnabled('info')) return;
      lines.info({
        requestId: context.requestId,
        method,
        operation: context.operation,
        status,
        route: context.route,
        queryName: context.queryName,
        imageFrom: context.imageFrom,
        client,
        bytes,
        milliseconds: Math.round(milliseconds * 10) / 10,
        caller: context.caller && toCallerId(context.caller),
        aborted: response.writableFinished ? undefined : true,
      });
    });
    return context;
  };
}

/** Tracks each request that a listener before Express has not tracked, and sets `X-Request-Id`. */
export function requestContext(options: RequestContextOptions): RequestHandler {
  const track = createRequestTracker(options);
  return (request, response, next) => {
    const tracked = response.locals.context as RequestContext | undefined;
    response.setHeader('X-Request-Id', (tracked ?? track(request, response)).requestId);
    next();
  };
}

/** Names a request in logs and metrics, if it has a context. */
export function nameRequest(response: Response, name: Pick<RequestContext, 'operation' | 'route'>): void {
  const context = response.locals.context as RequestContext | undefined;
  if (context !== undefined) Object.assign(context, name);
}

/** @throws Error if {@link requestContext} is not installed before the calling handler. */
export function getRequestContext(response: Response | TrackedResponse): RequestContext {
  const context = response.locals?.context as RequestContext | undefined;
  if (context === undefined) throw new Error('requestContext() is not installed before this handler.');
  return context;
}

export type Log = Logger;

/** Headers with credentials, which are redacted wherever a log line contains headers. */
const CREDENTIALS = ['authorization', 'cookie', '["set-cookie"]'];

interface LogOptions {
  readonly level: string;
  /** Members of every line, such as the version. */
  readonly base?: Readonly<Record<string, unknown>>;
  /** By default standard output, written asynchronously with a delay of up to 200 ms. */
  readonly destination?: DestinationStream;
  /** Whether several processes write to the same standard output. */
  readonly isShared?: boolean;
}

/** Creates a log with one JSON object per line. */
export function createLog({ level, base, destination, isShared = false }: LogOptions): Log {
  const options = {
    level,
    base,
    redact: {
      paths: CREDENTIALS.flatMap((name) => [name, below('*', name), below('*.*', name)]),
      censor: '[redacted]',
    },
  };
  return pino(options, destination ?? openLineOutput(isShared));
}

function below(parent: string, name: string): string {
  return name.startsWith('[') ? parent + name : `${parent}.${name}`;
}

/** A request. Express adds `ip`, the client address that trusted proxies report. */
type Peer = Pick<IncomingMessage, 'headers' | 'socket'> & { readonly ip?: string };

/**
 * Adds `ip` to a request that trusted proxies forwarded, for listeners before Express, which would add the same.
 *
 * @param hops The number of proxies in front of the server, as in Express's setting `trust proxy`.
 */
export function addForwardedAddress(request: IncomingMessage, hops: number): void {
  const forwarded = request.headers['x-forwarded-for'];
  if (forwarded === undefined) return;
  const listed = [forwarded].flat().flatMap((list) => list.split(','));
  const addresses = listed.map((address) => address.trim()).filter((address) => address !== '');
  const nearestFirst = [request.socket.remoteAddress, ...addresses.reverse()];
  Object.assign(request, { ip: nearestFirst[Math.min(hops, addresses.length)] });
}

/**
 * Returns the client's address, in IPv4 notation also for an IPv4 client of an IPv6 socket; empty once the client has
 * disconnected.
 */
export function getClientAddress(request: Peer): string {
  // Without this header no proxy reported a client, so the cheaper lookup gives the same address.
  const isDirect = request.headers['x-forwarded-for'] === undefined;
  const address = (isDirect ? request.socket.remoteAddress : withoutPort(request.ip)) ?? '';
  return address.startsWith(':') ? address.replace(/^::ffff:(?=\d+\.)/i, '') : address;
}

/** Some proxies, such as the Application Gateway of Azure, report the port of a client after its address. */
const withoutPort = (address = ''): string =>
  /^(?:\[([\da-f:.]+)\]|(\d+(?:\.\d+){3}))(?::\d+)?$/i.exec(address)?.slice(1).find(Boolean) ?? address;

/** Returns whether the headers announce a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Returns whether a content type is JSON, by the definition of browsers. */
export function isJson(contentType: string): boolean {
  return /^(?:(?:application|text)\/json|[\w!#$&^.+-]+\/[\w!#$&^.+-]+\+json)\s*(?:;|$)/.test(contentType);
}

/** A request target, still percent-encoded. */
interface RequestTarget {
  readonly path: string;
  /** The part after the question mark. */
  readonly query: string;
}

/** The scheme and authority of a target in absolute form. */
const ABSOLUTE = /^https?:\/\/([^/?#@]+)(?=[/?]|$)/i;

/**
 * Converts a target in absolute form, as proxies send it, to origin form. Its authority replaces the Host header
 * (RFC 9112, 3.2.2), so that later checks of Host see the name that the client has requested.
 */
export function useTargetAuthority(request: IncomingMessage): void {
  if (request.url?.startsWith('/') === true) return;
  const [prefix = '', authority] = ABSOLUTE.exec(request.url ?? '') ?? [];
  if (authority === undefined) return;
  const rest = request.url?.slice(prefix.length) ?? '';
  request.url = rest.startsWith('/') ? rest : `/${rest}`;
  request.headers.host = authority;
}

/** Splits a target in origin form into path and query. */
export function parseTarget(url: string): RequestTarget {
  const mark = url.indexOf('?');
  return mark === -1 ? { path: url, query: '' } : { path: url.slice(0, mark), query: url.slice(mark + 1) };
}

/**
 * Parses a query string.
 *
 * @param what The name of the text in messages.
 * @returns all values of each name, in their order.
 * @throws AppError `invalid_input` for an invalid escape.
 */
export function parseQuery(query: string, what = 'query'): ReadonlyMap<string, readonly string[]> {
  const decode = (text: string): string => {
    const decoded = tryDecode(text);
    if (decoded !== undefined) return decoded;
    throw new AppError('invalid_input', `Expected percent-encoded UTF-8 text without NUL in the ${what}.`);
  };
  return collectPairs(query, decode, decode);
}

/** Returns the values of each name without decoding them. Names with invalid escapes are skipped. */
export function splitQuery(query: string): ReadonlyMap<string, readonly string[]> {
  return collectPairs(
    query,
    (name) => tryDecode(name) ?? name,
    (value) => value,
  );
}

function collectPairs(
  query: string,
  toName: (text: string) => string,
  toValue: (text: string) => string,
): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>();
  for (const pair of query.split('&')) {
    if (pair === '') continue;
    const [name = '', ...rest] = pair.replaceAll('+', ' ').split('=');
    const key = toName(name);
    const value = toValue(rest.join('='));
    const known = values.get(key);
    if (known === undefined) values.set(key, [value]);
    else known.push(value);
  }
  return values;
}

/** Decodes percent-encoded text; returns `undefined` if an escape is incomplete, not UTF-8, or NUL. */
export function tryDecode(text: string): string | undefined {
  try {
    const decoded = decodeURIComponent(text);
    return decoded.includes('\0') ? undefined : decoded;
  } catch {
    return undefined;
  }
}

/** Returns the values of each cookie, still encoded. */
export function parseCookies(header: string): ReadonlyMap<string, readonly string[]> {
  const cookies = new Map<string, string[]>();
  for (const pair of header.split(';')) {
    const at = pair.indexOf('=');
    if (at === -1) continue;
    const name = pair.slice(0, at).trim();
    const value = pair
      .slice(at + 1)
      .trim()
      .replace(/^"(.*)"$/, '$1');
    const known = cookies.get(name);
    // A copy for each value would take seconds for a header of 64 KiB.
    if (known === undefined) cookies.set(name, [value]);
    else known.push(value);
  }
  return cookies;
}
