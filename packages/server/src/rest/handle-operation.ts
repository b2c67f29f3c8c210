/** The steps from a matched operation to its response. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { AppError } from '@trellis/core/errors';
import type { Request, Response } from 'express';
import { deferBody } from '../http/body.js';
import { type AnyAuthenticators, authorizeBySchemes, type Callers } from '../http/credentials.js';
import { Payload, sendPayload, type ToPayload } from '../http/payload.js';
import type { RateLimiter } from '../http/rate-limits.js';
import { getClientAddress, getRequestContext, isJson } from '../http/request.js';
import { PRIVATE, REVALIDATE, toErrorBody } from '../http/responses.js';
import { type Authenticate, authorize, type Caller, type Schemes, toCallerId } from '../http/security.js';
import { EVENT_STREAM_TYPE, type EventStreamOptions, isEventSchema, sendEvents } from './event-stream.js';
import {
  assertValid,
  readBody,
  readCookieParameters,
  readHeaderParameters,
  readPathParameters,
  readQueryParameters,
} from './input.js';
import type { HandlerRequest, HandlerResponse, OperationSpec, ResponseSpec, ServerSentEvent } from './operation.js';
import type { TextValues } from './text-values.js';

/** Stores the first responses to requests that may be sent repeatedly. */
export interface IdempotencyStore {
  /** Performs a request at most once, and returns the first response to its repetitions. */
  answerOnce<T>(request: RepeatableRequest, answer: () => Promise<T>): Promise<T>;
}

interface RepeatableRequest {
  /** The caller and the operation. Keys of different scopes are independent. */
  readonly scope: string;
  readonly key: string;
  /** The path, query and body, which every repetition must contain unchanged. */
  readonly request: unknown;
  /** Whether the operation calls other servers, which no transaction can undo or should wait for. */
  readonly reachesOut?: boolean;
}

export interface OperationOptions {
  readonly schemes: Schemes;
  /** Identifies the caller of a request, or a function for each security scheme, which receives its credential. */
  readonly authenticate: AnyAuthenticators | Authenticate;
  /** Counts requests and failed credentials; absent for no limits. */
  readonly limits?: RateLimiter;
  /** Stores the first responses of operations that accept an `Idempotency-Key`. */
  readonly replays: IdempotencyStore;
  /** Whether responses are validated too. A response that violates the contract becomes a 500. */
  readonly validateResponses: boolean;
  readonly streams?: EventStreamOptions;
  /** Receives requests that end in an error of the caller, after they were matched to an operation. */
  readonly onRejected?: (request: RejectedRequest) => void;
  /** The time within which every request has a response, except the events of a stream; by default 20 seconds. */
  readonly limitMs?: number;
  /**
   * Operations whose responses are never compressed because they contain a secret (BREACH). JSON and events of all
   * other operations are compressed. If absent, nothing is compressed.
   */
  readonly uncompressedOperations?: readonly string[];
}

/** A request that was matched to an operation and ended in an error. */
export interface RejectedRequest {
  readonly operation: string;
  /** The decoded path parameters. */
  readonly params: Readonly<Record<string, string | undefined>>;
  readonly headers: IncomingHttpHeaders;
  readonly address: string;
  /** `undefined` if the credential is missing or invalid. */
  readonly caller: Caller | undefined;
  readonly error: AppError;
}

export type OperationHandler = (request: HandlerRequest) => Promise<HandlerResponse>;
export type OperationDispatch = (operation: OperationSpec, request: HandlerRequest) => Promise<HandlerResponse>;

const IDEMPOTENCY_KEY = 'idempotency-key';

/** A request whose operation is known. */
interface OperationCall {
  readonly operation: OperationSpec;
  readonly params: Readonly<Record<string, string>>;
  readonly query: string;
  readonly service: OperationOptions & {
    readonly basePath: string;
    readonly handle: OperationDispatch;
    readonly toPayload: ToPayload;
  };
}

/**
 * Authorizes, counts and validates a request, calls its handler and sends the response, in this order.
 *
 * @throws AppError when a step rejects the request, or the steps before the response take too long.
 */
export async function handleOperation(request: Request, response: Response, call: OperationCall): Promise<void> {
  const { reachesOut } = call.operation;
  const performed = perform(request, response, call);
  const send = await withDeadline(request, { reachesOut, limitMs: call.service.limitMs }, performed);
  await send();
}

