/**
 * The types of the operation tables that `npm run generate` writes to `src/generated/<service>/operations.ts` for the
 * contract router, and the parts of ajv that the generated validators use.
 */
import type { Readable } from 'node:stream';
import type { ErrorObject } from 'ajv';
import type { BodySpec } from '../http/body.js';
import type { RateLimitName } from '../http/rate-limits.js';
import type { Admission, Caller } from '../http/security.js';

export type { Caller, CallerOf } from '../http/security.js';

// The helpers of generated validators.
export { default as formats } from 'ajv-formats/dist/formats.js';
export { default as equal } from 'ajv/dist/runtime/equal.js';
export { default as ucs2length } from 'ajv/dist/runtime/ucs2length.js';

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

export type TextType = 'boolean' | 'integer' | 'null' | 'number' | 'string';

/** What a text stands for. */
export interface TextSpec {
  /** The type of a value, or of the items of a list. Several types are tried in their order; objects have none. */
  readonly type: TextType | readonly TextType[];
  /** Whether the value is a list; `repeated` if only several values are. */
  readonly list: boolean | 'repeated';
  /** The properties of an object; absent for other values. */
  readonly properties?: Readonly<Record<string, TextSpec>>;
  /** The values of properties that are not named; absent if there are none. */
  readonly others?: TextSpec;
}

/** A parameter, or a field of a form, as its text is written. */
export interface FieldSpec extends TextSpec {
  readonly name: string;
  readonly required: boolean;
  /** By default `form` in queries, cookies and forms, and `simple` in paths and headers. */
  readonly style?: 'deepObject' | 'pipeDelimited' | 'spaceDelimited';
  /** By default true for the style `form` only. */
  readonly explode?: boolean;
  /** Whether the text is JSON. */
  readonly isJson?: true;
}

export interface ParameterSpec extends FieldSpec {
  readonly in: 'cookie' | 'header' | 'path' | 'query';
  /** Whether a path parameter matches the rest of the path, slashes included (`x-rest: true`). */
  readonly rest: boolean;
  /** Whether an empty value is passed to the handler (`allowEmptyValue: true`). */
  readonly allowsEmpty?: true;
}

/** A file of a `multipart/form-data` body. */
export interface FileSpec {
  readonly name: string;
  readonly required: boolean;
  /** Whether several parts may have the name. */
  readonly list: boolean;
  /** The media types and ranges of the file; absent for any. */
  readonly contentTypes?: readonly string[];
  readonly maxBytes?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

export interface FormSpec {
  readonly fields: readonly FieldSpec[];
  /** Absent if the form has no files. */
  readonly files?: readonly FileSpec[];
}

export interface RequestBodySpec extends BodySpec {
  /** The fields of each media type that is a form. */
  readonly forms?: Readonly<Record<string, FormSpec>>;
  /** Whether the handler receives the media type, as there are several or a range. */
  readonly hasContentType?: true;
}

/** A file as the handler receives it. Nothing is written to disk. */
export interface UploadedFile<Name extends string = string> {
  readonly name: Name;
  /** The last part of the path that the client gives; `undefined` for none. Never use it as a path. */
  readonly filename: string | undefined;
  /** The media type that the client gives. */
  readonly contentType: string;
  /** The bytes, within the limits of the contract; a larger file is an error of the stream. */
  readonly content: Readable;
}

/** The body of a `multipart/form-data` request with files. */
export interface MultipartBody<Fields, Name extends string> {
  readonly fields: Fields;
  /** The files in the order of the form. Each has to be read before the next; an unread file is skipped. */
  readonly files: AsyncIterable<UploadedFile<Name>>;
}

export interface ResponseSpec {
  /** Empty for a response without a body. */
  readonly contentTypes: readonly string[];
  /** Validates the body, or the data of each event of a stream; absent for bodies such as binary ones. */
  readonly validate?: Validator;
  /** Whether it has write-only properties, which must not leave the server: it is always validated. */
  readonly isGuarded?: true;
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
  readonly body?: RequestBodySpec;
  /** The documented responses by status, range of statuses such as `4XX`, or `default`. */
  readonly responses: Readonly<Record<number | string, ResponseSpec>>;
  readonly validate: {
    readonly params?: Validator;
    readonly query?: Validator;
    readonly headers?: Validator;
    readonly cookies?: Validator;
    /** Validates only the size limits of the body, if the operation documents a separate status for those. */
    readonly limits?: Validator;
    readonly body?: Validator;
    /** The validators of a body that may have several media types, by media type. */
    readonly bodies?: Readonly<Record<string, Validator>>;
  };
}

/** The validated input of a handler. The generated request types narrow it. */
export interface HandlerRequest {
  readonly params: unknown;
  readonly query: unknown;
  readonly headers: unknown;
  /** The cookies that are parameters; absent if the operation has none. */
  readonly cookies?: unknown;
  readonly body: unknown;
  /** The media type of the body, if the operation accepts several or a range. */
  readonly contentType?: string;
  /** `undefined` only for operations that anyone may call. */
  readonly caller: Caller | undefined;
  /** The callers by security scheme, if an alternative has several schemes. */
  readonly callers?: Readonly<Record<string, Caller>>;
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
  /** A list is sent as several headers, such as several `Set-Cookie`. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}
