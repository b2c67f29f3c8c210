import { readFileSync } from 'node:fs';
import { ContractError, type Diagnostic } from '@trellis/codegen/documents';
import { readContract } from '@trellis/codegen/site/load-schema';

const read = (name: string): [string, string] => [
  `schema/${name}`,
  readFileSync(new URL(`../../../schema/${name}`, import.meta.url), 'utf8'),
];

/** Returns the documents that every site contract has, and an additional one. */
export const documentsWith = (text: string, file = 'schema/kitchen.graphql'): Map<string, string> =>
  new Map([read('directives.graphql'), read('node.graphql'), [file, text]]);

/** Returns the errors in the documents. */
export function listDiagnostics(documents: ReadonlyMap<string, string>): readonly Diagnostic[] {
  try {
    readContract(documents);
  } catch (error) {
    if (error instanceof ContractError) return error.diagnostics;
    throw error;
  }
  return [];
}
