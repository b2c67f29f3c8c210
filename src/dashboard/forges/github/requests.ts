import { ForgeError, type ForgeErrorKind } from '../forge-error.js';
import type { HiddenRepositories, ApiQuota } from '../forge.js';
import { type ForgeResponse, parseForgeJson } from '../http/fetch-response.js';
import { FieldError } from '../http/graphql-pages.js';
import {
  assertSuccess,
  createForgeRequests,
  type ForgeProtocol,
  type ForgeRequest,
  type ForgeRequests,
  type ForgeRequestsOptions,
  createRestClient,
  type RestClient,
  type LimitScope,
  readRetryAfter,
} from '../http/requests.js';
import { findSafeLink } from '../sanitize.js';

export const GITHUB_API = 'https://api.github.com';

export interface GithubOptions extends ForgeRequestsOptions {
  /** The URL of the REST API. Defaults to github.com's. */
  readonly baseUrl?: string;
  /** A token, or a function that returns the current one. */
  readonly token: string | (() => Promise<string>);
}

type Variables = Readonly<Record<string, unknown>>;

/** The user of a token. Only classic tokens have scopes. */
interface Viewer {
  readonly login: string;
  readonly scopes: readonly string[];
}

export interface GithubRequests extends RestClient, Pick<ForgeRequests, 'budgets' | 'now'> {
  /** When the token expires, as of the latest response. GitHub reports it for personal tokens with an expiry. */
  expiresAt: number | undefined;
  /** Why GitHub hid repositories from queries since this was last cleared. */
  hidden: HiddenRepositories | undefined;
  /** The time of the latest response to a query by GitHub's clock, in milliseconds. */
  servedAt: number | undefined;
  readViewer(): Promise<Viewer>;
  /** Sends a query. @returns The data; parts that the credential has no access to are null. */
  graphql(query: string, variables: Variables): Promise<unknown>;
  /** Sends a query or mutation and throws for an error in any part. */
  graphqlWhole(query: string, variables: Variables): Promise<unknown>;
}

export function createGithubRequests({ baseUrl = GITHUB_API, token, ...options }: GithubOptions): GithubRequests {
  const authorize = async (): Promise<string> => `Bearer ${typeof token === 'string' ? token : await token()}`;
  const requests = createForgeRequests(toGithubProtocol(authorize), options);
  const { budgets, ask, now } = requests;

  function toGraphql(body: unknown, read: typeof readWholeData): ForgeRequest<unknown> {
    return {
      resource: 'graphql',
      // GitHub Enterprise Server has GraphQL at `/api/graphql` and REST at `/api/v3`.
      url: `${baseUrl.replace(/\/v3$/, '')}/graphql`,
      endpoint: '/graphql',
      method: 'POST',
      body,
      read(response) {
        client.hidden = findHidden(response) ?? client.hidden;
        client.expiresAt = readExpiry(response.headers) ?? client.expiresAt;
        client.servedAt = readTime(response.headers.get('date'));
        return read(assertSuccess(response), now());
      },
    };
  }

  const client: GithubRequests = {
    budgets,
    now,
    hidden: undefined,
    servedAt: undefined,
    expiresAt: undefined,
    ...createRestClient(requests, baseUrl),
    readViewer: () =>
      ask({ resource: 'rest', url: `${baseUrl}/user`, endpoint: '/user', method: 'GET', read: readViewer }),
    graphql: (query, variables) => ask(toGraphql({ query, variables }, readPartialData)),
    graphqlWhole: (query, variables) => ask(toGraphql({ query, variables }, readWholeData)),
  };
  return client;
}

/** Reads a time such as `2026-12-01 08:00:00 UTC`, or with an offset. */
const readExpiry = (headers: Headers): number | undefined =>
  readTime(headers.get('github-authentication-token-expiration'));

function readTime(text: string | null): number | undefined {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? undefined : time;
}

