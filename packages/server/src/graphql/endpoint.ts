import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError } from '@trellis/core/errors';
import { convertStorageFault, findStorageFault, toUnavailable } from '@trellis/core/storage';
import {
  type DocumentNode,
  execute as graphqlExecute,
  type ExecutionArgs,
  type ExecutionResult,
  getOperationAST,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  subscribe,
  type ValidationRule,
} from 'graphql';
import { chooseEncoding, createRepeatedCompression, matchesEtag, MIN_COMPRESSED_BYTES } from '../http/payload.js';
import { HeldBytes } from '../http/rate-limits.js';
import { getClientAddress } from '../http/request.js';
import { REVALIDATE } from '../http/responses.js';
import { type BudgetLimits, OperationBudget } from './budget.js';
import {
  acceptsEvents,
  isLive,
  LiveQueries,
  type ResultStream,
  sendResults,
  singleResult,
  SubscriptionLimit,
  type SubscriptionOptions,
} from './event-stream.js';
import {
  chooseMediaType,
  createDocumentCache,
  type GraphqlMediaType,
  type GraphqlRequest,
  parseRequestText,
  readRequestText,
  type UnparsedRequest,
} from './request.js';
import { type DataVersions, type EncodedResponse, QueryResponse, ResponseCache } from './response-cache.js';

export interface GraphqlOptions {
  readonly schema: GraphQLSchema;
  /** Whether queries may use introspection. */
  readonly introspection: boolean;
  readonly limits: BudgetLimits;
  /** Creates the context of the resolvers for one request, which charge their work to the budget. */
  readonly createContext: (budget: OperationBudget) => unknown;
  /** Logs an internal error. */
  readonly report: (error: unknown, requestId: string) => void;
  /** Checks a request before its query is read, and adds headers; throws an AppError to reject it. */
  readonly admit?: (
    request: IncomingMessage,
    response: ServerResponse,
    headers: HeaderTarget,
  ) => Promise<void> | undefined;
  /** Returns a sentence that is added to an error in a document. */
  readonly hint?: (error: GraphQLError) => string | undefined;
  /** Called with the name that the document gives the operation of a valid request, before it runs. */
  readonly onOperation?: (response: ServerResponse, name: string | undefined) => void;
  /** Keeps responses; absent if the same query may have a different response each time. */
  readonly reuse?: ReuseOptions;
  /** Serves subscriptions and live queries; absent if the schema has none. */
  readonly streams?: SubscriptionOptions;
  /** Replaces the executor of graphql-js. */
  readonly execute?: (args: ExecutionArgs) => ExecutionResult | Promise<ExecutionResult>;
}

/** Where headers of a response are set: the response itself, or a list. */
type HeaderTarget = Pick<ServerResponse, 'setHeader'>;

export interface ReuseOptions extends DataVersions {
  /** The documents that have the same result each time they are executed with the same data. */
  readonly repeatable: {
    /** Visits each document during its validation. */
    readonly rule: ValidationRule;
    readonly has: (document: DocumentNode) => boolean;
    /** Returns the parts of the data that an operation reads; `undefined` for any. */
    readonly kindsOf: (
      document: DocumentNode,
      operation: OperationDefinitionNode,
      variables: GraphqlRequest['variables'],
    ) => readonly string[] | undefined;
  };
  /** Returns the changes of the data for live queries, the first one at once. */
  readonly follow?: () => AsyncIterableIterator<unknown>;
  /** `Cache-Control` of responses to GET requests: of those that are kept, and of all others. */
  readonly cacheControl: { readonly kept: string; readonly other: string };
}

/**
 * Responds to a request.
 *
 * @param headers Headers of the response, as names and values in turns. They are written faster than those that are set
 * on the response.
 */
type GraphqlEndpoint = (
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  headers?: readonly string[],
) => void;

