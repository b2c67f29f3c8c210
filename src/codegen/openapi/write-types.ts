import openapiTS, { astToString } from 'openapi-typescript';
import type { OpenAPI3 } from 'openapi-typescript';
import type { ContractDocument } from './document.js';

/**
 * The types of a contract's paths, operations and components.
 *
 * Properties with a default stay optional, as a client may leave them out; what
 * a handler is given after defaults is said in `operations.ts`.
 */
export async function writeTypes(document: ContractDocument): Promise<string> {
  // Ours has the parts that we read, openapi-typescript's the whole of OpenAPI: the text between is the same.
  const nodes = await openapiTS(document as unknown as OpenAPI3, {
    immutable: true,
    defaultNonNullable: false,
    silent: true,
  });
  return astToString(nodes);
}
