/**
 * The shape of the operation tables that `npm run generate` writes to
 * `src/generated/<service>/operations.ts`. The contract router reads them.
 */
import type { ErrorObject } from 'ajv';
import type { Caller } from '../accounts/callers.js';

export type HttpMethod = 'delete' | 'get' | 'patch' | 'post' | 'put';

export type RateLimitName = 'create' | 'default' | 'none' | 'sign-in';

/** An ajv standalone function: fills `errors` when it answers false. */
export interface Validator {
  (data: unknown): boolean;
  errors?: ErrorObject[] | null;
}

export interface ParameterSpec {
  readonly name: string;
  readonly in: 'header' | 'path' | 'query';
  readonly required: boolean;
  readonly type: 'boolean' | 'integer' | 'number' | 'string';
  /** A repeated query parameter, given to the handler as an array. */
  readonly list: boolean;
  /** A path parameter that takes the rest of the path, slashes included (`x-rest: true`). */
  readonly rest: boolean;
}

/** One way to be let in: a security scheme of the contract, and the roles that the caller must hold. */
export interface SecurityAlternative {
  readonly scheme: string;
  readonly roles: readonly string[];
}

export interface BodySpec {
  readonly required: boolean;
  readonly contentTypes: readonly string[];
  /** Larger bodies are answered 413 (`x-max-bytes`, by default 1 MiB). */
  readonly maxBytes: number;
  /** The handler is given a function that reads the bytes (`x-body: deferred`), which nothing has looked at. */
  readonly isDeferred?: true;
}

export interface ResponseSpec {
  /** Empty for a response without a body. */
  readonly contentTypes: readonly string[];
  /** Absent where nothing can be checked, such as a binary body. Of a stream, it holds the data of each event. */
  readonly validate?: Validator;
}

export interface OperationSpec {
  /** The `operationId`, which is also the handler's name. */
  readonly id: string;
  readonly method: HttpMethod;
  /** Below the service's base path, with `{name}` for parameters: `/api/tokens/{id}`. */
  readonly path: string;
  /** Alternatives, the first that fits wins; empty when anyone may call. */
  readonly security: readonly SecurityAlternative[];
  /** Whoever has no credential that holds is let in too. */
  readonly isOptional?: true;
  /** Which budget its requests are counted against (`x-rate-limit`), `default` unless the contract says so. */
  readonly rateLimit?: RateLimitName;
  /** Its answer waits for other machines (`x-reaches-out`): no transaction can take that back, nor is one open meanwhile. */
  readonly reachesOut?: true;
  readonly parameters: readonly ParameterSpec[];
  readonly body?: BodySpec;
  /** By status. */
  readonly responses: Readonly<Record<number, ResponseSpec>>;
  readonly validate: {
    readonly params?: Validator;
    readonly query?: Validator;
    readonly headers?: Validator;
    /** Of the body's fields, where what is beyond its limit has a status of its own. */
    readonly limits?: Validator;
    readonly body?: Validator;
  };
}

/** What every handler is given; the generated request types narrow it. */
export interface HandlerRequest {
  readonly params: unknown;
  readonly query: unknown;
  readonly headers: unknown;
  readonly body: unknown;
  /** `undefined` only where the operation lets anyone call. */
  readonly caller: Caller | undefined;
  /** Also in the log and in every error body. */
  readonly requestId: string;
  /** The peer's address. */
  readonly address: string;
  /** Aborted when the answer is through, or the peer goes away before. */
  readonly signal: AbortSignal;
}

/** One message of a `text/event-stream`. */
export interface ServerSentEvent<Data = unknown> {
  /** What a client that comes back says in `Last-Event-ID`; without line breaks. */
  readonly id: string;
  readonly data: Data;
}

/** What every handler answers; the generated response types narrow it. */
export interface HandlerResponse {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}
