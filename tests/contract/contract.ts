/** Reads the contracts for the tests from the documents that clients are generated from. */
import { readFileSync } from 'node:fs';
import {
  type ContractDocument,
  type OperationObject,
  type ParameterObject,
  dereference,
} from '@trellis/codegen/openapi/contract';
import type { OperationSpec } from '@trellis/server/rest/operation';
import * as dashboard from '../../src/generated/dashboard/operations.js';
import * as secrets from '../../src/generated/secrets/operations.js';

/** A valid request, composed of the examples in the contract. */
export interface ExampleRequest {
  readonly params: {
    readonly path: Readonly<Record<string, unknown>>;
    readonly query: Readonly<Record<string, unknown>>;
  };
  readonly body?: unknown;
}

/** An operation with its generated specification, its part of the document, and an example request. */
export interface DocumentedOperation {
  readonly id: string;
  readonly spec: OperationSpec;
  readonly object: OperationObject;
  readonly example: ExampleRequest;
}

/** The contract of a service, from its document and its generated operations. */
export interface TestedContract {
  readonly operations: readonly OperationSpec[];
  readonly basePath: string;
  readonly revision: string;
  readonly documented: readonly DocumentedOperation[];
  /** Lists the operations that document a status. */
  readonly withStatus: (status: number) => readonly DocumentedOperation[];
  /** Lists the names of the required headers of a status. */
  readonly requiredHeaders: (operation: DocumentedOperation, status: number) => string[];
}

type Generated = Pick<TestedContract, 'basePath' | 'operations' | 'revision'>;

function readContract(service: string, { operations, basePath, revision }: Generated): TestedContract {
  const file = new URL(`../../src/generated/${service}/openapi.json`, import.meta.url);
  const document = JSON.parse(readFileSync(file, 'utf8')) as ContractDocument;
  const documented = operations.map((spec) => {
    const item = document.paths[spec.path];
    const object = item?.[spec.method];
    if (object === undefined) throw new Error(`The document has no ${spec.id}.`);
    const parameters = [...(item?.parameters ?? []), ...(object.parameters ?? [])];
    return { id: spec.id, spec, object, example: toExample(document, { ...object, parameters }) };
  });
  return {
    operations,
    basePath,
    revision,
    documented,
    withStatus: (status) => documented.filter(({ spec }) => spec.responses[status] !== undefined),
    requiredHeaders({ object }, status) {
      const response = dereference(document, object.responses[status] ?? { description: '' });
      return Object.entries(response.headers ?? {})
        .filter(([, header]) => dereference<{ required?: boolean }>(document, header).required)
        .map(([name]) => name);
    },
  };
}

function toExample(document: ContractDocument, { parameters = [], requestBody }: OperationObject): ExampleRequest {
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

export const dashboardContract = readContract('dashboard', dashboard);
export const secretsContract = readContract('secrets', secrets);

export const { documented, withStatus } = dashboardContract;
