import { readFileSync } from 'node:fs';
import { AppError } from '@trellis/core/errors';
import { convertStorageFault } from '@trellis/core/storage';
import express, { type RequestHandler } from 'express';
import { createToPayload } from '../http/payload.js';
import { getClientAddress, getRequestContext, nameRequest, parseTarget, tryDecode } from '../http/request.js';
import { allowMethods, type Headers, READ_ONLY, securityHeaders, throwMethodNotAllowed } from '../http/responses.js';
import { assertKnownSchemes, listSchemes } from '../http/security.js';
import { createTextSender } from '../pages/built-pages.js';
import {
  handleOperation,
  type OperationDispatch,
  type OperationHandler,
  type OperationOptions,
} from './handle-operation.js';
import type { HttpMethod, OperationSpec } from './operation.js';

interface ContractRouterOptions extends OperationOptions {
  /** The prefix of all operation paths, such as `/secrets`; empty for none. */
  readonly basePath: string;
  /**
   * Prefixes below which unknown paths are rejected with 404 by this router; by default the base path. Empty if contracts
   * share a prefix: then {@link rejectUnknownPaths} comes after their routers, and rejects unknown methods too.
   */
  readonly ownedPrefixes?: readonly string[];
  readonly operations: readonly OperationSpec[];
  /** Sent in `X-Trellis-Revision`, so that clients can warn about a contract that they don't know. */
  readonly revision: string;
  /** The contract itself; absent if it is not served. */
  readonly document?: ServedContract;
  /** Fixed messages by error code, for contracts whose clients rely on the text. */
  readonly fixedMessages?: FixedMessages;
  /** Headers of every response. */
  readonly headers?: Headers;
  /** The implementation of the generated handler interface: a function for each `operationId`. */
  readonly handlers: object;
}

type FixedMessages = Readonly<Record<string, string>>;

/**
 * Serves a contract. The operation table controls routing, security and validation, in this order, before a handler is
 * called. Errors are thrown for the error handler at the end of the app.
 *
 * @throws Error when an operation has no handler or refers to an unknown security scheme.
 */
export function contractRouter(options: ContractRouterOptions): RequestHandler {
  const { basePath, ownedPrefixes = [basePath], operations, schemes, revision, document, headers = [] } = options;
  const service = { ...options, handle: createDispatch(options), toPayload: createToPayload() };
  assertKnownSchemes(operations, schemes);
  assertAuthenticators(options);
  const match = createRouteMatcher(operations);

  return async (request, response, next) => {
    const { path, query } = parseTarget(request.originalUrl);
    if (path === document?.path) {
      void document.handler(request, response, next);
      return;
    }
    const found = isBelow(path, basePath) ? match(request.method, path.slice(basePath.length)) : UNKNOWN;
    const isKnown = found.kind === 'operation' || found.kind === 'method';
    if (found.kind === 'method' && ownedPrefixes.length === 0) {
      addAllowedMethods(response, found.allow);
      next();
      return;
    }
    if (!isKnown && !ownedPrefixes.some((prefix) => isBelow(path, prefix))) {
      next();
      return;
    }
    for (const [name, value] of headers) response.setHeader(name, value);
    if (!isKnown) throw toPathError(found.kind);
    if (found.kind === 'method') {
      throwMethodNotAllowed(request, response, found.allow);
      return;
    }
    response.setHeader('X-Trellis-Revision', revision);
    try {
      await handleOperation(request, response, { operation: found.operation, params: found.params, query, service });
    } catch (error) {
      if (error instanceof AppError) {
        options.onRejected?.({
          operation: found.operation.id,
          params: Object.fromEntries(Object.entries(found.params).map(([name, text]) => [name, tryDecode(text)])),
          headers: request.headers,
          address: getClientAddress(request),
          caller: getRequestContext(response).caller,
          error,
        });
      }
      throw withFixedMessage(convertStorageFault(error), options.fixedMessages);
    }
  };
}

