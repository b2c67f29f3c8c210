import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { DatabaseSyncInstance } from '@photostructure/sqlite';
import { PAGE_CREATOR, toPluginId } from '@trellis/site/config/plugins';
import { readPages, writeSiteRecords } from '@trellis/site/config/site-records';
import { openRecordStore } from '@trellis/site/record-store';
import type { RecordTables } from '@trellis/site/records/record-schema';
import type { Site } from '@trellis/site/site';
import { records } from '../../../src/generated/site/records.js';
import { type Row, SiteFolder } from '../sources/site-folder.js';

let folder: SiteFolder;
beforeEach(() => {
  folder = new SiteFolder();
});
afterEach(() => folder.remove());

async function read<T>(from: (site: Site) => T): Promise<T> {
  const site = await folder.open();
  const value = from(site);
  site.close();
  return value;
}

const rows = (kind: string, columns: readonly string[]): Promise<Row[]> =>
  read(({ store }) => [...store.rows(kind, columns)]);

const configure = (config: object): void => folder.put('site.config.json', JSON.stringify(config));

test('site records: the site has the values of its configuration', async () => {
  configure({ siteMetadata: { title: 'T' }, host: 'example.org', port: 8000, pathPrefix: '/blog/', polyfill: false });
  const names = ['id', 'siteMetadata.title', 'siteMetadata.author', 'host', 'port', 'pathPrefix', 'polyfill'];
  expect(await rows('Site', names)).toEqual([
    {
      ...{ position: 1, id: 'Site', 'siteMetadata.title': 'T', 'siteMetadata.author': null },
      ...{ host: 'example.org', port: '8000', pathPrefix: '/blog', polyfill: 0 },
    },
  ]);
});

/** The record types of a project that adds the text `siteUrl` to the metadata. */
function withSiteUrl(): RecordTables {
  const own = { name: 'siteUrl', path: 'siteMetadata.siteUrl', column: 'siteMetadata.siteUrl' };
  const fields = records.Site.fields.map((field) => {
    if (field.kind !== 'object' || field.name !== 'siteMetadata') return field;
    return {
      ...field,
      fields: field.fields.flatMap((inner) => [inner, ...(inner.name === 'title' ? [{ ...inner, ...own }] : [])]),
    };
  });
  return { ...records, Site: { ...records.Site, fields: fields } };
}

test.each([
  ['a value', 'https://example.org', 'https://example.org', []],
  [
    'an invalid value',
    { live: true },
    null,
    ['The site\'s configuration: siteMetadata.siteUrl: expected text; received {"live":true}.'],
  ],
])(
  'site records: %s of a field that a project adds to the metadata is read',
  async (_reason, siteUrl, stored, said) => {
    configure({ siteMetadata: { title: 'T', siteUrl } });
    const warnings: string[] = [];
    const site = await folder.open({ tables: withSiteUrl(), onWarnings: (messages) => warnings.push(...messages) });
    const columns = ['siteMetadata.title', 'siteMetadata.siteUrl'];
    expect([...site.store.rows('Site', columns)]).toMatchObject([
      { 'siteMetadata.title': 'T', 'siteMetadata.siteUrl': stored },
    ]);
    expect(warnings).toEqual(said);
    site.close();
  },
);

test.each([
  [
    { tittle: 'T' },
    'siteMetadata.tittle has no field. Declare it in schema/: extend type SiteSiteMetadata { tittle: String }.',
  ],
  [
    { social: {}, siteUrl: 'https://example.org' },
    'siteMetadata.social, siteMetadata.siteUrl have no fields. Declare them in schema/, such as extend type SiteSiteMetadata { social: String }.',
  ],
])('site records: metadata without fields is reported: %j', async (siteMetadata, expected) => {
  configure({ siteMetadata });
  const warnings: string[] = [];
  const site = await folder.open({ onWarnings: (messages) => warnings.push(...messages) });
  site.close();
  expect(warnings).toEqual([`The site's configuration: ${expected}`]);
});

test('site records: the build time is the start of the process to the second', async () => {
  const [build] = await rows('SiteBuildMetadata', ['id', 'buildTime']);
  expect(build).toMatchObject({ id: 'SiteBuildMetadata' });
  expect(build!.buildTime).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/);
});

test('site records: a full disk leaves those of the last start', async () => {
  const store = openRecordStore({ file: path.join(folder.directory, 'records.db'), tables: records });
  const config = await read((site) => site.config);
  const write = (title: string) => {
    const named = { ...config, siteMetadata: { ...config.siteMetadata, title } };
    return writeSiteRecords(store, { tables: records, config: named, directory: folder.directory });
  };
  const readTitle = () => store.at('Site', ['siteMetadata.title'], 1)?.['siteMetadata.title'];
  try {
    expect(await write('Before')).toEqual([]);
    const { database } = Reflect.get(store, 'opened') as { readonly database: DatabaseSyncInstance };
    // SQLite allows at least the pages that it has, so this has the effect of a full disk.
    database.exec('PRAGMA max_page_count = 1');
    const long = 'x'.repeat(1_000_000);
    expect(await write(long)).toEqual(['The records of Site are those of the last start, as the disk is full.']);
    expect(readTitle()).toBe('Before');
    database.exec('PRAGMA max_page_count = 1000000');
    expect(await write(long)).toEqual([]);
    expect(readTitle()).toBe(long);
  } finally {
    store.close();
  }
});

