import createFetchClient, { mergeHeaders, type Middleware } from 'openapi-fetch';
import { encodeBody, type ParameterStyles, writeCookies, writeHeaders, writePath, writeQuery } from './encoding.js';
import type { splitPath, UntypedInit } from './paths.js';
import { fetchWithRetry, type ResolvedOptions, type RetryEvent, type RetrySettings } from './retry.js';
import type { MethodName, ParseAs, ServiceClient } from './service-client.js';

export type { ServiceClient } from './service-client.js';

/** The properties of a service that its generated client contains. */
interface ServiceContract {
  /** An absolute URL, or in browsers also a path. Trailing slashes are removed. */
  readonly baseUrl: string;
  /** The revision of the contract that the types are generated from. */
  readonly revision: string;
  /** Names the client in warnings and errors. */
  readonly product: string;
  /** The environment variable with the token, used when the option is omitted. */
  readonly tokenVariable: string;
  /** `POST /notes` → the media type of its body, for bodies that are not JSON. */
  readonly mediaTypes?: Readonly<Record<string, string>>;
  /** `GET /notes` → the styles of its parameters, for those that are not written in the usual way. */
  readonly styles?: Readonly<Record<string, ParameterStyles>>;
  /** Converts paths with fragments and queries, if the contract has some. */
  readonly toTarget?: typeof splitPath;
}

/**
 * Creates a client with authentication, timeouts and retries.
 *
 * Its methods return error responses in `error`, see `decodeError`. They throw only for network errors and timeouts
 * after the last retry, for aborts, and for a successful response that is not JSON.
 *
 * @throws TypeError for an invalid base URL or token, RangeError for a number out of bounds.
 */
export function createClient<Paths>(contract: ServiceContract, options: ClientOptions = {}): ServiceClient<Paths> {
  const settings = resolveOptions(options);
  const streamed = new WeakSet<Request>();
  const client = createFetchClient<Record<string, never>>({
    baseUrl: toBaseUrl(contract),
    headers: toAuthorization(options.token ?? findEnvironmentToken(contract.tokenVariable)),
    fetch: (request) => fetchWithRetry(request, settings, streamed.has(request)),
  });
  const checkRevision = createRevisionCheck(contract, options.onWarning ?? ((message) => console.warn(message)));
  client.use({
    onRequest: ({ request, options: { parseAs } }) => {
      if (parseAs === 'stream') streamed.add(request);
    },
    onResponse: ({ response }) => checkRevision(response),
  } satisfies Middleware);
  const request = createSender(client.request as unknown as UntypedRequest, contract);
  const methods = METHODS.map((name) => [name.toUpperCase(), request.bind(undefined, name)] as const);
  // The generated types describe these functions.
  return {
    ...client,
    ...Object.fromEntries(methods),
    request,
    revision: contract.revision,
  } as unknown as ServiceClient<Paths>;
}

const METHODS = 'delete get head options patch post put trace'.split(' ') as MethodName[];

interface UntypedResult {
  readonly data?: unknown;
  readonly error?: unknown;
  readonly response: Response;
}

type UntypedRequest = (method: MethodName, path: string, init?: UntypedInit) => Promise<UntypedResult>;

/** Returns a function that encodes the body, sends the request, and adds the status to the result. */
function createSender(send: UntypedRequest, { mediaTypes = {}, styles = {}, toTarget }: ServiceContract) {
  return async (method: MethodName, declared: string, given: UntypedInit = {}) => {
    const name = `${method.toUpperCase()} ${declared}`;
    const own = styles[name];
    const [path, init] = toTarget?.(declared, given) ?? [declared, given];
    requireSamePath(name, path, init.params?.path ?? {}, own ?? {});
    const written = withStyles(init, own);
    requireHeaderTexts(name, written.params?.header ?? {});
    const encoded = encodeInit(written, mediaTypes[name] ?? JSON_TYPE, own);
    const result = await send(method, path, encoded).catch((error: unknown) => throwNotJson(name, error));
    return { ...result, ...(await readEmpty(result, init.parseAs)), status: result.response.status };
  };
}

