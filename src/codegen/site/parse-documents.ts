import { GraphQLError, parse, Source } from 'graphql';
import type { DefinitionNode } from 'graphql';
import { DiagnosticList } from './diagnostics.js';

/**
 * Parses the documents and returns their definitions in the order of the paths. Each node has the path as source name.
 *
 * @throws ContractError with the first syntax error of each document.
 */
export function parseDocuments(documents: ReadonlyMap<string, string>): readonly DefinitionNode[] {
  const diagnostics = new DiagnosticList();
  const definitions = [...documents]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([file, text]) => parseDocument(new Source(text, file), diagnostics));
  diagnostics.throwIfAny();
  return definitions;
}

function parseDocument(source: Source, diagnostics: DiagnosticList): readonly DefinitionNode[] {
  // A document with only comments, such as a draft, is valid.
  if (/^(\s|#.*|,)*$/.test(source.body)) return [];
  try {
    return parse(source).definitions;
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    diagnostics.addError(error);
    return [];
  }
}
