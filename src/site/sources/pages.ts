import { hash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { PageConfig } from '../config/site-config.js';
import type { RecordRow } from './file-record.js';
import { PAGE_CREATOR, SITE_OWNER, toPluginId } from './plugins.js';

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
    internalComponentName: pagePath === '/' ? 'ComponentIndex' : `Component${pagePath}`,
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