function readViewer(response: ForgeResponse): Viewer {
  const { text, headers } = assertSuccess(response);
  const { login } = parseForgeJson(text) as { readonly login: string };
  const scopes = headers.get('x-oauth-scopes')?.split(',') ?? [];
  return { login, scopes: scopes.map((scope) => scope.trim()).filter((scope) => scope !== '') };
}

/** Returns GitHub's conventions. Without a credential, GitHub returns public data only. */
export function toGithubProtocol(authorize?: () => Promise<string>): ForgeProtocol {
  const headers = {
    Accept: 'application/vnd.github+json',
    'Content-Type': 'application/json',
    'User-Agent': 'trellis',
    'X-GitHub-Api-Version': '2022-11-28',
  };
  return { forge: 'github', headers, authorize, readBudget: readHourlyQuota, findLimit };
}

/**
 * Converts the URL of GitHub's pages to the URL of its REST API; an empty URL stands for github.com. GitHub Enterprise
 * Server has its API below the pages. github.com and the enterprise cloud (ghe.com) have it on a separate host.
 */
export function toGithubApiUrl(url: string): string {
  if (url === '' || /^https?:\/\/(www\.)?github\.com$/.test(url)) return 'https://api.github.com';
  const [, cloud] = /^https:\/\/([a-z0-9-]+\.ghe\.com)$/.exec(url) ?? [];
  return cloud === undefined ? `${url}/api/v3` : `https://api.${cloud}`;
}

/** Converts the URL of the REST API to the URL of the pages. */
export function toGithubWebUrl(apiUrl: string): string {
  return apiUrl.replace(/\/api\/v3$/, '').replace(/^https:\/\/api\./, 'https://');
}

interface GraphqlError {
  readonly message?: unknown;
  readonly type?: unknown;
  readonly path?: unknown;
  readonly extensions?: { readonly saml_failure?: unknown } | null;
}

/** The error type of a query that exceeds GitHub's resource limits. */
const RESOURCE_LIMITS = 'RESOURCE_LIMITS_EXCEEDED';

const KIND_BY_TYPE: ReadonlyMap<unknown, ForgeErrorKind> = new Map<unknown, ForgeErrorKind>([
  ['RATE_LIMITED', 'rate_limited'],
  ['RATE_LIMIT', 'rate_limited'],
  ['NOT_FOUND', 'not_found'],
  ['FORBIDDEN', 'unauthorized'],
  ['INSUFFICIENT_SCOPES', 'unauthorized'],
  ['UNPROCESSABLE', 'conflict'],
  [RESOURCE_LIMITS, 'unreachable'],
]);

/** Kinds of errors that affect one part of the data, which is null. The other parts are valid. */
const PARTIAL: ReadonlySet<ForgeErrorKind> = new Set(['not_found', 'unauthorized']);

/** The pause after a rate limit error without a reset time. */
const DEFAULT_PAUSE_MS = 60_000;

/**
 * Reads a GraphQL response that may have errors for parts of its data. GitHub reports most errors with status 200. An
 * error without a type means that GitHub failed to compute the part at its path.
 *
 * @returns The data, with a {@link FieldError} in place of each list, list item or rollup that GitHub did not return.
 * Other parts with errors are null.
 * @throws ForgeError of the first error, unless all errors affect only parts.
 */
function readPartialData(response: ForgeResponse, at: number): unknown {
  const { data, errors } = parseResponse(response);
  if (data === null || !errors.every(isOfPart)) return readWholeData(response, at);
  for (const error of errors) placeError(data, error);
  return data;
}

/** Reads a GraphQL response without errors. @throws ForgeError of the first error. */
function readWholeData(response: ForgeResponse, at: number): unknown {
  const { data, errors } = parseResponse(response);
  if (data !== null && errors.length === 0) return data;
  throw toError(errors, { response, at });
}

/**
 * Finds out whether GitHub hides data until the credential is authorized for single sign-on, or because of the policy of an
 * organization.
 *
 * @see https://docs.github.com/en/rest/authentication/authenticating-to-the-rest-api#personal-access-tokens-and-saml-sso
 */
