import { randomUUID } from 'node:crypto';
import { limitConcurrency } from '@trellis/core/concurrency';
import { LRUCache } from 'lru-cache';
import type { NewRequestLogEntry } from '../../request-log.js';
import { ForgeError, type ForgeErrorKind, toForgeError } from '../forge-error.js';
import type { ApiQuota, ForgeName } from '../forge.js';
import { fetchResponse, type ForgeAgent, type ForgeResponse, parseForgeJson } from './fetch-response.js';

/** Forges recommend few concurrent requests; more can exceed undocumented secondary limits. */
const MAX_CONCURRENT = 4;

export interface ForgeRequestsOptions {
  /** Makes the connections. */
  readonly agent: ForgeAgent;
  /** The username of the credential, for the request log. */
  readonly account?: string;
  /** Logs a request; called for every request and must not reject. */
  readonly record: (request: NewRequestLogEntry) => Promise<void>;
  /** The response cache. Defaults to a new one. */
  readonly answers?: EtagCache;
  readonly now?: () => number;
  readonly timeoutMs?: number;
}

/** The conventions of a forge's API. */
export interface ForgeProtocol {
  readonly forge: ForgeName;
  /** Headers of every request, including the credential unless {@link ForgeProtocol.authorize} returns it. */
  readonly headers: Readonly<Record<string, string>>;
  /** Returns the `Authorization` header of the next request, for credentials that change. */
  readonly authorize?: () => Promise<string>;
  readonly readBudget: (headers: Headers) => ApiQuota | undefined;
  /** Finds the exceeded rate limit in a response. @returns `undefined` for any other response. */
  readonly findLimit: (response: ForgeResponse, at: number) => LimitScope | undefined;
}

/** An exceeded rate limit, which covers one quota or every request of the credential. */
export interface LimitScope {
  readonly of: 'all' | 'quota';
  readonly until: number;
}

type ForgeResource = 'graphql' | 'rest';

export interface ForgeRequest<T> {
  readonly resource: ForgeResource;
  readonly url: string;
  /** The path in the request log. */
  readonly endpoint: string;
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Converts the response to the result. Throws ForgeError. */
  readonly read: (response: ForgeResponse) => T;
}

export interface ForgeRequests {
  readonly budgets: Partial<Record<ForgeResource, ApiQuota>>;
  readonly answers: EtagCache;
  readonly now: () => number;
  /** Sends a request, with limited concurrency. Sends nothing while a rate limit is exceeded. */
  readonly ask: <T>(ask: ForgeRequest<T>) => Promise<T>;
}

/**
 * Creates a client for the requests of one credential.
 *
 * GitHub uses it too: `@octokit/request` reads responses of any size and throws on 304, and the throttling plugin either
 * waits for the reset or goes on sending, where a board has to show until when requests are paused.
 */
export function createForgeRequests(
  { forge, headers: own, authorize, readBudget, findLimit }: ForgeProtocol,
  { agent, account, record, answers = createEtagCache(), now = Date.now, timeoutMs }: ForgeRequestsOptions,
): ForgeRequests {
  const budgets: Partial<Record<ForgeResource, ApiQuota>> = {};
  const pauses = createRateLimitPauses(now);
  const run = limitConcurrency(MAX_CONCURRENT);
  const owner = account === undefined ? {} : { account };

  async function send<T>({ resource, url, endpoint, method, headers, body, read }: ForgeRequest<T>): Promise<T> {
    pauses.assertNotPaused(resource, 'all');
    const credential = authorize && { Authorization: await authorize() };
    const requestBody = body === undefined ? {} : { body: JSON.stringify(body) };
    let response: ForgeResponse | undefined;
    let outcome: NewRequestLogEntry['outcome'] = 'success';
    try {
      const requestHeaders = { ...own, ...credential, ...headers };
      response = await fetchResponse(url, { method, headers: requestHeaders, ...requestBody, agent, timeoutMs });
      updateBudget(resource, response);
      assertNotLimited(resource, response);
      return read(response);
    } catch (error) {
      const failure = toForgeError(error);
      outcome = failure.kind;
      // Some forges report a rate limit in the body, which is read last.
      if (failure.resetsAt !== undefined) pauses.start(resource, failure.resetsAt);
      failure.redirectedTo = response?.redirectedTo;
      throw failure;
    } finally {
      const rateLimit = response && readBudget(response.headers);
      const status = response && { statusCode: response.status };
      await record({ forge, method, endpoint, outcome, ...owner, ...status, ...(rateLimit && { rateLimit }) });
    }
  }

  function updateBudget(resource: ForgeResource, { headers }: ForgeResponse): void {
    const budget = readBudget(headers);
    if (budget !== undefined) budgets[resource] = { ...budgets[resource], ...budget };
  }

  function assertNotLimited(resource: ForgeResource, response: ForgeResponse): void {
    const limited = findLimit(response, now());
    if (limited === undefined) return;
    const resetsAt = pauses.start(limited.of === 'all' ? 'all' : resource, limited.until);
    throw new ForgeError('rate_limited', {
      status: response.status,
      resetsAt,
      cause: new Error(describeResponse(response)),
    });
  }

  return { budgets, answers, now, ask: (ask) => run(() => send(ask)) };
}

