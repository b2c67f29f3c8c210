import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import sharp from 'sharp';
import { scene } from '../../packages/images/tests/image-folder.js';
import { buildStoredImages, pruneStoredImages } from '../../src/commands/images.js';
import { loadConfig } from '../../src/config/config.js';
import { collect, runCli, startServer } from '../running-server.js';

let folder: string;
let site: string;
let state: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'trellis-command-'));
  site = path.join(folder, 'site');
  // Inside the site, so that the tests show that derived files do not become part of it.
  state = path.join(site, '.trellis');
  await write('pictures/a.jpg', await scene(600, 400).jpeg().toBuffer());
  await write('pictures/b.png', await scene(300, 200).png().toBuffer());
  await write('pictures/c.png', await scene(240, 200, { disc: '#f00' }).png().toBuffer());
});
afterEach(() => rm(folder, { recursive: true }));

/** Two pages, with two images and one image; each image in six widths. */
const PAGES = `query Pages($skip: Int = 0) {
  allFile(filter: { extension: { in: ["jpg", "png"] } }, limit: 2, skip: $skip) {
    nodes { childImageProc { fluid(maxWidth: 100) { srcSet base64 } } }
  }
}`;

const THUMBNAIL = `query Thumbnail($name: String, $width: Int = 30) {
  file(name: { eq: $name }) { childImageProc { resize(width: $width) { src } } }
}`;

async function write(name: string, content: string | Buffer): Promise<void> {
  await mkdir(path.dirname(path.join(site, name)), { recursive: true });
  await writeFile(path.join(site, name), content);
}

interface Run {
  readonly signal?: AbortSignal;
  readonly quiet?: boolean;
}

/** Runs a command without a terminal and returns its exit code and output. */
async function run(work: typeof buildStoredImages, { signal, quiet = false }: Run = {}) {
  const terminal = new PassThrough().setEncoding('utf8');
  const said: string[] = [];
  const code = await work({
    config: await loadConfig({ flags: { site, state }, env: {} }),
    terminal: terminal as unknown as NodeJS.WriteStream,
    quiet,
    print: (line) => void said.push(line),
    signal: signal ?? new AbortController().signal,
  });
  return { code, said: said.join('\n'), failures: String(terminal.read() ?? '') };
}

const prune = (dryRun: boolean) => run((options) => pruneStoredImages({ ...options, dryRun }));

async function listImages(): Promise<string[]> {
  const names = await readdir(path.join(state, 'public/images'), { recursive: true });
  return names.filter((name) => /\.(jpg|png|webp)$/u.test(name));
}

test('images build: generates the images of all pages of a stored query, each once', async () => {
  await write('queries/pages.graphql', PAGES);
  const first = await run(buildStoredImages);
  expect(first).toMatchObject({ code: 0, failures: '' });
  expect(first.said).toMatch(
    /^18 images generated, 0 already present, 0 failed; requested by 1 stored query, in \d+\.\d s\.$/u,
  );
  const made = await listImages();
  expect(made).toHaveLength(18);
  for (const file of made) await sharp(path.join(state, 'public/images', file)).stats();
  await expect(run(buildStoredImages)).resolves.toMatchObject({
    said: expect.stringContaining('0 images generated, 18 already present') as string,
  });
});

test('images build: runs a stored query with each of its sets of variables', async () => {
  await write('queries/thumbnail.graphql', THUMBNAIL);
  await write('queries/thumbnail.variables.json', '[{"name": "a"}, {"name": "b"}, {"name": "b", "width": 40}]');
  await expect(run(buildStoredImages)).resolves.toMatchObject({
    said: expect.stringContaining('3 images generated') as string,
  });
});

test('images build: continues where an interrupted run stopped', async () => {
  await write('queries/pages.graphql', PAGES);
  const stop = new AbortController();
  const stopped = run((options) => {
    // Stops as soon as the first image exists.
    const timer = setInterval(
      () =>
        void listImages().then(
          ({ length }) => length > 0 && stop.abort(),
          () => 0,
        ),
      1,
    );
    return buildStoredImages({ ...options, signal: stop.signal }).finally(() => clearInterval(timer));
  });
  await expect(stopped).resolves.toMatchObject({ code: 130, said: expect.stringMatching(/^Stopped\./u) as string });
  const there = (await listImages()).length;
  const { said } = await run(buildStoredImages);
  const made = 18 - there;
  expect(said).toContain(`${made} ${made === 1 ? 'image' : 'images'} generated, ${there} already present`);
});

