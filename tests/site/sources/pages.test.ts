import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { readPages } from '../../../src/site/sources/pages.js';
import { PAGE_CREATOR, toPluginId } from '../../../src/site/sources/plugins.js';

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

test('readPages: returns no pages for a site without any', async () => {
  expect(await readPages([], directory)).toEqual([]);
});

test('readPages: each component in src/pages is a page, sorted by path', async () => {
  await writePages('index.js', '404.js', 'aboutUs.tsx', 'blog/index.jsx', 'blog/first-post.js');
  await writePages('_draft.js', 'template-post.js', 'types.d.ts', 'blog/index.test.js', '__tests__/x.js', 'notes.md');
  const rows = await readPages([], directory);
  expect(rows.map(({ path: page }) => page)).toEqual(['/', '/404/', '/aboutUs/', '/blog/', '/blog/first-post/']);
  expect(rows[2]).toMatchObject({
    id: 'SitePage /aboutUs/',
    component: path.join(directory, 'src/pages/aboutUs.tsx'),
    componentChunkName: 'component---src-pages-about-us-tsx',
    internalComponentName: 'Component/aboutUs/',
    isCreatedByStatefulCreatePages: 1,
    matchPath: null,
    pluginCreatorId: toPluginId(PAGE_CREATOR),
    'internal.description': toPluginId(PAGE_CREATOR),
    'internal.type': 'SitePage',
  });
  expect(rows[0]).toMatchObject({ internalComponentName: 'ComponentIndex' });
});

test('readPages: a configured page takes precedence over a component with the same path', async () => {
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
