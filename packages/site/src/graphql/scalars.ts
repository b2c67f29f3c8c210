import type { ScalarCodec } from '@trellis/core/record-types';
import {
  type GraphQLArgument,
  GraphQLError,
  type GraphQLField,
  type GraphQLInputField,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLNullableType,
  GraphQLScalarType,
  GraphQLSchema,
  type GraphQLType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  print,
  valueFromASTUntyped,
} from 'graphql';

/** Passes text through unchanged. Literals must be strings; variables may also be numbers or booleans. */
export const dateScalar = new GraphQLScalarType<unknown, unknown>({
  name: 'Date',
  serialize: (value) => value,
  parseValue: (value) => {
    if (typeof value === 'string') return value;
    if (typeof value === 'number' || typeof value === 'boolean') return String(value);
    throw new GraphQLError('Expected a date as text; received a list or an object.');
  },
  parseLiteral: (node) => {
    if (node.kind === Kind.STRING) return node.value;
    throw new GraphQLError(`Expected a date as text, such as "2020-02-29"; received ${print(node)}.`, { nodes: node });
  },
});

/**
 * An `Int` for all integers that a double represents exactly. The `Int` of the specification has 32 bits, which the
 * size of a file of 2 GiB exceeds: as the field is `size: Int!`, the error would null the whole list.
 */
const wideInt = new GraphQLScalarType<number, number>({
  name: 'Int',
  description:
    'The `Int` scalar type represents whole numbers from -(2^53 - 1) to 2^53 - 1, so that it can hold file sizes of 2 GiB and more.',
  serialize: (value) => {
    if (typeof value === 'boolean') return value ? 1 : 0;
    return toWholeNumber(typeof value === 'string' && value !== '' ? Number(value) : value);
  },
  parseValue: toWholeNumber,
  parseLiteral: (node) => {
    if (node.kind === Kind.INT) return toWholeNumber(Number(node.value));
    throw new GraphQLError(`Expected a whole number; received ${print(node)}.`, { nodes: node });
  },
});

function toWholeNumber(value: unknown): number {
  if (Number.isSafeInteger(value)) return value as number;
  throw new GraphQLError(`Expected a whole number from -(2^53 - 1) to 2^53 - 1; received ${String(value)}.`);
}

/**
 * Returns a schema with the same types and {@link wideInt} instead of `GraphQLInt`. Changes the types in place, so they
 * must belong to this schema alone, as those of `makeExecutableSchema` do. Types that graphql-js shares between schemas
 * are not changed.
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
  // Replacing a scalar by a scalar preserves whether a type is an input or output type.
  typed.type = widened(typed.type) as never;
}

function widened(type: unknown): unknown {
  if (isNonNullType(type)) return new GraphQLNonNull(widened(type.ofType) as GraphQLNullableType);
  if (isListType(type)) return new GraphQLList(widened(type.ofType) as GraphQLType);
  return type === GraphQLInt ? wideInt : type;
}

/** Creates a scalar whose values in resolvers and filters have their stored form. */
export const codecScalar = (name: string, codec: ScalarCodec<never>): GraphQLScalarType =>
  new GraphQLScalarType<unknown, unknown>({
    name,
    serialize: (value) => codec.serialize(value as never),
    parseValue: (value) => codec.parse(value),
    parseLiteral: (node, variables) => codec.parse(valueFromASTUntyped(node, variables)),
  });
