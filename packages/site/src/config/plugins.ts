import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { createIdGenerator, type RecordRow } from '../sources/file-records.js';
import type { PluginConfig } from './site-config.js';

interface PluginRows {
  readonly rows: readonly RecordRow[];
  /** One sentence each, for the terminal, sorted. */
  readonly warnings: readonly string[];
}

/** The owner of all records that describe the site itself. */
export const SITE_OWNER = 'internal-data-bridge';

/** The plugin that creates pages from files in `src/pages`. */
export const PAGE_CREATOR: PluginConfig = { resolve: 'gatsby-plugin-page-creator', options: {} };

const EXTENSIONS = ['.js', '.mjs', '.cjs', '.ts'];
const pluginId = createIdGenerator('Plugin');

/** Returns the same id for the same plugin with the same options. */
export function toPluginId({ resolve, options }: PluginConfig): string {
  return pluginId(`${resolve} ${JSON.stringify(options)}`);
}

/**
 * Reads each plugin's package from the site's `node_modules`: its `package.json` and the names of its exported
 * functions, without running them. A plugin that is not installed gets a record with its configuration only, and a
 * warning.
 */
export async function readPlugins(plugins: readonly PluginConfig[], directory: string): Promise<PluginRows> {
  const warnings: string[] = [];
  const rows = await Promise.all(plugins.map((plugin) => readPlugin(plugin, directory, warnings)));
  const missing = plugins.map(({ resolve }) => resolve).filter((name) => findPackage(name, directory) === undefined);
  return { rows, warnings: [...describeMissing([...new Set(missing)].sort()), ...warnings].sort() };
}

/** Describes all missing plugins in one sentence, as a site that comes from Gatsby may have dozens and none installed. */
function describeMissing(names: readonly string[]): readonly string[] {
  const [first, ...more] = names.map((name) => JSON.stringify(name));
  if (first === undefined) return [];
  if (more.length === 0) return [`Plugin ${first} is not installed in the site.`];
  return [`${names.length} plugins are not installed in the site: ${[first, ...more].join(', ')}.`];
}

async function readPlugin(plugin: PluginConfig, directory: string, warnings: string[]): Promise<RecordRow> {
  const folder = findPackage(plugin.resolve, directory);
  const manifest = folder === undefined ? undefined : await readManifest(folder, warnings);
  const exported = folder === undefined ? [] : await Promise.all(SIDES.map((side) => readSide(folder, side, warnings)));
  const columns: Record<string, string | number | null> = {
    name: text(manifest?.name) ?? plugin.resolve,
    version: text(manifest?.version) ?? null,
    resolve: folder ?? plugin.resolve,
    pluginFilepath: folder ?? null,
    ...Object.fromEntries(SIDES.map((side, index) => [side, JSON.stringify(exported[index] ?? [])])),
    ...packageColumns(manifest),
    ...optionColumns(plugin.options),
  };
  return {
    ...columns,
    id: toPluginId(plugin),
    'internal.type': 'SitePlugin',
    'internal.owner': SITE_OWNER,
    'internal.contentDigest': hash('md5', JSON.stringify(columns)),
  };
}

/** Searches the folders that Node.js would search, because a package may not export its `package.json`. */
function findPackage(resolve: string, directory: string): string | undefined {
  const { resolve: find } = createRequire(path.join(directory, 'package.json'));
  const folders = path.isAbsolute(resolve)
    ? [resolve]
    : (find.paths(resolve) ?? []).map((modules) => path.join(modules, resolve));
  return folders.find((folder) => existsSync(path.join(folder, 'package.json')));
}

async function readManifest(folder: string, warnings: string[]): Promise<Record<string, unknown> | undefined> {
  const file = path.join(folder, 'package.json');
  try {
    const value: unknown = JSON.parse(await readFile(file, 'utf8'));
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // Reported below with the name of the plugin.
  }
  warnings.push(`Plugin "${path.basename(folder)}": package.json can't be read.`);
  return undefined;
}

