import { requireData } from './errors.js';
import { readEvents, type StreamEvent, type StreamOptions } from './events.js';
import { type PageAfterQuery, type PageQuery, readAll, readAllAfter } from './paging.js';
import type { BodyOf, CallOptions, Data, MethodName, ParseAs, Result, ServiceClient } from './service-client.js';

/** A function that performs one operation of a service. */
export interface Call<Paths, Operation, Arguments, As extends ParseAs = 'json'> {
  /**
   * Resolves to the body of the response.
   *
   * @throws ApiError for an error response.
   */
  (client: ServiceClient<Paths>, ...rest: Rest<Arguments>): Promise<Data<Operation, As>>;
  /** Resolves to the response with its status, and its body as `data` or `error`. */
  readonly result: (client: ServiceClient<Paths>, ...rest: Rest<Arguments>) => Promise<Result<Operation, As>>;
}

/** A function that reads a page of a list. */
export interface ListCall<Paths, Operation, Arguments> extends Call<Paths, Operation, Arguments> {
  /**
   * Yields the items of all pages, and requests each page when it is needed.
   *
   * @throws ApiError for an error response.
   */
  readonly all: (
    client: ServiceClient<Paths>,
    ...rest: Rest<Arguments>
  ) => AsyncGenerator<ItemOf<Data<Operation>>, void, undefined>;
}

/** A function that opens a stream of events, as {@link readEvents} does. */
export type StreamCall<Paths, Event, Arguments> = (
  client: ServiceClient<Paths>,
  ...rest: object extends Arguments
    ? [parameters?: Arguments, options?: StreamOptions]
    : [parameters: Arguments, options?: StreamOptions]
) => AsyncGenerator<StreamEvent<Event>, void, undefined>;

type Rest<Arguments> = object extends Arguments
  ? [parameters?: Arguments, options?: CallOptions]
  : [parameters: Arguments, options?: CallOptions];

type ItemOf<List> = List extends readonly (infer Item)[] ? Item : never;

/**
 * The parameters of an operation by name, and its body as `body`.
 *
 * @typeParam Shared The names that two of its parameters have, or that is `body`: these arguments start with the place
 * of the parameter, such as `pathId` and `queryId`.
 */
export type CallArguments<Operation, Shared extends string = never> = Operation extends {
  readonly parameters: infer Parameters;
}
  ? Flat<
      At<Parameters, 'cookie', Shared> &
        At<Parameters, 'header', Shared> &
        At<Parameters, 'path', Shared> &
        At<Parameters, 'query', Shared> &
        OptionalBody<BodyOf<Operation>>
    >
  : never;

type At<Parameters, Place extends string, Shared extends string> =
  Parameters extends Readonly<Partial<Record<Place, infer Group>>> ? Placed<NonNullable<Group>, Place, Shared> : object;

type Placed<Group, Place, Shared extends string> = [Group] extends [never] ? object : Named<Group, Place, Shared>;

type Named<Group, Place, Shared extends string> = {
  [Name in keyof Group as Name extends Shared ? `${Place & string}${Capitalize<Name>}` : Name]: Group[Name];
};

type OptionalBody<Body> = Body extends { readonly body?: undefined } ? object : Body;

type Flat<T> = { [Key in keyof T]: T[Key] };

/** The properties of an operation that do not follow from its path. */
export interface CallSpec {
  /** The places of arguments that are neither in the path nor in the query: `header`, or `query id` with a name. */
  readonly places?: Readonly<Record<string, string>>;
  /** How the body of a successful response is read; `json` by default. */
  readonly parseAs?: ParseAs;
}

/** Creates the function of an operation. */
export function createCall<Paths, Operation, Arguments, As extends ParseAs = 'json'>(
  method: MethodName,
  path: string,
  spec: CallSpec = {},
): Call<Paths, Operation, Arguments, As> {
  const result = (client: ServiceClient<Paths>, values?: Arguments, options?: CallOptions) =>
    send(client)(method, path, toInit(path, spec, values, options));
  const call = async (client: ServiceClient<Paths>, values?: Arguments, options?: CallOptions) =>
    requireData(await result(client, values, options));
  // The generated types describe requests and responses.
  return Object.assign(call, { result }) as unknown as Call<Paths, Operation, Arguments, As>;
}

/** A list is paged by the position or by the id of the last item. */
interface ListSpec extends CallSpec {
  readonly paging: 'after' | 'offset';
  /** The largest page that the contract allows. */
  readonly limit?: number;
}

/** Creates the function of an operation that reads a page of a list. */
export function createListCall<Paths, Operation, Arguments>(
  path: string,
  { paging, limit, ...spec }: ListSpec,
): ListCall<Paths, Operation, Arguments> {
  const call = createCall<Paths, Operation, Arguments>('get', path, spec);
  const all = (client: ServiceClient<Paths>, values?: Arguments, options?: CallOptions) => {
    const start = { ...(limit !== undefined && { limit }), ...(values as Partial<PageAfterQuery & PageQuery>) };
    const readPage = (page: object) =>
      send<{ id: number }[]>(client)('get', path, toInit(path, spec, { ...values, ...page }, options));
    return paging === 'offset' ? readAll(readPage, start) : readAllAfter(readPage, start);
  };
  return Object.assign(call, { all }) as unknown as ListCall<Paths, Operation, Arguments>;
}

/** Creates the function of an operation that sends events. */
export function createStreamCall<Paths, Event, Arguments>(
  method: MethodName,
  path: string,
  spec: CallSpec = {},
): StreamCall<Paths, Event, Arguments> {
  return (client, ...[values, options]) =>
    readEvents<Event>((init) => send<ReadableStream>(client)(method, path, toInit(path, spec, values, init)), options);
}

type Send<Body> = (
  method: MethodName,
  path: string,
  init: object,
) => Promise<{ readonly data?: Body; readonly error?: unknown; readonly response: Response }>;

const send = <Body>(client: object): Send<Body> => (client as { readonly request: Send<Body> }).request;

/** Distributes arguments to the parts of a request. */
function toInit(path: string, { places = {}, parseAs = 'json' }: CallSpec, values: unknown, options?: object): object {
  const { body, ...rest } = Object(values) as Readonly<Record<string, unknown>>;
  const params: Record<string, Record<string, unknown>> = {};
  for (const [argument, value] of Object.entries(rest)) {
    const fallback = path.includes(`{${argument}}`) ? 'path' : 'query';
    const [place = '', name = argument] = (places[argument] ?? places[argument.toLowerCase()] ?? fallback).split(' ');
    (params[place] ??= {})[name] = value;
  }
  return { parseAs, ...options, params, ...(body !== undefined && { body }) };
}