/** The methods of a path in the contracts so far, by the response to a request with a different method. */
const allowedMethods = new WeakMap<object, ReadonlySet<string>>();

function addAllowedMethods(response: object, allow: string): void {
  allowedMethods.set(response, new Set([...(allowedMethods.get(response) ?? []), ...allow.split(', ')]));
}

/**
 * Responds to the requests that the routers of several contracts have passed on: with 405 if the path has other methods,
 * and with 404 below some prefixes.
 */
export const rejectUnknownPaths =
  (prefixes: readonly string[], headers: Headers = []): RequestHandler =>
  (request, response, next) => {
    const { path } = parseTarget(request.originalUrl);
    const allowed = allowedMethods.get(response);
    if (!allowed && !prefixes.some((prefix) => isBelow(path, prefix))) {
      next();
      return;
    }
    for (const [name, value] of headers) response.setHeader(name, value);
    if (allowed) {
      const others = [...allowed].filter((method) => method !== 'OPTIONS');
      throwMethodNotAllowed(request, response, [...others, 'OPTIONS'].join(', '));
      return;
    }
    throw toPathError(path.split('/').some((text) => tryDecode(text) === undefined) ? 'malformed' : 'unknown');
  };

/** @throws Error if a security scheme has no function, or if one function has to find several callers. */
function assertAuthenticators({ operations, authenticate }: ContractRouterOptions): void {
  for (const { id, security } of operations) {
    if (typeof authenticate === 'function') {
      if (security.every((alternative) => listSchemes(alternative).length === 1)) continue;
      throw new Error(`Operation ${id} combines security schemes: authenticate needs a function for each scheme.`);
    }
    const missing = security.flatMap(listSchemes).find(({ scheme }) => !Object.hasOwn(authenticate, scheme));
    if (missing !== undefined)
      throw new Error(`The security scheme "${missing.scheme}" has no function in authenticate.`);
  }
}

/** The bundled OpenAPI document of a contract. */
export interface ServedContract {
  readonly path: string;
  readonly handler: RequestHandler;
}

/** Serves a file at a path, with the security headers of pages. */
export function contractDocument(
  path: string,
  file: URL,
  options: Parameters<typeof securityHeaders>[0],
): ServedContract {
  const send = createTextSender(readFileSync(file, 'utf8'), 'json');
  const handler = express.Router().use(securityHeaders(options));
  handler.use((_request, response, next) => {
    nameRequest(response, { operation: 'contract', route: path });
    next();
  });
  // The path of a server may contain characters of Express's patterns.
  const pattern = path.replaceAll(/[()*+?![\]\\{}:]/g, String.raw`\$&`);
  handler.get(pattern, (_request, response) => send(response)).all(pattern, allowMethods(READ_ONLY));
  return { path, handler };
}

function withFixedMessage(error: unknown, messages: FixedMessages = {}): unknown {
  const text = error instanceof AppError ? messages[error.code] : undefined;
  if (!(error instanceof AppError) || text === undefined) return error;
  const { code, status, field, headers } = error;
  return new AppError(code, text, { status, headers, cause: error, ...(field === undefined ? {} : { field }) });
}

const UNKNOWN: RouteMatch = { kind: 'unknown' };

function toPathError(kind: 'malformed' | 'unknown'): AppError {
  return kind === 'unknown'
    ? new AppError('not_found', 'No operation at this path.')
    : new AppError('invalid_input', 'Expected percent-encoded UTF-8 text without NUL in the path.');
}

function isBelow(path: string, prefix: string): boolean {
  return path === prefix || path.startsWith(`${prefix}/`);
}

/** @throws Error for an operation without a handler, which the compiler prevents for typed handlers. */
function createDispatch({ operations, handlers }: ContractRouterOptions): OperationDispatch {
  const known = new Map(Object.entries(handlers as Readonly<Record<string, OperationHandler>>));
  const find = ({ id }: OperationSpec): OperationHandler => {
    const handler = known.get(id);
    if (handler === undefined) throw new Error(`Operation ${id} has no handler.`);
    return handler;
  };
  operations.forEach(find);
  return async (operation, request) => find(operation).call(handlers, request);
}

