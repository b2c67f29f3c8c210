import type { RequestHandler } from 'express';
import { AppError } from '../core/errors.js';
import type { ErrorCode } from '../core/errors.js';
import { handleOperation } from './handle-operation.js';
import type { OperationOptions, OperationDispatch, OperationHandler } from './handle-operation.js';
import type { Headers } from './headers.js';
import { createRouteMatcher } from './route-matcher.js';
import type { RouteMatch } from './route-matcher.js';
import { throwMethodNotAllowed } from './methods.js';
import type { OperationSpec } from './operation.js';
import { createToPayload } from './payload.js';
import { assertKnownSchemes } from './security.js';
import { parseTarget } from './target.js';

export interface ContractRouterOptions extends OperationOptions {
  /** The prefix of all operation paths, such as `/secrets`; empty for none. */
  readonly basePath: string;
  /** Prefixes below which unknown paths are rejected with 404 by this router; by default the base path. */
  readonly ownedPrefixes?: readonly string[];
  readonly operations: readonly OperationSpec[];
  /** Sent in `X-Trellis-Revision`, so that clients can warn about a contract that they don't know. */
  readonly revision: string;
  /** Fixed messages by error code, for contracts whose clients rely on the text. */
  readonly fixedMessages?: FixedMessages;
  /** Headers of every response. */
  readonly headers?: Headers;
  /** The implementation of the generated handler interface: a function for each `operationId`. */
  readonly handlers: object;
}

export type FixedMessages = Readonly<Partial<Record<ErrorCode, string>>>;

/**
 * Serves a contract. The operation table controls routing, security and validation, in this order, before a handler is
 * called. Errors are thrown for the error handler at the end of the app.
 *
 * @throws Error when an operation has no handler or refers to an unknown security scheme.
 */
export function contractRouter(options: ContractRouterOptions): RequestHandler {
  const { basePath, ownedPrefixes = [basePath], operations, schemes, revision, headers = [] } = options;
  const service = { ...options, handle: createDispatch(options), toPayload: createToPayload() };
  assertKnownSchemes(operations, schemes);
  const match = createRouteMatcher(operations);

  return async (request, response, next) => {
    const { path, query } = parseTarget(request.originalUrl);
    const found = isBelow(path, basePath) ? match(request.method, path.slice(basePath.length)) : UNKNOWN;
    const isKnown = found.kind === 'operation' || found.kind === 'method';
    if (!isKnown && !ownedPrefixes.some((prefix) => isBelow(path, prefix))) {
      next();
      return;
    }
    for (const [name, value] of headers) response.setHeader(name, value);
    if (!isKnown) throw toPathError(found.kind);
    if (found.kind === 'method') {
      throwMethodNotAllowed(request, response, found.allow);
      return;
    }
    response.setHeader('X-Trellis-Revision', revision);
    try {
      await handleOperation(request, response, { operation: found.operation, params: found.params, query, service });
    } catch (error) {
      throw withFixedMessage(error, options.fixedMessages);
    }
  };
}

function withFixedMessage(error: unknown, messages: FixedMessages = {}): unknown {
  const text = error instanceof AppError ? messages[error.code] : undefined;
  if (!(error instanceof AppError) || text === undefined) return error;
  const { code, field, headers } = error;
  return new AppError(code, text, { headers, cause: error, ...(field === undefined ? {} : { field }) });
}

const UNKNOWN: RouteMatch = { kind: 'unknown' };

function toPathError(kind: 'malformed' | 'unknown'): AppError {
  return kind === 'unknown'
    ? new AppError('not_found', 'No operation at this path.')
    : new AppError('invalid_input', 'Expected percent-encoded UTF-8 text without NUL in the path.');
}

function isBelow(path: string, prefix: string): boolean {
  return path === prefix || path.startsWith(`${prefix}/`);
}

/** @throws Error for an operation without a handler, which the compiler prevents for typed handlers. */
function createDispatch({ operations, handlers }: ContractRouterOptions): OperationDispatch {
  const known = new Map(Object.entries(handlers as Readonly<Record<string, OperationHandler>>));
  const find = ({ id }: OperationSpec): OperationHandler => {
    const handler = known.get(id);
    if (handler === undefined) throw new Error(`Operation ${id} has no handler.`);
    return handler;
  };
  operations.forEach(find);
  return async (operation, request) => find(operation).call(handlers, request);
}
