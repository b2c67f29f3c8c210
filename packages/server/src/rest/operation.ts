/**
 * The types of the operation tables that `npm run generate` writes to `src/generated/<service>/operations.ts` for the
 * contract router.
 */
import type { ErrorObject } from 'ajv';
import type { BodySpec } from '../http/body.js';
import type { RateLimitName } from '../http/rate-limits.js';
import type { Admission, Caller } from '../http/security.js';

export type HttpMethod = 'delete' | 'get' | 'head' | 'options' | 'patch' | 'post' | 'put';

type Digit = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9;

/** The statuses of a class, such as those from 400 to 499. */
export type StatusIn<Class extends 1 | 2 | 3 | 4 | 5> = ToNumber<`${Class}${Digit}${Digit}`>;

type ToNumber<Text extends string> = Text extends `${infer Value extends number}` ? Value : never;

/** A standalone ajv function. It sets `errors` when it returns false. */
export interface Validator {
  (data: unknown): boolean;
  errors?: ErrorObject[] | null;
}

export interface ParameterSpec {
  readonly name: string;
  readonly in: 'header' | 'path' | 'query';
  readonly required: boolean;
  readonly type: 'boolean' | 'integer' | 'number' | 'string';
  /** Whether a query parameter may be repeated. The handler receives an array. */
  readonly list: boolean;
  /** Whether a path parameter matches the rest of the path, slashes included (`x-rest: true`). */
  readonly rest: boolean;
}

export interface ResponseSpec {
  /** Empty for a response without a body. */
  readonly contentTypes: readonly string[];
  /** Validates the body, or the data of each event of a stream; absent for bodies such as binary ones. */
  readonly validate?: Validator;
}

export interface OperationSpec extends Admission {
  /** The `operationId`, which is also the handler's name. */
  readonly id: string;
  readonly method: HttpMethod;
  /** The path below the base path of the service, with `{name}` for parameters: `/api/tokens/{id}`. */
  readonly path: string;
  /** The rate limit that counts the requests (`x-rate-limit`); `default` if absent. */
  readonly rateLimit?: RateLimitName;
  /**
   * Whether the operation calls other servers (`x-reaches-out`). A transaction can't undo that, so none is open then.
   */
  readonly reachesOut?: true;
  readonly parameters: readonly ParameterSpec[];
  readonly body?: BodySpec;
  /** The documented responses by status, range of statuses such as `4XX`, or `default`. */
  readonly responses: Readonly<Record<number | string, ResponseSpec>>;
  readonly validate: {
    readonly params?: Validator;
    readonly query?: Validator;
    readonly headers?: Validator;
    /** Validates only the size limits of the body, if the operation documents a separate status for those. */
    readonly limits?: Validator;
    readonly body?: Validator;
  };
}

/** The validated input of a handler. The generated request types narrow it. */
export interface HandlerRequest {
  readonly params: unknown;
  readonly query: unknown;
  readonly headers: unknown;
  readonly body: unknown;
  /** `undefined` only for operations that anyone may call. */
  readonly caller: Caller | undefined;
  /** The id that the log and every error body contain too. */
  readonly requestId: string;
  /** The address of the client. */
  readonly address: string;
  /** Aborted when the response is complete or the client disconnects. */
  readonly signal: AbortSignal;
}

/** One message of a `text/event-stream`. */
export interface ServerSentEvent<Data = unknown> {
  /** The value that a reconnecting client sends in `Last-Event-ID`; without line breaks. */
  readonly id: string;
  readonly data: Data;
}

/** The result of a handler. The generated response types narrow it. */
export interface HandlerResponse {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Returns the documented response for a status: its own, that of its range, or the default. */
export function findResponse(
  { responses }: Pick<OperationSpec, 'responses'>,
  status: number,
): ResponseSpec | undefined {
  return responses[status] ?? responses[`${Math.trunc(status / 100)}XX`] ?? responses.default;
}