function findHidden(response: ForgeResponse): HiddenRepositories | undefined {
  const header = response.headers.get('x-github-sso');
  const errors = header === null ? listErrors(response) : [];
  if (header === null && !errors.some(isOfSingleSignOn)) {
    return errors.some(isOfPolicy) ? { reason: 'organization_policy' } : undefined;
  }
  const [, url] = /\burl=([^;\s]+)/.exec(header ?? '') ?? [];
  const link = findSafeLink(url);
  return { reason: 'single_sign_on', ...(link !== undefined && { url: link }) };
}

/** Parses only responses with errors, because those of boards are large. */
const listErrors = (response: ForgeResponse): readonly GraphqlError[] =>
  response.status === 200 && response.text.includes('"errors"') ? parseResponse(response).errors : [];

const isOfSingleSignOn = ({ message, extensions }: GraphqlError): boolean =>
  extensions?.saml_failure === true || /organization SAML enforcement/i.test(String(message));

/** The messages of the policies: an IP allow list, and the kinds and lifetimes of tokens and apps that are accepted. */
const POLICIES = /\bIP allow list\b|\bforbids access via an? |\bOAuth App access restrictions\b/i;

const isOfPolicy = ({ type, message }: GraphqlError): boolean => type === 'FORBIDDEN' && POLICIES.test(String(message));

function parseResponse({ text }: ForgeResponse): { data: object | null; errors: readonly GraphqlError[] } {
  // A body that is not a GraphQL over HTTP response has no data.
  const { data, errors } = (parseForgeJson(text) ?? {}) as { readonly data?: unknown; readonly errors?: unknown };
  const list = Array.isArray(errors) ? errors.map((error: unknown) => (error ?? {}) as GraphqlError) : [];
  return { data: typeof data === 'object' ? data : null, errors: list };
}

const kindOf = ({ type }: GraphqlError): ForgeErrorKind => KIND_BY_TYPE.get(type) ?? 'unknown';

function isOfPart(error: GraphqlError): boolean {
  const { type, path } = error;
  return PARTIAL.has(kindOf(error)) || ((type === undefined || type === null) && Array.isArray(path));
}

/** Reports whether readers need to distinguish a value that does not exist from one that GitHub did not return. */
const isMarked = (key: unknown): boolean => typeof key === 'number' || key === 'nodes' || key === 'statusCheckRollup';

/**
 * Puts a {@link FieldError} at the first null on the error's path, as an error of a non-null field nulls its parent.
 */
function placeError(data: object, error: GraphqlError): void {
  let parent: unknown = data;
  for (const key of Array.isArray(error.path) ? error.path : []) {
    if (typeof parent !== 'object' || parent === null || !Object.hasOwn(parent, String(key))) return;
    const record = parent as Record<string, unknown>;
    const value = record[String(key)];
    if (value === null && isMarked(key)) record[String(key)] = new FieldError(kindOf(error));
    parent = value;
  }
}

function toError(
  errors: readonly GraphqlError[],
  { response: { headers, status }, at }: { readonly response: ForgeResponse; readonly at: number },
): ForgeError {
  const kinds = errors.map(kindOf);
  const cause = new Error(`GitHub returned errors: ${JSON.stringify(errors).slice(0, 500)}`);
  if (!kinds.includes('rate_limited')) {
    const timedOut = errors.some(({ type }) => type === RESOURCE_LIMITS);
    const [message] = errors.map((error) => error.message).filter((one) => typeof one === 'string');
    return new ForgeError(timedOut ? 'unreachable' : (kinds[0] ?? 'unknown'), {
      status,
      timedOut,
      words: message,
      cause,
    });
  }
  const budget = readQuota(headers);
  const resetsAt = budget?.remaining === 0 ? Date.parse(budget.resetsAt) : at + DEFAULT_PAUSE_MS;
  return new ForgeError('rate_limited', { status, resetsAt, cause });
}

/** GitHub's recommended pause after a secondary rate limit without Retry-After. */
const SECONDARY_PAUSE_MS = 60_000;

