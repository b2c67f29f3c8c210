/** Runs an output of a graphql-codegen configuration without the command of graphql-codegen and its dependencies. */
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CodegenPlugin, Types } from '@graphql-codegen/plugin-helpers';
import type { DocumentNode, GraphQLSchema } from 'graphql';
import { findOutputText, type OutputDetails } from '../output.js';

/** The generated files of an output: path → text. */
export interface OutputFiles {
  readonly files: ReadonlyMap<string, string>;
  readonly details: OutputDetails | undefined;
}

/** Returns whether an output needs nothing but its preset: no documents, and no loader other than its own. */
export function isSelfContained(config: Types.Config, output: string): boolean {
  const settings = config.generates[output];
  if (settings === undefined || Array.isArray(settings) || settings.preset === undefined) return false;
  const hasDocuments = [config.schema, config.documents, settings.documents].some((part) => part !== undefined);
  return !hasDocuments && findLoaders(settings) !== undefined;
}

/** Runs outputs that need nothing but their presets. Those with the same documents share a schema. */
export async function runOutputs(
  root: string,
  config: Types.Config,
  outputs: readonly string[],
): Promise<readonly PromiseSettledResult<OutputFiles>[]> {
  await loadPlugins(root, config, outputs);
  const schemas: LoadedSchemas = new Map();
  return Promise.allSettled(outputs.map((output) => runOutput(root, config, output, schemas)));
}

/**
 * Imports the plugins of outputs. Presets run at the same time, and one of them requires a library of these plugins, which
 * fails while an import of it is under way.
 */
async function loadPlugins(root: string, config: Types.Config, outputs: readonly string[]): Promise<void> {
  const plugins = outputs.flatMap((output) => listPlugins(config.generates[output] as Types.ConfiguredOutput));
  const names = new Set(plugins.flatMap((plugin) => Object.keys(plugin)));
  await Promise.all([...names].map((name) => importFrom(root, toPluginModule(name))));
}

const listPlugins = ({ plugins = [] }: Types.ConfiguredOutput): Types.ConfiguredPlugin[] =>
  [plugins].flat().map((plugin) => (typeof plugin === 'string' ? { [plugin]: {} } : plugin));

/** The schemas of a run by loader and documents: outputs with the same documents share a schema. */
type LoadedSchemas = Map<string, Promise<GraphQLSchema>>;

/** Runs the preset of an output and the plugins that it selects. Paths are relative to `root`. */
async function runOutput(
  root: string,
  config: Types.Config,
  output: string,
  schemas: LoadedSchemas,
): Promise<OutputFiles> {
  const settings = config.generates[output] as Types.ConfiguredOutput;
  const [schemaAst] = await Promise.all((findLoaders(settings) ?? []).map((loader) => loadOnce(loader)));
  const plugins = listPlugins(settings);
  const names = plugins.flatMap((plugin) => Object.keys(plugin));
  const loadedPlugins = await Promise.all(
    names.map(async (name) => [name, await importFrom<CodegenPlugin>(root, toPluginModule(name))] as const),
  );
  const pluginContext: Record<string, unknown> = {};
  const importExtension = config.importExtension;
  const shared = { importExtension, emitLegacyCommonJSImports: true };
  const preset = await loadPreset(root, settings.preset);
  const sections = await preset.buildGeneratesSection({
    baseOutputDir: output,
    presetConfig: (settings.presetConfig ?? {}) as Record<string, unknown>,
    plugins,
    schema: await toDocument(schemaAst),
    schemaAst,
    documents: [],
    config: { ...(config.config as object), ...(settings.config as object), ...shared },
    pluginMap: Object.fromEntries(loadedPlugins),
    pluginContext,
    documentTransforms: [],
  });
  const files = await Promise.all(
    sections.map(
      async (section) => [section.filename, findOutputText(section) ?? (await runPlugins(section))] as const,
    ),
  );
  return { files: new Map(files), details: pluginContext[output] as OutputDetails | undefined };

  async function runPlugins(section: Types.GenerateOptions): Promise<string> {
    const { codegen } = await import('@graphql-codegen/core');
    return codegen({ ...section, ...shared });
  }

  function loadOnce(loader: Loader): Promise<GraphQLSchema> {
    const key = loader.join(' ');
    const loading = schemas.get(key) ?? loadSchema(root, loader);
    schemas.set(key, loading);
    return loading;
  }
}

/** Returns the document of a schema. Without a schema, it is empty, and no library of GraphQL is loaded. */
async function toDocument(schema: GraphQLSchema | undefined): Promise<DocumentNode> {
  if (schema === undefined) return { kind: 'Document' as DocumentNode['kind'], definitions: [] };
  const { getCachedDocumentNodeFromSchema } = await import('@graphql-codegen/plugin-helpers');
  return getCachedDocumentNodeFromSchema(schema);
}

/** A schema loader and the documents that it reads. */
type Loader = readonly [pattern: string, module: string];

/** Returns the schema loaders of an output; `undefined` if its schema has other sources. */
function findLoaders({ schema = [] }: Types.ConfiguredOutput): Loader[] | undefined {
  const pointers = [schema].flat();
  if (pointers.some((pointer) => typeof pointer === 'string')) return undefined;
  const entries = pointers.flatMap((pointer) => Object.entries(pointer as Record<string, { loader?: unknown }>));
  const loaders = entries.flatMap(([pattern, { loader }]): Loader[] =>
    typeof loader === 'string' ? [[pattern, loader]] : [],
  );
  return loaders.length === entries.length && loaders.length <= 1 ? loaders : undefined;
}

async function loadSchema(root: string, [pattern, module]: Loader): Promise<GraphQLSchema> {
  const { default: load } = await importFrom<{
    default: (pattern: string, options: { cwd: string }) => Promise<GraphQLSchema>;
  }>(root, module);
  return load(pattern, { cwd: root });
}

async function loadPreset(root: string, preset: Types.ConfiguredOutput['preset']): Promise<Types.OutputPreset> {
  if (typeof preset === 'object') return preset;
  return (await importFrom<{ preset: Types.OutputPreset }>(root, preset ?? '')).preset;
}

/** The plugins of graphql-codegen are packages, which a configuration names without their scope. */
const toPluginModule = (name: string): string => (/^[\w-]+$/u.test(name) ? `@graphql-codegen/${name}` : name);

async function importFrom<Module>(root: string, module: string): Promise<Module> {
  const isFile = module.startsWith('.') || path.isAbsolute(module);
  return (await import(isFile ? pathToFileURL(path.resolve(root, module)).href : module)) as Module;
}
