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

/**
 * The error codes that every service has, because the server itself responds with them. GraphQL errors carry them in
 * `extensions.code`.
 */
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

/** The options of an error with a code of a service's own. */
interface OwnErrorOptions extends AppErrorOptions {
  /** The HTTP status. */
  readonly status: number;
}

/** An error that the caller may see unchanged. Any other thrown value is an internal error. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: string;
  /** The HTTP status. */
  readonly status: number;
  readonly field: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly details: ErrorDetails | undefined;

  /** @param message A sentence for the caller, without secret values. */
  constructor(code: ErrorCode, message: string, options?: AppErrorOptions);
  constructor(code: string, message: string, options: OwnErrorOptions);
  constructor(code: string, message: string, { field, headers = {}, details, ...options }: AppErrorOptions = {}) {
    super(message, options);
    this.code = code;
    this.status = 'status' in options ? Number(options.status) : ERROR_STATUS[code as ErrorCode];
    this.field = field;
    this.headers = headers;
    this.details = details;
  }
}

/** Creates an error with one of the codes of a contract. */
type CreateError<Code extends string> = (code: Code, message: string, options?: AppErrorOptions) => AppError;

/**
 * Returns a function that creates the errors of a service whose contract has codes of its own:
 * `defineErrors<components['schemas']['Error']['code']>({ note_locked: 423 })`.
 *
 * @param statuses The HTTP status of each code that is not a common one.
 */
export function defineErrors<Code extends string>(
  statuses: Readonly<Record<Exclude<Code, ErrorCode>, number>>,
): CreateError<Code> {
  const all: Readonly<Record<string, number>> = { ...ERROR_STATUS, ...statuses };
  return (code, message, options) => new AppError(code, message, { ...options, status: all[code] ?? 500 });
}

/** An exceeded rate limit, as the `RateLimit-*` headers of the contracts report it. */
interface ExceededLimit {
  readonly limit: number;
  readonly windowSeconds: number;
  readonly resetSeconds: number;
}

/** Creates the error for a request above its rate limit, with the headers that the contracts require for a 429. */
export function rateLimitError(message: string, { limit, windowSeconds, resetSeconds }: ExceededLimit): AppError {
  const headers = {
    'RateLimit-Limit': String(limit),
    'RateLimit-Remaining': '0',
    'RateLimit-Reset': String(resetSeconds),
    'RateLimit-Policy': `${limit};w=${windowSeconds}`,
    'Retry-After': String(resetSeconds),
  };
  return new AppError('rate_limited', message, { headers });
}
