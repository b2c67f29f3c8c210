import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { listExports } from '../../src/config/gatsby-config.js';
import { readPlugins, toPluginId } from '../../src/config/plugins.js';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), 'trellis-plugins-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

async function install(name: string, files: Record<string, string>): Promise<string> {
  const folder = path.join(directory, 'node_modules', name);
  await mkdir(folder, { recursive: true });
  for (const [file, text] of Object.entries(files)) await writeFile(path.join(folder, file), text);
  return folder;
}

test.each([
  [
    'named exports',
    'export const onCreateNode = () => {}; export function createPages() {}',
    ['onCreateNode', 'createPages'],
  ],
  ['export lists', 'const a = 1; export { a as sourceNodes };', ['sourceNodes']],
  ['exports.x', 'exports.onCreateNode = async () => {};', ['onCreateNode']],
  ['chained assignments', 'exports.b = exports.a = void 0;', ['b', 'a']],
  ['module.exports.x', 'module.exports.createPages = f;', ['createPages']],
  [
    'module.exports = {}',
    'module.exports = { onPreInit() {}, "onPostBuild": f, ...rest };',
    ['onPreInit', 'onPostBuild'],
  ],
  ['defineProperty', 'Object.defineProperty(exports, "sourceNodes", { get() {} });', ['sourceNodes']],
  [
    'JSX and types',
    'export const wrapRootElement = ({ element }: Props) => <div>{element}</div>;',
    ['wrapRootElement'],
  ],
  ['no exports', 'const x = 1;', []],
])('listExports: reads %s without running the code', (_reason, code, names) => {
  expect(listExports(code)).toEqual(names);
});

test('readPlugins: a record has the package, exports and options of its plugin', async () => {
  const folder = await install('gatsby-plugin-manifest', {
    'package.json': JSON.stringify({
      name: 'gatsby-plugin-manifest',
      version: '2.4.1',
      author: { name: 'Ada', email: 'ada@example.org' },
      keywords: ['gatsby', 'pwa'],
      dependencies: { sharp: '^0.25.0' },
      exports: { '.': './index.js' },
    }),
    'gatsby-node.js': 'throw new Error("this file was run"); exports.onPostBootstrap = f; exports.helper = g;',
    'gatsby-ssr.js': 'export const onRenderBody = f;',
  });
  const plugin = { resolve: 'gatsby-plugin-manifest', options: { short_name: 'G', legacy: true, icons: [] } };
  const { rows, warnings } = await readPlugins([plugin], directory);
  expect(warnings).toEqual([]);
  expect(rows[0]).toMatchObject({
    id: toPluginId(plugin),
    name: 'gatsby-plugin-manifest',
    version: '2.4.1',
    resolve: folder,
    pluginFilepath: folder,
    nodeAPIs: '["onPostBootstrap"]',
    ssrAPIs: '["onRenderBody"]',
    browserAPIs: '[]',
    'packageJson.author': 'Ada <ada@example.org>',
    'packageJson.keywords': '["gatsby","pwa"]',
    'packageJson.dependencies': '[{"name":"sharp","version":"^0.25.0"}]',
    'packageJson.devDependencies': '[]',
    'pluginOptions.short_name': 'G',
    'pluginOptions.legacy': 1,
    'internal.type': 'SitePlugin',
    'internal.owner': 'internal-data-bridge',
  });
});

test('readPlugins: finds a plugin by its folder', async () => {
  const folder = await install('../plugins/own', { 'package.json': '{"name":"own"}' });
  const { rows } = await readPlugins([{ resolve: folder, options: {} }], directory);
  expect(rows[0]).toMatchObject({ name: 'own', resolve: folder });
});

test('readPlugins: a missing or broken plugin has a record and a warning', async () => {
  await install('broken', { 'package.json': '{', 'gatsby-node.js': 'exports.( = 1' });
  const { rows, warnings } = await readPlugins(
    [
      { resolve: 'absent', options: {} },
      { resolve: 'broken', options: {} },
    ],
    directory,
  );
  expect(rows.map(({ name }) => name)).toEqual(['absent', 'broken']);
  expect(warnings).toEqual([
    'Plugin "absent" is not installed in the site.',
    'Plugin "broken": gatsby-node.js can\'t be parsed as JavaScript.',
    'Plugin "broken": package.json can\'t be read.',
  ]);
});

test('readPlugins: plugins that are not installed have one warning', async () => {
  const plugins = ['b', 'a', 'b'].map((resolve, index) => ({ resolve, options: { index } }));
  const { rows, warnings } = await readPlugins(plugins, directory);
  expect(rows.map(({ name, version }) => [name, version])).toEqual([
    ['b', null],
    ['a', null],
    ['b', null],
  ]);
  expect(warnings).toEqual(['2 plugins are not installed in the site: "a", "b".']);
});
