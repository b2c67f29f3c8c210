import { isObjectType } from 'graphql';
import type { GraphQLField, GraphQLSchema } from 'graphql';
import type { RecordTable } from '../../core/record-types.js';

/** A field with a hand-written resolver. */
export interface HandWrittenResolver {
  readonly type: string;
  readonly field: GraphQLField<unknown, unknown>;
  /** The columns that the resolver may read; empty for a field of Query. */
  readonly columns: readonly string[];
  /** Whether the resolver receives arguments. The arguments of a date are applied to its result instead. */
  readonly hasArguments: boolean;
}

/** Lists the hand-written resolvers by type: computed fields, and the fields of Query that are not derived. */
export function listResolvers(
  schema: GraphQLSchema,
  tables: readonly RecordTable[],
): ReadonlyMap<string, readonly HandWrittenResolver[]> {
  const lists = [
    ...tables.map((table) => [table.kind, computedOf(schema, table)] as const),
    ['Query', queriesOf(schema, tables)] as const,
  ];
  return new Map(lists.filter(([, list]) => list.length > 0));
}

function computedOf(schema: GraphQLSchema, { kind, fields }: RecordTable): HandWrittenResolver[] {
  return fields.flatMap((computed) => {
    const field = fieldOf(schema, kind, computed.name);
    if (computed.kind !== 'computed' || field === undefined) return [];
    const columns = ['id', ...computed.needs.filter((column) => column !== 'id')];
    return [{ type: kind, field, columns, hasArguments: computed.hasArguments }];
  });
}

function queriesOf(schema: GraphQLSchema, tables: readonly RecordTable[]): HandWrittenResolver[] {
  const derived = new Set(tables.flatMap(({ single, all }) => [single, all]));
  return Object.values(schema.getQueryType()?.getFields() ?? {})
    .filter(({ name }) => !derived.has(name))
    .map((field) => ({ type: 'Query', field, columns: [], hasArguments: field.args.length > 0 }));
}

function fieldOf(schema: GraphQLSchema, type: string, field: string) {
  const found = schema.getType(type);
  return isObjectType(found) ? found.getFields()[field] : undefined;
}
