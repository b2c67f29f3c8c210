/** The contracts, read only from the documents that the server publishes. */
import { readFileSync } from 'node:fs';
import {
  type ContractDocument,
  type HttpMethod,
  type OperationObject,
  type ParameterObject,
  type RequestBodyObject,
  dereference,
  METHODS,
} from '@trellis/codegen/openapi/contract';

export type ServiceName = 'dashboard' | 'secrets';

export interface FuzzedParameter extends ParameterObject {
  readonly example?: unknown;
}

export interface FuzzedOperation {
  readonly id: string;
  readonly tag: string;
  readonly method: HttpMethod;
  /** The template, below the base path. */
  readonly path: string;
  readonly parameters: readonly FuzzedParameter[];
  readonly body: FuzzedBody | undefined;
  readonly object: OperationObject;
}

export interface FuzzedBody {
  readonly object: RequestBodyObject;
  readonly maxBytes: number;
  readonly example: unknown;
}

export interface FuzzedContract {
  readonly document: ContractDocument;
  readonly basePath: string;
  readonly operations: readonly FuzzedOperation[];
  find(method: string, path: string): FuzzedOperation | undefined;
}

export function readFuzzedContract(service: ServiceName): FuzzedContract {
  const file = new URL(`../../../src/generated/${service}/openapi.json`, import.meta.url);
  const document = JSON.parse(readFileSync(file, 'utf8')) as ContractDocument;
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method): FuzzedOperation[] => {
      const object = item[method];
      if (object === undefined) return [];
      const parameters = [...(item.parameters ?? []), ...(object.parameters ?? [])].map((parameter) =>
        dereference<FuzzedParameter>(document, parameter),
      );
      const [tag = ''] = object.tags;
      return [{ id: object.operationId, tag, method, path, parameters, body: readBody(document, object), object }];
    }),
  );
  const basePath = document.servers[0].url.replace(/\/$/, '');
  return {
    document,
    basePath,
    operations,
    find(method, path) {
      const name = method === 'HEAD' ? 'get' : method.toLowerCase();
      return operations.find((operation) => operation.method === name && operation.path === path);
    },
  };
}

function readBody(document: ContractDocument, { requestBody }: OperationObject): FuzzedBody | undefined {
  if (requestBody === undefined) return undefined;
  const object = dereference<RequestBodyObject>(document, requestBody);
  const media = object.content['application/json'] as { example?: unknown } | undefined;
  // The default limit of the contracts is 1 MiB.
  return { object, maxBytes: object['x-max-bytes'] ?? 1024 ** 2, example: media?.example };
}