interface GraphqlResult {
  readonly status: number;
  /** The response in its bytes, if it has no errors. */
  readonly response?: QueryResponse;
  /** The results as a stream of events. */
  readonly stream?: ResultStream;
  /** Absent if execution did not begin. */
  readonly data?: ExecutionResult['data'];
  readonly errors?: readonly unknown[];
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Creates an endpoint for GraphQL over HTTP, on Node's request and response.
 *
 * This replaces graphql-http, whose error responses have no body or code, and which serialises results with a slow
 * replacer function. The audits of that package test this endpoint.
 */
export function createGraphqlEndpoint(options: GraphqlOptions): GraphqlEndpoint {
  const unread = new UnreadResponses();
  const handle = createHandler(options, unread);
  const compress = createRepeatedCompression();
  return (request, response, requestId, given = []) => {
    const report: ReportError = (error) => options.report(error, requestId);
    const type = chooseMediaType(request.headers.accept);
    const headers = [...given];
    const finish = (result: GraphqlResult): Promise<void> | undefined => {
      if (result.response) return sendResponse(response, result.response, { headers, unread });
      const show = (error: unknown): GraphQLFormattedError => toPublicError(error, requestId, report);
      const countUnread = (characters: number) => unread.add(request, characters);
      if (result.stream)
        return sendResults(response, result.stream, { ...options.streams, headers, show, countUnread });
      return send(response, type, result, { show, compress, headers, unread });
    };
    const fail = (error: unknown): void => {
      report(error);
      response.destroy();
    };
    const later = (result: Promise<GraphqlResult>): void => {
      result
        .catch((error: unknown) => toErrorResult(error, invalidStatusFor(type)))
        .then(finish)
        .catch(fail);
    };
    try {
      if (!type && !acceptsEvents(request.headers.accept)) throw notAcceptable();
      const result = handle({ request, response, headers, type });
      if (result instanceof Promise) later(result);
      else finish(result)?.catch(fail);
    } catch (error) {
      finish(toErrorResult(error, invalidStatusFor(type)))?.catch(fail);
    }
  };
}

/** Returns the status for an invalid document in a well-formed request; the specification requires 200 for JSON. */
const invalidStatusFor = (type: GraphqlMediaType | undefined) =>
  type === 'application/graphql-response+json' ? 400 : 200;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The media type of the response; `undefined` if the client accepts a stream of events only. */
  readonly type: GraphqlMediaType | undefined;
  /** The headers of the response so far. */
  readonly headers: string[];
}

/** Responds without a promise where it can, because a few of them take as long as sending a stored response. */
function createHandler(options: GraphqlOptions, unread: UnreadResponses) {
  const { reuse, admit, onOperation } = options;
  const cache = reuse && new ResponseCache(reuse);
  const execute = createExecutor(options, cache, unread);

  function read(exchange: Exchange): GraphqlResult | Promise<GraphqlResult> {
    const unparsed = readRequestText(exchange.request);
    if (unparsed instanceof Promise) return unparsed.then((read) => respond(read, exchange));
    return respond(unparsed, exchange);
  }

  function respond(unparsed: UnparsedRequest, exchange: Exchange): GraphqlResult | Promise<GraphqlResult> {
    const { type } = exchange;
    const known = type && cache?.find({ ...unparsed, type });
    if (!known) {
      unread.assertFew(exchange.request);
      return execute(unparsed, exchange);
    }
    onOperation?.(exchange.response, known.operationName);
    return { status: 200, response: known };
  }

  function start(exchange: Exchange): GraphqlResult | Promise<GraphqlResult> {
    const { request, response, headers } = exchange;
    const admission = admit?.(request, response, headers.length === 0 ? response : toTarget(headers));
    return admission ? admission.then(() => read(exchange)) : read(exchange);
  }

  /** Runs pipelined requests in turns. Their responses would wait for each other uncounted. */
  async function startInTurn(exchange: Exchange): Promise<GraphqlResult> {
    await once(exchange.response, 'socket');
    return start(exchange);
  }

  return (exchange: Exchange) => (exchange.response.socket ? start(exchange) : startInTurn(exchange));
}

