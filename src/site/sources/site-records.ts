import { hash } from 'node:crypto';
import { performance } from 'node:perf_hooks';

import type { SiteConfig } from '../config/site-config.js';
import { listTableColumns } from '../records/record-schema.js';
import type { ColumnType } from '../records/record-schema.js';
import type { RecordTables } from '../records/record-schema.js';
import type { RecordStore } from '../record-store.js';
import type { RecordRow } from './file-record.js';
import { readPages } from './pages.js';
import { PAGE_CREATOR, readPlugins, SITE_OWNER, toPluginId } from './plugins.js';

export interface SiteRecordsOptions {
  readonly tables: RecordTables;
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
  { tables, config, directory }: SiteRecordsOptions,
): Promise<readonly string[]> {
  const pages = await readPages(config.pages, directory);
  const hasFolderPages = pages.some(({ pluginCreatorId }) => pluginCreatorId === toPluginId(PAGE_CREATOR));
  const plugins = await readPlugins(config.plugins, directory);
  // The server provides this plugin, so the site is not warned if it is not installed.
  const own = hasFolderPages ? await readPlugins([PAGE_CREATOR], directory) : { rows: [] };
  const records = {
    Site: [siteRow(config)],
    SiteBuildMetadata: [buildRow()],
    SitePage: pages,
    SitePlugin: [...new Map([...plugins.rows, ...own.rows].map((row) => [row.id, row])).values()],
  };
  for (const [kind, rows] of Object.entries(records)) {
    const table = tables[kind];
    if (table === undefined) continue;
    const types = new Map(listTableColumns(table).map(({ name, type }) => [name, type]));
    replaceRecords(
      store,
      kind,
      rows.map((row) => onlyColumns(row, types)),
    );
  }
  return plugins.warnings;
}

function siteRow({ siteMetadata, pathPrefix, host, port, polyfill }: SiteConfig): RecordRow {
  const { author, description, title } = siteMetadata;
  return described('Site', {
    'siteMetadata.author': author,
    'siteMetadata.description': description,
    'siteMetadata.title': title,
    pathPrefix,
    host,
    port: port === null ? null : String(port),
    polyfill: Number(polyfill ?? true),
  });
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
