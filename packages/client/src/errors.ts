/** Enough for a sentence; error bodies of other servers, such as proxies, may be whole pages. */
const MAX_MESSAGE_LENGTH = 500;

export interface ApiErrorDetails {
  readonly statusCode: number;
  readonly code?: string;
  readonly field?: string;
  readonly requestId?: string;
  readonly retryAfter?: number;
  readonly body?: unknown;
}

/** An error response. Its `message` is the server's message, or the status when the body has no message. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  declare readonly statusCode: number;
  /** An error code of the contract. Other servers, such as proxies, may send different codes or none. */
  declare readonly code: string | undefined;
  /** The invalid field of the body, or the name of the invalid parameter. */
  declare readonly field: string | undefined;
  /** Identifies the request in the server's log. */
  declare readonly requestId: string | undefined;
  /** The seconds to wait before a retry, from `Retry-After`, without a cap. */
  declare readonly retryAfter: number | undefined;
  /** The whole response body, for data that has no property here. */
  declare readonly body: unknown;

  constructor(message: string, details: ApiErrorDetails) {
    super(message);
    Object.assign(this, details);
  }
}

/** An error of a service with these codes. A server with a newer contract can send other codes. */
export type ApiErrorOf<Code extends string> = ApiError & { readonly code: Code | undefined };

/** The class {@link ApiError} with the codes of a service, for `instanceof`. */
export interface ApiErrorClass<Code extends string> {
  new (message: string, details: ApiErrorDetails): ApiErrorOf<Code>;
  readonly prototype: ApiErrorOf<Code>;
}

/** {@link decodeError} with the codes of a service. */
export type ErrorDecoder<Code extends string> = (response: Response, error: unknown) => ApiErrorOf<Code> | undefined;

/**
 * Returns the body of a successful response.
 *
 * ```ts
 * const board = requireData(await client.GET('/api/dashboard'));
 * ```
 *
 * @throws ApiError for an error response.
 */
export function requireData<Data>(result: {
  readonly data?: Data;
  readonly error?: unknown;
  readonly response: Response;
}): Data {
  const apiError = decodeError(result.response, result.error);
  if (apiError) throw apiError;
  // A response without a body has the type `undefined`.
  return result.data as Data;
}

/**
 * Converts an error response to an {@link ApiError}. Accepts any body: empty, HTML, or the JSON of other services.
 *
 * @returns `undefined` when the status is below 300, or 304. A redirect gets here if it has no address, or none is followed.
 */
export function decodeError(response: Response, error: unknown): ApiError | undefined {
  const { status, statusText, headers } = response;
  if (status < 300 || status === 304) return undefined;
  const retryAfterMs = parseRetryAfter(headers);
  const shown = `HTTP status ${status}`;
  const fallback = status < 400 ? `${shown}, not followed` : statusText || shown;
  return new ApiError(findMessage(error) ?? fallback, {
    statusCode: status,
    code: findText(error, 'code'),
    field: findText(error, 'field'),
    requestId: findText(error, 'requestId') ?? headers.get('X-Request-Id') ?? undefined,
    retryAfter: retryAfterMs && Math.ceil(retryAfterMs / 1000),
    body: error,
  });
}

/** Finds the message in our `error`, in the fields that other services use, or in a plain text that is not HTML. */
function findMessage(error: unknown): string | undefined {
  const nested: unknown = (Object(error) as { error?: unknown }).error;
  const text =
    (typeof error === 'string' && !error.trimStart().startsWith('<') ? error : undefined) ??
    findText(error, 'error') ??
    findText(nested, 'message') ??
    findText(error, 'message') ??
    findText(error, 'detail') ??
    findText(error, 'title');
  // Messages are printed in terminals, which interpret control characters.
  const shown = text?.replace(/\p{Cc}+/gu, ' ').trim();
  return shown === '' ? undefined : shown?.slice(0, MAX_MESSAGE_LENGTH);
}

function findText(value: unknown, name: string): string | undefined {
  const member = (Object(value) as Record<string, unknown>)[name];
  return typeof member === 'string' ? member : undefined;
}

/** Matches the date format of RFC 9110, `Sun, 06 Nov 1994 08:49:37 GMT`, and its two obsolete formats. */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /;

/**
 * Returns the wait of `Retry-After` in milliseconds, without a cap; 0 for a date in the past. Returns `undefined` when
 * the header is missing or invalid (`0.5`, `-1`, `soon`). A lenient date parser would read the first two as dates in
 * the past and cause an immediate retry.
 */
export function parseRetryAfter(headers: Headers): number | undefined {
  const value = headers.get('Retry-After')?.trim() ?? '';
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  if (!HTTP_DATE.test(value)) return undefined;
  const until = Date.parse(value.endsWith('GMT') ? value : `${value} GMT`);
  // Compared with the `Date` header, if present, so that a difference between the clocks doesn't matter.
  const now = Date.parse(headers.get('Date') ?? '') || Date.now();
  return Number.isNaN(until) ? undefined : Math.max(0, until - now);
}
