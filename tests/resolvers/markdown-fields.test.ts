import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { AppError } from '@trellis/core/errors';
import { OperationBudget } from '@trellis/server/graphql/budget';
import { createFormatDate } from '@trellis/site/query/dates';
import { openSite, type Site } from '@trellis/site/site';
import { graphql } from 'graphql';
import { records } from '../../src/generated/site/records.js';
import { createSiteContext } from '../../src/resolvers/context.js';
import { ALLOW_ALL } from '../../src/resolvers/stored-arguments.js';
import { openMarkdown } from '../../src/site-data/markdown.js';
import type { ImageService, MarkdownService } from '../../src/site-data/service.js';
import { openImageService } from '../../src/site-data/start-site.js';
import { buildSiteSchema } from './site-schema.js';

const schema = buildSiteSchema();
const LIMITS = { values: 1e6, workMs: 10_000, timeoutMs: 60_000 };

const FRONT = (title: string): string => `---\ntitle: ${title}\ntags: []\n---\n\n`;

const LINKS = `${FRONT('Links')}# Links

A [file](<../data/a b.txt#top>), a [folder](../data), the [web](https://example.org) and a [page](/about/).

![A flower](../images/flower.jpg "In bloom") ![A mark](../images/mark.svg)

Not [here](./none.txt) or [outside](../../secret.txt).
Pages: [one](long), [two](./long/#top) [too](long.html) [below](../long/?a#b), [three](../data/index).
Accents: [file](../data/Größe.txt), [page](../data/Größe), [none](Maß%20ü.txt).
<img src="gone.png" alt="Gone" onerror="alert(1)">

One

\`\`\`js
const a = 1;

const b = 2;
\`\`\`

- Two

  \`\`\`
  c
  \`\`\`

Three \`inline\`
`;

/** A name in the form of macOS. */
const DECOMPOSED = 'Größe'.normalize('NFD');

let folder: string;
let site: Site;
let imaging: ImageService;
let markdown: MarkdownService;
const warnings: string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'markdown-fields-'));
  const directory = path.join(folder, 'site');
  for (const name of ['recipes', 'images', 'data']) await mkdir(path.join(directory, name), { recursive: true });
  const write = (name: string, text: string): Promise<void> => writeFile(path.join(directory, name), text);
  await cp('examples/site/images/sunflower.jpg', path.join(directory, 'images/flower.jpg'));
  await cp('examples/site/images/trellis-mark.svg', path.join(directory, 'images/mark.svg'));
  await writeFile(path.join(folder, 'secret.txt'), 'secret');
  await write('data/a b.txt', 'data');
  await write(`data/${DECOMPOSED}.txt`, 'data');
  await write(`data/${DECOMPOSED}.md`, 'page');
  await write('recipes/links.md', LINKS);
  await write(
    'recipes/long.md',
    `${FRONT('Long')}${'One two three four five. '.repeat(120)}\n\n${'More words. '.repeat(40)}`,
  );
  await write('recipes/none.md', FRONT('None'));
  await write('recipes/more.md', `${FRONT('More')}A *[text][1]*.\n\n<!--more-->\n\nThe rest.\n\n[1]: /a\n`);
  const stateDirectory = path.join(folder, 'state');
  site = await openSite({ directory, stateDirectory, tables: records });
  imaging = openImageService(site, { state: stateDirectory, imagesQuota: 1e9, imagePixels: 2 ** 27 }, {});
  const warn = (line: string): void => void warnings.push(line);
  markdown = openMarkdown(site, { imaging, directory, cacheDirectory: stateDirectory, warn });
});

afterAll(async () => {
  await markdown.close();
  await imaging.images.close();
  site.close();
  await rm(folder, { recursive: true });
});

async function ask(
  source: string,
  texts = markdown,
): Promise<{ data: Record<string, unknown>; errors?: { message: string }[] }> {
  const contextValue = createSiteContext(
    { records: site.store, formatDate: createFormatDate(), imagePolicy: ALLOW_ALL, markdown: texts, ...imaging },
    new OperationBudget(LIMITS),
  );
  return JSON.parse(JSON.stringify(await graphql({ schema, source, contextValue }))) as Awaited<ReturnType<typeof ask>>;
}