/** Returns the data of a successful response without a body, such as an empty text. As JSON it has none. */
async function readEmpty({ data, response }: UntypedResult, parseAs: ParseAs = 'json'): Promise<{ data?: unknown }> {
  if (!response.ok || data !== undefined || parseAs === 'json') return {};
  return { data: parseAs === 'stream' ? response.body : await response[parseAs]() };
}

/** A successful response whose body is not JSON, such as the sign-in page of a proxy. */
function throwNotJson(name: string, error: unknown): never {
  if (!(error instanceof SyntaxError)) throw error;
  const message = `${name}: expected a response in JSON; received different content, perhaps that of a proxy.`;
  throw new TypeError(message, { cause: error });
}

/**
 * Rejects values with which the request would reach a different operation: URL parsers remove `..`, and many proxies an
 * empty segment.
 */
function requireSamePath(
  name: string,
  path: string,
  values: Readonly<Record<string, unknown>>,
  styles: ParameterStyles,
) {
  for (const [place, parameter = ''] of path.matchAll(/\{([^}]+)\}/g)) {
    const value = values[parameter] ?? '';
    if (writePath(place, { [parameter]: value }, styles) !== '') continue;
    throw new TypeError(`${name}: expected a value of the path parameter "${parameter}"; received none.`);
  }
  const [, moved] = /(?:^|\/)(\.\.?)(?:\/|$)/.exec(writePath(path, values, styles)) ?? [];
  if (moved) throw new TypeError(`${name}: expected path parameters other than "." and ".."; received "${moved}".`);
}

/** Rejects texts that no header can have: `fetch` allows Latin-1, and the line ends at the end of a file. */
function requireHeaderTexts(name: string, values: Readonly<Record<string, unknown>>) {
  for (const [parameter, value] of Object.entries(values)) {
    if (/^[\t -~\x80-\xff]*[\r\n]*$/.test(String(value))) continue;
    throw new TypeError(`${name}: expected a value in Latin-1 of the header parameter "${parameter}".`);
  }
}

const JSON_TYPE = 'application/json';

/** Writes the parameters of an operation that has some in an unusual style. */
function withStyles(init: UntypedInit, styles: ParameterStyles | undefined): UntypedInit {
  if (styles === undefined) return init;
  const { cookie = {}, header = {}, ...params } = init.params ?? {};
  return {
    querySerializer: (query: Readonly<Record<string, unknown>>) => writeQuery(query, styles),
    pathSerializer: (path: string, values: Readonly<Record<string, unknown>>) => writePath(path, values, styles),
    ...init,
    params: {
      ...params,
      header: { ...writeHeaders(header, styles), Cookie: writeCookies(cookie, styles) || undefined },
    },
  } as UntypedInit;
}

function encodeInit(init: UntypedInit, mediaType: string, styles: ParameterStyles | undefined): UntypedInit {
  if (init.body === undefined || init.bodySerializer !== undefined) return init;
  const given = mergeHeaders(init.headers).get('Content-Type');
  const { body, contentType } = encodeBody(init.body, given ?? mediaType, styles);
  return {
    ...init,
    body,
    bodySerializer: () => body,
    headers: contentType === undefined ? init.headers : mergeHeaders({ 'Content-Type': contentType }, init.headers),
    ...(body instanceof ReadableStream && toStreamInit(body, init.signal)),
  };
}

/** The stream is read before the request is sent, so its end by an abort is not up to `fetch`. */
const toStreamInit = (body: ReadableStream<Uint8Array>, signal: AbortSignal | null | undefined) => {
  const ended = signal ? body.pipeThrough(new TransformStream<Uint8Array, Uint8Array>(), { signal }) : body;
  return { body: ended, bodySerializer: () => ended, duplex: 'half' };
};

/**
 * Rejects `localhost:4000`, which URL parsers read as the scheme `localhost:`, before it fails like a network error; and
 * a query, a fragment and credentials, with which no request reaches the service.
 */
