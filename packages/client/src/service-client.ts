import type { FetchOptions, Middleware } from 'openapi-fetch';
import type { Binary } from './encoding.js';

/** A client whose methods `GET`, `POST`, … are typed by the `paths` of a contract. */
export interface ServiceClient<Paths> {
  readonly GET: Method<Paths, 'get'>;
  readonly PUT: Method<Paths, 'put'>;
  readonly POST: Method<Paths, 'post'>;
  readonly DELETE: Method<Paths, 'delete'>;
  readonly OPTIONS: Method<Paths, 'options'>;
  readonly HEAD: Method<Paths, 'head'>;
  readonly PATCH: Method<Paths, 'patch'>;
  readonly TRACE: Method<Paths, 'trace'>;
  /** Sends a request with the method that the first argument names. */
  readonly request: <Name extends MethodName, Path extends string, As extends ParseAs = 'json'>(
    method: Name,
    path: KnownPath<Paths, Name, Path>,
    ...init: InitArguments<At<Paths, Path, Name>, As>
  ) => Promise<Result<At<Paths, Path, Name>, As>>;
  /** Adds functions that see and may replace each request and response. */
  use(...middleware: Middleware[]): void;
  /** Removes functions that {@link use} added. */
  eject(...middleware: Middleware[]): void;
  /** The revision of the contract that the types are generated from. */
  readonly revision: string;
  /** Distinguishes the clients of two services for the compiler. Absent at run time. */
  readonly [contract]?: Paths;
}

declare const contract: unique symbol;

/** Sends a request, and resolves to the response with its status, and its body as `data` or `error`. */
export type Method<Paths, Name extends MethodName> = <Path extends string, As extends ParseAs = 'json'>(
  path: KnownPath<Paths, Name, Path>,
  ...init: InitArguments<At<Paths, Path, Name>, As>
) => Promise<Result<At<Paths, Path, Name>, As>>;

export type MethodName = 'delete' | 'get' | 'head' | 'options' | 'patch' | 'post' | 'put' | 'trace';

/** The operation of a path and a method. */
export type At<Paths, Path, Name extends MethodName> = Path extends keyof Paths
  ? Paths[Path] extends Readonly<Record<Name, infer Operation>>
    ? Operation
    : never
  : never;

/** The paths that have an operation with the method. */
export type PathsWith<Paths, Name extends MethodName> = {
  [Path in keyof Paths]: Paths[Path] extends Readonly<Record<Name, object>> ? Path : never;
}[keyof Paths] &
  string;

/** The path itself. For a wrong one, the nearest paths or the reason, which the compiler prints. */
type KnownPath<Paths, Name extends MethodName, Path extends string> =
  Path extends PathsWith<Paths, Name>
    ? Path
    : Path extends keyof Paths
      ? `${Path} has no ${Uppercase<Name>}, only ${MethodsOf<Paths[Path]>}`
      : Nearest<PathsWith<Paths, Name>, Path>;

type MethodsOf<Item> = {
  [Name in MethodName]: Item extends Readonly<Record<Name, object>> ? Uppercase<Name> : never;
}[MethodName];

/** The known paths that share the longest start with a path. */
type Nearest<
  Known extends string,
  Rest extends string,
  Start extends string = '',
> = Rest extends `${infer First}${infer Others}`
  ? Extract<Known, `${Start}${First}${string}`> extends never
    ? Known
    : Nearest<Extract<Known, `${Start}${First}${string}`>, Others, `${Start}${First}`>
  : Known;

/** How the body of a successful response is read. */
export type ParseAs = 'arrayBuffer' | 'blob' | 'json' | 'stream' | 'text';

interface Parsed {
  readonly arrayBuffer: ArrayBuffer;
  readonly blob: Blob;
  readonly stream: Response['body'];
  readonly text: string;
}

/** The options of a call that do not depend on the operation, among them those of `fetch`. */
export type CallOptions = Omit<FetchOptions<object>, 'body' | 'params' | 'parseAs'>;

export type InitArguments<Operation, As extends ParseAs> =
  RequiredKeys<ParametersOf<Operation> & BodyOf<Operation>> extends never
    ? [init?: Init<Operation, As>]
    : [init: Init<Operation, As>];

type Init<Operation, As extends ParseAs> = BodyOf<Operation> &
  CallOptions &
  ParametersOf<Operation> & { readonly parseAs?: As };

type RequiredKeys<T> = { [Key in keyof T]-?: object extends Pick<T, Key> ? never : Key }[keyof T];

type ParametersOf<Operation> = Operation extends { readonly parameters: infer Parameters }
  ? RequiredKeys<Parameters> extends never
    ? { readonly params?: Parameters }
    : { readonly params: Parameters }
  : object;

