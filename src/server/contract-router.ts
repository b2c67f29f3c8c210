import type { Request, RequestHandler, Response } from 'express';
import { AppError } from '../errors.js';
import type { Replays } from '../storage/replays.js';
import { peerAddress } from './address.js';
import { readBody } from './body.js';
import { toErrorBody } from './errors.js';
import { createMatcher } from './match.js';
import type { Match } from './match.js';
import type { HandlerRequest, HandlerResponse, OperationSpec } from './operation.js';
import { readHeaderParameters, readPathParameters, readQueryParameters } from './parameters.js';
import type { Parameters } from './parameters.js';
import { callerId, contextOf } from './request-context.js';
import { requireContractResponse, respond } from './respond.js';
import { admit, requireKnownSchemes } from './security.js';
import type { Authenticate, Schemes } from './security.js';
import { parseTarget } from './target.js';
import { requireValid } from './validation.js';

export interface ContractRouterOptions {
  /** Goes before every path of the operations: `/secrets`, or empty for none. */
  readonly basePath: string;
  /** Paths below these that no operation has are answered 404 here, by default those below the base path. */
  readonly owns?: readonly string[];
  readonly operations: readonly OperationSpec[];
  /** Told in `X-Trellis-Revision`, so that a client can warn of a contract that it does not know. */
  readonly revision: string;
  /** The generated handler interface, filled in: a function for each `operationId`. */
  readonly handlers: object;
  readonly schemes: Schemes;
  readonly authenticate: Authenticate;
  /** Keeps first answers for operations that take an `Idempotency-Key`. */
  readonly replays: Replays;
  /** Holds what leaves to the contract as well: a difference is a defect, answered 500. */
  readonly validateResponses: boolean;
}

type Handler = (request: HandlerRequest) => Promise<HandlerResponse>;
type Dispatch = (operation: OperationSpec, request: HandlerRequest) => Promise<HandlerResponse>;

/**
 * Serves a contract: the operation table decides matching, security and
 * validation, in this order, and only then is a handler called. Refusals are
 * thrown, for the error handler that stands last.
 *
 * @throws Error when an operation has no handler or names an unknown security scheme.
 */
export function contractRouter(options: ContractRouterOptions): RequestHandler {
  const { basePath, owns = [basePath], operations, schemes, revision } = options;
  const handle = createDispatch(options);
  requireKnownSchemes(operations, schemes);
  const match = createMatcher(operations);

  return async (request, response, next) => {
    const { path, query } = parseTarget(request.originalUrl);
    const found = isBelow(path, basePath) ? match(request.method, path.slice(basePath.length)) : NOWHERE;
    if (found.kind !== 'unknown') response.setHeader('X-Trellis-Revision', revision);
    switch (found.kind) {
      case 'operation':
        await answer(request, response, { ...options, ...found, query, handle });
        return;
      case 'method':
        refuseMethod(request, response, found.allow);
        return;
      default:
        if (owns.some((prefix) => isBelow(path, prefix))) throw refusePath(found.kind);
        next();
    }
  };
}

const IDEMPOTENCY_KEY = 'idempotency-key';
const NOWHERE: Match = { kind: 'unknown' };

/** What is known of a request once its operation is found. */
interface Call extends Pick<ContractRouterOptions, 'authenticate' | 'replays' | 'schemes' | 'validateResponses'> {
  readonly operation: OperationSpec;
  readonly params: Readonly<Record<string, string>>;
  readonly query: string;
  readonly handle: Dispatch;
}

async function answer(request: Request, response: Response, call: Call): Promise<void> {
  const { operation, validateResponses } = call;
  const context = contextOf(response);
  context.operation = operation.id;
  context.caller = await admit(operation, call.schemes, () => call.authenticate(request));
  requireAcceptable(operation, request);
  const input = await readInput(request, call);
  const peer = { requestId: context.requestId, address: peerAddress(request), signal: abortSignal(response) };
  const check = (result: HandlerResponse): void => {
    if (validateResponses) requireContractResponse(operation, result);
  };
  const handle = async (): Promise<HandlerResponse> =>
    call.handle(operation, { ...input, ...peer, caller: context.caller });
  const result = await answerOnce(call, { ...input, caller: context.caller }, handle).catch((error: unknown) => {
    if (error instanceof AppError) check({ status: error.status, body: toErrorBody(error, context.requestId) });
    throw error;
  });
  check(result);
  respond(response, operation, result);
}

type Input = Pick<HandlerRequest, 'body' | 'caller' | 'headers'>;

/** A repeat under the same idempotency key is answered like the first. */
async function answerOnce(
  { operation, replays }: Call,
  { body, caller, headers }: Input,
  handle: () => Promise<HandlerResponse>,
): Promise<HandlerResponse> {
  const key = (headers as Parameters)[IDEMPOTENCY_KEY];
  if (typeof key !== 'string' || caller === undefined) return handle();
  return replays.answerOnce({ scope: `${callerId(caller)} ${operation.id}`, key, body }, handle);
}

async function readInput(
  request: Request,
  { operation, params, query }: Call,
): Promise<Pick<HandlerRequest, 'body' | 'headers' | 'params' | 'query'>> {
  const input = {
    params: readPathParameters(operation, params),
    query: readQueryParameters(operation, query),
    headers: readHeaderParameters(operation, request),
  };
  for (const part of ['params', 'query', 'headers'] as const) requireValid(operation, part, input[part]);
  const body = operation.body === undefined ? undefined : await readBody(request, operation.body);
  if (body !== undefined) requireValid(operation, 'body', body);
  return { ...input, body };
}

function requireAcceptable({ responses }: OperationSpec, request: Request): void {
  const types = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, { contentTypes }]) => contentTypes);
  if (types.length > 0 && request.accepts(types) === false) {
    throw new AppError('not_acceptable', `Expected Accept to allow ${types.join(' or ')}.`);
  }
}

function refuseMethod({ method }: Request, response: Response, allow: string): void {
  if (method !== 'OPTIONS') {
    throw new AppError('method_not_allowed', `Expected one of ${allow}; received ${method}.`, {
      headers: { Allow: allow },
    });
  }
  response.status(204).set('Allow', allow).end();
}

function refusePath(kind: 'malformed' | 'unknown'): AppError {
  return kind === 'unknown'
    ? new AppError('not_found', 'Expected the path of an operation; nothing is here.')
    : new AppError('invalid_input', 'Expected a path whose escapes are UTF-8 text without NUL.');
}

function abortSignal(response: Response): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) controller.abort();
  });
  return controller.signal;
}

function isBelow(path: string, prefix: string): boolean {
  return path === prefix || path.startsWith(`${prefix}/`);
}

/** @throws Error that names an operation without a handler, which only code past the compiler can bring about. */
function createDispatch({ operations, handlers }: ContractRouterOptions): Dispatch {
  const known = new Map(Object.entries(handlers as Readonly<Record<string, Handler>>));
  const find = ({ id }: OperationSpec): Handler => {
    const handler = known.get(id);
    if (handler === undefined) throw new Error(`Operation ${id} has no handler.`);
    return handler;
  };
  operations.forEach(find);
  return async (operation, request) => find(operation).call(handlers, request);
}
