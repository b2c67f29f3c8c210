import type { RequestHandler } from 'express';
import { AppError } from '../errors.js';
import type { ErrorCode } from '../errors.js';
import { answer } from './answer.js';
import type { AnswerOptions, Dispatch, Handler } from './answer.js';
import type { Headers } from './headers.js';
import { createMatcher } from './match.js';
import type { Match } from './match.js';
import { refuseMethod } from './methods.js';
import type { OperationSpec } from './operation.js';
import { createToPayload } from './payload.js';
import { requireKnownSchemes } from './security.js';
import { parseTarget } from './target.js';

export interface ContractRouterOptions extends AnswerOptions {
  /** Goes before every path of the operations: `/secrets`, or empty for none. */
  readonly basePath: string;
  /** Paths below these that no operation has are answered 404 here, by default those below the base path. */
  readonly owns?: readonly string[];
  readonly operations: readonly OperationSpec[];
  /** Told in `X-Trellis-Revision`, so that a client can warn of a contract that it does not know. */
  readonly revision: string;
  /** What refusals of these codes say instead of their own words, where clients know the words. */
  readonly refusals?: Refusals;
  /** What every answer carries besides. */
  readonly headers?: Headers;
  /** The generated handler interface, filled in: a function for each `operationId`. */
  readonly handlers: object;
}

export type Refusals = Readonly<Partial<Record<ErrorCode, string>>>;

/**
 * Serves a contract: the operation table decides matching, security and
 * validation, in this order, and only then is a handler called. Refusals are
 * thrown, for the error handler that stands last.
 *
 * @throws Error when an operation has no handler or names an unknown security scheme.
 */
export function contractRouter(options: ContractRouterOptions): RequestHandler {
  const { basePath, owns = [basePath], operations, schemes, revision, headers = [] } = options;
  const service = { ...options, handle: createDispatch(options), toPayload: createToPayload() };
  requireKnownSchemes(operations, schemes);
  const match = createMatcher(operations);

  return async (request, response, next) => {
    const { path, query } = parseTarget(request.originalUrl);
    const found = isBelow(path, basePath) ? match(request.method, path.slice(basePath.length)) : NOWHERE;
    const isKnown = found.kind === 'operation' || found.kind === 'method';
    if (!isKnown && !owns.some((prefix) => isBelow(path, prefix))) {
      next();
      return;
    }
    for (const [name, value] of headers) response.setHeader(name, value);
    if (!isKnown) throw refusePath(found.kind);
    if (found.kind === 'method') {
      refuseMethod(request, response, found.allow);
      return;
    }
    response.setHeader('X-Trellis-Revision', revision);
    try {
      await answer(request, response, { operation: found.operation, params: found.params, query, service });
    } catch (error) {
      throw reword(error, options.refusals);
    }
  };
}

function reword(error: unknown, refusals: Refusals = {}): unknown {
  const text = error instanceof AppError ? refusals[error.code] : undefined;
  if (!(error instanceof AppError) || text === undefined) return error;
  const { code, field, headers } = error;
  return new AppError(code, text, { headers, cause: error, ...(field === undefined ? {} : { field }) });
}

const NOWHERE: Match = { kind: 'unknown' };

function refusePath(kind: 'malformed' | 'unknown'): AppError {
  return kind === 'unknown'
    ? new AppError('not_found', 'Expected the path of an operation; nothing is here.')
    : new AppError('invalid_input', 'Expected a path whose escapes are UTF-8 text without NUL.');
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
