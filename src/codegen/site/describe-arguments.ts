import { astFromValue, getNamedType, isEnumType, isInputObjectType, isNonNullType, print } from 'graphql';
import type { GraphQLArgument, GraphQLInputField } from 'graphql';
import type { ArgumentDescription, NameDescription } from '../../core/record-types.js';

/**
 * Describes the arguments of a field, and recursively the fields of input types. Deprecated ones are omitted.
 *
 * @param inside The enclosing input types, which are not described again.
 */
export const describeArguments = (
  args: readonly (GraphQLArgument | GraphQLInputField)[],
  inside: readonly string[] = [],
): ArgumentDescription[] =>
  args
    .filter(({ type, deprecationReason }) => deprecationReason == null && !inside.includes(getNamedType(type).name))
    .map((argument) => describeArgument(argument, inside));

function describeArgument(
  { name, description, type, defaultValue }: GraphQLArgument | GraphQLInputField,
  inside: readonly string[],
): ArgumentDescription {
  const named = getNamedType(type);
  const value = astFromValue(defaultValue, type);
  return {
    ...describeName({ name, description }),
    type: String(type).replaceAll('!', ''),
    ...(isNonNullType(type) && { required: true }),
    ...(value && { default: print(value) }),
    ...(isEnumType(named) && { values: named.getValues().map(describeName) }),
    ...(isInputObjectType(named) && {
      arguments: describeArguments(Object.values(named.getFields()), [...inside, named.name]),
    }),
  };
}

interface Described {
  readonly name: string;
  readonly description?: string | null | undefined;
}

export const describeName = ({ name, description }: Described): NameDescription => ({
  name,
  description: description ?? '',
});
