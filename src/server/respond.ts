import type { Response } from 'express';
import { isJson } from './body.js';
import { PRIVATE } from './headers.js';
import type { HandlerResponse, OperationSpec } from './operation.js';

/** Sends what a handler answered, in the content type that the contract says. */
export function respond(
  response: Response,
  operation: OperationSpec,
  { status, body, headers }: HandlerResponse,
): void {
  const type = contentTypeOf(operation, status);
  response
    .status(status)
    .set('Cache-Control', PRIVATE)
    .set(headers ?? {});
  if (type === undefined || body === undefined) {
    response.end();
    return;
  }
  if (!response.hasHeader('Content-Type')) response.type(type);
  response.send(isJson(type) ? JSON.stringify(body) : toBuffer(body));
}

/**
 * Holds an answer to the contract.
 *
 * @throws Error that names the operation and the first difference, without the value.
 */
export function requireContractResponse(operation: OperationSpec, { status, body }: HandlerResponse): void {
  const problem = findProblem(operation, status, body);
  if (problem !== undefined) throw new Error(`Operation ${operation.id}, status ${status}: ${problem}.`);
}

function findProblem({ responses }: OperationSpec, status: number, body: unknown): string | undefined {
  const spec = responses[status];
  if (spec === undefined) return 'the contract has no such status';
  if (spec.contentTypes.length === 0) return body === undefined ? undefined : 'the contract has no body';
  if (body === undefined) return 'the contract has a body';
  // What leaves is text: a Date or an undefined property is not there any more.
  if (spec.validate === undefined || spec.validate(JSON.parse(JSON.stringify(body)))) return undefined;
  const [error] = spec.validate.errors ?? [];
  return `the body at "${error?.instancePath ?? ''}" ${error?.message ?? 'does not fit'}`;
}

function contentTypeOf({ responses }: OperationSpec, status: number): string | undefined {
  return responses[status]?.contentTypes[0];
}

function toBuffer(body: unknown): Buffer {
  if (typeof body === 'string') return Buffer.from(body);
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  throw new TypeError('Expected text or bytes for a response that is not JSON.');
}
