import { readFileSync } from 'node:fs';
import { ContractError, type Diagnostic } from '../../src/documents.js';
import { readContract } from '../../src/site/load-schema.js';

/** The documents that every site contract has. The repository tests that they are those of its application. */
export const COMMON_DOCUMENTS = ['directives.graphql', 'node.graphql'] as const;

const read = (name: string): [string, string] => [
  `schema/${name}`,
  readFileSync(new URL(`./contract/${name}`, import.meta.url), 'utf8'),
];

/** Returns the common documents and an additional one. */
export const documentsWith = (text: string, file = 'schema/kitchen.graphql'): Map<string, string> =>
  new Map([...COMMON_DOCUMENTS.map(read), [file, text]]);

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
