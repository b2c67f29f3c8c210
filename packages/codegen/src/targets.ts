/** The targets of a project, as a configuration of GraphQL Code Generator. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Types } from '@graphql-codegen/plugin-helpers';
import type { BaseResolvers } from './site/resolvers-plugin.js';

/** The part of a project that its targets follow from. */
export interface ProjectSource {
  /** The services with their contracts; absent if the project has none. */
  readonly services?: Readonly<Record<string, ServiceSource>>;
  /** The record types of a site; absent if the project has none. */
  readonly site?: SiteSource;
}

interface SiteSource {
  /** Patterns of documents and of code that contain queries, which get types. */
  readonly queries?: readonly string[];
}

interface ServiceSource {
  /** The path of the contract; by default `openapi/<name>.yaml`. */
  readonly contract?: string;
  /** Other documents that the contract refers to. */
  readonly documents?: readonly string[];
  /** The environment variable that clients read the token from; by default `<NAME>_TOKEN`. */
  readonly tokenVariable?: string;
  /** Whether warnings are errors. Your own contracts should be strict; those of others rarely can be. */
  readonly strict?: boolean;
  /** The folder with the generated files, if the service belongs to a package, which then has them already. */
  readonly generated?: URL;
}

/** The application's modules that generated files import, as seen from a folder of `src/generated`. */
export interface ApplicationModules {
  /** The module of the types of callers. */
  readonly callers: string;
  /** The module and the type of the context of resolvers, separated by `#`. */
  readonly siteContext: string;
  /** The resolvers of the base schema, and the object that has them, if a package has written them. */
  readonly baseResolvers?: BaseResolvers;
}

/** The modules of a project that uses the package `trellis`. */
export const PACKAGE: ApplicationModules = {
  callers: 'trellis/callers',
  siteContext: 'trellis/site-context#SiteContext<RecordsByKind>',
  baseResolvers: {
    name: 'baseResolvers',
    fields: {
      File: ['publicURL'],
      ImageProc: ['fixed', 'fluid', 'original', 'resize', 'resolutions', 'sizes'],
      Site: ['buildTime'],
    },
  },
};

/** The toolkit's modules that generated files import. */
const TOOLKIT = {
  client: '@trellis/client/create-client',
  clientCall: '@trellis/client/call',
  clientErrors: '@trellis/client/errors',
  clientEvents: '@trellis/client/events',
  clientOptions: '@trellis/client/create-client',
  clientPaging: '@trellis/client/paging',
  clientPaths: '@trellis/client/paths',
  clientRetry: '@trellis/client/retry',
  operation: '@trellis/server/rest/operation',
  recordQueries: '@trellis/site/query/record-queries',
  recordTypes: '@trellis/core/record-types',
  typedQuery: '@trellis/client/site-client',
} as const;

/** The documents and the code with queries of a site, unless its entry names others. */
const QUERIES = ['queries/**/*.graphql', 'scripts/**/*.ts'];

/** Returns the configuration for a project: a target for each service, and one for the site. */
export function createCodegenConfig({ services = {}, site }: ProjectSource, modules = PACKAGE): Types.Config {
  const own = Object.entries(services).filter(([, { generated }]) => generated === undefined || isOwn(generated));
  const targets = own.map(([name, source]) => [folderOf(name), serviceTarget(name, source, modules)]);
  return {
    // Lets graphql-codegen import the loader, presets and plugin below, which may be TypeScript.
    ...(OWN_EXTENSION === '.ts' && { require: ['tsx/esm'] }),
    importExtension: '.js',
    // Keeps the types in the order of the contract.
    config: { sort: false },
    generates: {
      ...(site && { [folderOf('site')]: siteTarget(modules), [folderOf('queries')]: queriesTarget(site) }),
      ...(Object.fromEntries(targets) as Types.Config['generates']),
    },
  };
}

/** Whether generated files belong to the project in the working directory. */
const isOwn = (generated: URL): boolean => path.resolve(fileURLToPath(generated)) === path.resolve('src/generated');

const folderOf = (name: string): string => `src/generated/${name}/`;

function serviceTarget(
  service: string,
  source: ServiceSource,
  { callers }: ApplicationModules,
): Types.ConfiguredOutput {
  const { contract = `openapi/${service}.yaml`, documents: others = [], strict = false } = source;
  const { tokenVariable = `${service.replaceAll('-', '_').toUpperCase()}_TOKEN` } = source;
  const documents = [contract, ...others];
  return {
    // graphql-codegen requires a schema for every output; an OpenAPI document has no GraphQL schema.
    schema: [],
    preset: ownModule('openapi/preset') as Types.PresetNames,
    presetConfig: { service, contract, documents, tokenVariable, strict, modules: { ...TOOLKIT, callers } },
    watchPattern: documents,
  };
}

const siteTarget = ({ siteContext, baseResolvers }: ApplicationModules): Types.ConfiguredOutput => ({
  schema: siteSchema(),
  preset: ownModule('site/preset') as Types.PresetNames,
  // The resolvers of a record type receive its stored record; `{T}` is the name of the type.
  presetConfig: {
    recordMapper: './records.js#{T}Record',
    connectionMapper: `${TOOLKIT.recordQueries}#RecordConnection`,
    recordTypes: TOOLKIT.recordTypes,
    ...(baseResolvers && { base: baseResolvers }),
  },
  plugins: ['typescript', 'typescript-resolvers', ownModule('site/resolvers-plugin')],
  config: {
    contextType: siteContext,
    enumsAsTypes: true,
    mappers: { Node: './records.js#NodeRecord' },
    // Keeps the name `SiteResolvers` free for resolvers-plugin.ts, even if the contract has a type `Site`.
    resolverTypeSuffix: 'FieldResolvers',
    scalars: { Date: 'string', ID: 'string' },
    useTypeImports: true,
  },
});

const queriesTarget = ({ queries = QUERIES }: SiteSource): Types.ConfiguredOutput => ({
  schema: siteSchema(),
  preset: ownModule('site/queries-preset') as Types.PresetNames,
  presetConfig: { documents: queries, typedQuery: TOOLKIT.typedQuery },
  watchPattern: [...queries],
});

/** The documents of record types, and the loader that derives the full schema from them. */
const siteSchema = () => ({ 'schema/**/*.{graphql,gql}': { loader: ownModule('site/load-schema') } });

/** `.ts` in a checkout, `.js` in the installed package. */
const OWN_EXTENSION = path.extname(fileURLToPath(import.meta.url));

/** Returns the path of a module of this package, which graphql-codegen imports when it runs a target. */
const ownModule = (name: string): string => fileURLToPath(new URL(`./${name}${OWN_EXTENSION}`, import.meta.url));