/** Ignores the separate per-minute quota of searches, which does not limit how long a board can be read. */
function readHourlyQuota(headers: Headers): ApiQuota | undefined {
  return headers.get('x-ratelimit-resource') === 'search' ? undefined : readQuota(headers);
}

function readQuota(headers: Headers): ApiQuota | undefined {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) => readCount(headers, name));
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined;
  return { limit, remaining, resetsAt: new Date(reset * 1000).toISOString() };
}

function readCount(headers: Headers, name: string): number | undefined {
  const text = headers.get(`x-ratelimit-${name}`) ?? '';
  return /^\d{1,12}$/.test(text) ? Number(text) : undefined;
}

/**
 * Finds the exceeded rate limit in a response.
 *
 * @returns `undefined` for any other response, such as 403 for a permission.
 */
function findLimit(response: ForgeResponse, at: number): LimitScope | undefined {
  const { status, headers, text } = response;
  const isSecondary = status === 429 || (status === 403 ? SECONDARY.test(text) : hasSecondaryLimitError(response));
  if (status !== 403 && !isSecondary) return undefined;
  const retryAfter = readRetryAfter(headers, at);
  if (retryAfter !== undefined) return { of: 'all', until: retryAfter };
  const budget = readQuota(headers);
  if (budget?.remaining === 0) return { of: 'quota', until: Date.parse(budget.resetsAt) };
  return isSecondary ? { of: 'all', until: at + SECONDARY_PAUSE_MS } : undefined;
}

const SECONDARY = /secondary rate limit|abuse detection/i;

/** Reports whether GraphQL rejects a query because of a secondary rate limit, which it may do with status 200. */
function hasSecondaryLimitError(response: ForgeResponse): boolean {
  const { text } = response;
  // Titles and logs may have the same words.
  if (!text.startsWith('{') || !text.includes('secondary rate limit')) return false;
  try {
    const { data, errors } = parseResponse(response);
    const all = data === null ? [...errors, JSON.parse(text) as GraphqlError] : errors;
    return all.some(({ message }) => SECONDARY.test(String(message)));
  } catch {
    return false;
  }
}

// Queries in batches that GitHub can process within its limit of 10 seconds.

/** GitHub usually exceeds its time limit with more. */
const MAX_SIZE = 20;

/** When this many single items fail in a row, GitHub itself is failing. */
const MAX_FAILURES = 3;

export interface BatchReader {
  /**
   * Reads items in batches. Halves a batch that times out at GitHub, and skips an item that times out alone.
   *
   * @returns The results, and the items that timed out.
   * @throws ForgeError of the last item when several in a row time out alone; any other error of `read` immediately.
   */
  read<T, R>(
    items: readonly T[],
    read: (batch: readonly T[]) => Promise<R>,
  ): Promise<{ readonly results: R[]; readonly failed: T[] }>;
}

/** Creates a reader that remembers the batch size between calls. The size grows by one with each full batch. */
export function createBatchReader(): BatchReader {
  let size = MAX_SIZE;
  return {
    async read<T, R>(items: readonly T[], read: (batch: readonly T[]) => Promise<R>) {
      const results: R[] = [];
      const failed: T[] = [];
      let consecutiveFailures = 0;
      for (let start = 0; start < items.length;) {
        const batch = items.slice(start, start + size);
        try {
          results.push(await read(batch));
          start += batch.length;
          consecutiveFailures = 0;
          if (batch.length === size) size = Math.min(size + 1, MAX_SIZE);
        } catch (error) {
          if (!isTimeout(error)) throw error;
          size = Math.max(Math.floor(batch.length / 2), 1);
          if (batch.length > 1) continue;
          consecutiveFailures += 1;
          if (consecutiveFailures === MAX_FAILURES) throw error;
          failed.push(...batch);
          start += 1;
        }
      }
      return { results, failed };
    },
  };
}

/** Reports whether a query timed out, so that a smaller one may succeed. */
export const isTimeout = (error: unknown): boolean => error instanceof ForgeError && error.timedOut;
