import { ForgeError, type ForgeErrorKind } from '../forge-error.js';
import type { ApiQuota, HiddenRepositories } from '../forge.js';
import { type ForgeResponse, parseForgeJson } from '../http/fetch-response.js';
import { FieldError } from '../http/graphql-pages.js';
import { type LimitScope, readRetryAfter } from '../http/requests.js';
import { findSafeLink } from '../sanitize.js';

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
export function readPartialData(response: ForgeResponse, at: number): unknown {
  const { data, errors } = parseResponse(response);
  if (data === null || !errors.every(isOfPart)) return readWholeData(response, at);
  for (const error of errors) placeError(data, error);
  return data;
}

/** Reads a GraphQL response without errors. @throws ForgeError of the first error. */
export function readWholeData(response: ForgeResponse, at: number): unknown {
  const { data, errors } = parseResponse(response);
  if (data !== null && errors.length === 0) return data;
  throw toError(errors, { response, at });
}

/**
 * Finds out whether GitHub hides data until the credential is authorized for single sign-on.
 *
 * @see https://docs.github.com/en/rest/authentication/authenticating-to-the-rest-api#personal-access-tokens-and-saml-sso
 */
export function findHidden(response: ForgeResponse): HiddenRepositories | undefined {
  const header = response.headers.get('x-github-sso');
  if (header === null && !hasSingleSignOnError(response)) return undefined;
  const [, url] = /\burl=([^;\s]+)/.exec(header ?? '') ?? [];
  const link = findSafeLink(url);
  return { reason: 'single_sign_on', ...(link !== undefined && { url: link }) };
}

/** Parses only responses with errors, because those of boards are large. */
const hasSingleSignOnError = (response: ForgeResponse): boolean =>
  response.status === 200 &&
  response.text.includes('"errors"') &&
  parseResponse(response).errors.some(isOfSingleSignOn);

const isOfSingleSignOn = ({ message, extensions }: GraphqlError): boolean =>
  extensions?.saml_failure === true || /organization SAML enforcement/i.test(String(message));

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
export function readHourlyQuota(headers: Headers): ApiQuota | undefined {
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
export function findLimit({ status, headers, text }: ForgeResponse, at: number): LimitScope | undefined {
  if (status !== 403 && status !== 429) return undefined;
  const retryAfter = readRetryAfter(headers, at);
  if (retryAfter !== undefined) return { of: 'all', until: retryAfter };
  const budget = readQuota(headers);
  if (budget?.remaining === 0) return { of: 'quota', until: Date.parse(budget.resetsAt) };
  const isSecondary = status === 429 || /secondary rate limit|abuse detection/i.test(text);
  return isSecondary ? { of: 'all', until: at + SECONDARY_PAUSE_MS } : undefined;
}
