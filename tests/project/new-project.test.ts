/**
 * Follows the README of a new project, with packed packages: `init`, install, change the contract, see the compiler name
 * what is missing, fill it in, serve, and call it with the generated client.
 *
 * Packages from elsewhere come from the cache of npm. `TRELLIS_RUNTIMES` lists other versions of Node, separated by commas.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { packAll } from '../../scripts/pack.js';
import { eventually } from '../eventually.js';
import { readPage } from './add-a-service.js';
import { findBrokenLinks, followBlog, readFeed } from './blog.js';
import { followGatsby } from './gatsby.js';
import { followMove } from './moves.js';
import { waitForLine } from './wait-for-line.js';

const NODES = [process.execPath, ...(process.env.TRELLIS_RUNTIMES ?? '').split(',').filter((name) => name !== '')];
// The server rejects variables that it does not know.
delete process.env.TRELLIS_RUNTIMES;

let folder: string;
let app: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'trellis-new-'));
  app = path.join(folder, 'my-app');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Result {
  readonly exitCode: number;
  readonly output: string;
}

/** Runs a command in the project with a version of Node. */
function run(
  command: string,
  args: readonly string[],
  { node = process.execPath, cwd = app, env: more = {} } = {},
): Promise<Result> {
  const env = {
    ...process.env,
    ...more,
    PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH ?? ''}`,
    NODE_ENV: '',
  };
  return new Promise((resolve) => {
    execFile(command, args, { cwd, env, maxBuffer: 16 * 1024 ** 2 }, (error, stdout, stderr) => {
      resolve({ exitCode: error === null ? 0 : Number(error.code), output: stdout + stderr });
    });
  });
}

/** @returns the output. @throws Error with the output if the command fails. */
async function succeed(...command: Parameters<typeof run>): Promise<string> {
  const { exitCode, output } = await run(...command);
  if (exitCode === 0) return output;
  throw new Error(`${command[0]} ${command[1].join(' ')} failed:\n${output}`);
}

const bin = (name: string) => path.join(app, 'node_modules', '.bin', name);

async function change(file: string, from: string, to: string, project = app): Promise<void> {
  const text = await readFile(path.join(project, file), 'utf8');
  expect(text).toContain(from);
  await writeFile(
    path.join(project, file),
    text.replace(from, () => to),
  );
}

const ADD_GREETING = `  /{name}/copies:
    post:
      operationId: copyGreeting
      tags: [Greetings]
      summary: Repeat a greeting
      description: Returns a greeting several times.
      security: []
      parameters:
        - name: name
          in: path
          description: Whom to greet.
          required: true
          schema: { type: string, minLength: 1, maxLength: 50 }
          example: Ada
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              required: [times]
              properties: { times: { type: integer, minimum: 1, maximum: 9 } }
            example: { times: 2 }
      responses:
        '200':
          description: The greetings.
          content:
            application/json:
              schema: { type: array, items: { $ref: '#/components/schemas/Greeting' } }
              example: [{ text: 'Hello, Ada!' }, { text: 'Hello, Ada!' }]
        '400': { $ref: 'common.yaml#/components/responses/BadRequest' }
        '406': { $ref: 'common.yaml#/components/responses/NotAcceptable' }
        '413': { $ref: 'common.yaml#/components/responses/TooLarge' }
        '415': { $ref: 'common.yaml#/components/responses/UnsupportedMediaType' }
        '429': { $ref: 'common.yaml#/components/responses/RateLimited' }
        '500': { $ref: 'common.yaml#/components/responses/Internal' }
        '503': { $ref: 'common.yaml#/components/responses/Unavailable' }

components:
`;

const COPY_GREETING = `
  async copyGreeting({ params, body }) {
    return { status: 200, body: Array.from({ length: body.times }, () => ({ text: \`Hello, \${params.name}!\` })) };
  },
});`;

const COPY_SCRIPT = `import { createGreetingsClient } from '../src/generated/greetings/client.js';
const client = createGreetingsClient(\`\${process.argv[2]}/greetings\`);
const params = { path: { name: 'Ada' } };
const { data, response } = await client.POST('/{name}/copies', { params, body: { times: 2 } });
const refused = await client.POST('/{name}/copies', { params, body: { times: 10 } });
console.log(response.status, JSON.stringify(data), refused.response.status, refused.error?.code);
`;

test('a new project is installed from packed packages, changed, compiled, served and called', async () => {
  const archives = await packAll(path.join(folder, 'packages'));
  const init = [path.resolve('dist/cli.js'), 'init', app];
  expect(await succeed(process.execPath, init, { cwd: folder })).toContain('npm install');
  expect(await run(process.execPath, init, { cwd: folder })).toMatchObject({
    exitCode: 1,
    output: expect.stringContaining('has files') as string,
  });

  await useArchives(archives);
  await succeed('npm', ['install', '--offline', '--no-audit', '--no-fund']);

  const [valid, invalid] = ['operationId: getGreeting', 'operationId: 5'];
  await change('openapi/greetings.yaml', valid, invalid);
  const { exitCode, output } = await run(bin('trellis'), ['generate']);
  const [, guide = ''] = /What contracts may contain: (.+)\n/u.exec(output) ?? [];
  expect([exitCode, await readFile(path.join(app, guide), 'utf8')]).toEqual([
    1,
    expect.stringContaining('# What contracts may contain'),
  ]);
  await change('openapi/greetings.yaml', invalid, valid);
  const size = await succeed('du', ['-sm', 'node_modules']);
  expect(Number.parseInt(size, 10)).toBeLessThanOrEqual(150);

  await succeed('npm', ['test']);

  await change('openapi/greetings.yaml', '\ncomponents:\n', `\n${ADD_GREETING}`.replace('\n\n', '\n'));
  await succeed(bin('trellis'), ['generate']);
  const missing = await run(bin('tsc'), []);
  expect(missing.output).toMatch(/^src\/handlers\/greetings\/handlers\.ts\(\d+,\d+\).*copyGreeting/mu);
  await change('src/handlers/greetings/handlers.ts', '\n});', COPY_GREETING);
  await writeFile(path.join(app, 'scripts/copy.ts'), COPY_SCRIPT);

  const author = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
  await succeed('git', ['init', '--quiet', '--initial-branch', 'main']);
  await succeed('git', ['add', '--all']);
  await succeed('git', [...author, 'commit', '--quiet', '--message', 'Start']);
  await change('openapi/greetings.yaml', 'maximum: 9', 'maximum: 8');
  expect(await run(bin('trellis'), ['diff', 'main'])).toMatchObject({
    exitCode: 1,
    output: expect.stringMatching(
      /^openapi\/greetings\.yaml:\d+:\d+ breaking: [^]*\n {2}affects copyGreeting/u,
    ) as string,
  });
  expect(await run(bin('trellis'), ['diff', '--', '--output'])).toMatchObject({ exitCode: 2 });
  await change('openapi/greetings.yaml', 'maximum: 8', 'maximum: 9');
  expect(await succeed(bin('trellis'), ['diff', 'main', '--json'])).toContain('"changes": []');

  await change('openapi/greetings.yaml', 'type: integer', 'type: integr');
  const mistake = await run(bin('trellis'), ['generate']);
  expect(mistake).toMatchObject({
    exitCode: 1,
    output: expect.stringMatching(/^openapi\/greetings\.yaml:\d+:\d+ /u) as string,
  });
  await change('openapi/greetings.yaml', 'type: integr', 'type: integer');
});

test.each(NODES)('the project runs on %s', async (node) => {
  const server = spawn(node, [bin('trellis'), 'serve', '--port', '0'], {
    cwd: app,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const origin = await waitForLine(server, /ready at (\S+)/u);
    expect(await run(bin('jiti'), ['scripts/copy.ts', origin], { node })).toEqual({
      exitCode: 0,
      output: '200 [{"text":"Hello, Ada!"},{"text":"Hello, Ada!"}] 400 invalid_input\n',
    });
    const reference = await fetch(`${origin}/docs`);
    expect(await reference.text()).toContain('/greetings/openapi.json');
    const document = (await (await fetch(`${origin}/greetings/openapi.json`)).json()) as { info: object };
    expect(document.info).toMatchObject({ title: 'Greetings' });
    expect((await fetch(`${origin}/healthz`)).status).toBe(200);
  } finally {
    await stop(server);
  }
});

const SITE_SCRIPT = `import { createSiteClient } from '@trellis/client/site-client';
import { graphql } from '../src/generated/queries/queries.js';
const SHORT = graphql(\`query Short { allArticle(filter: { isShort: { eq: true } }) { nodes { title isShort } } }\`);
const { allArticle } = await createSiteClient(process.argv[2] ?? '').query(SHORT);
const titles: string[] = allArticle.nodes.map(({ title }) => title);
console.log(JSON.stringify(titles));
`;

const IS_SHORT = 'return (body?.match(/\\S+/gu)?.length ?? 0) <= 10;';

const FEED = {
  version: 'https://jsonfeed.org/version/1.1',
  title: 'News',
  items: [
    { id: '1', url: 'https://example.com/1', title: 'Roses arrived', date_published: '2026-05-04T09:00:00Z' },
    { id: '2', url: 'https://example.com/2', content_text: 'Untitled', tags: ['beans'] },
  ],
};

const SOURCES_QUERY = `{
  allNewsItem(sort: { fields: [published], order: [ASC] }) { nodes { title tags published(formatString: "D MMM YYYY") } }
  allProduct(filter: { price: { gt: 1 } }) { nodes { sku name } }
}`;

test('a project can have all services, and a site with kinds, computed fields and sources of its own', async () => {
  const project = path.join(folder, 'site-app');
  const at = { cwd: project };
  const init = [path.resolve('dist/cli.js'), 'init', project, '--with', 'dashboard,secrets,site'];
  await succeed(process.execPath, init, { cwd: folder });
  await symlink(path.join(app, 'node_modules'), path.join(project, 'node_modules'));

  const field = '  "Whether the text has at most ten words."\n  isShort: Boolean! @computed(needs: ["body"])\n}';
  await change('schema/article.graphql', '\n}', `\n${field}`, project);
  await succeed(bin('trellis'), ['generate'], at);
  const missing = await run(bin('tsc'), [], at);
  expect(missing.output).toMatch(/^src\/resolvers\/article\.ts\(\d+,\d+\).*isShort/mu);
  expect(await succeed(bin('trellis'), ['generate', '--stub'], at)).toContain('src/resolvers/article.ts');
  expect(await readdir(path.join(project, 'src/resolvers'))).toEqual(['article.ts', 'schema.ts']);
  await change(
    'src/resolvers/article.ts',
    "throw new Error('Article.isShort is not implemented yet.');",
    IS_SHORT,
    project,
  );
  await change('src/resolvers/article.ts', 'isShort: ()', 'isShort: ({ body })', project);
  await mkdir(path.join(project, 'scripts'), { recursive: true });
  await writeFile(path.join(project, 'scripts/short.ts'), SITE_SCRIPT);
  await addSources(project);

  const feed = createServer((_request, response) => void response.end(JSON.stringify(FEED)));
  await once(feed.listen(0, '127.0.0.1'), 'listening');
  const env = {
    NEWS_FEED: `http://127.0.0.1:${(feed.address() as AddressInfo).port}/feed.json`,
    SHOP_DATABASE: path.join(project, 'shop.db'),
  };
  // Generates, checks the types, and runs the tests of the new project.
  await succeed('npm', ['test'], { ...at, env });
  const server = spawn(process.execPath, [bin('trellis'), 'serve', '--port', '0'], {
    cwd: project,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const origin = await waitForLine(server, /ready at (\S+)/u);
    await tryArticles(origin);
    await tryRecordTypes(origin);
    expect(await succeed(bin('jiti'), ['scripts/short.ts', origin], at)).toBe('["Roses in June"]\n');
    await trySources(origin);
    const paths = [
      '/greetings/Ada',
      '/greetings/openapi.json',
      '/api/openapi.json',
      '/secrets/openapi.json',
      '/sign-in',
    ];
    const statuses = await Promise.all(paths.map(async (url) => (await fetch(origin + url)).status));
    expect(statuses).toEqual([200, 200, 200, 200, 200]);
  } finally {
    await stop(server);
    feed.close();
  }
  // It installs, generates, compiles and serves a whole project.
}, 400_000);

/** Follows docs/site-sources.md: adds the entries of a feed and the rows of a table. */
async function addSources(project: string): Promise<void> {
  for (const { file, text } of (await readPage('docs/site-sources.md')).files) {
    await mkdir(path.dirname(path.join(project, file)), { recursive: true });
    await writeFile(path.join(project, file), text);
  }
  const [entry = ''] = /^sources: \{\n.*?^\},\n/msu.exec(await readFile('docs/site-sources.md', 'utf8')) ?? [];
  await change('trellis.config.ts', "folder: 'content',\n", `folder: 'content',\n${entry}`, project);
  const shop = new DatabaseSync(path.join(project, 'shop.db'));
  shop.exec(`
    CREATE TABLE product (sku TEXT PRIMARY KEY, name TEXT, price REAL, changed TEXT, deleted INTEGER DEFAULT 0);
    INSERT INTO product VALUES ('a', 'Spade', 12.5, '2026-01-01', 0), ('b', 'Seeds', 0.9, '2026-01-02', 0);
  `);
  shop.close();
}

async function tryArticles(origin: string): Promise<void> {
  const query =
    '{ allArticle { nodes { title isShort } } allFile { totalCount } file(extension: { eq: "md" }) { publicURL } }';
  const response = await fetch(`${origin}/graphql?query=${encodeURIComponent(query)}`);
  expect(await response.json()).toEqual({
    data: {
      allArticle: {
        nodes: [
          { title: 'Beans need a trellis', isShort: false },
          { title: 'Roses in June', isShort: true },
        ],
      },
      allFile: { totalCount: 2 },
      file: { publicURL: expect.stringMatching(/^\/static\/.*\.md$/u) as string },
    },
  });
}

/** The pages list the record types of the project, and not those of the repository. */
async function tryRecordTypes(origin: string): Promise<void> {
  const types = (await (await fetch(`${origin}/site/record-types.json`)).json()) as readonly {
    readonly kind: string;
  }[];
  const kinds = types.map(({ kind }) => kind);
  expect(kinds).toEqual(expect.arrayContaining(['File', 'Article', 'NewsItem', 'Product']));
  expect(kinds).not.toContain('Recipe');
}

async function trySources(origin: string): Promise<void> {
  await eventually(async () => {
    const response = await fetch(`${origin}/graphql?query=${encodeURIComponent(SOURCES_QUERY)}`);
    expect(await response.json()).toEqual({
      data: {
        allNewsItem: {
          nodes: [
            { title: 'Roses arrived', tags: [], published: '4 May 2026' },
            { title: 'https://example.com/2', tags: ['beans'], published: null },
          ],
        },
        allProduct: { nodes: [{ sku: 'a', name: 'Spade' }] },
      },
    });
  });
}

test('docs/blog.md makes a blog, and its pages', async () => {
  const built = await followBlog({ folder, modules: path.join(app, 'node_modules') });
  const pages = (await readdir(built, { recursive: true })).filter((file) => file.endsWith('.html'));
  expect(pages.filter((file) => file.startsWith('posts'))).toHaveLength(30);
  expect(pages.filter((file) => file.startsWith('tags'))).toHaveLength(8);
  expect(pages.filter((file) => file.startsWith('page-')).sort()).toEqual(['page-2/index.html', 'page-3/index.html']);
  expect(await findBrokenLinks(built, pages)).toEqual([]);
  const read = (file: string) => readFile(path.join(built, file), 'utf8');
  const first = await read('index.html');
  expect(first.match(/<article>/gu)).toHaveLength(10);
  expect(first).toMatch(/srcset="\/static\/[^"]* 150w,[^"]* 1200w"/u);
  expect(first).toContain('<a href="https://example.com/old-grains">Old grains in new mills</a>');
  const post = await read('posts/three-days-in-may/index.html');
  expect(post).toMatch(/<picture><source type="image\/webp" srcset="\/static\/.*alt="The road above the valley"/u);
  expect(post).toMatch(/More in <a href="\/tags\/spring\/">Spring<\/a>[^]*<a href="\/posts\/chiffchaff\/">/u);
  const { title, items } = await readFeed(await read('feed.xml'));
  expect([title, items.length]).toEqual(['Salt and flour', 30]);
  expect(items[0]).toMatchObject({
    title: 'Half a year of notes',
    link: 'https://blog.example/posts/half-a-year/',
    content: expect.stringContaining('<p>Thirty notes in six months.') as string,
  });
});

test('docs/gatsby.md moves a site, and lists forms that the server rejects and accepts', async () => {
  const { results, rows } = await followGatsby({ folder, modules: path.join(app, 'node_modules') });
  const [list, page, picture, ...more] = results;
  expect(more).toEqual([]);
  expect(list?.data).toMatchObject({
    site: { siteMetadata: { title: 'Gatsby Starter Blog' } },
    allPost: {
      nodes: [
        { slug: 'new-beginnings', date: 'May 28, 2015' },
        { slug: 'my-second-post', title: 'My Second Post!', description: null },
        { slug: 'hello-world', content: { excerpt: expect.stringMatching(/^This is my first post/u) as string } },
      ],
    },
  });
  const html = expect.stringMatching(
    /<picture>.*<code class="language-js"><span class="token keyword">const</su,
  ) as string;
  expect(page?.data).toMatchObject({
    allPost: {
      edges: [
        { previous: null, next: { slug: 'my-second-post' } },
        { previous: { slug: 'new-beginnings' }, next: { slug: 'hello-world' } },
        { previous: { title: 'My Second Post!' }, node: { content: { html } }, next: null },
      ],
    },
  });
  expect(picture?.data).toMatchObject({
    file: { childImageProc: { fixed: { src: expect.stringMatching(/_w50_h50_.*profile-pic\.png$/u) as string } } },
  });
  expect(rows.length).toBeGreaterThan(25);
  const isRejected = ({ result }: (typeof rows)[number]['gatsby'][number]): boolean => result.errors !== undefined;
  const forms = (tried: (typeof rows)[number]['gatsby']) => tried.map(({ form }) => form);
  expect(rows.flatMap(({ gatsby }) => forms(gatsby.filter((one) => !isRejected(one))))).toEqual([]);
  expect(rows.flatMap(({ trellis }) => forms(trellis.filter(isRejected)))).toEqual([]);
});

test('docs/astro.md moves a site', async () => {
  const modules = path.join(app, 'node_modules');
  const [list, page, ...more] = await followMove('docs/astro.md', { folder: path.join(folder, 'astro'), modules });
  expect(more).toEqual([]);
  const src = expect.stringMatching(/^\/static\/.*_w720_h360_.*blog-placeholder-\d\.jpg$/u) as string;
  const heroImage = { childImageProc: { fluid: { src } } };
  expect(list?.data).toMatchObject({
    allPost: {
      nodes: [
        { slug: 'using-mdx', title: 'Using MDX', pubDate: 'Jun 1, 2024', heroImage },
        { slug: 'second-post', title: 'Second post', pubDate: 'Jul 15, 2022', heroImage: null },
        { slug: 'first-post', title: 'First post', pubDate: 'Jul 8, 2022', heroImage },
      ],
    },
  });
  const html = expect.stringMatching(/<p>Embedded <em>component<\/em> in MDX<\/p>.*<picture>/su) as string;
  const headings = [
    { depth: 2, id: 'example', value: 'Example' },
    { depth: 2, id: 'more-links', value: 'More Links' },
  ];
  expect(page?.data).toEqual({
    post: {
      ...{ title: 'Using MDX', description: 'About this blog', pubDate: 'Jun 1, 2024', updatedDate: null },
      content: { html, headings },
    },
  });
});

test('docs/add-a-service.md adds a service with storage', async () => {
  const { files, commands } = await readPage('docs/add-a-service.md');
  // The contract, and at most five files beside it.
  expect(files.length).toBeLessThanOrEqual(6);
  for (const { file, text } of files) {
    await mkdir(path.dirname(path.join(app, file)), { recursive: true });
    await writeFile(path.join(app, file), text);
  }
  expect(commands).toContain('npm test');
  for (const command of commands) {
    const [program = '', ...args] = command.split(' ');
    await succeed(program, args);
  }
});

/** The lock file has an empty package in place of a library that the generators import but do not use. */
const STAND_IN = {
  '@graphql-tools/relay-operation-optimizer': `file:${path.resolve('stand-ins/relay-operation-optimizer')}`,
};

/** The packages are not published, so a project has their archives; other packages have the versions of this repository. */
async function useArchives(archives: ReadonlyMap<string, string>): Promise<void> {
  const file = path.join(app, 'package.json');
  const manifest = JSON.parse(await readFile(file, 'utf8')) as {
    readonly name: string;
    readonly dependencies: object;
    readonly devDependencies: object;
  };
  const archived = Object.fromEntries([...archives].map(([name, archive]) => [name, `file:${archive}`]));
  const { '@trellis/codegen': codegen = '', '@trellis/dev': dev = '', 'trellis-client': _client, ...rest } = archived;
  expect(Object.keys({ ...manifest.dependencies, ...manifest.devDependencies })).toEqual(
    expect.arrayContaining(['trellis', '@trellis/dev']),
  );
  const devDependencies = {
    ...manifest.devDependencies,
    ...{ '@trellis/codegen': codegen, '@trellis/dev': dev, ...STAND_IN },
  };
  const dependencies = { dependencies: rest, devDependencies };
  await writeFile(file, JSON.stringify({ ...manifest, ...dependencies }));
  // With a lock file, npm asks no registry which versions there are.
  const lock = JSON.parse(await readFile('package-lock.json', 'utf8')) as { packages: Record<string, LockEntry> };
  const packages = Object.entries(lock.packages).filter(
    ([name, { link, resolved = '' }]) => name.startsWith('node_modules/') && !link && !resolved.startsWith('file:'),
  );
  const entries = packages.map(([name, { dev: _dev, devOptional: _optional, peer: _peer, ...entry }]) => [name, entry]);
  const root = { name: manifest.name, ...dependencies };
  await writeFile(
    path.join(app, 'package-lock.json'),
    JSON.stringify({
      lockfileVersion: 3,
      requires: true,
      packages: { '': root, ...(Object.fromEntries(entries) as object) },
    }),
  );
}

interface LockEntry {
  readonly link?: boolean;
  readonly resolved?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly peer?: boolean;
}

async function stop(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null) return;
  const ended = once(server, 'exit');
  server.kill();
  await ended;
}

test('docs/hugo.md moves a site', async () => {
  const modules = path.join(app, 'node_modules');
  const [list, page, ...more] = await followMove('docs/hugo.md', { folder: path.join(folder, 'hugo'), modules });
  expect(more).toEqual([]);
  expect(list?.data).toEqual({
    allPost: {
      nodes: [
        {
          ...{ slug: 'post-3', title: 'Post 3', date: 'March 15, 2023', tags: ['red', 'green', 'blue'] },
          content: { excerpt: 'A park' },
        },
        {
          ...{ slug: 'post-1', title: 'Post 1', date: 'January 15, 2023', tags: ['red'] },
          content: { excerpt: 'The beginning.' },
        },
      ],
      group: [
        { fieldValue: 'blue', totalCount: 1 },
        { fieldValue: 'green', totalCount: 1 },
        { fieldValue: 'red', totalCount: 2 },
      ],
    },
  });
  expect(page?.data).toEqual({
    post: {
      ...{ title: 'Post 3', date: 'March 15, 2023' },
      content: {
        html: expect.stringMatching(/<h2 id="a-park">.*<picture>/su) as string,
        tableOfContents: '<ul><li><a href="#a-park">A park</a></li></ul>',
        timeToRead: 1,
      },
    },
  });
});
