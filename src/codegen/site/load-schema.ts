import { buildASTSchema, buildSchema, parse } from 'graphql';
import type { GraphQLSchema } from 'graphql';
import { ContractError } from '../contract-error.js';
import type { Mistake } from '../contract-error.js';
import { readDocuments } from '../documents.js';
import { deriveSchema } from './derive-schema.js';
import { publishSchema } from './publish-schema.js';
import { readContract } from './read-contract.js';
import type { SiteContract } from './read-contract.js';

/** The contract that a schema was derived from. */
export interface Derivation {
  readonly contract: SiteContract;
  /** The text of the schema. */
  readonly sdl: string;
}

const EXTENSION = 'trellis';

/** Data that a schema carries to the preset and the plugin. */
type Extension = Derivation | { readonly mistakes: readonly Mistake[] };

/**
 * Derives the full schema from the documents that match a pattern: a custom schema
 * loader for graphql-codegen.
 *
 * graphql-codegen replaces every error of a loader by a text of its own. Therefore a
 * contract with mistakes gives a placeholder, and `getDerivation` throws the mistakes.
 */
export default async function loadSchema(pattern: string, { cwd }: { cwd: string }): Promise<GraphQLSchema> {
  try {
    return deriveFullSchema(await readDocuments(cwd, [pattern]));
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    return extend(buildSchema('type Query { invalid: Boolean }'), { mistakes: error.mistakes });
  }
}

/** Derives the full schema from documents (path → SDL). @throws ContractError with every mistake in them. */
export function deriveFullSchema(documents: ReadonlyMap<string, string>): GraphQLSchema {
  const contract = readContract(documents);
  const sdl = publishSchema(contract.definitions, deriveSchema(contract));
  return extend(buildASTSchema(parse(sdl, { noLocation: true })), { contract, sdl });
}

/** Returns what a schema of this loader was derived from. @throws ContractError with every mistake in the documents. */
export function getDerivation(schema: GraphQLSchema): Derivation {
  const extension = schema.extensions[EXTENSION] as Extension;
  if ('mistakes' in extension) throw new ContractError(extension.mistakes);
  return extension;
}

function extend(schema: GraphQLSchema, extension: Extension): GraphQLSchema {
  schema.extensions = { ...schema.extensions, [EXTENSION]: extension };
  return schema;
}
