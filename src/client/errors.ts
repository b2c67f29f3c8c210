import { parseRetryAfter } from './retry-after.js';

/** Enough for a sentence; another service may answer with a page. */
const MAX_MESSAGE_LENGTH = 500;

export interface ApiErrorDetails {
  readonly statusCode: number;
  readonly code?: string | undefined;
  readonly field?: string | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfter?: number | undefined;
  readonly body?: unknown;
}

/** A refusal by the server; its `message` is the server's sentence, or the status when it gave none. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly statusCode: number;
  /** One of the contract's error codes; another service may send its own, or none. */
  readonly code: string | undefined;
  /** The offending field of the body, or the parameter's name. */
  readonly field: string | undefined;
  /** Finds the request in the server's log. */
  readonly requestId: string | undefined;
  /** Seconds that the server asks to wait, not capped. */
  readonly retryAfter: number | undefined;
  /** The whole answer, for what this class has no name for. */
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
 * Makes an error to throw or to look into from a call's `response` and
 * `error`, whatever the body was: empty, HTML, another service's.
 *
 * @returns `undefined` when the response is no refusal (a status below 400).
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

/** Our `error`, then what other services call it; a plain text that is not a page. */
function findMessage(error: unknown): string | undefined {
  const nested = findMember(error, 'error');
  const text =
    (typeof error === 'string' && !error.trimStart().startsWith('<') ? error : undefined) ??
    findText(error, 'error') ??
    findText(nested, 'message') ??
    findText(error, 'message') ??
    findText(error, 'detail') ??
    findText(error, 'title');
  // Shown in terminals, where control characters do harm.
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
