import type { Response } from 'express';
import { isJson } from './body.js';
import { PRIVATE, REVALIDATE } from './headers.js';
import type { HandlerResponse, OperationSpec } from './operation.js';
import { Payload } from './payload.js';
import type { ToPayload } from './payload.js';
import { sendPayload } from './send-payload.js';

interface Format {
  readonly operation: OperationSpec;
  readonly toPayload: ToPayload;
  /** Whether JSON may be sent compressed. */
  readonly isCompressible: boolean;
}

/**
 * Sends what a handler answered, in the content type that the contract says.
 * Where it documents 304, a client that still has the answer is told so.
 */
export async function respond(response: Response, format: Format, result: HandlerResponse): Promise<void> {
  const { operation, toPayload } = format;
  const { status, body, headers } = result;
  const isConditional = operation.responses[304] !== undefined;
  const type = operation.responses[status]?.contentTypes[0];
  response.statusCode = status;
  response.setHeader('Cache-Control', isConditional ? REVALIDATE : PRIVATE);
  if (headers !== undefined) response.set(headers);
  if (type === undefined || body === undefined) {
    response.end();
    return;
  }
  if (!response.hasHeader('Content-Type')) setType(response, type);
  const payload = isJson(type) ? toPayload(body) : new Payload(toBuffer(body));
  await sendPayload(response, payload, {
    isCompressible: format.isCompressible && isJson(type),
    isConditional: isConditional && status === 200,
  });
}

function setType(response: Response, type: string): void {
  if (isJson(type)) response.setHeader('Content-Type', `${type}; charset=utf-8`);
  else response.type(type);
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

function toBuffer(body: unknown): Buffer {
  if (typeof body === 'string') return Buffer.from(body);
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  throw new TypeError('Expected text or bytes for a response that is not JSON.');
}
