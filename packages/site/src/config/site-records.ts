import { hash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import type { ScalarCodecs } from '@trellis/core/record-types';
import { FAULT_TEXTS, findStorageFault } from '@trellis/core/storage';
import type { RecordStore } from '../record-store.js';
import { type ColumnType, listTableColumns, type RecordTables } from '../records/record-schema.js';
import { validateRecord } from '../sources/content/validate-record.js';
import type { RecordRow } from '../sources/file-records.js';
import { PAGE_CREATOR, readPlugins, SITE_OWNER, toPluginId } from './plugins.js';
import type { PageConfig, SiteConfig } from './site-config.js';

interface SiteRecordsOptions {
  readonly tables: RecordTables;
  /** The codecs of the scalars of the application, which read the metadata. */
  readonly codecs?: ScalarCodecs;
  readonly config: SiteConfig;
  /** The site's folder. */
  readonly directory: string;
}

/**
 * Writes the records of a site's configuration: the site, this run, its pages and plugins. Writes only differing
 * records and removes obsolete ones. Returns warnings, one sentence each.
 */
export async function writeSiteRecords(
  store: RecordStore,
  { tables, codecs = {}, config, directory }: SiteRecordsOptions,
): Promise<readonly string[]> {
  const pages = await readPages(config.pages, directory);
  const hasFolderPages = pages.some(({ pluginCreatorId }) => pluginCreatorId === toPluginId(PAGE_CREATOR));
  const plugins = await readPlugins(config.plugins, directory);
  // The server provides this plugin, so the site is not warned if it is not installed.
  const own = hasFolderPages ? await readPlugins([PAGE_CREATOR], directory) : { rows: [] };
  const metadata = readMetadata(config, tables, codecs);
  const records = {
    Site: [siteRow(config, metadata.columns)],
    SiteBuildMetadata: [buildRow()],
    SitePage: pages,
    SitePlugin: [...new Map([...plugins.rows, ...own.rows].map((row) => [row.id, row])).values()],
  };
  const warnings = [...metadata.warnings, ...plugins.warnings];
  for (const [kind, rows] of Object.entries(records)) {
    const table = tables[kind];
    if (table === undefined) continue;
    const types = new Map(listTableColumns(table).map(({ name, type }) => [name, type]));
    const fault = tryToReplace(
      store,
      kind,
      rows.map((row) => onlyColumns(row, types)),
    );
    if (fault !== undefined) warnings.push(`The records of ${kind} are those of the last start, as ${fault}.`);
  }
  return warnings;
}

/**
 * Replaces all records of a type. A full disk leaves those of the last start, so that a site whose files have not changed
 * can be served meanwhile.
 *
 * @returns the reason in that case.
 */
function tryToReplace(store: RecordStore, kind: string, rows: readonly RecordRow[]): string | undefined {
  try {
    replaceRecords(store, kind, rows);
    return undefined;
  } catch (error) {
    if (findStorageFault(error) !== 'full' || store.at(kind, ['id'], 1) === undefined) throw error;
    return FAULT_TEXTS.full;
  }
}

function siteRow({ pathPrefix, host, port, polyfill }: SiteConfig, metadata: RecordRow): RecordRow {
  return described('Site', {
    ...metadata,
    pathPrefix,
    host,
    port: port === null ? null : String(port),
    polyfill: Number(polyfill ?? true),
  });
}

interface Metadata {
  readonly columns: RecordRow;
  /** One sentence each, for the terminal. */
  readonly warnings: readonly string[];
}

/** Validates the metadata of the site against the fields of their type, to which a project may add its own. */
function readMetadata({ siteMetadata }: SiteConfig, { Site }: RecordTables, codecs: ScalarCodecs): Metadata {
  const fields = Site?.fields.filter(({ name }) => name === 'siteMetadata') ?? [];
  const entry = { values: { siteMetadata }, body: undefined, textOnly: false };
  const { row, misfits } = validateRecord(fields, entry, { codecs, toLinkKey: () => undefined });
  const known = fields.flatMap((field) => (field.kind === 'object' ? field.fields.map(({ name }) => name) : []));
  const unknown = Object.keys(siteMetadata).filter((key) => !known.includes(key));
  const messages = [...misfits.map(({ message }) => message), ...describeUnknown(unknown)];
  return { columns: row ?? {}, warnings: messages.map((message) => `The site's configuration: ${message}`) };
}

/** Describes the metadata that no query can select, such as a misspelt title. */
function describeUnknown(names: readonly string[]): readonly string[] {
  const [first] = names;
  if (first === undefined) return [];
  const list = names.map((name) => `siteMetadata.${name}`).join(', ');
  const form = `extend type SiteSiteMetadata { ${first}: String }`;
  return names.length === 1
    ? [`${list} has no field. Declare it in schema/: ${form}.`]
    : [`${list} have no fields. Declare them in schema/, such as ${form}.`];
}

/** The time of the run is the start of the process, to the second. */
function buildRow(): RecordRow {
  const buildTime = new Date(Math.floor(performance.timeOrigin / 1000) * 1000).toISOString();
  return described('SiteBuildMetadata', { buildTime });
}

function described(kind: string, columns: RecordRow): RecordRow {
  const contentDigest = hash('md5', JSON.stringify(columns));
  const internal = { 'internal.type': kind, 'internal.owner': SITE_OWNER, 'internal.contentDigest': contentDigest };
  return { id: kind, ...columns, ...internal };
}

/** Removes values that the schema does not declare or declares with a different type, such as options of plugins. */
function onlyColumns(row: RecordRow, types: ReadonlyMap<string, ColumnType>): RecordRow {
  const isDeclared = ([name, value]: readonly [string, unknown]): boolean => {
    const type = types.get(name);
    return type !== undefined && (value === null || (type === 'TEXT') === (typeof value === 'string'));
  };
  return Object.fromEntries(Object.entries(row).filter(isDeclared));
}

/** Replaces all records of a type by these, in this order. */
function replaceRecords(store: RecordStore, kind: string, rows: readonly RecordRow[]): void {
  const known = new Map([...store.rows(kind, ['id', 'internal.contentDigest'])].map((row) => [String(row.id), row]));
  const gone = new Set(known.keys());
  const writes = rows.flatMap((row, index) => {
    const id = String(row.id);
    gone.delete(id);
    const stored = known.get(id);
    const isSame = stored?.position === index + 1 && stored['internal.contentDigest'] === row['internal.contentDigest'];
    return isSame ? [] : [{ row, position: index + 1 }];
  });
  if (gone.size === 0 && writes.length === 0) return;
  store.write((writer) => {
    for (const id of gone) writer.remove(kind, id);
    for (const { row, position } of writes) writer.put(kind, row, position);
  });
}

/** The folder, below the site's folder, in which each component is a page. */
const PAGES_FOLDER = path.join('src', 'pages');

const COMPONENT = /\.(jsx?|mjs|tsx?)$/;
const NO_PAGE = /(^|\/)([._]|__tests__\/|template-)|\.d\.ts$|\.(spec|test)\.\w+$/;

interface Page extends PageConfig {
  readonly fromFolder: boolean;
}

/**
 * Returns the pages of a site, sorted by path: the configured ones and one for each component in `src/pages`. The path
 * of `about.js` is `/about/`, that of `index.js` is its folder. Configured pages take precedence.
 */
export async function readPages(configured: readonly PageConfig[], directory: string): Promise<RecordRow[]> {
  const components = await listComponents(path.join(directory, PAGES_FOLDER));
  const pages = new Map<string, Page>();
  for (const file of components) {
    const component = path.join(directory, PAGES_FOLDER, file);
    pages.set(toPagePath(file), { path: toPagePath(file), component, matchPath: null, fromFolder: true });
  }
  for (const page of configured) pages.set(page.path, { ...page, fromFolder: false });
  const sorted = [...pages.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  return sorted.map((page) => toRow(page, directory));
}

async function listComponents(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  const below = files.map((file) => path.relative(folder, file).split(path.sep).join('/'));
  return below.filter((file) => COMPONENT.test(file) && !NO_PAGE.test(file)).sort();
}

function toPagePath(file: string): string {
  const { dir, name } = path.posix.parse(file);
  return path.posix.join('/', dir, name === 'index' ? '' : name, '/');
}

function toRow({ path: pagePath, component, matchPath, fromFolder }: Page, directory: string): RecordRow {
  const columns: RecordRow = {
    path: pagePath,
    component,
    componentPath: component,
    componentChunkName: `component---${toKebabCase(path.relative(directory, component))}`,
    internalComponentName: `Component${pagePath === '/' ? 'Index' : toPascalCase(pagePath)}`,
    matchPath,
    isCreatedByStatefulCreatePages: Number(fromFolder),
    pluginCreatorId: fromFolder ? toPluginId(PAGE_CREATOR) : null,
  };
  return {
    ...columns,
    id: `SitePage ${pagePath}`,
    'internal.type': 'SitePage',
    'internal.owner': SITE_OWNER,
    'internal.description': fromFolder ? toPluginId(PAGE_CREATOR) : "The site's own configuration",
    'internal.contentDigest': hash('md5', JSON.stringify(columns)),
  };
}

/**
 * Converts text to lower-case words and numbers joined by dashes: `src-pages-about-us-js` for `src/pages/aboutUs.js`.
 */
function toKebabCase(text: string): string {
  const words = text.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+/g) ?? [];
  return words.join('-').toLowerCase();
}

/** Converts a path to capitalized words without separators or accents: `AboutUs` for `/about-us/`. */
function toPascalCase(text: string): string {
  const plain = text.normalize('NFD').replace(/[\p{M}'’]/gu, '');
  const words = plain.match(/\p{Lu}?[\p{Ll}\p{Lo}]+|\p{Lu}+(?!\p{Ll})|\d+/gu) ?? [];
  return words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1).toLowerCase()).join('');
}
