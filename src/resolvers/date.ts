import { GraphQLError, GraphQLScalarType, Kind, print } from 'graphql';

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
