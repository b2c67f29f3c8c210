import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { AppError } from '@trellis/core/errors';
import { describeErrorCode, getErrorCode } from '../sources/entries.js';

/** The private entries that a site shows; none by default. */
export interface ExposureConfig {
  /** Whether the site includes names that start with a dot. */
  readonly dotfiles: 'exclude' | 'include';
  /** Globs on the path below a source; matches belong to the site although their names are private. */
  readonly allow: readonly string[];
}

/** The configuration of a site with its defaults filled in. All paths are absolute. */
export interface SiteConfig extends ExposureConfig {
  readonly siteMetadata: SiteMetadata;
  /** Either `''` or a path with a leading slash and no trailing slash: `/blog`. */
  readonly pathPrefix: string;
  readonly host: string | null;
  readonly port: number | string | null;
  readonly polyfill: boolean | null;
  /** The token set of `formatString`; `auto` decides by the tokens of each string. */
  readonly dates: 'auto' | 'luxon' | 'moment';
  readonly sources: readonly SourceConfig[];
  readonly plugins: readonly PluginConfig[];
  readonly pages: readonly PageConfig[];
  /** A glob below the site's folder that matches its stored queries. */
  readonly queries: string;
  /** The allowed arguments of image fields; `stored` allows only those of the stored queries. */
  readonly imageRecipes: 'any' | 'stored';
  readonly markdown: MarkdownConfig;
  /** The folders that paths in content name by a prefix, the longest prefix first. */
  readonly aliases: readonly PathAlias[];
}

/** A name at the beginning of paths, such as `~` in `~/images/a.png`, and the absolute path of its folder. */
export interface PathAlias {
  readonly prefix: string;
  readonly folder: string;
}

/** The rendering of fields with `@markdown`. */
interface MarkdownConfig {
  /** Whether elements and attributes that could run scripts or change the page are removed. */
  readonly sanitize: boolean;
  /** Whether code in a known language is highlighted. */
  readonly highlight: boolean;
  /** The width at which images are shown, in CSS pixels. */
  readonly imageWidth: number;
}

interface SiteMetadata {
  readonly author: string | null;
  readonly description: string | null;
  readonly title: string | null;
  /** The values of the fields that the project adds to `SiteSiteMetadata`. Others cause a warning. */
  readonly [name: string]: unknown;
}

/** A folder whose files become records. */
export interface SourceConfig {
  readonly name: string;
  readonly path: string;
  /** Globs on the path below the source; a match is ignored together with everything below it. */
  readonly ignore: readonly string[];
}

export interface PluginConfig {
  /** A package name or the absolute path of a folder. */
  readonly resolve: string;
  readonly options: Readonly<Record<string, unknown>>;
}

export interface PageConfig {
  readonly path: string;
  readonly component: string;
  readonly matchPath: string | null;
}

/** The contents of `site.config.*`. Every property is optional. */
export interface SiteConfigInput {
  $schema?: string;
  siteMetadata?: { author?: string; description?: string; title?: string; [name: string]: unknown };
  pathPrefix?: string;
  host?: string;
  port?: number | string;
  polyfill?: boolean;
  dates?: 'auto' | 'luxon' | 'moment';
  sources?: { name: string; path: string; ignore?: string[] }[];
  plugins?: (string | { resolve: string; options?: Record<string, unknown> })[];
  pages?: { path: string; component: string; matchPath?: string }[];
  queries?: string;
  dotfiles?: 'exclude' | 'include';
  allow?: string[];
  images?: { recipes?: 'any' | 'stored' };
  markdown?: { sanitize?: boolean; highlight?: boolean; imageWidth?: number };
  aliases?: Record<string, string>;
}

/** The name of the only source of a site without configured sources. */
export const DEFAULT_SOURCE_NAME = '__PROGRAMMATIC__';

/** The default of `queries`. */
export const STORED_QUERIES = 'queries/**/*.graphql';

/** Fills in the defaults and resolves paths against `directory`, the folder of the file. */
function toSiteConfig(written: SiteConfigInput, directory: string): SiteConfig {
  const { siteMetadata = {}, sources = [], plugins = [], pages = [] } = written;
  return {
    siteMetadata: {
      ...siteMetadata,
      author: siteMetadata.author ?? null,
      description: siteMetadata.description ?? null,
      title: siteMetadata.title ?? null,
    },
    pathPrefix: (written.pathPrefix ?? '').replace(/\/+$/, ''),
    host: written.host ?? null,
    port: written.port ?? null,
    polyfill: written.polyfill ?? null,
    dates: written.dates ?? 'auto',
    sources: sources.map(({ name, path: folder, ignore = [] }) => ({
      name,
      path: path.resolve(directory, folder),
      ignore,
    })),
    plugins: plugins.map((plugin) => toPlugin(plugin, directory)),
    pages: pages.map((page) => ({
      path: page.path,
      component: path.resolve(directory, page.component),
      matchPath: page.matchPath ?? null,
    })),
    queries: written.queries ?? STORED_QUERIES,
    dotfiles: written.dotfiles ?? 'exclude',
    allow: written.allow ?? [],
    imageRecipes: written.images?.recipes ?? 'any',
    markdown: { sanitize: true, highlight: true, imageWidth: 800, ...written.markdown },
    aliases: Object.entries(written.aliases ?? {})
      .map(([prefix, folder]) => ({ prefix: prefix.replace(/\/+$/, ''), folder: path.resolve(directory, folder) }))
      .sort((one, other) => other.prefix.length - one.prefix.length),
  };
}

