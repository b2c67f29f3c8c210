import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { loadSiteConfig } from '../../src/config/site-config.js';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), 'trellis-config-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const write = (name: string, text: string) => writeFile(path.join(directory, name), text);

test('a site without a configuration has the defaults', async () => {
  const { config, file } = await loadSiteConfig(directory);
  expect(file).toBeUndefined();
  expect(config).toEqual({
    siteMetadata: { author: null, description: null, title: null },
    pathPrefix: '',
    host: null,
    port: null,
    polyfill: null,
    dates: 'auto',
    sources: [],
    plugins: [],
    pages: [],
    queries: 'queries/**/*.graphql',
    imageRecipes: 'any',
    dotfiles: 'exclude',
    allow: [],
    markdown: { sanitize: true, highlight: true, imageWidth: 800 },
    aliases: [],
  });
});

test.each([
  [
    'site.config.json',
    '{"pathPrefix": "/blog/", "sources": [{"name": "content", "path": "content", "ignore": ["**/*.tmp"]}]}',
  ],
  ['site.config.yaml', 'pathPrefix: /blog\nsources:\n  - name: content\n    path: content\n    ignore: ["**/*.tmp"]\n'],
  [
    'site.config.js',
    'export default { pathPrefix: "/blog", sources: [{ name: "content", path: "content", ignore: ["**/*.tmp"] }] };',
  ],
  [
    'site.config.cjs',
    'module.exports = { pathPrefix: "/blog", sources: [{ name: "content", path: "content", ignore: ["**/*.tmp"] }] };',
  ],
  [
    'site.config.ts',
    'const name: string = "content";\nexport default { pathPrefix: "/blog", sources: [{ name, path: name, ignore: ["**/*.tmp"] }] };',
  ],
])('%s is loaded', async (name, text) => {
  await write(name, text);
  const { config, file } = await loadSiteConfig(directory);
  expect(file).toBe(name);
  expect(config.pathPrefix).toBe('/blog');
  expect(config.sources).toEqual([{ name: 'content', path: path.join(directory, 'content'), ignore: ['**/*.tmp'] }]);
});

test.each([
  [
    'an unknown key',
    '{"source": []}',
    'site.config.json: the configuration: expected one of siteMetadata, pathPrefix, host, port, polyfill, dates, sources, plugins, pages, queries, dotfiles, allow, images, markdown, aliases; received "source".',
  ],
  ['a missing path', '{"sources": [{"name": "a"}]}', 'site.config.json: sources[0]: "path" is missing.'],
  [
    'a value of the wrong type',
    '{"siteMetadata": {"title": 5}}',
    'site.config.json: siteMetadata.title: expected string; received 5.',
  ],
  [
    'an unknown choice',
    '{"dates": "dayjs"}',
    'site.config.json: dates: expected one of auto, luxon, moment; received "dayjs".',
  ],
  [
    'a duplicate name',
    '{"sources": [{"name": "a", "path": "x"}, {"name": "a", "path": "y"}]}',
    'site.config.json: sources[1].name: the name "a" is already used by another source.',
  ],
  [
    'a prefix that is not a path',
    '{"pathPrefix": "https://example.org/x"}',
    'site.config.json: pathPrefix: expected a path that starts with a slash, such as "/blog"; received "https://example.org/x".',
  ],
  [
    'queries outside the folder',
    '{"queries": "../other/*.graphql"}',
    'site.config.json: queries: expected a glob within the site\'s folder, such as "queries/*.graphql"; received "../other/*.graphql".',
  ],
  [
    'an alias like the name of a folder',
    '{"aliases": {"assets": "assets"}}',
    'site.config.json: aliases: expected a name that begins with "@", "~" or "$", such as "@/assets"; received "assets".',
  ],
  ['malformed text', '{"sources": [', 'site.config.json:1:14'],
])('%s is rejected with its place', async (_reason, text, message) => {
  await write('site.config.json', text);
  const loading = loadSiteConfig(directory);
  await expect(loading).rejects.toMatchObject({ code: 'invalid_input' });
  await expect(loading).rejects.toThrow(message);
});

test('folders of aliases are relative to the file, and longer aliases come first', async () => {
  await write('site.config.yaml', 'aliases: { "~": ../src, "@/assets/": pictures }');
  const { config } = await loadSiteConfig(directory);
  expect(config.aliases).toEqual([
    { prefix: '@/assets', folder: path.join(directory, 'pictures') },
    { prefix: '~', folder: path.join(directory, '../src') },
  ]);
});

test('two configurations are rejected', async () => {
  await write('site.config.json', '{}');
  await write('site.config.yaml', '');
  await expect(loadSiteConfig(directory)).rejects.toThrow(
    'Found several site configurations: site.config.json and site.config.yaml. Keep only one.',
  );
});

