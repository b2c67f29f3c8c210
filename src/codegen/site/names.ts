/** The names that derivation gives, so that it and the rule against taking them agree. */
import { Kind } from 'graphql';
import type { DefinitionNode } from 'graphql';

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

const OUTPUTS = ['Connection', 'Edge', 'GroupConnection'] as const;
const INPUTS = ['FilterInput', 'FilterListInput', 'SortInput'] as const;

/** `File` is queried as `file` and `allFile`. */
export const singleName = (kind: string): string => kind.charAt(0).toLowerCase() + kind.slice(1);
export const allName = (kind: string): string => `all${kind}`;

/** What TypeScript calls a GraphQL name: the same, beginning with a capital. */
export const typeName = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** Every type name that derivation may give, by what kind of type it is. */
export function derivedNames(definitions: readonly DefinitionNode[]): Map<string, 'enum' | 'input' | 'type'> {
  const names = new Map<string, 'enum' | 'input' | 'type'>([[SORT_ORDER, 'enum']]);
  for (const name of Object.values(OPERATOR_INPUTS)) names.set(name, 'input');
  for (const definition of definitions) {
    if (definition.kind !== Kind.OBJECT_TYPE_DEFINITION && definition.kind !== Kind.INTERFACE_TYPE_DEFINITION) continue;
    const name = definition.name.value;
    names.set(`${name}FieldsEnum`, 'enum');
    for (const ending of INPUTS) names.set(name + ending, 'input');
    for (const ending of OUTPUTS) names.set(name + ending, 'type');
  }
  return names;
}
