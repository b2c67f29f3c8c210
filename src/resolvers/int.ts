import {
  GraphQLError,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLScalarType,
  GraphQLSchema,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  print,
} from 'graphql';
import type { GraphQLArgument, GraphQLField, GraphQLInputField, GraphQLNullableType, GraphQLType } from 'graphql';

/**
 * Whole numbers that a double represents exactly. The specification's `Int` has 32 bits, which a file of 2 GiB exceeds:
 * as `size: Int!` its error would empty the list that it is in.
 */
const wideInt = new GraphQLScalarType<number, number>({
  name: 'Int',
  description:
    'The `Int` scalar type represents whole numbers from -(2^53 - 1) to 2^53 - 1, so that sizes of more than 2 GiB fit.',
  serialize: (value) => {
    if (typeof value === 'boolean') return value ? 1 : 0;
    return requireWhole(typeof value === 'string' && value !== '' ? Number(value) : value);
  },
  parseValue: requireWhole,
  parseLiteral: (node) => {
    if (node.kind === Kind.INT) return requireWhole(Number(node.value));
    throw new GraphQLError(`Expected a whole number; received ${print(node)}.`, { nodes: node });
  },
});

function requireWhole(value: unknown): number {
  if (Number.isSafeInteger(value)) return value as number;
  throw new GraphQLError(`Expected a whole number from -(2^53 - 1) to 2^53 - 1; received ${String(value)}.`);
}

/**
 * Returns a schema of the same types with {@link wideInt} in the place of `GraphQLInt`. The types must belong to this
 * schema alone, as those of `makeExecutableSchema` do; what graphql-js shares between schemas is left as it is.
 */
export function withWideInt(schema: GraphQLSchema): GraphQLSchema {
  const config = schema.toConfig();
  const types = config.types.filter((type) => type !== GraphQLInt);
  for (const type of types.filter((one) => !isIntrospectionType(one))) {
    if (isInputObjectType(type)) Object.values(type.getFields()).forEach(widen);
    if (isObjectType(type) || isInterfaceType(type)) {
      for (const field of Object.values(type.getFields())) [field, ...field.args].forEach(widen);
    }
  }
  return new GraphQLSchema({ ...config, types });
}

type Typed = GraphQLField<unknown, unknown> | GraphQLArgument | GraphQLInputField;

function widen(typed: Typed): void {
  // Wrapping keeps input types input types, and output types output types.
  typed.type = widened(typed.type) as never;
}

function widened(type: unknown): unknown {
  if (isNonNullType(type)) return new GraphQLNonNull(widened(type.ofType) as GraphQLNullableType);
  if (isListType(type)) return new GraphQLList(widened(type.ofType) as GraphQLType);
  return type === GraphQLInt ? wideInt : type;
}