test('images build: skips an unreadable image and reports the reason once', async () => {
  const whole = await scene(240, 200, { disc: '#0f0' }).jpeg().toBuffer();
  await write('pictures/cut.jpg', whole.subarray(0, whole.length / 2));
  await write('pictures/text.png', 'not an image');
  await write('queries/pages.graphql', PAGES.replace(' base64', ''));
  const { code, said, failures } = await run(buildStoredImages);
  expect(code).toBe(1);
  expect(said).toContain('18 images generated, 0 already present, 6 failed; 1 field failed');
  expect(failures.trim().split('\n')).toEqual([
    expect.stringMatching(/^trellis: queries\/pages\.graphql: "pictures\/text\.png" cannot be read as an image/u),
    expect.stringMatching(/^trellis: 6 times: "pictures\/cut\.jpg" cannot be read as an image/u),
  ]);
});

test('images build --quiet: prints only failures', async () => {
  await write('queries/thumbnail.graphql', THUMBNAIL);
  await expect(run(buildStoredImages, { quiet: true })).resolves.toEqual({ code: 0, said: '', failures: '' });
});

test('images prune: removes the images that no stored query uses, and lists them with --dry-run', async () => {
  await write('queries/pages.graphql', PAGES);
  await run(buildStoredImages);
  await write('queries/pages.graphql', PAGES.replace('["jpg", "png"]', '["jpg"]'));
  const dry = await prune(true);
  expect(dry.said.split('\n')).toHaveLength(13);
  expect(dry.said).toMatch(/^[0-9a-f]{32}\/[0-9a-f]{24}\.png {2}[\d.]+ k?B {2}of pictures\/[bc]\.png$/mu);
  expect(dry.said).toMatch(/^12 images \([\d.]+ kB\) would be removed\.$/mu);
  expect(await listImages()).toHaveLength(18);
  await expect(prune(false)).resolves.toMatchObject({
    code: 0,
    said: dry.said.split('\n').at(-1)?.replace('would be removed', 'removed'),
  });
  const left = await listImages();
  expect(left).toHaveLength(6);
  expect(left.every((file) => file.endsWith('.jpg'))).toBe(true);
});

test('images prune: removes nothing when a stored query fails, as its images are unknown', async () => {
  await write('queries/pages.graphql', PAGES);
  await run(buildStoredImages);
  await write('queries/pages.graphql', PAGES.replace('maxWidth: 100', 'maxWidth: 0'));
  await expect(prune(false)).rejects.toThrow(/maxWidth.*Nothing was removed/u);
  expect(await listImages()).toHaveLength(18);
});

test.each([
  ['without stored queries', '', 'No stored queries found: no file matches queries/**/*.graphql in '],
  ['with an unknown field', 'query A { nothing }', 'queries/a.graphql:1:11: Cannot query field "nothing"'],
  ['with a syntax error', 'query {', 'queries/a.graphql:1:8: Syntax Error'],
  [
    'with two operations in a file',
    'query A { __typename } query B { __typename }',
    'queries/a.graphql must contain exactly one operation',
  ],
])('images build: fails %s', async (_reason, text, message) => {
  if (text) await write('queries/a.graphql', text);
  const refused = run(buildStoredImages);
  await expect(refused).rejects.toMatchObject({ name: 'StartError' });
  await expect(refused).rejects.toThrow(message);
});

test('images build: runs beside a server with the same state folder', async () => {
  await write('queries/pages.graphql', PAGES);
  await write('.trellis/keep', '');
  const server = await startServer(['--site', site, '--state', state]);
  const child = runCli(['images', 'build', '--site', site, '--state', state]);
  const output = collect(child);
  await expect(once(child, 'close')).resolves.toEqual([0, null]);
  expect(output()).toMatch(/^18 images generated/u);

  const query = '{ imageProc(internal: {}) { fluid(maxWidth: 100) { src } } }';
  const answer = await fetch(`${server.origin}/graphql?query=${encodeURIComponent(query)}`);
  const { data } = (await answer.json()) as { data: { imageProc: { fluid: { src: string } } } };
  await expect(fetch(server.origin + data.imageProc.fluid.src)).resolves.toMatchObject({ status: 200 });
  // The server issues links to the same images, so no further file was generated.
  expect(await listImages()).toHaveLength(18);
  await server.stop();
});