function createExecutor(options: GraphqlOptions, cache: ResponseCache | undefined, unread: UnreadResponses) {
  const { reuse } = options;
  const prepare = createDocumentCache({ ...options, rule: reuse?.repeatable.rule });
  const follow = createFollower(options, unread);

  async function execute(
    unparsed: UnparsedRequest,
    input: GraphqlRequest,
    { request, response, type }: Exchange,
  ): Promise<GraphqlResult> {
    const { document, errors } = prepare(input.query);
    const operation = requireOperation(document, input.operationName, {
      method: unparsed.method,
      schema: options.schema,
    });
    const invalidStatus = invalidStatusFor(type);
    if (errors.length > 0) return { status: invalidStatus, errors };
    const operationName = operation.name?.value;
    options.onOperation?.(response, operationName);
    const isSubscription = operation.operation === OperationTypeNode.SUBSCRIPTION;
    if (isSubscription || (operation.directives?.length && isLive(operation, options.schema, input.variables)))
      return follow({ document, operation, input }, { request, response });
    const state = cache?.state;
    const result = await run(document, input, options);
    const isGet = unparsed.method === 'GET';
    const isKept = operation.operation === OperationTypeNode.QUERY && reuse?.repeatable.has(document) === true;
    const hasBytes = reuse !== undefined && (isKept || isGet) && !result.errors && 'data' in result;
    if (!type || !hasBytes)
      return { status: 'data' in result ? 200 : invalidStatus, headers: retryHeaders(result.errors), ...result };
    const cacheControl = isGet ? reuse.cacheControl[isKept ? 'kept' : 'other'] : REVALIDATE;
    const text = JSON.stringify({ data: result.data });
    const made = new QueryResponse(text, { type, operationName, cacheControl, hasEtag: isGet });
    if (isKept && state) {
      const listParts = () => reuse.repeatable.kindsOf(document, operation, input.variables);
      cache.keep({ ...unparsed, type }, made, { listParts, state });
    }
    return { status: 200, response: made };
  }

  return async (unparsed: UnparsedRequest, exchange: Exchange): Promise<GraphqlResult> => {
    const input = parseRequestText(unparsed);
    if (exchange.type) return execute(unparsed, input, exchange);
    // By the protocol, a stream of events has the errors of a document too.
    const result = await execute(unparsed, input, exchange).catch(toStreamedError);
    return result.stream ? result : { status: 200, stream: singleResult(result) };
  };
}

/** @throws any error that is not about the document. */
function toStreamedError(error: unknown): GraphqlResult {
  const isAboutDocument =
    error instanceof GraphQLError || (error instanceof AppError && error.code === 'invalid_input');
  if (!isAboutDocument) throw error;
  return { status: 200, errors: [error] };
}

interface ValidOperation {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly input: GraphqlRequest;
}

/** Creates a function that starts a subscription, or a live query. */
function createFollower(options: GraphqlOptions, unread: UnreadResponses) {
  const { streams } = options;
  const limit = streams && new SubscriptionLimit(streams);
  const queries = new LiveQueries();
  return async (valid: ValidOperation, { request, response }: Pick<Exchange, 'request' | 'response'>) => {
    const isQuery = valid.operation.operation === OperationTypeNode.QUERY;
    const what = isQuery ? 'live queries' : 'subscriptions';
    if (!limit) throw new AppError('invalid_input', `This server has no ${what}.`, { field: 'query' });
    // The stream would have no end and no bytes.
    if (request.method === 'HEAD') {
      throw new AppError('method_not_allowed', `Expected GET or POST for ${what}.`, {
        headers: { Allow: 'GET, POST' },
      });
    }
    if (!acceptsEvents(request.headers.accept)) {
      const advice = isQuery ? ' Without @live, the query runs once.' : '';
      throw new AppError('not_acceptable', `Expected Accept to include text/event-stream for ${what}.${advice}`);
    }
    limit.open(request, response);
    if (!isQuery) return { status: 200, stream: await subscribeTo(valid, options) };
    const runOnce = async (): Promise<ExecutionResult> => {
      unread.assertFew(request);
      return run(valid.document, valid.input, options);
    };
    return { status: 200, stream: followQuery(valid, { queries, options, runOnce }) };
  };
}

async function subscribeTo({ document, input }: ValidOperation, options: GraphqlOptions): Promise<ResultStream> {
  const { schema, limits, createContext } = options;
  const { variables, operationName } = input;
  const contextValue = createContext(new OperationBudget(limits));
  const results = await subscribe({ schema, document, variableValues: variables, operationName, contextValue });
  return Symbol.asyncIterator in results ? { results, completes: false } : singleResult(results);
}

interface FollowOptions {
  readonly queries: LiveQueries;
  readonly options: GraphqlOptions;
  readonly runOnce: () => Promise<ExecutionResult>;
}

/** @throws AppError `invalid_input` if the server has no changes to follow. */
function followQuery(
  { document, operation, input }: ValidOperation,
  { queries, options: { reuse }, runOnce }: FollowOptions,
): ResultStream {
  if (!reuse?.follow) throw new AppError('invalid_input', 'This server has no live queries.', { field: 'query' });
  const parts = reuse.repeatable.kindsOf(document, operation, input.variables);
  const results = queries.follow({
    run: () => runOnce().catch(toFailedResult),
    getVersion: () => `${reuse.getVersion()} ${reuse.unchangedSince(parts)}`,
    changes: reuse.follow(),
  });
  return { results, completes: false, skipsEqual: true };
}

/** Returns the result of a query that exceeded a limit or failed. Errors of any kind are converted when they are sent. */
const toFailedResult = (thrown: unknown): ExecutionResult => ({ data: null, errors: [thrown as GraphQLError] });

