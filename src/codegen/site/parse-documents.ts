import { GraphQLError, parse, Source } from 'graphql';
import type { DefinitionNode } from 'graphql';
import { MistakeList } from './mistakes.js';

/**
 * The definitions of all documents, in the order of their paths; each node knows its file.
 *
 * @throws ContractError with the first syntax error of each document.
 */
export function parseDocuments(documents: ReadonlyMap<string, string>): readonly DefinitionNode[] {
  const mistakes = new MistakeList();
  const definitions = [...documents]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([file, text]) => parseDocument(new Source(text, file), mistakes));
  mistakes.throwIfAny();
  return definitions;
}

function parseDocument(source: Source, mistakes: MistakeList): readonly DefinitionNode[] {
  // A document of comments alone, such as a subject that is not written yet, is no mistake.
  if (/^(\s|#.*|,)*$/.test(source.body)) return [];
  try {
    return parse(source).definitions;
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    mistakes.addError(error);
    return [];
  }
}
