import type { CodegenConfig } from '@graphql-codegen/cli';
import type { Types } from '@graphql-codegen/plugin-helpers';

/** The path of a preset. graphql-codegen imports any module, but its type lists only published presets. */
const presetAt = (module: string) => module as Types.PresetNames;

/** The toolkit's modules that generated files import, as seen from a folder of `src/generated`. */
const TOOLKIT = {
  client: '@trellis/client/create-client',
  clientCall: '@trellis/client/call',
  clientErrors: '@trellis/client/errors',
  clientEvents: '@trellis/client/events',
  clientOptions: '@trellis/client/create-client',
  clientPaging: '@trellis/client/paging',
  clientRetry: '@trellis/client/retry',
  typedQuery: '@trellis/client/site-client',
  operation: '@trellis/server/rest/operation',
  recordQueries: '@trellis/site/query/record-queries',
  recordTypes: '@trellis/core/record-types',
} as const;

/** The application's modules that generated files import. */
const APPLICATION = {
  callers: '../../accounts/callers.js',
  siteContext: '../../resolvers/context.js#SiteContext<RecordsByKind>',
} as const;

/**
 * The target of a REST service, generated from its contract and the components that the contracts share.
 *
 * @param tokenVariable The environment variable that clients read the token from.
 */
const service = (name: string, tokenVariable: string) => {
  const documents = [`openapi/${name}.yaml`, 'openapi/common.yaml'];
  return {
    // graphql-codegen requires a schema for every output; an OpenAPI document has no GraphQL schema.
    schema: [],
    preset: presetAt('./packages/codegen/src/openapi/preset.ts'),
    presetConfig: {
      service: name,
      documents,
      tokenVariable,
      strict: true,
      modules: { ...TOOLKIT, callers: APPLICATION.callers },
    },
    watchPattern: documents,
  };
};

/** The documents of the site's schema, and the loader that derives the full schema from them. */
const SCHEMA = { 'schema/*.graphql': { loader: './packages/codegen/src/site/load-schema.ts' } };

/** The documents and the code with queries. */
const QUERIES = ['queries/**/*.graphql', 'scripts/**/*.ts', 'src/web/app/**/*.ts', 'src/web/app/**/*.tsx'];

/** The targets: which contract documents each folder of `src/generated` is generated from. */
const config: CodegenConfig = {
  // Lets graphql-codegen import the loader, presets and plugin below, which are TypeScript.
  require: ['tsx/esm'],
  importExtension: '.js',
  // Keeps the types in the order of the contract.
  config: { sort: false },
  generates: {
    'src/generated/site/': {
      schema: SCHEMA,
      preset: presetAt('./packages/codegen/src/site/preset.ts'),
      // The resolvers of a record type receive its stored record; `{T}` is the name of the type.
      presetConfig: {
        recordMapper: './records.js#{T}Record',
        connectionMapper: `${TOOLKIT.recordQueries}#RecordConnection`,
        recordTypes: TOOLKIT.recordTypes,
      },
      plugins: ['typescript', 'typescript-resolvers', './packages/codegen/src/site/resolvers-plugin.ts'],
      config: {
        contextType: APPLICATION.siteContext,
        enumsAsTypes: true,
        mappers: { Node: './records.js#NodeRecord' },
        // Keeps the name `SiteResolvers` free for resolvers-plugin.ts, even if the contract has a type `Site`.
        resolverTypeSuffix: 'FieldResolvers',
        scalars: { Date: 'string', ID: 'string' },
        useTypeImports: true,
      },
    },
    'src/generated/queries/': {
      schema: SCHEMA,
      preset: presetAt('./packages/codegen/src/site/queries-preset.ts'),
      presetConfig: { documents: QUERIES, typedQuery: TOOLKIT.typedQuery },
      watchPattern: QUERIES,
    },
    'src/generated/dashboard/': service('dashboard', 'TRELLIS_TOKEN'),
    'src/generated/secrets/': service('secrets', 'TRELLIS_SECRETS_TOKEN'),
  },
};

export default config;