/** Returns a response with status 2xx. @throws ForgeError of the kind that the status stands for. */
export function assertSuccess(response: ForgeResponse): ForgeResponse {
  const { status } = response;
  if (status >= 200 && status < 300) return response;
  const timedOut = status === 502 || status === 504;
  const kind = errorKindFromStatus(status);
  const words = ['conflict', 'unauthorized', 'unknown'].includes(kind) ? readMessage(response) : undefined;
  throw new ForgeError(kind, { status, timedOut, words, cause: new Error(describeResponse(response)) });
}

/**
 * Reads the message of an error response. GitHub may have the reason in `errors` only, and GitLab in `error`, or in lists
 * by field. The body may also be empty, as of Gitea's 403 to an update of a branch, or a page of a proxy.
 */
function readMessage({ text }: ForgeResponse): string | undefined {
  try {
    const { message, error, errors } = (JSON.parse(text) ?? {}) as Readonly<Record<string, unknown>>;
    const reasons = Array.isArray(errors) ? errors.map((one: unknown) => toReason(one)) : [];
    const words = [listTexts(message ?? error).join('; '), ...reasons.flatMap(listTexts)].filter(Boolean).join(': ');
    return words === '' ? undefined : words;
  } catch {
    return undefined;
  }
}

/** Returns the text of an error, which GitHub may nest in an object with codes. */
const toReason = (error: unknown): unknown =>
  typeof error === 'string' ? error : (error as { readonly message?: unknown } | null)?.message;

/** Lists the texts of a value, each after the names of its fields; `base` stands for the whole. */
function listTexts(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(listTexts);
  return Object.entries(Object(value) as object).flatMap(([name, part]) =>
    listTexts(part).map((text) => (name === 'base' ? text : `${name} ${text}`)),
  );
}

/** Describes a response for logs, with the start of its body only: an HTML page says little after its first lines. */
function describeResponse({ status, text }: ForgeResponse): string {
  return `The forge responded with ${status}: ${text.slice(0, 500)}`;
}

const KIND_BY_STATUS: Readonly<Record<number, ForgeErrorKind>> = {
  401: 'unauthorized',
  403: 'unauthorized',
  404: 'not_found',
  405: 'conflict',
  406: 'conflict',
  409: 'conflict',
  410: 'not_found',
  422: 'conflict',
  429: 'rate_limited',
};

/** Returns the kind of error for a status, unless the forge reports a more exact one. 5xx may come from a gateway. */
function errorKindFromStatus(status: number): ForgeErrorKind {
  return KIND_BY_STATUS[status] ?? (status >= 500 ? 'unreachable' : 'unknown');
}

/** API quotas reset every hour, so a longer pause is an error of the forge. */
const MAX_PAUSE_MS = 3_600_000;

/** Stops requests to a forge while its rate limit is exceeded, separately for each quota. */
interface RateLimitPauses {
  /** Checks that no pause is active. @throws ForgeError `rate_limited` until the pause ends. */
  assertNotPaused(...budgets: string[]): void;
  /** Starts a pause. @returns Its end, which may be earlier than requested. */
  start(budget: string, until: number): number;
}

function createRateLimitPauses(now: () => number): RateLimitPauses {
  const ends = new Map<string, number>();
  return {
    assertNotPaused(...budgets) {
      const resetsAt = Math.max(...budgets.map((budget) => ends.get(budget) ?? 0));
      if (resetsAt > now()) throw new ForgeError('rate_limited', { resetsAt });
    },
    start(budget, until) {
      const end = Math.min(until, now() + MAX_PAUSE_MS);
      ends.set(budget, Math.max(end, ends.get(budget) ?? 0));
      return end;
    },
  };
}

/** Reads a Retry-After header, in seconds or as a date, as a time in milliseconds since the epoch. */
export function readRetryAfter(headers: Pick<Headers, 'get'>, at: number): number | undefined {
  const text = headers.get('retry-after')?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return at + Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : date;
}

