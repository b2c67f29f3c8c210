import type { DocumentNode, GraphQLSchema } from 'graphql';
import type { RecordTable } from '../../site/fields.js';
import { typeName } from './names.js';
import { recordName } from './print-records.js';

/**
 * `resolvers.ts` as GraphQL Code Generator writes it: the types of the schema,
 * and resolver signatures whose parents are stored records.
 */
export async function printResolvers(schema: DocumentNode, schemaAst: GraphQLSchema, tables: readonly RecordTable[]) {
  // Loaded when needed: checking a contract with mistakes gets by without them.
  const { codegen } = await import('@graphql-codegen/core');
  const typescript = await import('@graphql-codegen/typescript');
  const resolvers = await import('@graphql-codegen/typescript-resolvers');
  return codegen({
    filename: 'resolvers.ts',
    schema,
    schemaAst,
    documents: [],
    config: config(tables),
    plugins: [{ typescript: {} }, { resolvers: {} }],
    pluginMap: { typescript, resolvers },
  });
}

const config = (tables: readonly RecordTable[]) => ({
  contextType: '../../resolvers/context.js#SiteContext',
  emitLegacyCommonJSImports: false,
  enumsAsTypes: true,
  mappers: Object.fromEntries(
    ['Node', ...tables.map(({ kind }) => kind)].map((kind) => [kind, `./records.js#${recordName(kind)}`] as const),
  ),
  namingConvention: typeName,
  // Leaves `SiteResolvers` free for the interface below, whatever kinds there are.
  resolverTypeSuffix: 'FieldResolvers',
  scalars: { Date: 'string', ID: 'string' },
  useTypeImports: true,
});
