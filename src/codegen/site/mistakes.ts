import { Kind } from 'graphql';
import type { ASTNode, GraphQLError } from 'graphql';
import { ContractError } from '../contract-error.js';
import type { Location, Mistake } from '../contract-error.js';

/** Where a person finds the node: a definition at its name, rather than at its description. */
export function locate(node: ASTNode): Location {
  const { loc } = node.kind !== Kind.DIRECTIVE && 'name' in node && node.name !== undefined ? node.name : node;
  // Only derived nodes have no location, and no rule complains about those alone.
  if (loc === undefined) return { file: 'schema', line: 1, column: 1 };
  return { file: loc.source.name, line: loc.startToken.line, column: loc.startToken.column };
}

/** What the rules of a contract find, gathered so that one run shows all of it. */
export class MistakeList {
  readonly #mistakes: Mistake[] = [];

  add(node: ASTNode, message: string): void {
    this.addAt(locate(node), message);
  }

  addAt(location: Location, message: string): void {
    this.#mistakes.push({ ...location, message });
  }

  /** The last written node of an error is the one that breaks the rule; those before it say which rule. */
  addError(error: GraphQLError): void {
    const node = error.nodes?.findLast(({ loc }) => loc !== undefined);
    if (node !== undefined) {
      this.add(node, error.message);
      return;
    }
    const { line, column } = error.locations?.[0] ?? { line: 1, column: 1 };
    this.addAt({ file: error.source?.name ?? 'schema', line, column }, error.message);
  }

  /** @throws ContractError with all mistakes, in the order of the documents. */
  throwIfAny(): void {
    if (this.#mistakes.length === 0) return;
    throw new ContractError(this.#mistakes.toSorted(byPlace));
  }
}

const byPlace = (a: Location, b: Location): number =>
  a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line || a.column - b.column;