interface CachedResponse {
  readonly etag: string | null;
  readonly text: string;
  /** `undefined` if the response does not say whether a page follows. */
  readonly hasNext: boolean | undefined;
  /** The number of items on all pages, if the response has it. */
  readonly count: number | undefined;
}

/** Cached responses that are revalidated with their ETag. */
type EtagCache = LRUCache<string, CachedResponse>;

/** The limit per process, shared by all users: the commit statuses of about 30 boards of 1,000 pull requests. */
const MAX_CHARACTERS = 64 * 1024 * 1024;

export function createEtagCache(): EtagCache {
  return new LRUCache({ maxSize: MAX_CHARACTERS, sizeCalculation: ({ text }) => text.length + 1 });
}

export interface RestClient {
  /** Returns the JSON of a resource; reads it from the cache when the forge responds with 304. */
  get(path: string): Promise<unknown>;
  /**
   * Reads the pages of a list, until there are `most` items; the last page may exceed them. The path must have a query.
   * A page is a list, or an object with the list in its property `within`.
   */
  list<T>(path: string, most: number, within?: string): Promise<T[]>;
  /** Returns a resource that is plain text. */
  getText(path: string): Promise<string>;
  /** Sends a request. @returns The status of the response. */
  send(method: string, path: string, body?: unknown): Promise<number>;
  /** Sends a POST request and returns the JSON of the response. */
  post(path: string, body?: unknown): Promise<unknown>;
}

interface Page extends CachedResponse {
  readonly json: unknown;
}

/** Gitea and Forgejo have no links to further pages in some lists, such as reviews and labels, only the number of items. */
function readPaging(headers: Headers): Pick<CachedResponse, 'count' | 'hasNext'> {
  const link = headers.get('link');
  const count = headers.get('x-total-count') ?? '';
  return {
    hasNext: link === null ? undefined : /;\s*rel="?next"?/.test(link),
    count: /^\d{1,12}$/.test(count) ? Number(count) : undefined,
  };
}

/** Creates a client for the REST API below a URL. */
export function createRestClient(
  { ask, answers }: Pick<ForgeRequests, 'answers' | 'ask'>,
  baseUrl: string,
): RestClient {
  // Part of the cache keys, as responses depend on the credential.
  const cachePrefix = randomUUID();

  function toRequest<T>(method: string, path: string, read: ForgeRequest<T>['read']): ForgeRequest<T> {
    return { resource: 'rest', url: baseUrl + path, endpoint: path.replace(/\?.*$/s, ''), method, read };
  }

  /** Caches only responses that are valid JSON. */
  async function readPage(path: string): Promise<Page> {
    const key = cachePrefix + path;
    const known = answers.get(key);
    const read = (response: ForgeResponse): Page => {
      if (response.status === 304 && known !== undefined) return { ...known, json: parseForgeJson(known.text) };
      const { headers, text } = assertSuccess(response);
      return { etag: headers.get('etag'), text, ...readPaging(headers), json: parseForgeJson(text) };
    };
    const headers = known?.etag ? { 'If-None-Match': known.etag } : undefined;
    const page = await ask({ ...toRequest('GET', path, read), headers });
    const { etag, text, hasNext, count } = page;
    if (etag !== null) answers.set(key, { etag, text, hasNext, count });
    return page;
  }

  return {
    get: async (path) => (await readPage(path)).json,
    async list<T>(path: string, most: number, within?: string) {
      const items: T[] = [];
      let before = '';
      for (let number = 1; items.length < most; number += 1) {
        const { text, json, hasNext: isFollowed, count = 0 } = await readPage(`${path}&page=${number}`);
        const page: unknown =
          within === undefined ? json : (json as Readonly<Record<string, unknown>> | null)?.[within];
        if (!Array.isArray(page)) throw new ForgeError('unknown', { cause: new Error(`${path} is not a list.`) });
        // The caller chooses the type of the items; they are validated later.
        items.push(...(page as T[]));
        const hasNext = isFollowed ?? (page.length > 0 && items.length < count);
        if (hasNext && text === before)
          throw new ForgeError('unknown', { cause: new Error(`A page of ${path} repeats.`) });
        before = text;
        if (!hasNext) break;
      }
      return items;
    },
    getText: (path) => ask(toRequest('GET', path, (response) => assertSuccess(response).text)),
    send: (method, path, body) =>
      ask({ ...toRequest(method, path, (response) => assertSuccess(response).status), body }),
    post: (path, body) =>
      ask({ ...toRequest('POST', path, (response) => parseForgeJson(assertSuccess(response).text)), body }),
  };
}
