import { type ErrorCode, ERROR_STATUS } from '@trellis/core/errors';
import { isJson } from '@trellis/server/http/request';
import { createRouteMatcher } from '@trellis/server/rest/router';
import type { DocumentedOperation, TestedContract } from './contract.js';

/** Validates every response to a client against the contract, and records its operation and status. */
export interface ResponseRecorder {
  /** All received pairs of operation and status, such as `createToken 201`. */
  readonly seen: ReadonlySet<string>;
  readonly fetch: (request: Request) => Promise<Response>;
}

export function createResponseRecorder(contract: TestedContract): ResponseRecorder {
  const { operations, basePath, documented } = contract;
  const seen = new Set<string>();
  const match = createRouteMatcher(operations);
  return {
    seen,
    async fetch(request) {
      const found = match(request.method, new URL(request.url).pathname.slice(basePath.length));
      const response = await fetch(request);
      if (found.kind !== 'operation') return response;
      const operation = documented.find(({ id }) => id === found.operation.id)!;
      await assertDocumented(contract, operation, isStream(response) ? response : response.clone());
      seen.add(`${operation.id} ${response.status}`);
      return response;
    },
  };
}

/** The tests read the events of streams, and the server validates them. */
const isStream = ({ headers }: Response): boolean =>
  headers.get('content-type')?.startsWith('text/event-stream') === true;

/** @throws Error rather than an error response, which tests might expect. */
async function assertDocumented(
  { revision, requiredHeaders }: TestedContract,
  operation: DocumentedOperation,
  response: Response,
): Promise<void> {
  const { status, headers } = response;
  const fail = (problem: string): never => {
    throw new Error(`${operation.id} ${status}: ${problem}`);
  };
  const spec = operation.spec.responses[status] ?? fail('the contract has no such status');
  if (headers.get('x-trellis-revision') !== revision) fail('a different revision of the contract');
  for (const name of requiredHeaders(operation, status)) if (!headers.has(name)) fail(`without ${name}`);
  const [type] = spec.contentTypes;
  const sent = headers.get('content-type')?.split(';')[0];
  if (sent !== type) fail(`expected ${type ?? 'no body'}, received ${sent ?? 'none'}`);
  if (type === undefined) {
    if ((await response.text()) !== '') fail('an unexpected body');
  } else if (isJson(type)) assertBody(await response.json(), { operation, status });
}

function assertBody(body: unknown, { operation, status }: { operation: DocumentedOperation; status: number }): void {
  const { validate } = operation.spec.responses[status]!;
  if (validate?.(body) !== true) throw new Error(`${operation.id} ${status}: ${JSON.stringify(validate?.errors)}`);
  const { code, requestId } = body as { code?: ErrorCode; requestId?: string };
  // The body of getReadiness is not an error body.
  if (status < 400 || (operation.id === 'getReadiness' && code === undefined)) return;
  // Error codes of actions occur with several statuses; the schema validates them.
  const expected = Object.entries(ERROR_STATUS).find(([known]) => known === code)?.[1] ?? status;
  if (code === undefined || expected !== status || !requestId) {
    throw new Error(`${operation.id} ${status}: ${code ?? 'no code'} has a different status, or lacks a request id`);
  }
}
