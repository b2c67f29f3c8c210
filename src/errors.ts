import type { components } from './generated/dashboard/types.js';

/** The closed list in `openapi/common.yaml`; GraphQL carries the same codes in `extensions.code`. */
export type ErrorCode = components['schemas']['ErrorCode'];

/** Why a forge, or we in its place, did not do something to a pull request: schema `ActionError` of the dashboard. */
export interface ActionRefusal {
  /** Stands in the body where the error's own code would. */
  readonly code: components['schemas']['ActionErrorCode'];
  /** When the forge takes requests again, as RFC 3339; of `rate_limited`. */
  readonly resetsAt?: string;
}

/** The one place where a code becomes an HTTP status. */
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
  /** The offending field of the request body, or the name of the parameter. */
  readonly field?: string;
  /** Response headers that the refusal needs, such as `Allow`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What clients of actions are told besides; the error's own code still decides the status. */
  readonly action?: ActionRefusal;
}

/** A caller's mistake, or a refusal: safe to show as it is. Anything else thrown is a defect. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly field: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly action: ActionRefusal | undefined;

  /** @param message One sentence: what was expected, what came. Never a secret value. */
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

/** A budget of requests, in the terms of the `RateLimit-*` headers of the contracts. */
export interface RequestBudget {
  readonly limit: number;
  readonly windowSeconds: number;
  readonly remaining: number;
  readonly resetSeconds: number;
}

/** Returns the headers that every response of a limited operation carries. */
export function rateLimitHeaders(budget: RequestBudget): Readonly<Record<string, string>> {
  const { limit, windowSeconds, remaining, resetSeconds } = budget;
  return {
    'RateLimit-Limit': String(limit),
    'RateLimit-Remaining': String(remaining),
    'RateLimit-Reset': String(resetSeconds),
    'RateLimit-Policy': `${limit};w=${windowSeconds}`,
  };
}

/** Returns the error for a request past its budget, with the headers that the contracts require of a 429. */
export function rateLimited(message: string, budget: Omit<RequestBudget, 'remaining'>): AppError {
  const headers = { ...rateLimitHeaders({ ...budget, remaining: 0 }), 'Retry-After': String(budget.resetSeconds) };
  return new AppError('rate_limited', message, { headers });
}