type RouteMatch =
  /** The texts of path parameters are still encoded. */
  | { readonly kind: 'operation'; readonly operation: OperationSpec; readonly params: Readonly<Record<string, string>> }
  /** The path exists, but not with this method. `allow` lists its methods in the syntax of the `Allow` header. */
  | { readonly kind: 'method'; readonly allow: string }
  /** The path has escapes that are incomplete, not UTF-8, or NUL. */
  | { readonly kind: 'malformed' }
  | { readonly kind: 'unknown' };

type Segment =
  | { readonly kind: 'static'; readonly text: string }
  | { readonly kind: 'parameter' | 'rest'; readonly name: string }
  /** Text with parameters in it, such as `{name}.{format}`. */
  | { readonly kind: 'mixed'; readonly texts: readonly string[]; readonly names: readonly string[] };

/** A path of the contract with its methods. Paths that differ in the names of their parameters only are one route. */
interface Route {
  readonly segments: readonly Segment[];
  readonly methods: Map<HttpMethod, RoutedOperation>;
}

interface RoutedOperation {
  readonly operation: OperationSpec;
  /** The names of the parameters, in the order of the path. */
  readonly names: readonly string[];
}

/**
 * Creates the function that finds the operation for a method and an encoded path.
 *
 * Segments are matched from the left. A static segment takes precedence over a parameter, and a parameter over one that
 * matches the rest of the path. HEAD is matched like GET.
 */
export function createRouteMatcher(operations: readonly OperationSpec[]): (method: string, path: string) => RouteMatch {
  const byPath = groupByPath(operations);
  const routes = [...byPath.values()].sort(bySpecificity);
  const exact = new Map([...byPath].filter(([, { segments }]) => segments.every(({ kind }) => kind === 'static')));
  return (method, path) => {
    const known = exact.get(path);
    if (known !== undefined) return pickMethod(known, method, []);
    if (!path.startsWith('/')) return { kind: 'unknown' };
    const encoded = path.slice(1).split('/');
    const segments = encoded.map((text) => ({ encoded: text, text: tryDecode(text) }));
    if (segments.some(({ text }) => text === undefined)) return { kind: 'malformed' };
    for (const route of routes) {
      const values = matchSegments(route.segments, segments);
      if (values !== undefined) return pickMethod(route, method, values);
    }
    return { kind: 'unknown' };
  };
}

function pickMethod({ methods }: Route, method: string, values: readonly string[]): RouteMatch {
  const name = method === 'HEAD' && !methods.has('head') ? 'get' : method.toLowerCase();
  // Method names are case-sensitive, and Node accepts only those in upper case.
  const found = methods.get(name as HttpMethod);
  if (found === undefined) return { kind: 'method', allow: formatAllow(methods) };
  const { operation, names } = found;
  const params: Record<string, string> = {};
  for (const [index, parameter] of names.entries()) params[parameter] = values[index] ?? '';
  return { kind: 'operation', operation, params };
}

function formatAllow(methods: ReadonlyMap<HttpMethod, unknown>): string {
  const names = [...methods.keys(), ...(methods.has('get') ? ['head'] : []), 'options'];
  return [...new Set(names)].map((method) => method.toUpperCase()).join(', ');
}

function groupByPath(operations: readonly OperationSpec[]): ReadonlyMap<string, Route> {
  const routes = new Map<string, Route>();
  for (const operation of operations) {
    const segments = toSegments(operation);
    const isRest = segments.at(-1)?.kind === 'rest';
    const shape = operation.path.replace(/\{[^{}]+\}/g, '{}') + (isRest ? '*' : '');
    const route = routes.get(shape) ?? { segments, methods: new Map() };
    routes.set(shape, route);
    route.methods.set(operation.method, { operation, names: segments.flatMap(listNames) });
  }
  return routes;
}