/** Runs the steps before the response, and returns the function that sends it. */
async function perform(request: Request, response: Response, call: OperationCall): Promise<() => Promise<void>> {
  const { operation, service } = call;
  const { limits, validateResponses } = service;
  const context = getRequestContext(response);
  const address = getClientAddress(request);
  context.operation = operation.id;
  context.route = `${service.basePath}${operation.path}`;
  const admit = createAdmission(request, call, { address, onIdentified: (caller) => (context.caller = caller) });
  const admitted = await admit(limits);
  context.caller = admitted?.caller;
  await limits?.countRequest(operation.rateLimit ?? 'default', { caller: context.caller, address }, response);
  requireAcceptable(operation, request);
  const input = await readInput(request, call);
  const isValidated = ({ status }: HandlerResponse): boolean =>
    validateResponses || findResponse(operation, status)?.isGuarded === true;
  const check = (result: HandlerResponse): void => {
    if (isValidated(result)) assertContractResponse(operation, result);
  };
  const handlerRequest = new OperationRequest(
    input,
    { requestId: context.requestId, address, caller: context.caller, callers: admitted?.callers },
    response,
  );
  const handle = async (): Promise<HandlerResponse> => service.handle(operation, handlerRequest);
  const result = await answerOnce(call, { caller: context.caller, input }, handle).catch((error: unknown) => {
    if (error instanceof AppError) check({ status: error.status, body: toErrorBody(error, context.requestId) });
    throw error;
  });
  const { streams, toPayload } = service;
  const isCompressible = service.uncompressedOperations?.includes(operation.id) === false;
  const events = findEvents(operation, result);
  if (events === undefined) {
    check(result);
    return () => respond(response, { operation, toPayload, isCompressible }, result);
  }
  context.isStream = true;
  const recheck = (): Promise<unknown> => admit(undefined);
  const { id: operationId } = operation;
  const spec = findResponse(operation, result.status);
  const validate = isValidated(result) && spec && isEventSchema(spec) ? spec.validate : undefined;
  return () => {
    response.status(result.status).set(result.headers ?? {});
    const stream = { events, operationId, validate, toPayload, isCompressible };
    return sendEvents(response, { ...streams, ...stream, check: recheck });
  };
}

type Input = Pick<HandlerRequest, 'body' | 'contentType' | 'cookies' | 'headers' | 'params' | 'query'>;
type Origin = Pick<HandlerRequest, 'address' | 'caller' | 'callers' | 'requestId'>;

interface Sender {
  readonly address: string;
  /** Receives the caller of a valid credential, also if it is not permitted to call the operation. */
  readonly onIdentified: (caller: Caller | undefined) => void;
}

/** Returns the function that authorizes a request, with or without a limit of failed credentials. */
function createAdmission(
  request: Request,
  { operation, service }: OperationCall,
  { address, onIdentified }: Sender,
): (limits: RateLimiter | undefined) => Promise<Partial<Callers> | undefined> {
  const { schemes, authenticate, basePath } = service;
  if (typeof authenticate === 'function') {
    const find = async (): Promise<Caller | undefined> => {
      const caller = await authenticate(request);
      onIdentified(caller);
      return caller;
    };
    const shown = { address, credential: request.headers.authorization ?? request.headers.cookie ?? '' };
    return async (limits) => {
      const caller = await authorize(operation, schemes, () => limits?.lookUpCredential(shown, find) ?? find());
      return caller && { caller };
    };
  }
  const sender = { request, schemes, authenticators: authenticate, realm: basePath === '' ? '/' : basePath };
  return (limits) =>
    authorizeBySchemes(operation, {
      ...sender,
      lookUp: (credential, find) => limits?.lookUpCredential({ address, credential }, find) ?? find(),
    });
}

class OperationRequest implements HandlerRequest {
  readonly params;
  readonly query;
  readonly headers;
  readonly cookies;
  readonly body;
  readonly contentType;
  readonly caller;
  readonly callers;
  readonly requestId;
  readonly address;
  readonly #response;
  #signal: AbortSignal | undefined;

  constructor(input: Input, { caller, callers, requestId, address }: Origin, response: Response) {
    this.params = input.params;
    this.query = input.query;
    this.headers = input.headers;
    this.cookies = input.cookies;
    this.body = input.body;
    this.contentType = input.contentType;
    this.caller = caller;
    this.callers = callers;
    this.requestId = requestId;
    this.address = address;
    this.#response = response;
  }

