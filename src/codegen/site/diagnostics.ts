import { Kind } from 'graphql';
import type { ASTNode, GraphQLError } from 'graphql';
import { ContractError } from '../contract-error.js';
import type { Location, Diagnostic } from '../contract-error.js';

/** Returns the position to report for a node. For a definition this is its name, not its description. */
export function locateAstNode(node: ASTNode): Location {
  const { loc } = node.kind !== Kind.DIRECTIVE && 'name' in node && node.name !== undefined ? node.name : node;
  // Only derived nodes have no location, and no error refers to derived nodes alone.
  if (loc === undefined) return { file: 'schema', line: 1, column: 1 };
  return { file: loc.source.name, line: loc.startToken.line, column: loc.startToken.column };
}

/** Collects the errors of a contract, so that one run reports all of them. */
export class DiagnosticList {
  readonly #diagnostics: Diagnostic[] = [];

  add(node: ASTNode, message: string): void {
    this.addAt(locateAstNode(node), message);
  }

  addAt(location: Location, message: string): void {
    this.#diagnostics.push({ ...location, message });
  }

  /** Adds an error of graphql-js, at the last node with a location: the one that breaks the rule. */
  addError(error: GraphQLError): void {
    const node = error.nodes?.findLast(({ loc }) => loc !== undefined);
    if (node !== undefined) {
      this.add(node, error.message);
      return;
    }
    const { line, column } = error.locations?.[0] ?? { line: 1, column: 1 };
    this.addAt({ file: error.source?.name ?? 'schema', line, column }, error.message);
  }

  /** @throws ContractError with all errors, in the order of the documents. */
  throwIfAny(): void {
    if (this.#diagnostics.length === 0) return;
    throw new ContractError(this.#diagnostics.toSorted(byPlace));
  }
}

const byPlace = (a: Location, b: Location): number =>
  a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line || a.column - b.column;
