import type { components } from '../generated/dashboard/types.js';

/** The error codes of `openapi/common.yaml`. GraphQL errors carry the same codes in `extensions.code`. */
export type ErrorCode = components['schemas']['ErrorCode'];

/** The reason why an action on a pull request failed, at the forge or here: schema `ActionError` of the dashboard. */
export interface ActionErrorDetails {
  /** Replaces the code of the error in the response body. */
  readonly code: components['schemas']['ActionErrorCode'];
  /** The time at which the forge accepts requests again, as RFC 3339; only for `rate_limited`. */
  readonly resetsAt?: string;
}

/** The HTTP status of each error code. */
export const ERROR_STATUS: Readonly<Record<ErrorCode, number>> = {
  invalid_input: 400,
  malformed_body: 400,
  unauthenticated: 401,
  cross_site: 403,
  forbidden: 403,
  session_required: 403,
  not_found: 404,
  method_not_allowed: 405,
  not_acceptable: 406,
  conflict: 409,
  precondition_failed: 412,
  too_large: 413,
  unsupported_media_type: 415,
  unprocessable: 422,
  rate_limited: 429,
  internal: 500,
  bad_gateway: 502,
  unavailable: 503,
};

export interface AppErrorOptions extends ErrorOptions {
  /** The invalid field of the request body, or the name of the parameter. */
  readonly field?: string;
  /** Response headers that the error requires, such as `Allow`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Details for clients of actions. The code of the error still determines the status. */
  readonly action?: ActionErrorDetails;
}

/** An error that the caller may see unchanged. Any other thrown value is an internal error. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly field: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly action: ActionErrorDetails | undefined;

  /** @param message A sentence for the caller, without secret values. */
  constructor(code: ErrorCode, message: string, { field, headers = {}, action, ...options }: AppErrorOptions = {}) {
    super(message, options);
    this.code = code;
    this.field = field;
    this.headers = headers;
    this.action = action;
  }

  get status(): number {
    return ERROR_STATUS[this.code];
  }
}

/** The state of a rate limit, as the `RateLimit-*` headers of the contracts report it. */
export interface RateLimitState {
  readonly limit: number;
  readonly windowSeconds: number;
  readonly remaining: number;
  readonly resetSeconds: number;
}

/** Returns the headers of every response of a rate-limited operation. */
export function rateLimitHeaders(budget: RateLimitState): Readonly<Record<string, string>> {
  const { limit, windowSeconds, remaining, resetSeconds } = budget;
  return {
    'RateLimit-Limit': String(limit),
    'RateLimit-Remaining': String(remaining),
    'RateLimit-Reset': String(resetSeconds),
    'RateLimit-Policy': `${limit};w=${windowSeconds}`,
  };
}

/** Creates the error for a request above its rate limit, with the headers that the contracts require for a 429. */
export function rateLimitError(message: string, budget: Omit<RateLimitState, 'remaining'>): AppError {
  const headers = { ...rateLimitHeaders({ ...budget, remaining: 0 }), 'Retry-After': String(budget.resetSeconds) };
  return new AppError('rate_limited', message, { headers });
}