  /** Created on demand: few handlers use it, and creating it takes longer than most handlers run. */
  get signal(): AbortSignal {
    return (this.#signal ??= abortSignal(this.#response));
  }
}

/** Returns the stored response for a request that repeats an idempotency key. */
async function answerOnce(
  { operation, service }: OperationCall,
  { caller, input }: { readonly caller: Caller | undefined; readonly input: Input },
  handle: () => Promise<HandlerResponse>,
): Promise<HandlerResponse> {
  const { headers, ...request } = input;
  const key = (headers as TextValues)[IDEMPOTENCY_KEY];
  if (typeof key !== 'string' || caller === undefined) return handle();
  const { id, reachesOut } = operation;
  return service.replays.answerOnce({ scope: `${toCallerId(caller)} ${id}`, key, request, reachesOut }, handle);
}

async function readInput(request: Request, { operation, params, query }: OperationCall): Promise<Input> {
  const cookies = readCookieParameters(operation, request);
  const input = {
    params: readPathParameters(operation, params),
    query: readQueryParameters(operation, query),
    headers: readHeaderParameters(operation, request),
    ...(cookies && { cookies }),
  };
  for (const part of ['params', 'query', 'headers', 'cookies'] as const) assertValid(operation, part, input[part]);
  if (operation.body?.isDeferred) return { ...input, body: deferBody(request, operation.body) };
  const body = operation.body && (await readBody(request, operation.body));
  if (body === undefined) return { ...input, body };
  assertValid(operation, 'body', body.validated, body.declared);
  return { ...input, body: body.value, ...(operation.body?.hasContentType ? { contentType: body.contentType } : {}) };
}

/** Types that stand for any feed: some readers of Atom, such as the package `rss-parser`, name no other. */
const FEED_TYPES = ['application/rss+xml', 'application/xml', 'text/xml'];

function requireAcceptable({ responses }: OperationSpec, request: Request): void {
  const { accept } = request.headers;
  if (accept === undefined || accept === '*/*') return;
  const types = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, { contentTypes }]) => contentTypes);
  const known = types.includes('application/atom+xml') ? [...types, ...FEED_TYPES] : types;
  if (types.length === 0 || request.accepts(known) !== false) return;
  // Parameters such as charset=utf-8, or a version, exclude no response.
  if (request.accepts().some((type) => known.some((range) => isInRange(type, range)))) return;
  throw new AppError('not_acceptable', `Expected Accept to include ${types.join(' or ')}.`);
}

/** Returns whether a media type is that of the contract, or in its range such as `image/*`, of which the handler selects one. */
const isInRange = (type: string, range: string): boolean =>
  type === range || range === '*/*' || (range.endsWith('/*') && type.startsWith(range.slice(0, -1)));

/** Returns the documented response for a status: its own, that of its range, or the default. */
function findResponse({ responses }: Pick<OperationSpec, 'responses'>, status: number): ResponseSpec | undefined {
  return responses[status] ?? responses[`${Math.trunc(status / 100)}XX`] ?? responses.default;
}

function abortSignal(response: Response): AbortSignal {
  const controller = new AbortController();
  if (response.closed) controller.abort();
  response.once('close', () => controller.abort());
  return controller.signal;
}

/** Returns the events of a response that is an event stream; `undefined` for other responses. */
function findEvents(
  operation: OperationSpec,
  { status, body }: HandlerResponse,
): AsyncIterable<ServerSentEvent> | undefined {
  const spec = findResponse(operation, status);
  return isEvents(body) && spec?.contentTypes.includes(EVENT_STREAM_TYPE) ? body : undefined;
}

const isEvents = (body: unknown): body is AsyncIterable<ServerSentEvent> =>
  typeof body === 'object' && body !== null && Symbol.asyncIterator in body;

/** Returns the media type of a body whose handler has not chosen one: text and bytes have the first of the contract. */
function findDefaultType({ contentTypes }: ResponseSpec, body: unknown): string | undefined {
  const isEncoded = typeof body === 'string' || body instanceof Uint8Array;
  return (isEncoded ? undefined : contentTypes.find(isJson)) ?? contentTypes[0];
}

interface Format {
  readonly operation: OperationSpec;
  readonly toPayload: ToPayload;
  /** Whether JSON may be sent compressed. */
  readonly isCompressible: boolean;
}

/**
 * Sends the result of a handler in the content type of the contract. If the operation documents 304, a conditional
 * request for an unchanged response gets that status.
 */
