import openapiTS, { astToString } from 'openapi-typescript';
import type { OpenAPI3 } from 'openapi-typescript';
import type { ContractDocument } from './document.js';

/**
 * Writes `types.ts`: the types of a contract's paths, operations and components.
 *
 * Properties with a default are optional, as clients may omit them. `operations.ts` has the types with defaults filled
 * in.
 */
export async function writeTypes(document: ContractDocument): Promise<string> {
  // `ContractDocument` declares only the parts of OpenAPI that this project reads; the data is the same.
  const nodes = await openapiTS(document as unknown as OpenAPI3, {
    immutable: true,
    defaultNonNullable: false,
    silent: true,
  });
  return astToString(nodes);
}