async function readSide(folder: string, side: ApiSide, warnings: string[]): Promise<string[]> {
  const { module, known } = PLUGIN_SIDES[side];
  for (const extension of EXTENSIONS) {
    const code = await readFile(path.join(folder, module + extension), 'utf8').catch(() => undefined);
    if (code === undefined) continue;
    // Loaded on demand: the parser takes 100 ms to load, and a site without plugins does not need it.
    const { listExports } = await import('./gatsby-config.js');
    try {
      return listExports(code).filter((name) => known.has(name));
    } catch {
      warnings.push(`Plugin "${path.basename(folder)}": ${module}${extension} can't be parsed as JavaScript.`);
      return [];
    }
  }
  return [];
}

function packageColumns(manifest: Record<string, unknown> | undefined): RecordRow {
  if (manifest === undefined) return {};
  const names = ['name', 'version', 'description', 'main', 'license'];
  const { author, keywords } = manifest;
  const words = Array.isArray(keywords) ? JSON.stringify(keywords.filter((word) => typeof word === 'string')) : null;
  return {
    ...Object.fromEntries(names.map((name) => [`packageJson.${name}`, text(manifest[name]) ?? null])),
    'packageJson.author': text(author) ?? toPersonText(author),
    'packageJson.keywords': words,
    'packageJson.dependencies': toList(manifest.dependencies),
    'packageJson.devDependencies': toList(manifest.devDependencies),
    'packageJson.peerDependencies': toList(manifest.peerDependencies),
  };
}

/** Converts a map of versions by name to a JSON list; an absent map becomes an empty list. */
function toList(map: unknown): string {
  const entries = typeof map === 'object' && map !== null ? Object.entries(map as Record<string, unknown>) : [];
  return JSON.stringify(entries.map(([name, version]) => ({ name, version })));
}

/** Converts an author object of `package.json` to the short form `Name <email> (url)`. */
function toPersonText(author: unknown): string | null {
  if (typeof author !== 'object' || author === null) return null;
  const { name, email, url } = author as Record<string, unknown>;
  const parts = [text(name), text(email) && `<${String(email)}>`, text(url) && `(${String(url)})`];
  return parts.filter(Boolean).join(' ') || null;
}

/** Returns all options as columns; the store saves those that the schema declares. */
function optionColumns(options: PluginConfig['options']): RecordRow {
  const columns: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(options)) {
    if (typeof value === 'boolean') columns[`pluginOptions.${name}`] = Number(value);
    else if (typeof value === 'string') columns[`pluginOptions.${name}`] = value;
  }
  return columns;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

type ApiSide = 'browserAPIs' | 'nodeAPIs' | 'ssrAPIs';

/** For each side, the module in which a plugin exports its functions, and their known names. */
const PLUGIN_SIDES: Readonly<Record<ApiSide, { readonly module: string; readonly known: ReadonlySet<string> }>> = {
  browserAPIs: {
    module: 'gatsby-browser',
    known: new Set([
      'disableCorePrefetching',
      'onClientEntry',
      'onInitialClientRender',
      'onPostPrefetchPathname',
      'onPreRouteUpdate',
      'onPrefetchPathname',
      'onRouteUpdate',
      'onRouteUpdateDelayed',
      'onServiceWorkerActive',
      'onServiceWorkerInstalled',
      'onServiceWorkerRedundant',
      'onServiceWorkerUpdateFound',
      'onServiceWorkerUpdateReady',
      'registerServiceWorker',
      'replaceComponentRenderer',
      'replaceHydrateFunction',
      'shouldUpdateScroll',
      'wrapPageElement',
      'wrapRootElement',
    ]),
  },
  nodeAPIs: {
    module: 'gatsby-node',
    known: new Set([
      'createPages',
      'createPagesStatefully',
      'createResolvers',
      'createSchemaCustomization',
      'onCreateBabelConfig',
      'onCreateDevServer',
      'onCreateNode',
      'onCreatePage',
      'onCreateWebpackConfig',
      'onPostBootstrap',
      'onPostBuild',
      'onPreBootstrap',
      'onPreBuild',
      'onPreExtractQueries',
      'onPreInit',
      'preprocessSource',
      'resolvableExtensions',
      'setFieldsOnGraphQLNodeType',
      'sourceNodes',
    ]),
  },
  ssrAPIs: {
    module: 'gatsby-ssr',
    known: new Set(['onPreRenderHTML', 'onRenderBody', 'replaceRenderer', 'wrapPageElement', 'wrapRootElement']),
  },
};

const SIDES = Object.keys(PLUGIN_SIDES) as ApiSide[];