async function contentOf(title: string, selection: string): Promise<Record<string, never>> {
  const { data, errors } = await ask(`{ recipe(title: {eq: "${title}"}) { content { ${selection} } } }`);
  if (errors) throw new Error(errors[0]?.message);
  return (data.recipe as { content: Record<string, never> }).content;
}

describe('html', () => {
  test('links to public copies of files, and leaves other links', async () => {
    const { html } = await contentOf('Links', 'html');
    expect(html).toMatch(/<a href="\/static\/[\da-f]{32}\/a%20b\.txt#top">file<\/a>/u);
    expect(html).toContain('<a href="../data">folder</a>');
    expect(html).toContain('<a href="https://example.org">web</a>');
    expect(html).toContain('<a href="/about/">page</a>');
    expect(html).toContain('<a href="../../secret.txt">outside</a>');
  });

  test('shows images in several widths, whose links this site issued', async () => {
    const { html } = (await contentOf('Links', 'html')) as unknown as { html: string };
    const [picture = ''] = /<picture>.*?<\/picture>/u.exec(html) ?? [];
    expect(picture).toMatch(
      /^<picture><source type="image\/webp" srcset="[^"]+" sizes="\(max-width: 400px\) 100vw, 400px"><img /u,
    );
    expect(picture).toContain('alt="A flower" title="In bloom"');
    expect(picture).toContain('width="400" height="600" loading="lazy" decoding="async"');
    const links = [...picture.matchAll(/\/static\/[^" ]+/gu)].map(([link]) => link.slice('/static'.length));
    expect(links).toHaveLength(5);
    for (const link of links) expect(imaging.images.parseLink(link)).toMatchObject({ name: 'flower' });
    expect(html).toMatch(/<img alt="A mark" src="\/static\/[\da-f]{32}\/mark\.svg">/u);
  });

  test('links to files whose names have decomposed accents', async () => {
    const { html } = await contentOf('Links', 'html');
    expect(html).toMatch(/<a href="\/static\/[\da-f]{32}\/Gro%CC%88%C3%9Fe\.txt">file<\/a>/u);
  });

  test('warns once of each link that leads to no file, with the line', async () => {
    await contentOf('Links', 'html excerpt(format: HTML, length: 500)');
    expect(warnings).toEqual([
      'recipes/links.md:12: the link "./none.txt" leads to no file of the site.',
      'recipes/links.md:12: the link "../../secret.txt" leads to no file of the site.',
      'recipes/links.md:13: the link "../data/index" leads to no file of the site.',
      'recipes/links.md:14: the link "Maß ü.txt" leads to no file of the site.',
      'recipes/links.md:15: the image "gone.png" leads to no file of the site.',
    ]);
  });

  test('leaves links to pages as they are', async () => {
    expect((await contentOf('Links', 'html')).html).toContain(
      '<a href="long">one</a>, <a href="./long/#top">two</a> <a href="long.html">too</a> <a href="../long/?a#b">below</a>',
    );
  });

  test('removes scripts', async () => {
    expect((await contentOf('Links', 'html')).html).toContain('<img alt="Gone" src="gone.png">');
  });
});

test('an excerpt ends at the comment for its end', async () => {
  const fields = 'excerpt html: excerpt(format: HTML) markdown: excerpt(format: MARKDOWN) short: excerpt(length: 3)';
  expect(await contentOf('More', fields)).toEqual({
    excerpt: 'A text.',
    html: '<p>A <em><a href="/a">text</a></em>.</p>',
    markdown: 'A *[text](/a)*.\n',
    short: 'A…',
  });
  expect((await contentOf('More', 'plainText')).plainText).toBe('A text.\n\nThe rest.');
});

test('the other fields describe the text', async () => {
  const content = await contentOf(
    'Long',
    'excerpt(length: 10) timeToRead wordCount { words paragraphs } headings { value }',
  );
  expect(content).toEqual({
    excerpt: 'One two…',
    timeToRead: 3,
    wordCount: { words: 680, paragraphs: 2 },
    headings: [],
  });
  const { excerpt, plainText } = await contentOf('Links', 'excerpt(length: 1000) plainText');
  expect(excerpt).toMatch(/ One Two Three inline$/u);
  expect(plainText).toMatch(/\n\nOne\n\nconst a = 1;\n\nconst b = 2;\n\nTwo\n\nc\n\nThree inline$/u);
  expect(await contentOf('Links', 'headings(depth: 1) { value id } tableOfContents')).toEqual({
    headings: [{ value: 'Links', id: 'links' }],
    tableOfContents: '<ul><li><a href="#links">Links</a></li></ul>',
  });
});

test('a filter fails while texts are unavailable, and works later', async () => {
  const query = '{ allRecipe(filter: {content: {wordCount: {words: {gt: 600}}}}) { nodes { title } } }';
  const busy = { ...markdown, render: () => Promise.reject(new AppError('unavailable', 'Busy.')) };
  expect((await ask(query, busy)).errors).toEqual([expect.objectContaining({ message: 'Busy.' })]);
  expect((await ask(query)).data).toEqual({ allRecipe: { nodes: [{ title: 'Long' }] } });
});

test('filters, sorts and groups use the size of the text', async () => {
  const { data, errors } = await ask(`{
    long: allRecipe(filter: {content: {timeToRead: {gt: 1}}}) { nodes { title } }
    found: allRecipe(filter: {content: {plainText: {glob: "*more words*"}}}) { totalCount }
    sorted: allRecipe(sort: {fields: [content___wordCount___words], order: [DESC]}) { nodes { title } }
    groups: allRecipe { group(field: content___timeToRead) { fieldValue totalCount } }
  }`);
  expect(errors).toBeUndefined();
  expect(data).toEqual({
    long: { nodes: [{ title: 'Long' }] },
    found: { totalCount: 0 },
    sorted: { nodes: [{ title: 'Long' }, { title: 'Links' }, { title: 'More' }, { title: 'None' }] },
    groups: {
      group: [
        { fieldValue: '1', totalCount: 3 },
        { fieldValue: '3', totalCount: 1 },
      ],
    },
  });
});

test.each([
  ['excerpt(length: 0)', 'Expected length to be from 1 to 10000; received 0.'],
  ['headings(depth: 7) { id }', 'Expected depth to be from 1 to 6; received 7.'],
  ['tableOfContents(maxDepth: -1)', 'Expected maxDepth to be from 1 to 6; received -1.'],
])('%s is refused', async (selection, message) => {
  await expect(contentOf('Long', selection)).rejects.toThrow(message);
});

describe('search', () => {
  test('returns the score and a snippet of each edge, the best match first', async () => {
    const { data, errors } = await ask(
      '{ allRecipe(search: "flow* OR nowhere") { totalCount } found: allRecipe(search: "flow* bloom") { edges { score snippet(words: 5) node { title } } } }',
    );
    expect(errors).toBeUndefined();
    expect(data).toEqual({
      allRecipe: { totalCount: 0 },
      found: {
        edges: [
          {
            score: expect.any(Number) as number,
            snippet: expect.stringContaining('<mark>flower</mark>') as string,
            node: { title: 'Links' },
          },
        ],
      },
    });
  });

  test('is null in edges without a search, and refuses a long text', async () => {
    const { data } = await ask('{ allRecipe(limit: 1) { edges { score snippet } } }');
    expect(data).toEqual({ allRecipe: { edges: [{ score: null, snippet: null }] } });
    const { errors } = await ask(`{ allRecipe(search: "${'a'.repeat(1001)}") { totalCount } }`);
    expect(errors?.[0]?.message).toBe('Expected a search of at most 1000 characters; received 1001.');
  });
});
