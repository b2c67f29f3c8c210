import { buildASTSchema, buildSchema, parse } from 'graphql';
import type { GraphQLSchema } from 'graphql';
import { ContractError } from '../contract-error.js';
import type { Diagnostic } from '../contract-error.js';
import { readDocuments } from '../documents.js';
import { deriveSchema } from './derive-schema.js';
import { publishSchema } from './publish-schema.js';
import { readContract } from './read-contract.js';
import type { SiteContract } from './read-contract.js';

/** The contract that a schema was derived from, and the text of the schema. */
export interface Derivation {
  readonly contract: SiteContract;
  readonly sdl: string;
}

const EXTENSION = 'trellis';

/** The schema extension that passes data from the loader to the preset and the plugin. */
type Extension = Derivation | { readonly diagnostics: readonly Diagnostic[] };

/**
 * A schema loader for graphql-codegen: derives the full schema from the documents that match a pattern.
 *
 * graphql-codegen replaces the errors of a loader by a text of its own. Therefore a contract with errors gives a
 * placeholder schema, and {@link getDerivation} throws the errors.
 */
export default async function loadSchema(pattern: string, { cwd }: { cwd: string }): Promise<GraphQLSchema> {
  try {
    return deriveFullSchema(await readDocuments(cwd, [pattern]));
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    return extend(buildSchema('type Query { invalid: Boolean }'), { diagnostics: error.diagnostics });
  }
}

/** Derives the full schema from documents (path → SDL). @throws ContractError with the errors in the documents. */
export function deriveFullSchema(documents: ReadonlyMap<string, string>): GraphQLSchema {
  const contract = readContract(documents);
  const sdl = publishSchema(contract.definitions, deriveSchema(contract));
  return extend(buildASTSchema(parse(sdl, { noLocation: true })), { contract, sdl });
}

/** Returns the derivation of a schema of this loader. @throws ContractError with the errors in the documents. */
export function getDerivation(schema: GraphQLSchema): Derivation {
  const extension = schema.extensions[EXTENSION] as Extension;
  if ('diagnostics' in extension) throw new ContractError(extension.diagnostics);
  return extension;
}

function extend(schema: GraphQLSchema, extension: Extension): GraphQLSchema {
  schema.extensions = { ...schema.extensions, [EXTENSION]: extension };
  return schema;
}
