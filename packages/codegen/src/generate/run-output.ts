/** Runs an output of a graphql-codegen configuration without the command of graphql-codegen and its dependencies. */
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { CodegenPlugin, Types } from '@graphql-codegen/plugin-helpers';
import type { DocumentNode, GraphQLSchema } from 'graphql';
import { ContractError, type Location } from '../documents.js';
import { findOutputText, type OutputDetails } from '../output.js';
import type { OutputResult, WorkerInput } from './output-worker.js';

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
  onDone?: (output: string) => void,
): Promise<readonly PromiseSettledResult<OutputFiles>[]> {
  await loadPlugins(root, config, outputs);
  const schemas: LoadedSchemas = new Map();
  const run = async (output: string): Promise<OutputFiles> => {
    try {
      return await runOutput(root, config, output, schemas);
    } finally {
      onDone?.(output);
    }
  };
  return Promise.allSettled(outputs.map(run));
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

/** The settled runs of outputs, by output. */
type SettledOutputs = ReadonlyMap<string, PromiseSettledResult<OutputFiles>>;

/** Smaller documents take less time than a thread takes to load the libraries: less than a second. */
export const LARGE = 100_000;

/** The sources need a compiler in each thread, which takes longer than a thread saves. */
const isBuilt = import.meta.url.endsWith('.js');

/** Returns how many threads run outputs by default, with this one. */
export const defaultParallelism = (): number => (isBuilt ? availableParallelism() : 1);

/** An output that needs nothing but its preset. */
interface SizedOutput {
  readonly output: string;
  /** The number of characters in its documents. */
  readonly size: number;
}

interface ThreadOptions {
  readonly parallelism: number;
  readonly onDone: (output: string) => void;
}

/** Runs outputs in as many threads as their sizes are worth, with this one. */
export async function runInThreads(
  root: string,
  config: Types.Config,
  outputs: readonly SizedOutput[],
  { parallelism, onDone }: ThreadOptions,
): Promise<SettledOutputs> {
  const sized = outputs.map(({ output, size }) => ({ output, size: isPlain(config.generates[output]) ? size : 0 }));
  const [own = [], ...others] = divide(sized, parallelism);
  const runs = await Promise.all([
    ...others.map(async (group) => {
      const results = await runInThread(root, config, group);
      group.forEach(onDone);
      return results;
    }),
    runOutputs(root, config, own, onDone),
  ]);
  const groups = [...others, own];
  return new Map(
    groups.flatMap((group, index) =>
      group.flatMap((output, at) => {
        const result = runs[index]?.[at];
        return result === undefined ? [] : [[output, result] as const];
      }),
    ),
  );
}

/** Returns whether a thread can receive settings: those with functions stay in this one. */
function isPlain(settings: unknown): boolean {
  try {
    structuredClone(settings);
    return true;
  } catch {
    return false;
  }
}

/** Divides outputs into groups of similar sizes. The first has all small outputs, and is never empty. */
export function divide(outputs: readonly SizedOutput[], parallelism: number): readonly (readonly string[])[] {
  const small = outputs.filter(({ size }) => size < LARGE);
  const large = outputs.filter(({ size }) => size >= LARGE).toSorted((a, b) => b.size - a.size);
  const groups = [[...small, ...(small.length === 0 ? large.splice(-1) : [])]];
  for (const output of large) {
    if (groups.length < parallelism) groups.push([output]);
    else groups.toSorted((a, b) => sizeOf(a) - sizeOf(b))[0]?.push(output);
  }
  return groups.map((group) => group.map(({ output }) => output));
}

const sizeOf = (group: readonly SizedOutput[]): number => group.reduce((sum, { size }) => sum + size, 0);

function runInThread(
  root: string,
  config: Types.Config,
  outputs: readonly string[],
): Promise<readonly PromiseSettledResult<OutputFiles>[]> {
  const generates = Object.fromEntries(outputs.map((output) => [output, config.generates[output] ?? []]));
  const { config: shared, importExtension } = config;
  const workerData: WorkerInput = { root, outputs, config: { config: shared, importExtension, generates } };
  const worker = new Worker(new URL('./output-worker.js', import.meta.url), { workerData });
  return new Promise((resolve, reject) => {
    worker.once('message', (results: readonly OutputResult[]) => resolve(results.map(toSettled)));
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`A thread of the generators ended with code ${code}.`)));
  });
}

/** The origins of the output of a thread, which cannot send functions. */
export const NO_ORIGINS = (): ReadonlyMap<string, Location> => new Map();

function toSettled(result: OutputResult): PromiseSettledResult<OutputFiles> {
  if ('reason' in result) return { status: 'rejected', reason: result.reason };
  if ('diagnostics' in result) return { status: 'rejected', reason: new ContractError([...result.diagnostics]) };
  const { files, stubs, warnings } = result;
  return { status: 'fulfilled', value: { files, details: { origins: NO_ORIGINS, stubs, warnings } } };
}
