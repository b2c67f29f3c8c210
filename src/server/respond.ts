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
 * Sends the result of a handler in the content type of the contract. If the operation documents 304, a conditional
 * request for an unchanged response gets that status.
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
 * Validates a response against the contract.
 *
 * @throws Error with the operation and the first violation, without the value.
 */
export function assertContractResponse(operation: OperationSpec, { status, body }: HandlerResponse): void {
  const problem = findProblem(operation, status, body);
  if (problem !== undefined) throw new Error(`Operation ${operation.id}, status ${status}: ${problem}.`);
}

function findProblem({ responses }: OperationSpec, status: number, body: unknown): string | undefined {
  const spec = responses[status];
  if (spec === undefined) return 'the contract does not document this status';
  if (spec.contentTypes.length === 0) return body === undefined ? undefined : 'the contract documents no body';
  if (body === undefined) return 'the contract requires a body';
  // Validates the serialized form, in which dates are text and undefined properties are absent.
  if (spec.validate === undefined || spec.validate(JSON.parse(JSON.stringify(body)))) return undefined;
  const [error] = spec.validate.errors ?? [];
  return `the body at "${error?.instancePath ?? ''}" ${error?.message ?? 'does not fit'}`;
}

function toBuffer(body: unknown): Buffer {
  if (typeof body === 'string') return Buffer.from(body);
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  throw new TypeError('Expected text or bytes for a response other than JSON.');
}
