/** The names that derivation gives, so that it and the rule against taking them agree. */
import { Kind } from 'graphql';
import type { DefinitionNode } from 'graphql';
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

/** Names of types, by what they are. */
export type DerivedNames = ReadonlyMap<string, 'enum' | 'input' | 'type'>;

/** Every type name that derivation may give. */
export function derivedNames(definitions: readonly DefinitionNode[]): DerivedNames {
  const names = new Map<string, 'enum' | 'input' | 'type'>([[SORT_ORDER, 'enum']]);
  for (const name of Object.values(OPERATOR_INPUTS)) names.set(name, 'input');
  for (const definition of definitions) {
    if (definition.kind !== Kind.OBJECT_TYPE_DEFINITION && definition.kind !== Kind.INTERFACE_TYPE_DEFINITION) continue;
    const endings = isRecordDefinition(definition) ? { ...OF_OBJECTS, ...OF_RECORDS } : OF_OBJECTS;
    for (const [ending, kind] of Object.entries(endings)) names.set(definition.name.value + ending, kind);
  }
  return names;
}
