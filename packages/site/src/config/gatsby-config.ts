import type { SiteConfigInput } from './site-config.js';
import { parseModule, readExportedValue, type StaticValue, UNREADABLE } from './static-module.js';

/** The values of a `gatsby-config` that can be read without running it, and warnings about the others. */
export interface StaticConfig {
  readonly written: SiteConfigInput;
  /** One sentence each, for the terminal. */
  readonly warnings: readonly string[];
}

type Values = Readonly<Record<string, StaticValue>>;

const SOURCE_PLUGIN = 'gatsby-source-filesystem';

/**
 * Reads a `gatsby-config` as data: metadata, path prefix and plugins; each `gatsby-source-filesystem` is also a source.
 *
 * @param name The file's name, for the warnings.
 * @throws SyntaxError from the parser when the file is not JavaScript or TypeScript.
 */
export function readGatsbyConfig(code: string, name: string, directory: string): StaticConfig {
  const value = readExportedValue(parseModule(code), directory);
  const warnings: string[] = [];
  if (!isValues(value)) {
    return { written: {}, warnings: [`${name}: its export can't be read without running it; the file is ignored.`] };
  }
  const plugins = readPlugins(value.plugins, name, warnings);
  const written: SiteConfigInput = {
    siteMetadata: readStrings(value.siteMetadata, ['title', 'description', 'author']),
    plugins,
    sources: readSources(plugins, name, warnings),
    ...readStrings(value, ['host']),
  };
  const { pathPrefix } = readStrings(value, ['pathPrefix']);
  // Gatsby adds the leading slash too.
  if (pathPrefix !== undefined) written.pathPrefix = pathPrefix.replace(/^\/?/, '/');
  if (typeof value.polyfill === 'boolean') written.polyfill = value.polyfill;
  if (typeof value.port === 'number' || typeof value.port === 'string') written.port = value.port;
  return { written, warnings };
}

function readPlugins(value: StaticValue | undefined, name: string, warnings: string[]) {
  const plugins: { resolve: string; options: Record<string, unknown> }[] = [];
  for (const [index, item] of (Array.isArray(value) ? (value as readonly StaticValue[]) : []).entries()) {
    if (typeof item === 'string') plugins.push({ resolve: item, options: {} });
    else if (isValues(item) && typeof item.resolve === 'string') {
      plugins.push({ resolve: item.resolve, options: readOptions(item.options) });
    } else warnings.push(`${name}: plugins[${index}] is not a literal; it is ignored.`);
  }
  return plugins;
}

/** In Gatsby, several sources may share a name or a folder; here, a file is one record of the first of them. */
function readSources(plugins: ReturnType<typeof readPlugins>, name: string, warnings: string[]) {
  const sources = plugins.flatMap(({ resolve, options }, index) =>
    resolve === SOURCE_PLUGIN ? readSource(options, `${name}: plugins[${index}]`, warnings) : [],
  );
  return sources.filter((source, index) => {
    const first = sources.findIndex(({ path: folder }) => folder === source.path);
    if (first !== index) warnings.push(`${name}: two sources read ${source.path}; the second one is ignored.`);
    return first === index;
  });
}

function readSource(options: Record<string, unknown>, at: string, warnings: string[]) {
  const { name, path: folder, ignore } = options;
  if (typeof folder !== 'string') {
    warnings.push(`${at}: the source's path is not a literal; the source is ignored.`);
    return [];
  }
  const globs = Array.isArray(ignore) ? ignore.filter((glob) => typeof glob === 'string') : [];
  return [{ name: typeof name === 'string' ? name : '__PROGRAMMATIC__', path: folder, ignore: globs }];
}

function readOptions(value: StaticValue | undefined): Record<string, unknown> {
  return isValues(value) ? (withoutUnreadable(value) as Record<string, unknown>) : {};
}

function withoutUnreadable(value: StaticValue): unknown {
  if (Array.isArray(value))
    return (value as readonly StaticValue[]).filter((item) => item !== UNREADABLE).map(withoutUnreadable);
  if (!isValues(value)) return value;
  const known = Object.entries(value).filter(([, item]) => item !== UNREADABLE);
  return Object.fromEntries(known.map(([key, item]) => [key, withoutUnreadable(item)]));
}

function readStrings<Name extends string>(value: StaticValue | undefined, names: readonly Name[]) {
  const strings: Partial<Record<Name, string>> = {};
  if (!isValues(value)) return strings;
  for (const name of names) {
    const item = value[name];
    if (typeof item === 'string' && item !== '') strings[name] = item;
  }
  return strings;
}

function isValues(value: StaticValue | undefined): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