test('a gatsby-config is read without running it', async () => {
  await write(
    'gatsby-config.js',
    `const path = require('path');
     const title = 'Garden';
     throw new Error('this file was run');
     module.exports = {
       siteMetadata: { title, author: \`\${title} team\`, keywords: load() },
       pathPrefix: process.env.PREFIX || '/g',
       plugins: [
         'gatsby-plugin-sharp',
         { resolve: 'gatsby-source-filesystem', options: { name: 'content', path: \`\${__dirname}/content\`, ignore: ['**/x'] } },
         { resolve: 'gatsby-source-filesystem', options: { name: 'more', path: path.join(__dirname, 'more') } },
         { resolve: 'gatsby-plugin-manifest', options: { short_name: 'G', icon: pick() } },
         wild(),
       ],
     };`,
  );
  const { config, warnings } = await loadSiteConfig(directory);
  expect(config.siteMetadata).toEqual({ title: 'Garden', author: 'Garden team', description: null });
  expect(config.pathPrefix).toBe('/g');
  expect(config.sources).toEqual([
    { name: 'content', path: path.join(directory, 'content'), ignore: ['**/x'] },
    { name: 'more', path: path.join(directory, 'more'), ignore: [] },
  ]);
  expect(config.plugins.map(({ resolve }) => resolve)).toEqual([
    'gatsby-plugin-sharp',
    'gatsby-source-filesystem',
    'gatsby-source-filesystem',
    'gatsby-plugin-manifest',
  ]);
  expect(config.plugins[3]?.options).toEqual({ short_name: 'G' });
  expect(warnings).toEqual([
    'gatsby-config.js: plugins[4] is not a literal; it is ignored.',
    'gatsby-config.js: siteMetadata.keywords is not a literal; it is ignored.',
  ]);
});

test('a gatsby-config may share names and folders of sources and omit the slash of the prefix', async () => {
  const source = (name: string, folder: string) =>
    `{ resolve: 'gatsby-source-filesystem', options: { name: '${name}', path: \`\${__dirname}/${folder}\` } }`;
  const plugins = [source('same', 'a'), source('same', 'b'), source('other', 'a')].join(', ');
  await write('gatsby-config.js', `module.exports = { pathPrefix: 'blog', plugins: [${plugins}] };`);
  const { config, warnings } = await loadSiteConfig(directory);
  expect(config.pathPrefix).toBe('/blog');
  expect(config.sources.map(({ name, path: folder }) => [name, path.basename(folder)])).toEqual([
    ['same', 'a'],
    ['same', 'b'],
  ]);
  expect(warnings).toEqual([
    `gatsby-config.js: two sources read ${path.join(directory, 'a')}; the second one is ignored.`,
  ]);
});

test('a gatsby-config may have metadata of its own', async () => {
  const own = `siteUrl: 'https://example.org', author: { name: 'Ada' }, social: { twitter: 'ada', feed: find() }`;
  await write('gatsby-config.js', `module.exports = { siteMetadata: { title: 'T', description: '', ${own} } };`);
  const { config, warnings } = await loadSiteConfig(directory);
  expect(config.siteMetadata).toEqual({
    title: 'T',
    author: null,
    description: null,
    siteUrl: 'https://example.org',
    social: { twitter: 'ada' },
  });
  expect(warnings).toEqual(['gatsby-config.js: siteMetadata.author is not text in quotes; it is ignored.']);
});

test('a gatsby-config may leave out plugins that are off', async () => {
  const source = "{ resolve: 'gatsby-source-filesystem', options: { name: 'blog', path: 'blog' } }";
  await write(
    'gatsby-config.ts',
    `export default { plugins: [null, ${source}, isOn && 'b'].filter(Boolean) as string[] };`,
  );
  const { config, warnings } = await loadSiteConfig(directory);
  expect(config.sources.map(({ name }) => name)).toEqual(['blog']);
  expect(warnings).toEqual(['gatsby-config.ts: plugins[1] is not a literal; it is ignored.']);
});

test('plugins and metadata of a gatsby-config that depend on running it are reported', async () => {
  await write('gatsby-config.js', 'module.exports = { siteMetadata: require("./meta"), plugins: list() };');
  const { config, warnings } = await loadSiteConfig(directory);
  expect(config).toMatchObject({ siteMetadata: { title: null }, plugins: [], sources: [] });
  expect(warnings).toEqual([
    'gatsby-config.js: plugins is not a literal; it is ignored, with the sources in it.',
    'gatsby-config.js: siteMetadata is not a literal; it is ignored.',
  ]);
});

test('a gatsby-config in TypeScript is read too', async () => {
  await write(
    'gatsby-config.ts',
    `import type { GatsbyConfig } from 'gatsby';
     const config: GatsbyConfig = { siteMetadata: { title: 'T' }, plugins: ['a'] } satisfies GatsbyConfig;
     export default config;`,
  );
  const { config } = await loadSiteConfig(directory);
  expect(config.siteMetadata.title).toBe('T');
  expect(config.plugins).toEqual([{ resolve: 'a', options: {} }]);
});