function toBaseUrl({ product, baseUrl }: ServiceContract): string {
  if (/^(?:[a-z]+:)?(?:\/\/)?[^/?#]*@/i.test(baseUrl)) {
    throw new TypeError(`${product}: expected an address without a username and a password. Pass a token instead.`);
  }
  if (!/^(?:https?:\/\/[^\s/?#]+|\/|$)[^\s?#]*$/i.test(baseUrl)) {
    throw new TypeError(`${product}: expected an address such as http://localhost:4000; received "${baseUrl}".`);
  }
  return baseUrl.replace(/\/+$/, '');
}

/** The options of a client. All are optional. */
export interface ClientOptions {
  /** Sent as `Authorization: Bearer …`. Defaults to the token in the environment; an empty string sends none. */
  readonly token?: string;
  /** Overrides of the default retry settings. `{ maxRetries: 0 }` turns retries off. */
  readonly retry?: Partial<RetrySettings>;
  /** Called once for each attempt, instead of the platform's `fetch`. */
  readonly fetch?: (request: Request) => Promise<Response>;
  /**
   * The time limit of one attempt, from its start to the last byte of the response. Defaults to 30,000; 0 sets no
   * limit. An attempt that takes longer is retried like a network error. For a streamed response the limit applies to
   * the headers only. To limit a whole call including its waits, pass a `signal`.
   */
  readonly timeoutMs?: number;
  /** Called before the wait that precedes each retry. */
  readonly onRetry?: (notice: RetryEvent) => void;
  /** Called once when the server uses a different revision of the contract. Defaults to `console.warn`. */
  readonly onWarning?: (message: string) => void;
}

/** Allows 4 attempts. The cap on `Retry-After` keeps a server from blocking a script for a year. */
const RETRY_DEFAULTS: RetrySettings = {
  maxRetries: 3,
  baseDelayMs: 250,
  maxDelayMs: 10_000,
  maxRetryAfterMs: 60_000,
};

const DEFAULT_TIMEOUT_MS = 30_000;

/** The longest delay of a timer (24.8 days). Timers with longer delays fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Applies the defaults to the options.
 *
 * @throws RangeError when a number is not a whole number from 0 to {@link MAX_TIMER_MS}.
 */
function resolveOptions({ retry, fetch, timeoutMs, onRetry }: ClientOptions): ResolvedOptions {
  const settings = { ...RETRY_DEFAULTS };
  for (const name of Object.keys(RETRY_DEFAULTS) as (keyof RetrySettings)[]) {
    settings[name] = requireWholeNumber(`retry.${name}`, retry?.[name] ?? RETRY_DEFAULTS[name]);
  }
  return {
    retry: settings,
    // Looked up at each call, so that pages and tests can replace the global function.
    fetch: fetch ?? ((request) => globalThis.fetch(request)),
    timeoutMs: requireWholeNumber('timeoutMs', timeoutMs ?? DEFAULT_TIMEOUT_MS),
    onRetry: onRetry ?? (() => undefined),
  };
}

function requireWholeNumber(name: string, value: number): number {
  if (!Number.isInteger(value) || value < 0 || value > MAX_TIMER_MS) {
    throw new RangeError(`Expected ${name} to be a whole number from 0 to ${MAX_TIMER_MS}; received ${value}.`);
  }
  return value;
}

/**
 * Returns the `Authorization` header for a token, or no header for an empty token.
 *
 * @throws TypeError when the token contains characters that headers don't allow. Unlike the message of the platform,
 * its message doesn't contain the token.
 */
function toAuthorization(token = ''): Record<string, string> {
  const bare = token.trim();
  if (bare === '') return {};
  if (!/^[\x21-\x7e]+$/.test(bare)) {
    throw new TypeError('Expected the token to contain only visible ASCII characters.');
  }
  return { Authorization: `Bearer ${bare}` };
}

/** Reads an environment variable in Node, Bun and Deno. Browsers have no environment. */
function findEnvironmentToken(variable: string): string | undefined {
  const platform = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return platform.process?.env?.[variable];
}

/** The header is untrusted and shown in a warning, so it is cut. */
const MAX_SHOWN = 64;

/** Returns a check of responses that warns once when the server uses a different revision of the contract. */
function createRevisionCheck(
  { product, revision }: { readonly product: string; readonly revision: string },
  onWarning: (message: string) => void,
): (response: Response) => void {
  let hasWarned = false;
  return ({ headers }) => {
    const theirs = headers.get('X-Trellis-Revision');
    if (hasWarned || theirs === null || theirs === revision) return;
    hasWarned = true;
    onWarning(
      `${product}: this client was generated for revision ${revision}; the server is at ${theirs.slice(0, MAX_SHOWN)}.`,
    );
  };
}