test('site records: pages come from the configuration and src/pages, sorted by path', async () => {
  configure({ pages: [{ path: '/b/', component: 'src/b.js' }] });
  folder.put('src/pages/index.js');
  folder.put('src/pages/c.js');
  const columns = ['id', 'path', 'isCreatedByStatefulCreatePages'];
  expect((await rows('SitePage', columns)).map(({ id }) => id)).toEqual(['SitePage /', 'SitePage /b/', 'SitePage /c/']);
  folder.put('src/pages/a.js');
  rmSync(folder.path('src/pages/c.js'));
  expect(await rows('SitePage', columns)).toMatchObject([
    { position: 1, path: '/', isCreatedByStatefulCreatePages: 1 },
    { position: 2, path: '/a/' },
    { position: 3, path: '/b/', isCreatedByStatefulCreatePages: 0 },
  ]);
});

test('site records: a plugin has the name and version of its package and the options that the schema declares', async () => {
  folder.put('node_modules/some-plugin/package.json', '{"name": "some-plugin", "version": "1.2.3"}');
  configure({ plugins: [{ resolve: 'some-plugin', options: { name: 'x', legacy: true, other: 'y' } }, 'some-plugin'] });
  const names = ['name', 'version', 'pluginOptions.name', 'pluginOptions.legacy'];
  expect(await rows('SitePlugin', names)).toEqual([
    { position: 1, name: 'some-plugin', version: '1.2.3', 'pluginOptions.name': 'x', 'pluginOptions.legacy': 1 },
    { position: 2, name: 'some-plugin', version: '1.2.3', 'pluginOptions.name': null, 'pluginOptions.legacy': null },
  ]);
});

test('site records: a plugin listed twice with the same options is one record', async () => {
  configure({ plugins: ['a', 'a'] });
  expect(await rows('SitePlugin', ['name'])).toHaveLength(1);
});

test.each([
  ['text instead of a boolean', { legacy: 'yes' }, 'pluginOptions.legacy'],
  ['a boolean instead of text', { icon: true }, 'pluginOptions.icon'],
])('site records: an option that is %s is left out', async (_reason, options, column) => {
  configure({ plugins: [{ resolve: 'a', options }] });
  expect(await rows('SitePlugin', [column])).toEqual([{ position: 1, [column]: null }]);
});

test('site records: the page creator exists as long as src/pages does', async () => {
  folder.put('src/pages/index.js');
  const [plugin] = await rows('SitePlugin', ['id', 'name']);
  expect(plugin).toMatchObject({ name: 'gatsby-plugin-page-creator' });
  expect(await rows('SitePage', ['pluginCreatorId'])).toEqual([{ position: 1, pluginCreatorId: plugin!.id }]);
  rmSync(folder.path('src'), { recursive: true });
  expect(await rows('SitePlugin', ['id'])).toEqual([]);
  expect(await rows('SitePage', ['id'])).toEqual([]);
});

test('site records: nothing is written without a change', async () => {
  configure({ plugins: ['a'], pages: [{ path: '/', component: 'x' }], sources: [{ name: 's', path: 'sub' }] });
  folder.put('sub/a.md');
  await new Promise((resolve) => setTimeout(resolve, 2100));
  await read(() => undefined);
  expect(await read(({ store }) => store.generation)).toBe(0);
});

test('site records: warnings are reported', async () => {
  configure({ plugins: ['nowhere'] });
  const said: string[] = [];
  const site = await folder.open({ onWarnings: (messages) => said.push(...messages) });
  site.close();
  expect(said).toEqual(['Plugin "nowhere" is not installed in the site.']);
});

describe('readPages', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(path.join(os.tmpdir(), 'trellis-pages-'));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  async function writePages(...files: string[]): Promise<void> {
    for (const file of files) {
      const absolute = path.join(directory, 'src/pages', file);
      await mkdir(path.dirname(absolute), { recursive: true });
      await writeFile(absolute, '');
    }
  }

  test('returns no pages for a site without any', async () => {
    expect(await readPages([], directory)).toEqual([]);
  });

  test('each component in src/pages is a page, sorted by path', async () => {
    await writePages('index.js', '404.js', 'aboutUs.tsx', 'blog/index.jsx', 'blog/first-post.js');
    await writePages('_draft.js', 'template-post.js', 'types.d.ts', 'blog/index.test.js', '__tests__/x.js', 'notes.md');
    const rows = await readPages([], directory);
    expect(rows.map(({ path: page }) => page)).toEqual(['/', '/404/', '/aboutUs/', '/blog/', '/blog/first-post/']);
    expect(rows[2]).toMatchObject({
      id: 'SitePage /aboutUs/',
      component: path.join(directory, 'src/pages/aboutUs.tsx'),
      componentChunkName: 'component---src-pages-about-us-tsx',
      internalComponentName: 'ComponentAboutUs',
      isCreatedByStatefulCreatePages: 1,
      matchPath: null,
      pluginCreatorId: toPluginId(PAGE_CREATOR),
      'internal.description': toPluginId(PAGE_CREATOR),
      'internal.type': 'SitePage',
    });
    expect(rows[0]).toMatchObject({ internalComponentName: 'ComponentIndex' });
  });

  test('a configured page takes precedence over a component with the same path', async () => {
    await writePages('app.js');
    const component = path.join(directory, 'src/other.js');
    const rows = await readPages([{ path: '/app/', component, matchPath: '/app/*' }], directory);
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({
      component,
      matchPath: '/app/*',
      isCreatedByStatefulCreatePages: 0,
      pluginCreatorId: null,
    });
  });
});
