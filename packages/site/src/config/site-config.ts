import path from 'node:path';
import { AppError } from '@trellis/core/errors';

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
}

/** The rendering of fields with `@markdown`. */
export interface MarkdownConfig {
  /** Whether elements and attributes that could run scripts or change the page are removed. */
  readonly sanitize: boolean;
  /** Whether code in a known language is highlighted. */
  readonly highlight: boolean;
  /** The width at which images are shown, in CSS pixels. */
  readonly imageWidth: number;
}

export interface SiteMetadata {
  readonly author: string | null;
  readonly description: string | null;
  readonly title: string | null;
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
  siteMetadata?: { author?: string; description?: string; title?: string };
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
}

/** The name of the only source of a site without configured sources. */
export const DEFAULT_SOURCE_NAME = '__PROGRAMMATIC__';

/** The default of `queries`. */
export const STORED_QUERIES = 'queries/**/*.graphql';

/** Fills in the defaults and resolves paths against `directory`, the folder of the file. */
export function toSiteConfig(written: SiteConfigInput, directory: string): SiteConfig {
  const { siteMetadata = {}, sources = [], plugins = [], pages = [] } = written;
  return {
    siteMetadata: {
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
export function assertUniqueSources(sources: readonly { name: string }[], file: string): void {
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
