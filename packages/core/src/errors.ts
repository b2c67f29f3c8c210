/** The HTTP status of each error code. */
export const ERROR_STATUS = {
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
} as const satisfies Readonly<Record<string, number>>;

/** The error codes of responses. GraphQL errors carry the same codes in `extensions.code`. */
export type ErrorCode = keyof typeof ERROR_STATUS;

/** Members of an error body that a contract adds to the common ones. */
export type ErrorDetails = Readonly<Record<string, string>>;

export interface AppErrorOptions extends ErrorOptions {
  /** The invalid field of the request body, or the name of the parameter. */
  readonly field?: string;
  /** Response headers that the error requires, such as `Allow`. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Further members of the response body, for operations whose contract has a larger error body. A `code` replaces that
   * of the error, which still determines the status.
   */
  readonly details?: ErrorDetails;
}

/** An error that the caller may see unchanged. Any other thrown value is an internal error. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly field: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly details: ErrorDetails | undefined;

  /** @param message A sentence for the caller, without secret values. */
  constructor(code: ErrorCode, message: string, { field, headers = {}, details, ...options }: AppErrorOptions = {}) {
    super(message, options);
    this.code = code;
    this.field = field;
    this.headers = headers;
    this.details = details;
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