/** Returns a target that collects headers in a list. */
const toTarget = (headers: string[]): HeaderTarget => ({
  setHeader(name, value) {
    headers.push(name, String(value));
    return undefined as never;
  },
});

/**
 * Sends a response without errors; to a GET that has the same bytes already, 304. Returns a promise if the response has
 * not been compressed before.
 */
function sendResponse(
  response: ServerResponse,
  toSend: QueryResponse,
  { headers: given, unread }: Pick<SendOptions, 'headers' | 'unread'>,
): Promise<void> | undefined {
  const { 'accept-encoding': accepted, 'if-none-match': condition } = response.req.headers;
  const encoding = toSend.isCompressible ? chooseEncoding(accepted) : undefined;
  if (toSend.etag !== undefined && matchesEtag(condition, toSend.etag)) {
    response.writeHead(304, [...given, ...toSend.notModifiedHeaders(encoding)]).end();
    return undefined;
  }
  const write = ({ headers, body }: EncodedResponse): void => {
    response.writeHead(200, [...given, ...headers]);
    response.end(body, 'latin1');
    unread.track(response, body.length);
  };
  const encoded = toSend.encode(encoding);
  if (encoded instanceof Promise) return encoded.then(write);
  write(encoded);
  return undefined;
}

/**
 * Executes an operation. Above its budget the result has no data, because clients could mistake a part for the whole.
 */
async function run(
  document: DocumentNode,
  { variables, operationName }: GraphqlRequest,
  { schema, limits, createContext, execute = graphqlExecute }: GraphqlOptions,
): Promise<ExecutionResult> {
  const budget = new OperationBudget(limits);
  const result = execute({
    schema,
    document,
    variableValues: variables,
    operationName,
    contextValue: createContext(budget),
  });
  const settled = result instanceof Promise ? await budget.untilTimeout(result) : result;
  const { refusal } = budget;
  if (!refusal) {
    budget.assertResponseLength(settled.data);
    return settled;
  }
  const located = settled.errors?.find(({ originalError }) => originalError === refusal);
  // A statement of the database loses the original error, and with it the location.
  return { data: null, errors: [located ?? new GraphQLError(refusal.message, { originalError: refusal })] };
}

/** Returns the longest `Retry-After` of the errors, so that a repeated query has all of its fields. */
function retryHeaders(errors: readonly GraphQLError[] = []): Record<string, string> | undefined {
  const seconds = errors.flatMap(({ originalError }) =>
    originalError instanceof AppError ? Number(originalError.headers['Retry-After'] ?? 0) : 0,
  );
  const longest = Math.max(0, ...seconds);
  return longest > 0 ? { 'Retry-After': String(longest) } : undefined;
}

interface OperationTarget {
  readonly method: UnparsedRequest['method'];
  readonly schema: GraphQLSchema;
}

function requireOperation(
  document: DocumentNode,
  name: string | undefined,
  { method, schema }: OperationTarget,
): OperationDefinitionNode {
  const node = getOperationAST(document, name);
  const operation = node?.operation;
  if (!operation) {
    const message =
      name === undefined
        ? 'Without "operationName", the document must contain exactly one operation.'
        : 'The document has no operation with this "operationName".';
    throw new AppError('invalid_input', message, { field: 'operationName' });
  }
  if (operation === OperationTypeNode.MUTATION && method === 'GET') {
    throw new AppError('method_not_allowed', 'Mutations require POST.', {
      headers: { Allow: 'POST' },
    });
  }
  // A request error; graphql-js would report a failed execution instead.
  if (!schema.getRootType(operation)) {
    throw new AppError('invalid_input', `The schema has no ${operation}s.`, { field: 'query' });
  }
  return node;
}

function toErrorResult(thrown: unknown, invalidStatus: number): GraphqlResult {
  const error = convertStorageFault(thrown);
  if (error instanceof AppError) {
    const headers = error.code === 'unauthenticated' ? { 'WWW-Authenticate': 'Bearer' } : error.headers;
    return { status: error.status, errors: [error], headers };
  }
  return { status: error instanceof GraphQLError ? invalidStatus : 500, errors: [error] };
}

const notAcceptable = () =>
  new AppError(
    'not_acceptable',
    'Expected Accept to include application/graphql-response+json or application/json, in UTF-8.',
  );

/** A list may contain the same error for each record, of which clients need only some. */
const MAX_ERRORS = 100;

