import { parseRetryAfter } from './retry-after.js';

/** Enough for a sentence; error bodies of other servers, such as proxies, may be whole pages. */
const MAX_MESSAGE_LENGTH = 500;

export interface ApiErrorDetails {
  readonly statusCode: number;
  readonly code?: string | undefined;
  readonly field?: string | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfter?: number | undefined;
  readonly body?: unknown;
}

/** An error response. Its `message` is the server's message, or the status when the body has no message. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly statusCode: number;
  /** An error code of the contract. Other servers, such as proxies, may send different codes or none. */
  readonly code: string | undefined;
  /** The invalid field of the body, or the name of the invalid parameter. */
  readonly field: string | undefined;
  /** Identifies the request in the server's log. */
  readonly requestId: string | undefined;
  /** The seconds to wait before a retry, from `Retry-After`, without a cap. */
  readonly retryAfter: number | undefined;
  /** The whole response body, for data that has no property here. */
  readonly body: unknown;

  constructor(message: string, { statusCode, code, field, requestId, retryAfter, body }: ApiErrorDetails) {
    super(message);
    this.statusCode = statusCode;
    this.code = code;
    this.field = field;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
    this.body = body;
  }
}

/**
 * Converts an error response to an {@link ApiError}. Accepts any body: empty, HTML, or the JSON of other services.
 *
 * @returns `undefined` when the status is below 400.
 */
export function decodeError(response: Response, error: unknown): ApiError | undefined {
  const { status, statusText, headers } = response;
  if (status < 400) return undefined;
  const retryAfterMs = parseRetryAfter(headers);
  return new ApiError(findMessage(error) ?? (statusText || `HTTP status ${status}`), {
    statusCode: status,
    code: findText(error, 'code'),
    field: findText(error, 'field'),
    requestId: findText(error, 'requestId') ?? headers.get('X-Request-Id') ?? undefined,
    retryAfter: retryAfterMs === undefined ? undefined : Math.ceil(retryAfterMs / 1000),
    body: error,
  });
}

/** Finds the message in our `error`, in the fields that other services use, or in a plain text that is not HTML. */
function findMessage(error: unknown): string | undefined {
  const nested = findMember(error, 'error');
  const text =
    (typeof error === 'string' && !error.trimStart().startsWith('<') ? error : undefined) ??
    findText(error, 'error') ??
    findText(nested, 'message') ??
    findText(error, 'message') ??
    findText(error, 'detail') ??
    findText(error, 'title');
  // Messages are printed in terminals, which interpret control characters.
  const shown = text?.replace(/\p{Cc}+/gu, ' ').trim() ?? '';
  return shown === '' ? undefined : shown.slice(0, MAX_MESSAGE_LENGTH);
}

function findText(value: unknown, name: string): string | undefined {
  const member = findMember(value, name);
  return typeof member === 'string' ? member : undefined;
}

function findMember(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
