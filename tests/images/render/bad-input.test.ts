import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import sharp from 'sharp';
import { scene } from '../../../packages/images/tests/image-folder.js';
import { corrupt, headerBomb, prying, truncated, wholeBomb } from '../../../packages/images/tests/render/bad-files.js';
import { startServer, type RunningServer } from '../../running-server.js';

let folder: string;
let server: RunningServer;
let listener: Server;
let requests = 0;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'trellis-bad-'));
  listener = createServer((_request, response) => void response.end());
  listener.on('connection', () => (requests += 1));
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address() as AddressInfo;
  const files: Readonly<Record<string, Buffer | string>> = {
    'good.jpg': await scene(600, 400).jpeg().toBuffer(),
    'good.png': await sharp({ create: { width: 60, height: 40, channels: 3, background: '#f00' } })
      .png()
      .toBuffer(),
    'truncated.jpg': await truncated('jpeg'),
    'truncated.png': await truncated('png'),
    'truncated.webp': await truncated('webp'),
    'truncated.gif': await truncated('gif'),
    'corrupt.jpg': await corrupt('jpeg'),
    'corrupt.png': await corrupt('png'),
    'corrupt.webp': await corrupt('webp'),
    'corrupt.gif': await corrupt('gif'),
    'header-bomb.png': headerBomb(50_000),
    'whole-bomb.png': await wholeBomb(50_000),
    'text.png': 'not an image\n',
    'empty.png': '',
    'drawing.jpg': '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>',
    'png-named.jpg': await scene(600, 400).png().toBuffer(),
    'prying.svg': prying(port, path.join(folder, 'good.png')),
    'huge.svg': '<svg xmlns="http://www.w3.org/2000/svg" width="50000" height="50000"/>',
  };
  for (const [name, content] of Object.entries(files)) await writeFile(path.join(folder, name), content);
  server = await startServer(['--site', folder]);
});

afterAll(async () => {
  await server.stop();
  await new Promise((resolve) => listener.close(resolve));
  await rm(folder, { recursive: true });
});

interface Answer {
  readonly status: number;
  readonly data: {
    readonly bad: { readonly base: string; readonly childImageProc: Readonly<Record<string, Fields | null>> };
    readonly good: { readonly childImageProc: { readonly fluid: { readonly src: string } } };
  };
  readonly errors?: readonly { message: string; path: readonly string[]; extensions: { code: string } }[];
}

type Fields = Readonly<Record<string, string | null>>;