interface SendOptions {
  readonly headers: readonly string[];
  readonly show: (error: unknown) => GraphQLFormattedError;
  readonly compress: ReturnType<typeof createRepeatedCompression>;
  readonly unread: UnreadResponses;
}

/** Bounds the memory of responses whose clients read slowly, or not at all. */
class UnreadResponses {
  readonly #bytes = new HeldBytes('Too many responses wait for clients that read slowly.');

  /** @throws AppError `unavailable` until clients have read enough, or have disconnected. */
  assertFew(request: IncomingMessage): void {
    this.#bytes.assertFew(getClientAddress(request));
  }

  /** Counts a response that the system has not taken at once, until it has been sent. */
  track(response: ServerResponse, bytes: number): void {
    if (response.socket?.writableLength) response.once('close', this.add(response.req, bytes));
  }

  /** Counts bytes until the returned function is called. */
  add(request: IncomingMessage, bytes: number): () => void {
    return this.#bytes.add(getClientAddress(request), bytes);
  }
}

async function send(
  response: ServerResponse,
  type: GraphqlMediaType = 'application/json',
  { status, headers, data, errors }: GraphqlResult,
  { show, compress, headers: given, unread }: SendOptions,
): Promise<void> {
  // The specification recommends errors first, where they are visible in a long response.
  const body = JSON.stringify({ errors: errors?.slice(0, MAX_ERRORS).map(show), data });
  const length = Buffer.byteLength(body);
  const common = {
    ...toObject(given),
    ...headers,
    'Content-Type': `${type}; charset=utf-8`,
    // The response to a GET depends on these headers, and the files of the site can change.
    Vary: 'Accept, Accept-Encoding',
    'Cache-Control': REVALIDATE,
    'X-Content-Type-Options': 'nosniff',
  };
  const accepted = response.req.headers['accept-encoding'];
  const encoding = length < MIN_COMPRESSED_BYTES ? undefined : chooseEncoding(accepted);
  if (encoding !== undefined) {
    const bytes = await compress(body, encoding);
    response.writeHead(status, { ...common, 'Content-Encoding': encoding, 'Content-Length': bytes.length }).end(bytes);
    unread.track(response, bytes.length);
    return;
  }
  response.writeHead(status, { ...common, 'Content-Length': length });
  // ASCII text is the same in both encodings, and latin1 is written in a third of the time.
  response.end(body, length === body.length ? 'latin1' : 'utf8');
  unread.track(response, length);
}

/** Converts a list of names and values in turns. */
function toObject(list: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let index = 0; index < list.length; index += 2) headers[list[index] ?? ''] = list[index + 1] ?? '';
  return headers;
}

/** Logs an internal error, whose details the caller does not see. */
type ReportError = (error: unknown) => void;

/**
 * Converts an error for the response. Errors in the request keep their message; internal errors are reported to the
 * log and shown as `internal`.
 */
function toPublicError(error: unknown, requestId: string, report: ReportError): GraphQLFormattedError {
  const located = error instanceof GraphQLError ? error : undefined;
  const cause = located?.originalError ?? error;
  const show = (message: string, code: string, field?: string): GraphQLFormattedError => ({
    message: shorten(message),
    ...(located?.locations && { locations: located.locations }),
    ...(located?.path && { path: located.path }),
    extensions: { code, ...(field !== undefined && { field }), requestId },
  });
  if (cause instanceof AppError) return show(cause.message, cause.code, cause.field);
  if (located && isAboutRequest(located)) return show(located.message, 'invalid_input');
  report(error);
  const fault = findStorageFault(cause);
  if (fault !== undefined) return show(toUnavailable(fault).message, 'unavailable');
  return show('Internal error in this part of the query. Quote the request id when you report it.', 'internal');
}

/** Messages quote the request, such as the value of a variable, which may have a megabyte. */
const MAX_MESSAGE = 1000;

const shorten = (message: string): string =>
  message.length <= MAX_MESSAGE ? message : `${message.slice(0, MAX_MESSAGE - 200)} … ${message.slice(-200)}`;

/**
 * Returns whether graphql-js rejected the document or the variables. Such an error either has no path, because no
 * resolver ran, or it refers to the value of an argument. Defects refer to a field, such as a result of an interface
 * whose type is not known, or to no node, such as a result that a scalar does not accept.
 */
function isAboutRequest({ path, originalError }: GraphQLError): boolean {
  if (path === undefined) return true;
  const nodes = originalError instanceof GraphQLError ? originalError.nodes : undefined;
  return nodes?.every(({ kind }) => kind !== Kind.FIELD) ?? false;
}
