import { METHODS } from './document.js';
import type { HttpMethod } from './document.js';
import { follow } from './references.js';
import type { ContractSources } from './references.js';
import { child, entries, findTextField, items } from './document-node.js';
import type { DocumentNode } from './document-node.js';

/** The operations of a contract with their places, before they are checked. */
export interface OperationIndex {
  readonly sources: ContractSources;
  readonly root: DocumentNode;
  readonly operations: readonly IndexedOperation[];
}

export interface IndexedOperation {
  readonly method: HttpMethod;
  readonly path: string;
  readonly place: DocumentNode;
  /** The parameters of the path, then those of the operation, without broken references. */
  readonly parameters: readonly IndexedParameter[];
}

export interface IndexedParameter {
  readonly name: string | undefined;
  readonly in: string | undefined;
  /** The parameter or reference in the list of the operation or its path. */
  readonly mention: DocumentNode;
  /** The description of the parameter: the mention itself, or the component that it refers to. */
  readonly place: DocumentNode;
  /** Whether the path declares it, for all its operations. */
  readonly isShared: boolean;
}

/** Collects the operations of a contract. */
export function collectOperations(sources: ContractSources, root: DocumentNode): OperationIndex {
  const operations = entries(child(root, 'paths')).flatMap(([path, item]) =>
    METHODS.filter((method) => child(item, method).value !== undefined).map((method) => {
      const place = child(item, method);
      const shared = surveyParameters(sources, item, true);
      return { method, path, place, parameters: [...shared, ...surveyParameters(sources, place, false)] };
    }),
  );
  return { sources, root, operations };
}

function surveyParameters(sources: ContractSources, parent: DocumentNode, isShared: boolean): IndexedParameter[] {
  return items(child(parent, 'parameters')).flatMap((mention) => {
    const place = follow(sources, mention);
    if (place === undefined) return [];
    return [{ name: findTextField(place, 'name'), in: findTextField(place, 'in'), mention, place, isShared }];
  });
}
