import { utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import sharp from 'sharp';
import { openRenderer, type Renderer } from '../../src/render/renderer.js';
import { openImageDatabase } from '../../src/store/database.js';
import { createMetadataStore } from '../../src/store/metadata.js';
import { createImageFolder, scene, type ImageFolder } from '../image-folder.js';
import { headerBomb } from '../render/bad-files.js';

let pictures: ImageFolder;
let renderer: Renderer;
beforeAll(async () => {
  pictures = await createImageFolder();
  renderer = openRenderer();
});
afterAll(() => {
  renderer.close();
  return pictures.remove();
});

const read = (source: Parameters<ReturnType<typeof createMetadataStore>['read']>[0]) =>
  createMetadataStore(openImageDatabase(':memory:'), renderer).read(source);

test.each([
  ['a.jpg', 'jpeg', scene(60, 40).jpeg()],
  ['b.PNG', 'png', scene(60, 40).png()],
  ['c.webp', 'webp', scene(60, 40).webp()],
  ['d.tif', 'tiff', scene(60, 40).tiff()],
  ['e.avif', 'avif', scene(60, 40).avif({ effort: 0 })],
  ['f.gif', 'gif', scene(60, 40).gif()],
  ['jpeg-named.png', 'jpeg', scene(60, 40).jpeg()],
])('reads the size and format of the image %s: %s', async (name, format, content) => {
  await expect(read(await pictures.put(name, content))).resolves.toMatchObject({ format, width: 60, height: 40 });
});

test.each([1, 2, 3, 4, 5, 6, 7, 8])('returns the image size with EXIF orientation %i applied', async (orientation) => {
  const source = await pictures.put(`turned-${orientation}.jpg`, scene(60, 40).withMetadata({ orientation }).jpeg());
  const [width, height] = orientation < 5 ? [60, 40] : [40, 60];
  await expect(read(source)).resolves.toMatchObject({ width, height, orientation });
});

test('returns the number of frames of an animated image, and the size of one frame', async () => {
  const frames = await Promise.all(['#f00', '#0f0', '#00f'].map((disc) => scene(30, 20, { disc }).png().toBuffer()));
  const source = await pictures.put('frames.gif', sharp(frames, { join: { animated: true } }).gif());
  await expect(read(source)).resolves.toMatchObject({ width: 30, height: 20, pages: 3 });
});

test('reads the size of a drawing from its width and height, or from its view box', async () => {
  const sized = '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" width="120" height="40"/>';
  const boxed = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 20"/>';
  await expect(read(await pictures.put('sized.svg', sized))).resolves.toMatchObject({ width: 120, height: 40 });
  await expect(read(await pictures.put('boxed.svg', boxed))).resolves.toMatchObject({ width: 10, height: 20 });
});

test.each([
  ['empty.jpg', 'it is empty', ''],
  ['text.png', 'its format is not supported', 'not an image\n'],
  ['drawing.jpg', 'its format is not supported', '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'],
  ['cut.png', 'header', Buffer.from('89504e470d0a1a0a0000000d', 'hex')],
  ['broken.svg', 'header', '<svg xmlns="http://www.w3.org/2000/svg"><g></svg>'],
  ['bomb.png', '2500000000', headerBomb(50_000)],
])('rejects the image %s with an error that states its path and the reason: %s', async (name, reason, content) => {
  const source = await pictures.put(`bad/${name}`, content);
  await expect(read(source)).rejects.toMatchObject({
    code: 'unprocessable',
    message: expect.stringContaining(`"bad/${name}"`) as string,
  });
  await expect(read(source)).rejects.toThrow(reason.replace('2500000000', '50000 × 50000 pixels; the limit is'));
});

test('does not request the URLs that a drawing refers to', async () => {
  let requests = 0;
  const server = createServer((_request, response) => {
    requests += 1;
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const drawing = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="9" height="9">
    <image xlink:href="http://127.0.0.1:${port}/a.png" width="9" height="9"/></svg>`;
  await expect(read(await pictures.put('asks.svg', drawing))).resolves.toMatchObject({ width: 9 });
  await new Promise((resolve) => server.close(resolve));
  expect(requests).toBe(0);
});

test('returns stored image metadata after a restart, even if the file was deleted', async () => {
  const file = path.join(pictures.folder, 'images.db');
  const source = await pictures.put('kept.png', scene(7, 5).png());
  const before = openImageDatabase(file);
  await createMetadataStore(before, renderer).read(source);
  before.close();
  const after = openImageDatabase(file);
  const store = createMetadataStore(after, renderer);
  await expect(store.read({ ...source, absolutePath: '/nowhere' })).resolves.toMatchObject({ width: 7, height: 5 });
  expect(store.find(source.contentDigest)).toMatchObject({ width: 7 });
  after.close();
});

test('rejects an image file that was changed or deleted after the last scan', async () => {
  const source = await pictures.put('changes.png', scene(7, 5).png());
  await writeFile(source.absolutePath, 'x');
  await expect(read(source)).rejects.toMatchObject({ code: 'conflict' });
  await expect(read({ ...source, absolutePath: '/nowhere' })).rejects.toMatchObject({ code: 'not_found' });
  const touched = await pictures.put('touched.png', scene(7, 6).png());
  await utimes(touched.absolutePath, 1, 1);
  await expect(read(touched)).rejects.toMatchObject({ code: 'conflict' });
});
