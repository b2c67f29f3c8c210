/** The names of derived types and queries, shared by the derivation and the check for reserved names. */
import { Kind } from 'graphql';
import type { DefinitionNode, InterfaceTypeDefinitionNode, ObjectTypeDefinitionNode } from 'graphql';
import { isRecordDefinition } from './add-node-fields.js';

export const OPERATOR_INPUTS = {
  Boolean: 'BooleanQueryOperatorInput',
  Date: 'DateQueryOperatorInput',
  Float: 'FloatQueryOperatorInput',
  // The original server filters ids as text.
  ID: 'StringQueryOperatorInput',
  Int: 'IntQueryOperatorInput',
  String: 'StringQueryOperatorInput',
} as const;

export const SORT_ORDER = 'SortOrderEnum';
export const GROUP_SORT = 'GroupSortInput';
export const GROUP_SORT_KEY = 'GroupSortKey';

/** The names of queries: `file` and `allFile` for the record type `File`. */
export const singleQueryName = (kind: string): string => kind.charAt(0).toLowerCase() + kind.slice(1);
export const allQueryName = (kind: string): string => `all${kind}`;

/** Returns the TypeScript name of a GraphQL type or field: the same name with a capital letter. */
export const toTypeName = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

const OF_OBJECTS = { FilterInput: 'input', FilterListInput: 'input' } as const;
const OF_RECORDS = {
  ...{ Connection: 'type', Edge: 'type', GroupConnection: 'type' },
  ...{ FieldsEnum: 'enum', SortInput: 'input' },
} as const;

const OF_ALL = { [SORT_ORDER]: 'enum', [GROUP_SORT]: 'input', [GROUP_SORT_KEY]: 'enum' } as const;

/** The names of derived types, with their definition keywords. */
export type DerivedNames = ReadonlyMap<string, 'enum' | 'input' | 'type'>;

/** Returns the name of every type that may be derived from the documents. */
export function listDerivedNames(definitions: readonly DefinitionNode[]): DerivedNames {
  const operators = Object.values(OPERATOR_INPUTS).map((name) => [name, 'input'] as const);
  const ofTypes = definitions.flatMap((definition) =>
    hasFilter(definition) ? [...listDerivedNamesOfType(definition)] : [],
  );
  return new Map([...Object.entries(OF_ALL), ...operators, ...ofTypes]);
}

/** Returns whether types are derived from a definition: at least a filter. */
export const hasFilter = (node: DefinitionNode): node is InterfaceTypeDefinitionNode | ObjectTypeDefinitionNode =>
  node.kind === Kind.OBJECT_TYPE_DEFINITION || node.kind === Kind.INTERFACE_TYPE_DEFINITION;

/** Returns the names of the types that may be derived from one type. */
export function listDerivedNamesOfType(
  definition: InterfaceTypeDefinitionNode | ObjectTypeDefinitionNode,
): DerivedNames {
  const endings = isRecordDefinition(definition) ? { ...OF_OBJECTS, ...OF_RECORDS } : OF_OBJECTS;
  return new Map(Object.entries(endings).map(([ending, kind]) => [definition.name.value + ending, kind]));
}
