/** Follows docs/blog.md in a project whose packages are installed elsewhere. */
import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { importFromTool, installTool } from '../../tools/install.js';
import { eventually } from '../eventually.js';
import { type PageFile, readPage } from './add-a-service.js';
import { followSteps, type RunOptions, runCommand, whileServed, writeProjectFile } from './run-project.js';

interface BlogOptions {
  /** The folder in which the page begins. */
  readonly folder: string;
  /** The installed packages. */
  readonly modules: string;
}

const PAGE = 'docs/blog.md';

/** Writes the files of the page, runs its commands, and tries its queries. Returns the folder of the built pages. */
export async function followBlog({ folder, modules }: BlogOptions): Promise<string> {
  const { steps, queries } = await readPage(PAGE);
  const news = await pickNews();
  const feed = await serveFeed();
  const project = path.join(folder, 'my-blog');
  const env: NodeJS.ProcessEnv = { ...process.env, NODE_ENV: '' };
  const cli = path.join(modules, '.bin/trellis');
  const own: Readonly<Record<string, (cwd: string) => Promise<unknown>>> = {
    'cp -r ../trellis/examples/blog/content .': (cwd) =>
      runCommand('cp', ['-r', path.resolve('examples/blog/content'), '.'], { cwd, env }),
    'export NEWS_FEED=https://example.com/feed.json': async () => {
      env.NEWS_FEED = feed.url;
      await addNews(project, news);
    },
    'npx trellis serve': (cwd) => tryQueries(queries, { cli, cwd, env }),
    'npx @11ty/eleventy': (cwd) => {
      installTool('tools/eleventy');
      const eleventy = path.resolve('tools/eleventy/node_modules/@11ty/eleventy/cmd.cjs');
      return runCommand(process.execPath, [eleventy], { cwd, env });
    },
  };
  try {
    await followSteps(steps, { folder, name: 'my-blog', modules, env, own });
  } finally {
    feed.close();
  }
  return path.join(project, '_site');
}

/** Returns the two files of the section that the page refers to. */
async function pickNews(): Promise<readonly PageFile[]> {
  const { files } = await readPage('docs/site-sources.md');
  return files.slice(0, 2);
}

async function addNews(project: string, files: readonly PageFile[]): Promise<void> {
  for (const { file, text } of files) await writeProjectFile(path.join(project, file), text);
  const [entry = ''] = /^sources: \{.*\},$/mu.exec(await readFile(PAGE, 'utf8')) ?? [];
  const config = path.join(project, 'trellis.config.ts');
  const before = await readFile(config, 'utf8');
  const after = before.replace("folder: 'content',", (folder) => `${folder}\n    ${entry}`);
  expect(after).toContain('./src/sources/news.js');
  await writeFile(config, after);
}

async function serveFeed(): Promise<{ readonly url: string; close(): void }> {
  const bytes = await readFile('examples/blog/feed.json');
  const server = createServer((_request, response) => void response.end(bytes));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}/feed.json`, close };
}

async function tryQueries(queries: readonly string[], { cli, ...options }: RunOptions & { readonly cli: string }) {
  await whileServed(cli, options, async (ask) => {
    const [post, tag, search, ...more] = await Promise.all(queries.map(ask));
    expect([post, tag, search]).toEqual(EXPECTED);
    expect(more).toEqual([]);
    await eventually(async () => {
      const { data } = await ask('{ allNewsItem(sort: { fields: [published] }) { nodes { title } } }');
      expect(data?.allNewsItem).toMatchObject({ nodes: [{ title: 'Plans for a box for swifts' }, {}, {}] });
    });
  });
}

const slugs = (...names: string[]): object =>
  expect.arrayContaining(names.map((slug) => expect.objectContaining({ slug }) as object)) as object;

const EXPECTED = [
  {
    data: {
      post: {
        title: 'How to patch a tube',
        date: '15 January 2026',
        author: { name: 'Mara Brandt', posts: slugs('bottom-bracket', 'patching-a-tube') },
        content: {
          html: expect.stringMatching(/<ol>\s*<li>Find the hole under water\.<\/li>/u) as string,
          timeToRead: 1,
          headings: [{ value: 'The steps' }],
        },
        tags: [
          { title: 'Cycling', posts: slugs('gravel', 'headwind', 'patching-a-tube') },
          { title: 'Repair', posts: slugs('bench', 'patching-a-tube', 'sharpening') },
        ],
      },
    },
  },
  {
    data: {
      tag: { title: 'Sea', about: 'Tides and cold water' },
      allPost: {
        totalCount: 5,
        nodes: [
          { slug: 'half-a-year', title: 'Half a year of notes' },
          { slug: 'low-water', title: 'Low water at five' },
          { slug: 'headwind', title: 'Headwind both ways' },
          { slug: 'first-swim', title: 'The first swim' },
          { slug: 'tide-tables', title: 'Reading a tide table' },
        ],
      },
    },
  },
  {
    data: {
      allPost: {
        totalCount: 2,
        edges: [
          {
            snippet: expect.stringContaining('<mark>tide</mark>') as string,
            node: { slug: 'tide-tables', title: 'Reading a tide table' },
          },
          {
            snippet: expect.stringContaining('<mark>tide</mark>') as string,
            node: { slug: 'low-water', title: 'Low water at five' },
          },
        ],
      },
    },
  },
];

interface Feed {
  readonly title?: string;
  readonly items: readonly Readonly<Record<'content' | 'link' | 'pubDate' | 'title', string>>[];
}

/** Reads the feed as a feed reader does. */
export async function readFeed(text: string): Promise<Feed> {
  type Parser = new () => { parseString(text: string): Promise<Feed> };
  const { default: Parser } = (await importFromTool('tools/eleventy', 'rss-parser')) as { default: Parser };
  return new Parser().parseString(text);
}

/** Returns the links of built pages that lead to no file of the folder. */
export async function findBrokenLinks(folder: string, pages: readonly string[]): Promise<readonly string[]> {
  const texts = await Promise.all(pages.map((page) => readFile(path.join(folder, page), 'utf8')));
  const links = new Set(texts.flatMap((text) => text.match(/(?<=["\s])\/[^"\s<>]*(?=["\s])/gu) ?? []));
  const checked = await Promise.all(
    [...links].map(async (link) => {
      const file = path.join(folder, decodeURIComponent(link), link.endsWith('/') ? 'index.html' : '');
      return (await stat(file).catch(() => undefined)) ? [] : [link];
    }),
  );
  return checked.flat();
}
