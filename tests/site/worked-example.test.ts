import { mkdtempSync, rmSync } from 'node:fs';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type RunningServer, startServer } from '../running-server.js';

/** The site that `npm start` serves. */
/** The number of the level in the log. */
const WARNING = 40;

const EXAMPLE = fileURLToPath(new URL('../../examples/site', import.meta.url));

async function ask<T>({ origin }: RunningServer, query: string): Promise<T> {
  const response = await fetch(`${origin}/graphql?query=${encodeURIComponent(query)}`);
  const { data, errors } = (await response.json()) as { data: T; errors?: unknown };
  if (errors !== undefined) throw new Error(JSON.stringify(errors));
  return data;
}

describe('example site', () => {
  let server: RunningServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server.stop());

  test('lists the recipes with a tag by date, with their covers', async () => {
    const query = `{
      allRecipe(filter: {tags: {eq: "summer"}}, sort: {fields: [cooked], order: [DESC]}) {
        totalCount
        nodes { title cooked(formatString: "D MMMM YYYY") tags cover { relativePath childImageProc { id } } }
      }
    }`;
    const { allRecipe } = await ask<{ allRecipe: { totalCount: number; nodes: object[] } }>(server, query);
    expect(allRecipe).toEqual({
      totalCount: 3,
      nodes: [
        { title: 'Pickled beans', cooked: '6 September 2026', tags: ['preserve', 'summer', 'vegan'], cover: null },
        {
          title: 'Roasted tomato soup',
          cooked: '17 August 2026',
          tags: ['soup', 'summer', 'vegan'],
          cover: { relativePath: 'images/tomato.png', childImageProc: { id: expect.any(String) as string } },
        },
        { title: 'Crème brûlée with lavender', cooked: '14 July 2025', tags: ['dessert', 'summer'], cover: null },
      ],
    });
  });

  test('groups recipes by tag', async () => {
    const query = '{ allRecipe { group(field: tags) { fieldValue totalCount } distinct(field: serves) } }';
    const { allRecipe } = await ask<{ allRecipe: { group: object[]; distinct: string[] } }>(server, query);
    expect(allRecipe.group).toContainEqual({ fieldValue: 'vegan', totalCount: 4 });
    expect(allRecipe.distinct).toEqual(['10', '12', '2', '4', '6', '8']);
  });

  test('finds a recipe by its cover and one by an ingredient', async () => {
    const query = `{
      byCover: recipe(cover: {relativePath: {eq: "images/sunflower.jpg"}}) { title }
      byIngredient: recipe(ingredients: {elemMatch: {name: {eq: "flour"}}}) { title ingredients { name amount } body }
    }`;
    expect(await ask(server, query)).toEqual({
      byCover: { title: 'Sunflower bread' },
      byIngredient: {
        title: 'Nettle pasta',
        ingredients: [
          { name: 'nettle tops', amount: 'a basketful' },
          { name: 'flour', amount: '300 g' },
        ],
        body: expect.stringContaining('Blanch the young tops') as string,
      },
    });
  });

  test('links a file with its recipe in both directions', async () => {
    const query = `{
      file(relativePath: {eq: "recipes/tomato-soup.md"}) { id children { ... on Recipe { title parent { id } } internal { type } } }
    }`;
    const { file } = await ask<{ file: { id: string; children: object[] } }>(server, query);
    expect(file.children).toEqual([
      { title: 'Roasted tomato soup', parent: { id: file.id }, internal: { type: 'Recipe' } },
    ]);
  });

  test('returns the values of its configuration', async () => {
    const query =
      '{ site { siteMetadata { title author } pathPrefix } allSitePage { nodes { path pluginCreatorId } } }';
    expect(await ask(server, query)).toEqual({
      site: { siteMetadata: { title: 'Trellis Garden', author: 'The gardeners' }, pathPrefix: '' },
      allSitePage: { nodes: ['/', '/about/', '/visit/'].map((page) => ({ path: page, pluginCreatorId: null })) },
    });
  });

  test('responds to a query in the form of Gatsby 5 with the form of Trellis', async () => {
    const query = '{ allRecipe(sort: {cooked: DESC}) { nodes { title } } }';
    const headers = { Accept: 'application/graphql-response+json' };
    const response = await fetch(`${server.origin}/graphql?query=${encodeURIComponent(query)}`, { headers });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      errors: [
        {
          message:
            'Field "cooked" is not defined by type "RecipeSortInput". Trellis has the form of Gatsby 4: sort: {fields: [cooked], order: [DESC]}.',
          locations: [{ line: 1, column: 20 }],
          extensions: { code: 'invalid_input' },
        },
      ],
    });
  });

  test('has no warnings', () => {
    expect(server.lines().filter(({ level }) => Number(level) >= WARNING)).toEqual([]);
  });
});

describe('custom site', () => {
  let folder: string;
  let server: RunningServer;
  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'trellis-own-'));
    await cp(path.join(EXAMPLE, 'recipes'), path.join(folder, 'content/recipes'), { recursive: true });
    await mkdir(path.join(folder, 'src/pages'), { recursive: true });
    await writeFile(path.join(folder, 'src/pages/index.js'), 'export default () => null;\n');
    const sources = [{ name: 'content', path: 'content', ignore: ['recipes/preserves'] }];
    const config = { pathPrefix: '/blog', port: 8000, dates: 'luxon', sources, plugins: ['nowhere'] };
    await writeFile(path.join(folder, 'site.config.json'), JSON.stringify(config));
    server = await startServer(['--site', folder]);
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  test('has records, links and dates according to its configuration', async () => {
    const query = `{
      site { pathPrefix port polyfill }
      allRecipe(sort: {fields: title}) { nodes { title cover { id } cooked(formatString: "dd LLL") } }
      allSitePage { nodes { path pluginCreator { name } } }
      allSitePlugin { nodes { name version } }
      file(name: {eq: "nettle-pasta"}) { sourceInstanceName relativePath internal { description } publicURL }
    }`;
    const data = await ask<{ file: { publicURL: string }; allRecipe: { nodes: object[] } }>(server, query);
    expect(data).toMatchObject({
      site: { pathPrefix: '/blog', port: '8000', polyfill: true },
      allSitePage: { nodes: [{ path: '/', pluginCreator: { name: 'gatsby-plugin-page-creator' } }] },
      allSitePlugin: { nodes: [{ name: 'nowhere', version: null }, { name: 'gatsby-plugin-page-creator' }] },
      file: {
        sourceInstanceName: 'content',
        relativePath: 'recipes/nettle-pasta.md',
        internal: { description: 'File "content/recipes/nettle-pasta.md"' },
      },
    });
    expect(data.allRecipe.nodes).toHaveLength(4);
    expect(data.allRecipe.nodes[1]).toEqual({ title: 'Nettle pasta', cover: null, cooked: '05 Apr' });
    expect(data.file.publicURL).toMatch(/^\/blog\/static\//);
    const copy = await fetch(server.origin + data.file.publicURL);
    expect(await copy.text()).toContain('title: Nettle pasta');
  });

  test('prints warnings for its owner', () => {
    const warnings = server.lines().filter(({ level }) => level === WARNING);
    expect(warnings.map(({ msg }) => msg)).toEqual(
      expect.arrayContaining([
        'Plugin "nowhere" is not installed in the site.',
        'content/recipes/nettle-pasta.md:6: Recipe.cover: expected the path of a File; received "../images/beds/meadow.webp".',
      ]),
    );
  });
});