function toPlugin(plugin: string | { resolve: string; options?: Record<string, unknown> }, directory: string) {
  const { resolve, options = {} } = typeof plugin === 'string' ? { resolve: plugin } : plugin;
  return { resolve: resolve.startsWith('.') ? path.resolve(directory, resolve) : resolve, options };
}

/**
 * Checks that the names of sources are unique.
 *
 * @throws AppError `invalid_input` for a name that two sources have.
 */
function assertUniqueSources(sources: readonly { name: string }[], file: string): void {
  const seen = new Set<string>();
  for (const [index, { name }] of sources.entries()) {
    if (seen.has(name)) {
      throw new AppError(
        'invalid_input',
        `${file}: sources[${index}].name: the name "${name}" is already used by another source.`,
      );
    }
    seen.add(name);
  }
}

interface LoadedSiteConfig {
  readonly config: SiteConfig;
  /** The file's name, or `undefined` when the site has none. */
  readonly file: string | undefined;
  readonly warnings: readonly string[];
}

const OWN_FILE = /^site\.config\.(json|yaml|yml|js|mjs|cjs|ts|mts)$/;
const GATSBY_FILE = /^gatsby-config\.(js|mjs|cjs|ts)$/;

/** A hand-written configuration has a few kilobytes; a larger file under this name is something else. */
const MAX_BYTES = 1024 * 1024;

/**
 * Reads the site's configuration from `site.config.*`, otherwise from the literals of `gatsby-config.*`, otherwise uses
 * the defaults. A `site.config.js` or `.ts` is run, because the owner of the site wrote it for that purpose; a
 * `gatsby-config.*` is never run.
 *
 * @throws AppError `invalid_input` with the file and the place when there are two files or the file is invalid.
 */
export async function loadSiteConfig(directory: string): Promise<LoadedSiteConfig> {
  const names = (await listFolder(directory)).sort();
  const own = names.filter((name) => OWN_FILE.test(name));
  if (own.length > 1) {
    throw new AppError('invalid_input', `Found several site configurations: ${own.join(' and ')}. Keep only one.`);
  }
  const file = own[0] ?? names.find((name) => GATSBY_FILE.test(name));
  if (file === undefined) return { config: toSiteConfig({}, directory), file, warnings: [] };
  // Loaded on demand: the validator takes 200 ms to load, and a site without a configuration does not need it.
  const { validateSiteConfig } = await import('./validate-site-config.js');
  if (own.length === 1) {
    const written = await readOwnFile(path.join(directory, file), file);
    const config = toSiteConfig(validateSiteConfig(written, file), directory);
    assertUniqueSources(config.sources, file);
    return { config, file, warnings: [] };
  }
  const { written, warnings } = await readStatically(path.join(directory, file), file, directory);
  return { config: toSiteConfig(validateSiteConfig(written, file), directory), file, warnings };
}

async function listFolder(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (cause) {
    // The message omits the path, as API callers may see it; the error at startup adds the path.
    throw new AppError('unprocessable', `The site's folder ${describeErrorCode(getErrorCode(cause))}.`, { cause });
  }
}

async function readOwnFile(absolutePath: string, name: string): Promise<unknown> {
  if (/\.(json|ya?ml)$/.test(name)) return parseData(await readBounded(absolutePath, name), name);
  const { createJiti } = await import('jiti');
  try {
    return await createJiti(import.meta.url, { moduleCache: false }).import(absolutePath, { default: true });
  } catch (error) {
    throw new AppError('invalid_input', `${name}: the module can't be run: ${firstLine(error)}`, {
      cause: error,
    });
  }
}

/** Parses JSON as YAML, its superset, so that errors in both have a line and column. */
async function parseData(text: string, name: string): Promise<unknown> {
  const { parseDocument } = await import('yaml');
  const document = parseDocument(text, { prettyErrors: true, strict: true, uniqueKeys: true });
  const [error] = document.errors;
  if (error === undefined) return (document.toJS() as unknown) ?? {};
  const { line, col } = error.linePos?.[0] ?? { line: 1, col: 1 };
  throw new AppError('invalid_input', `${name}:${line}:${col}: ${firstLine(error)}`, { cause: error });
}

async function readStatically(absolutePath: string, name: string, directory: string) {
  const code = await readBounded(absolutePath, name);
  const { readGatsbyConfig } = await import('./gatsby-config.js');
  try {
    return readGatsbyConfig(code, name, directory);
  } catch (error) {
    throw new AppError('invalid_input', `${name}: not valid JavaScript or TypeScript: ${firstLine(error)}`, {
      cause: error,
    });
  }
}

async function readBounded(absolutePath: string, name: string): Promise<string> {
  const text = await readFile(absolutePath, 'utf8');
  if (text.length > MAX_BYTES) {
    throw new AppError('invalid_input', `${name}: expected at most ${MAX_BYTES} characters; received ${text.length}.`);
  }
  return text;
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';
}
