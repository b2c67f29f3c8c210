import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { promisify } from 'node:util';
import { DatabaseSync } from '@photostructure/sqlite';
import sharp from 'sharp';
import { scene } from '../../packages/images/tests/image-folder.js';
import { exportSite } from '../../src/commands/export.js';
import { loadConfig } from '../../src/config/config.js';
import { installTool } from '../../tools/install.js';
import { readPage } from '../project/add-a-service.js';
import { collect, runCli } from '../running-server.js';

let folder: string;
let site: string;
let output: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'trellis-export-'));
  site = path.join(folder, 'site');
  output = path.join(folder, 'pages/exported');
  await write('pictures/a.jpg', await scene(600, 400).jpeg().toBuffer());
  await write("pictures/it's (a) 50%.png", await scene(300, 200).png().toBuffer());
  await write('queries/pictures.graphql', PICTURES);
});
afterEach(() => rm(folder, { recursive: true }));

const PICTURES = `query ($skip: Int = 0) {
  allFile(filter: { extension: { in: ["jpg", "png"] } }, sort: { fields: [name] }, limit: 1, skip: $skip) {
    nodes { name publicURL childImageProc { resize(width: 30) { src } fixed(width: 40) { srcSet } } }
  }
}`;

async function write(name: string, content: string | Buffer, root = site): Promise<void> {
  await mkdir(path.dirname(path.join(root, name)), { recursive: true });
  await writeFile(path.join(root, name), content);
}

/** Exports the site without a terminal, and returns the exit code and the output. */
async function run() {
  const terminal = new PassThrough().setEncoding('utf8');
  const said: string[] = [];
  const code = await exportSite({
    config: await loadConfig({ flags: { site, state: path.join(folder, 'state') }, env: {} }),
    terminal: terminal as unknown as NodeJS.WriteStream,
    quiet: false,
    print: (line) => void said.push(line),
    signal: new AbortController().signal,
    output,
  });
  return { code, said: said.join('\n').replace(/, in .*/u, ''), failures: String(terminal.read() ?? '') };
}

async function list(): Promise<string[]> {
  const entries = await readdir(output, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(output, path.join(entry.parentPath, entry.name)))
    .sort();
}

const readJson = async (file: string): Promise<unknown> => JSON.parse(await readFile(path.join(output, file), 'utf8'));