function toSegments({ path, parameters }: OperationSpec): Segment[] {
  return path
    .slice(1)
    .split('/')
    .map((text) => {
      const name = /^\{(.+)\}$/.exec(text)?.[1];
      if (name === undefined || /[{}]/.test(name)) return toMixedSegment(text);
      const isRest = parameters.some(
        (parameter) => parameter.in === 'path' && parameter.name === name && parameter.rest,
      );
      return { kind: isRest ? 'rest' : 'parameter', name };
    });
}

function toMixedSegment(text: string): Segment {
  const parts = text.split(/\{([^{}]+)\}/);
  const names = parts.filter((_, index) => index % 2 === 1);
  if (names.length === 0) return { kind: 'static', text: tryDecode(text) ?? text };
  return { kind: 'mixed', texts: parts.filter((_, index) => index % 2 === 0).map(decodeUnreserved), names };
}

/** Decodes all but reserved characters and the percent sign: an encoded delimiter belongs to a value (RFC 3986, 2.2). */
const decodeUnreserved = (encoded: string): string =>
  decodeURI(encoded.replaceAll('%25', '%2525')).replace(/%[0-9a-f]{2}/gi, (escape) => escape.toUpperCase());

function listNames(segment: Segment): readonly string[] {
  if (segment.kind === 'static') return [];
  return segment.kind === 'mixed' ? segment.names : [segment.name];
}

/** Reads the parameters of a segment, still encoded. Each is as short as the text after it allows, and not empty. */
function matchMixed(
  { texts, names }: Extract<Segment, { readonly kind: 'mixed' }>,
  encoded: string,
): readonly string[] | undefined {
  const segment = decodeUnreserved(encoded);
  const [prefix = '', ...others] = texts;
  if (!segment.startsWith(prefix)) return undefined;
  const values: string[] = [];
  let start = prefix.length;
  for (const index of names.keys()) {
    const text = others[index] ?? '';
    const isLast = index === names.length - 1;
    const end = isLast ? segment.length - text.length : findText(segment, text, start + 1);
    if (end <= start || !segment.startsWith(text, end) || isInEscape(segment, end)) return undefined;
    values.push(segment.slice(start, end));
    start = end + text.length;
  }
  return values;
}

/** Finds a text outside the escapes of a segment; returns -1 without one. */
function findText(segment: string, text: string, from: number): number {
  let at = segment.indexOf(text, from);
  while (at >= 0 && isInEscape(segment, at)) at = segment.indexOf(text, at + 1);
  return at;
}

const isInEscape = (segment: string, at: number): boolean => /%.?$/.test(segment.slice(Math.max(0, at - 2), at));

const RANK: Readonly<Record<Segment['kind'], number>> = { static: 0, mixed: 1, parameter: 2, rest: 3 };

function bySpecificity(a: Route, b: Route): number {
  for (const [index, segment] of a.segments.entries()) {
    const other = b.segments[index];
    if (other === undefined) break;
    if (segment.kind !== other.kind) return RANK[segment.kind] - RANK[other.kind];
  }
  return b.segments.length - a.segments.length;
}

/** Returns the texts of the parameters, still encoded: a delimiter that is encoded belongs to a value. */
function matchSegments(
  route: readonly Segment[],
  path: readonly { readonly encoded: string; readonly text: string | undefined }[],
): readonly string[] | undefined {
  const values: string[] = [];
  for (const [index, segment] of route.entries()) {
    const part = path[index];
    if (part === undefined) return undefined;
    if (segment.kind === 'static') {
      if (segment.text !== part.text) return undefined;
    } else if (segment.kind === 'mixed') {
      const mixed = matchMixed(segment, part.encoded);
      if (mixed === undefined) return undefined;
      values.push(...mixed);
    } else {
      const rest = segment.kind === 'rest' ? path.slice(index) : [part];
      const value = rest.map(({ encoded }) => encoded).join('/');
      if (value === '') return undefined;
      values.push(value);
      if (segment.kind === 'rest') return values;
    }
  }
  return path.length === route.length ? values : undefined;
}
