/** The names that derivation gives, so that it and the rule against taking them agree. */
import { Kind } from 'graphql';
import type { DefinitionNode, InterfaceTypeDefinitionNode, ObjectTypeDefinitionNode } from 'graphql';
import { isRecordDefinition } from './complete-records.js';

export const OPERATOR_INPUTS = {
  Boolean: 'BooleanQueryOperatorInput',
  Date: 'DateQueryOperatorInput',
  Float: 'FloatQueryOperatorInput',
  // The original filters ids as text.
  ID: 'StringQueryOperatorInput',
  Int: 'IntQueryOperatorInput',
  String: 'StringQueryOperatorInput',
} as const;

export const SORT_ORDER = 'SortOrderEnum';
export const GROUP_SORT = 'GroupSortInput';
export const GROUP_SORT_KEY = 'GroupSortKey';

/** `File` is queried as `file` and `allFile`. */
export const singleName = (kind: string): string => kind.charAt(0).toLowerCase() + kind.slice(1);
export const allName = (kind: string): string => `all${kind}`;

/** What TypeScript calls a GraphQL name: the same, beginning with a capital. */
export const typeName = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

const OF_OBJECTS = { FilterInput: 'input', FilterListInput: 'input' } as const;
const OF_RECORDS = {
  ...{ Connection: 'type', Edge: 'type', GroupConnection: 'type' },
  ...{ FieldsEnum: 'enum', SortInput: 'input' },
} as const;

const OF_ALL = { [SORT_ORDER]: 'enum', [GROUP_SORT]: 'input', [GROUP_SORT_KEY]: 'enum' } as const;

/** Names of types, by what they are. */
export type DerivedNames = ReadonlyMap<string, 'enum' | 'input' | 'type'>;

/** Every type name that derivation may give. */
export function derivedNames(definitions: readonly DefinitionNode[]): DerivedNames {
  const operators = Object.values(OPERATOR_INPUTS).map((name) => [name, 'input'] as const);
  const ofTypes = definitions.flatMap((definition) => (hasFilter(definition) ? [...namesOf(definition)] : []));
  return new Map([...Object.entries(OF_ALL), ...operators, ...ofTypes]);
}

/** Whether derivation gives the type a filter, and perhaps more. */
export const hasFilter = (node: DefinitionNode): node is InterfaceTypeDefinitionNode | ObjectTypeDefinitionNode =>
  node.kind === Kind.OBJECT_TYPE_DEFINITION || node.kind === Kind.INTERFACE_TYPE_DEFINITION;

/** The names that derivation may give because of one type. */
export function namesOf(definition: InterfaceTypeDefinitionNode | ObjectTypeDefinitionNode): DerivedNames {
  const endings = isRecordDefinition(definition) ? { ...OF_OBJECTS, ...OF_RECORDS } : OF_OBJECTS;
  return new Map(Object.entries(endings).map(([ending, kind]) => [definition.name.value + ending, kind]));
}