async function respond(response: Response, format: Format, result: HandlerResponse): Promise<void> {
  const { operation, toPayload } = format;
  const { status, body, headers } = result;
  const isConditional = operation.responses[304] !== undefined;
  const spec = findResponse(operation, status);
  const declared = spec && findDefaultType(spec, body);
  response.statusCode = status;
  response.setHeader('Cache-Control', isConditional ? REVALIDATE : PRIVATE);
  if (headers !== undefined) response.set(headers);
  if (declared === undefined || body === undefined) {
    response.end();
    return;
  }
  if (!response.hasHeader('Content-Type')) setType(response, declared);
  const type = String(response.getHeader('Content-Type'));
  const payload = isJson(type) ? toPayload(body) : new Payload(toBuffer(body));
  await sendPayload(response, payload, {
    isCompressible: format.isCompressible && isJson(type),
    isConditional: isConditional && status === 200,
  });
}

function setType(response: Response, type: string): void {
  if (isJson(type) && !type.includes(';')) response.setHeader('Content-Type', `${type}; charset=utf-8`);
  else response.type(type);
}

/**
 * Validates a response against the contract.
 *
 * @throws Error with the operation and the first violation, without the value.
 */
export function assertContractResponse(operation: OperationSpec, result: HandlerResponse): void {
  const problem = findProblem(operation, result);
  if (problem !== undefined) throw new Error(`Operation ${operation.id}, status ${result.status}: ${problem}.`);
}

function findProblem(operation: OperationSpec, { status, body, headers }: HandlerResponse): string | undefined {
  const spec = findResponse(operation, status);
  if (spec === undefined) return 'the contract does not document this status';
  if (spec.contentTypes.length === 0) return body === undefined ? undefined : 'the contract documents no body';
  if (body === undefined) return 'the contract requires a body';
  // Validates the serialized form, in which dates are text and undefined properties are absent.
  const type = findType(headers) ?? findDefaultType(spec, body) ?? '';
  if (type.includes('*')) return `the handler has to set Content-Type for ${type}`;
  if (spec.validate === undefined || !isJson(type) || isEventSchema(spec)) return undefined;
  if (spec.validate(JSON.parse(JSON.stringify(body)))) return undefined;
  const [error] = spec.validate.errors ?? [];
  return `the body at "${error?.instancePath ?? ''}" ${error?.message ?? 'does not fit'}`;
}

/** Returns the media type that a handler has chosen. */
function findType(headers: HandlerResponse['headers'] = {}): string | undefined {
  const found = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type');
  return found && String(found[1]);
}

function toBuffer(body: unknown): Buffer {
  if (typeof body === 'string') return Buffer.from(body);
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  throw new TypeError('Expected text or bytes for a response other than JSON.');
}

/**
 * The time within which every request has a response, even if a database or a disk does not answer. Shorter than the 30
 * to 60 seconds after which proxies give up.
 */
const LIMIT_MS = 20_000;

/** The same for operations that call other servers, which may take 30 seconds to answer. */
const OUTBOUND_LIMIT_MS = 60_000;

/** A server that was busy or cut off has recovered or failed by then. */
const RETRY_AFTER_SECONDS = 5;

interface DeadlineOptions {
  readonly reachesOut?: boolean;
  /** Replaces the limit; tests shorten it. */
  readonly limitMs?: number;
}

/**
 * Waits for the work on a request. While its body still arrives, the limit starts again with each byte that arrives
 * within it; the time for the whole body is limited by the HTTP server.
 *
 * @throws AppError `unavailable` after the limit. The work continues, because a transaction can't be undone.
 */
async function withDeadline<T>(
  request: IncomingMessage,
  { reachesOut = false, limitMs = reachesOut ? OUTBOUND_LIMIT_MS : LIMIT_MS }: DeadlineOptions,
  work: Promise<T>,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    let received = request.socket.bytesRead;
    timer = setTimeout(() => {
      const isArriving = !request.complete && request.socket.bytesRead > received;
      received = request.socket.bytesRead;
      if (isArriving) timer?.refresh();
      else reject(lateError(limitMs));
    }, limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function lateError(limitMs: number): AppError {
  const message = `The server did not complete the request within ${limitMs / 1000} seconds. A change may still take effect: check, or repeat it with its Idempotency-Key.`;
  return new AppError('unavailable', message, { headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) } });
}
