/** The dashboard's contract as the tests read it: from the document that clients are made of. */
import { readFileSync } from 'node:fs';
import type { ContractDocument, OperationObject, ParameterObject } from '../../src/codegen/openapi/document.js';
import { dereference } from '../../src/codegen/openapi/document.js';
import { operations } from '../../src/generated/dashboard/operations.js';
import type { OperationSpec } from '../../src/server/operation.js';

const file = new URL('../../src/generated/dashboard/openapi.json', import.meta.url);
const document = JSON.parse(readFileSync(file, 'utf8')) as ContractDocument;

/** A request as the contract's own examples say it, which fits the schema in every part. */
export interface ExampleRequest {
  readonly params: {
    readonly path: Readonly<Record<string, unknown>>;
    readonly query: Readonly<Record<string, unknown>>;
  };
  readonly body?: unknown;
}

/** An operation in its table, in the document, and as a request. */
export interface DocumentedOperation {
  readonly id: string;
  readonly spec: OperationSpec;
  readonly object: OperationObject;
  readonly example: ExampleRequest;
}

export const documented: readonly DocumentedOperation[] = operations.map((spec) => {
  const object = document.paths[spec.path]?.[spec.method];
  if (object === undefined) throw new Error(`The document has no ${spec.id}.`);
  return { id: spec.id, spec, object, example: toExample(object) };
});

/** Those that document a status. */
export function withStatus(status: number): readonly DocumentedOperation[] {
  return documented.filter(({ spec }) => spec.responses[status] !== undefined);
}

/** The names of the headers that a status must carry. */
export function requiredHeaders({ object }: DocumentedOperation, status: number): string[] {
  const response = dereference(document, object.responses[status] ?? { description: '' });
  return Object.entries(response.headers ?? {})
    .filter(([, header]) => dereference<{ required?: boolean }>(document, header).required)
    .map(([name]) => name);
}

function toExample({ parameters = [], requestBody }: OperationObject): ExampleRequest {
  const found = parameters.map((parameter) =>
    dereference<ParameterObject & { example?: unknown }>(document, parameter),
  );
  const examplesIn = (place: string) =>
    Object.fromEntries(
      found.filter((each) => each.in === place && each.required).map(({ name, example }) => [name, example]),
    );
  const params = { path: examplesIn('path'), query: examplesIn('query') };
  if (requestBody === undefined) return { params };
  const { content } = dereference(document, requestBody) as { content: Record<string, { example?: unknown }> };
  return { params, body: content['application/json']?.example };
}