/** The option `body` of a call. The types of bodies have no name, which declarations outside of this package could not refer to. */
export type BodyOf<Operation> = Operation extends { readonly requestBody: { readonly content: infer Content } }
  ? { readonly body: { [Type in keyof Content]: Encodable<Type, Content[Type]> }[keyof Content] }
  : Operation extends { readonly requestBody?: { readonly content: infer Content } }
    ? { readonly body?: { [Type in keyof Content]: Encodable<Type, Content[Type]> }[keyof Content] }
    : { readonly body?: undefined };

type Encodable<Type, Value> = Type extends `${string}json${string}`
  ? Value
  : Type extends `multipart/form-data${string}`
    ? FormData | { readonly [Name in keyof Value]: Part<Value[Name]> }
    : Type extends 'application/x-www-form-urlencoded'
      ? URLSearchParams | Value
      : Type extends `text/${string}`
        ? Binary | string
        : Binary;

/** A part of a form. OpenAPI describes a file as text, so a file is possible wherever text is. */
type Part<Value> = Value extends string
  ? Blob | Value
  : Value extends readonly (infer Item)[]
    ? readonly Part<Item>[]
    : Value;

/** The outcome of a call: one variant for each status of the operation, so that the status narrows the body. */
export type Result<Operation, As extends ParseAs = 'json'> = Operation extends { readonly responses: infer Responses }
  ? {
      [Status in keyof Responses]: Outcome<Status, Exclude<keyof Responses, Status>, Responses[Status], As>;
    }[keyof Responses]
  : never;

/** The body of a successful response. */
export type Data<Operation, As extends ParseAs = 'json'> = Operation extends { readonly responses: infer Responses }
  ? { [Status in keyof Responses]: Status extends OkStatus ? Parse<Responses[Status], As> : never }[keyof Responses]
  : never;

type Parse<Response_, As extends ParseAs> = As extends keyof Parsed ? Parsed[As] : BodyOfResponse<Response_>;

type Outcome<Status, Others, Response_, As extends ParseAs> = Status extends OkStatus
  ? {
      readonly status: ToNumbers<Status, Others>;
      readonly data: Parse<Response_, As>;
      readonly error?: never;
      readonly response: Response;
    }
  : {
      readonly status: ToNumbers<Status, Others>;
      readonly data?: never;
      readonly error: BodyOfResponse<Response_>;
      readonly response: Response;
    };

type BodyOfResponse<Response_> = Response_ extends { readonly content: infer Content }
  ? Received<Content[keyof Content]>
  : undefined;

type OkStatus = '2XX' | Statuses['2XX'];

interface Statuses {
  '1XX': 100 | 101 | 102 | 103;
  '2XX': 200 | 201 | 202 | 203 | 204 | 205 | 206 | 207 | 208 | 226;
  '3XX': 300 | 301 | 302 | 303 | 304 | 305 | 307 | 308;
  '4XX':
    | (400 | 401 | 402 | 403 | 404 | 405 | 406 | 407 | 408 | 409 | 410 | 411 | 412 | 413 | 414 | 415 | 416 | 417)
    | (418 | 421 | 422 | 423 | 424 | 425 | 426 | 428 | 429 | 431 | 451);
  '5XX': 500 | 501 | 502 | 503 | 504 | 505 | 506 | 507 | 508 | 510 | 511;
}

/** The statuses of `4XX` are those of the range, and those of `default` are all, without the ones of `Others`. */
type ToNumbers<Status, Others> = Status extends keyof Statuses
  ? Exclude<Statuses[Status], Others>
  : Status extends 'default'
    ? Exclude<Statuses[keyof Statuses], Others | Statuses[Extract<Others, keyof Statuses>]>
    : Status;

/** Values without properties of the contract. */
type Opaque = Blob | bigint | boolean | number | string | symbol | null | undefined;

/** A value that the server sends. It is mutable, as the caller owns it. */
export type Received<T> = unknown extends T
  ? T
  : T extends Opaque
    ? T
    : T extends readonly (infer Item)[]
      ? [number, true] extends [T['length'], HasList<Item>]
        ? ReceivedList<Item>
        : Mutable<T>
      : Mutable<T>;

type Mutable<T> = { -readonly [Key in keyof T]: Received<T[Key]> };

type HasList<Item> = [Extract<Item, readonly unknown[]>] extends [never] ? false : true;

/** A list of lists. As it may contain itself, it is an alias, whose items the compiler reads on demand. */
type ReceivedList<Item> = Received<Item>[];