/** Queries fields of one file, together with a valid image. */
async function ask(base: string, fields: string): Promise<Answer> {
  const query = `query Ask($base: String) {
    bad: file(base: { eq: $base }) { base childImageProc { id ${fields} } }
    good: file(base: { eq: "good.jpg" }) { childImageProc { fluid { src } } }
  }`;
  const response = await fetch(`${server.origin}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables: { base } }),
  });
  return { status: response.status, ...((await response.json()) as Omit<Answer, 'status'>) };
}

/** Expects errors with these texts on the fields of the file, and data for everything else. */
function expectFieldErrors(
  { status, data, errors }: Answer,
  base: string,
  ...wanted: readonly (string | RegExp)[]
): void {
  expect([status, data.bad.base]).toEqual([200, base]);
  expect(data.good.childImageProc.fluid.src).toMatch(/^\/static\/.*\/good\.jpg$/u);
  expect(errors?.length).toBeGreaterThan(0);
  for (const { message, path: at } of errors ?? []) {
    expect(at.slice(0, 2)).toEqual(['bad', 'childImageProc']);
    for (const text of wanted) expect(message).toMatch(text);
    expect(message).not.toContain(folder);
  }
}

test.each([
  ['truncated.webp'],
  ['truncated.gif'],
  ['corrupt.jpg'],
  ['corrupt.webp'],
  ['corrupt.gif'],
  ['header-bomb.png', /2,?500|50000 × 50000/u],
  ['whole-bomb.png', /50000 × 50000/u],
  ['huge.svg', /50000 × 50000/u],
  ['text.png', /its format is not supported/u],
  ['empty.png', /it is empty/u],
  ['drawing.jpg', /its format is not supported/u],
])('every image field of %s is an error that names the file', async (base, reason = /cannot be read as an image/u) => {
  const answer = await ask(base, 'original { src } fixed { src } fluid { src } resize { src } sizes { src }');
  expectFieldErrors(answer, base, `"${base}"`, reason);
  const { id, ...images } = answer.data.bad.childImageProc;
  expect(id).toBeTruthy();
  expect(images).toEqual({ original: null, fixed: null, fluid: null, resize: null, sizes: null });
  expect(answer.errors).toHaveLength(5);
});

test.each(['truncated.jpg', 'truncated.png', 'corrupt.png'])(
  'image fields of %s return the size, and errors where they need pixels',
  async (base) => {
    const answer = await ask(base, 'original { width } fixed(width: 100) { width src base64 tracedSVG }');
    expectFieldErrors(answer, base, `"${base}"`);
    expect(answer.data.bad.childImageProc).toMatchObject({
      original: { width: 300 },
      fixed: { width: 100, base64: null, tracedSVG: null },
    });
    const image = await fetch(server.origin + String(answer.data.bad.childImageProc.fixed?.src));
    expect([image.status, image.headers.get('cache-control')]).toEqual([422, 'no-store']);
    await expect(image.json()).resolves.toMatchObject({
      code: 'unprocessable',
      error: expect.stringContaining(`"${base}"`) as string,
    });
  },
);

test('the format of a source image is detected from its content, not from its name', async () => {
  const { data, errors } = await ask('png-named.jpg', 'fixed(width: 90) { src base64 }');
  expect(errors).toBeUndefined();
  const { src, base64 } = data.bad.childImageProc.fixed ?? {};
  expect(base64).toMatch(/^data:image\/jpeg;base64,/u);
  const bytes = Buffer.from(await (await fetch(server.origin + String(src))).arrayBuffer());
  await expect(sharp(bytes).metadata()).resolves.toMatchObject({ format: 'jpeg', width: 90, height: 60 });
});

test('a drawing neither includes nor requests the files and URLs that it refers to', async () => {
  const { data, errors } = await ask('prying.svg', 'resize(width: 60) { src } fixed(width: 60) { base64 tracedSVG }');
  const src = data.bad.childImageProc.resize?.src;
  if (errors) expectFieldErrors({ status: 200, data, errors }, 'prying.svg', '"prying.svg"');
  else {
    const bytes = Buffer.from(await (await fetch(server.origin + String(src))).arrayBuffer());
    const { channels } = await sharp(bytes).ensureAlpha().stats();
    expect(channels[3]?.max).toBe(0);
  }
  expect(requests).toBe(0);
});

test.each([
  ['width', 'fixed(width: 0) { src }'],
  ['width', 'fixed(width: -1) { src }'],
  ['width', 'resize(width: 1000000000) { src }'],
  ['height', 'resolutions(height: -1) { src }'],
  ['maxWidth', 'fluid(maxWidth: 0) { src }'],
  ['maxHeight', 'sizes(maxHeight: 1000000000) { src }'],
  ['quality', 'fixed(quality: 101) { src }'],
  ['jpegQuality', 'fixed(jpegQuality: -1) { src }'],
  ['webpQuality', 'fluid(webpQuality: 500) { src }'],
  ['pngQuality', 'fluid(pngQuality: 500) { src }'],
  ['pngCompressionLevel', 'resize(pngCompressionLevel: 99) { src }'],
  ['pngCompressionSpeed', 'resize(pngCompressionSpeed: 11) { src }'],
  ['background', 'fixed(background: "no colour") { src }'],
  ['background', 'fixed(background: "url(http://127.0.0.1/)") { src }'],
  ['duotone.highlight', 'fixed(duotone: { highlight: "red", shadow: "#000000" }) { src }'],
  ['duotone.opacity', 'fixed(duotone: { highlight: "#000000", shadow: "#000000", opacity: 101 }) { src }'],
  ['trim', 'fixed(trim: -5) { src }'],
  ['base64Width', 'fixed(base64Width: 100000) { src }'],
  ['srcSetBreakpoints', `fluid(srcSetBreakpoints: [${Array(65).fill(100).join()}]) { src }`],
  ['srcSetBreakpoints', 'fluid(srcSetBreakpoints: [0]) { src }'],
  ['sizes', `fluid(sizes: "${'x'.repeat(2001)}") { src }`],
  ['traceSVG.threshold', 'fixed(traceSVG: { threshold: 256 }) { src }'],
  ['traceSVG.color', 'fixed(traceSVG: { color: "no colour" }) { src }'],
  ['50000 × 50000', 'resize(width: 50000, height: 50000) { src }'],
  ['5 × 25000', 'fluid(maxWidth: 10, maxHeight: 50000, toFormat: WEBP) { src }'],
])('an invalid %s is an error on its image field only: %#', async (name, field) => {
  const answer = await ask('good.png', `bad: ${field} original { width }`);
  expectFieldErrors(answer, 'good.png', name);
  expect(answer.errors).toMatchObject([
    { path: ['bad', 'childImageProc', 'bad'], extensions: { code: 'invalid_input' } },
  ]);
  expect(answer.data.bad.childImageProc).toMatchObject({ bad: null, original: { width: 60 } });
});

test.each([
  ['a link that was never issued', `/static/${'a'.repeat(32)}/${'b'.repeat(24)}/a.jpg`],
  ['a link with path traversal', `/static/${'a'.repeat(32)}/..%2f..%2f..%2fetc/passwd.jpg`],
])('GET /static returns 404 for %s', async (_reason, link) => {
  await expect(fetch(server.origin + link)).resolves.toMatchObject({ status: 404 });
});

/** Returns the peak resident memory of the server, or its current memory on systems without `/proc`. */
function peakMegabytes(pid: number): number {
  const status = `/proc/${pid}/status`;
  if (existsSync(status)) return Number(/VmHWM:\s+(\d+)/u.exec(readFileSync(status, 'utf8'))?.[1]) / 1024;
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1024;
}

test('the server still responds after all invalid images, and its memory is bounded', async () => {
  const { data, errors } = await ask('good.jpg', 'fluid { src base64 tracedSVG }');
  expect(errors).toBeUndefined();
  const image = await fetch(server.origin + data.good.childImageProc.fluid.src);
  expect(image.status).toBe(200);
  await expect(sharp(Buffer.from(await image.arrayBuffer())).stats()).resolves.toBeTruthy();
  await expect(fetch(`${server.origin}/healthz`)).resolves.toMatchObject({ status: 200 });
  expect(server.process.exitCode).toBeNull();
  expect(server.output()).not.toMatch(/internal error/iu);
  expect(peakMegabytes(server.process.pid ?? 0)).toBeLessThan(500);
  expect(requests).toBe(0);
});