/** Returns the links of a response. */
const linksOf = (text: string): string[] => text.match(/\/static\/[^"\s\\]+/gu) ?? [];

describe('an export', () => {
  test('has the response of each page, and every file that they link to, at the path of its link', async () => {
    await expect(run()).resolves.toEqual({
      code: 0,
      said: '12 files exported: 12 written, 0 unchanged, 0 deleted',
      failures: '',
    });
    const files = await list();
    expect(files.filter((file) => !file.startsWith('static/'))).toEqual([
      'data/pictures.json',
      'data/pictures.page-2.json',
      'export.json',
    ]);
    const pages = await Promise.all(files.slice(0, 2).map((file) => readFile(path.join(output, file), 'utf8')));
    expect(JSON.parse(pages[1] ?? '')).toMatchObject({ data: { allFile: { nodes: [{ name: "it's (a) 50%" }] } } });
    const links = pages.flatMap(linksOf);
    expect(links.length).toBeGreaterThanOrEqual(10);
    // A server of static files decodes the path of a request.
    for (const link of links) await stat(path.join(output, decodeURIComponent(link)));
    const images = files.filter((file) => /\.(?:jpg|png)$/u.test(file));
    for (const file of images) await sharp(path.join(output, file)).stats();
  });

  test('has the originals of images', async () => {
    await write('queries/pictures.graphql', '{ allImageProc { nodes { original { src } } } }');
    expect(await run()).toMatchObject({ code: 0, failures: '' });
    const links = linksOf(await readFile(path.join(output, 'data/pictures.json'), 'utf8'));
    expect(links).toHaveLength(2);
    for (const link of links) await sharp(path.join(output, decodeURIComponent(link))).stats();
  });

  test('writes nothing again if nothing changed, also with another state folder', async () => {
    await run();
    const before = await list();
    await rm(path.join(folder, 'state'), { recursive: true });
    await expect(run()).resolves.toMatchObject({ said: '12 files exported: 0 written, 12 unchanged, 0 deleted' });
    expect(await list()).toEqual(before);
  });

  test('renders texts once, and again only if the stored ones are lost', async () => {
    await write('recipes/soup.md', '---\ntitle: Soup\ntags: []\n---\n\nBoil it.\n');
    await write('queries/pictures.graphql', '{ allRecipe { nodes { content { html } } } }');
    const read = async () => (await run()).failures + (await readFile(path.join(output, 'data/pictures.json'), 'utf8'));
    expect(await read()).toContain('<p>Boil it.</p>');
    const database = new DatabaseSync(path.join(folder, 'state/commands/markdown.db'));
    database.exec(`UPDATE rendering SET value = replace(value, 'Boil', 'Fry')`);
    database.close();
    expect(await read()).toContain('<p>Fry it.</p>');
    await rm(path.join(folder, 'state'), { recursive: true });
    expect(await read()).toContain('<p>Boil it.</p>');
  });

  test('deletes what only the last export wrote, and no other file', async () => {
    await run();
    await write('static/mine.txt', 'mine', output);
    await rm(path.join(site, 'pictures/a.jpg'));
    const { said } = await run();
    expect(said).toMatch(/^6 files exported: 1 written, 5 unchanged, 6 deleted$/u);
    expect((await list()).filter((file) => /a\.jpg|page-2|mine/u.test(file))).toEqual(['static/mine.txt']);
  });

  test('has a file for each set of variables, and lists them', async () => {
    await write('queries/pictures.graphql', 'query ($name: String) { file(name: { eq: $name }) { name } }');
    await write('queries/pictures.variables.json', '[{"name": "a"}, {"name": "../../x"}]');
    await run();
    const { queries } = (await readJson('export.json')) as { queries: readonly { readonly file: string }[] };
    expect(queries).toEqual([
      {
        query: 'queries/pictures.graphql',
        variables: { name: 'a' },
        page: 1,
        file: expect.stringMatching(/^data\/pictures\/a-[0-9a-f]{8}\.json$/u) as string,
      },
      expect.objectContaining({ file: expect.stringMatching(/^data\/pictures\/-x-[0-9a-f]{8}\.json$/u) as string }),
    ]);
    expect(await readJson(queries[0]?.file ?? '')).toEqual({ data: { file: { name: 'a' } } });
  });

  test('has a file for each set of variables that differs in the skipped records only', async () => {
    await write('queries/pictures.variables.json', '[{ "skip": 0 }, { "skip": 1 }]');
    await run();
    const { queries } = (await readJson('export.json')) as { queries: readonly { readonly file: string }[] };
    expect(queries.map(({ file }) => file.replace(/-[0-9a-f]{8}\./u, '.'))).toEqual([
      ...['data/pictures.json', 'data/pictures.page-2.json', 'data/pictures/1.json'],
    ]);
    expect(await readJson('data/pictures.json')).toMatchObject({ data: { allFile: { nodes: [{ name: 'a' }] } } });
  });

  test('reports a broken image, exits with 1, and deletes nothing', async () => {
    await run();
    const bytes = await readFile(path.join(site, 'pictures/a.jpg'));
    await write('pictures/a.jpg', bytes.subarray(0, 400));
    const { code, failures } = await run();
    expect(code).toBe(1);
    expect(failures).toMatch(/^trellis: .*a\.jpg/mu);
    expect((await list()).filter((file) => file.endsWith('/a.jpg')).length).toBeGreaterThanOrEqual(4);
  });
});

test.each([
  ['lists a file outside the folder', '{ "files": ["data/../../important"] }'],
  ['is that of something else', '{ "name": "export" }'],
  ['is not JSON', 'hello'],
])('a folder whose export.json %s is refused, and nothing is deleted', async (_reason, manifest) => {
  await write('export.json', manifest, output);
  await write('important', 'x', path.dirname(output));
  await expect(run()).rejects.toThrow('Expected');
  expect(await readFile(path.join(path.dirname(output), 'important'), 'utf8')).toBe('x');
});

test('the command needs a folder to write to', async () => {
  const child = runCli(['export', '--site', site]);
  const read = collect(child);
  expect(await once(child, 'close')).toEqual([1, null]);
  expect(read()).toContain("required option '--output <folder>' not specified");
});

test('docs/export.md builds pages with Eleventy', async () => {
  installTool('tools/eleventy');
  const pages = path.dirname(output);
  for (const { file, text } of (await readPage('docs/export.md')).files)
    await write(file, text, file.startsWith('queries/') ? site : pages);
  await write('package.json', '{ "type": "module" }', pages);
  expect(await run()).toMatchObject({ code: 0 });
  await promisify(execFile)(process.execPath, [path.resolve('tools/eleventy/node_modules/@11ty/eleventy/cmd.cjs')], {
    cwd: pages,
  });
  const built = path.join(pages, '_site');
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://localhost');
    const file = path.join(built, decodeURIComponent(pathname), pathname.endsWith('/') ? 'index.html' : '');
    readFile(file).then(
      (bytes) => response.end(bytes),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const get = async (link: string) => (await fetch(`http://127.0.0.1:${port}${link}`)).arrayBuffer();
  const read = async (link: string) => Buffer.from(await get(link)).toString();
  try {
    expect(await read('/')).toMatch(/<a href="\/a\/">a<\/a>\s*<a href="\/its-a-50\/">/u);
    const page = await read('/a/');
    const links = page.match(/\/static\/[^"\s]+/gu) ?? [];
    expect(links.length).toBeGreaterThanOrEqual(5);
    for (const link of links) expect((await sharp(Buffer.from(await get(link))).metadata()).format).toBe('jpeg');
  } finally {
    server.close();
    server.closeAllConnections();
  }
});
