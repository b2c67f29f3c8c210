import type { GraphQLSchema } from 'graphql';
import type { ComputedValues } from '../query/record-queries.js';
import type { RecordTables } from '../records/record-schema.js';
import type { RecordContext } from './context.js';

/** The data of a site's schema that resolvers find through the schema of their request. */
export interface SchemaBinding {
  readonly tables: RecordTables;
  /** Returns the values of computed fields for the filters, sorts and groups of one request. */
  readonly computedFor: (context: RecordContext) => ComputedValues;
}

const EXTENSION = 'trellisSite';

export function bind(schema: GraphQLSchema, binding: SchemaBinding): void {
  schema.extensions = { ...schema.extensions, [EXTENSION]: binding };
}

export const getBinding = (schema: GraphQLSchema): SchemaBinding => schema.extensions[EXTENSION] as SchemaBinding;
