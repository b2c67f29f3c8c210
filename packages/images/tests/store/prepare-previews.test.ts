import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { AppError } from '@trellis/core/errors';
import { type Images, openImages } from '../../src/images.js';
import type { ImageSource } from '../../src/source.js';
import { preparePreviews } from '../../src/store/build-and-prune.js';
import { createImageFolder, type ImageFolder, scene } from '../image-folder.js';

let folder: ImageFolder;
let state: string;
const opened: Images[] = [];
beforeAll(async () => {
  folder = await createImageFolder();
  state = await mkdtemp(path.join(tmpdir(), 'trellis-previews-'));
});
afterAll(async () => {
  for (const images of opened) await images.close();
  await folder.remove();
  await rm(state, { recursive: true, force: true });
});

function open(stateDirectory: string): Images {
  const images = openImages({ stateDirectory, findSource: () => undefined });
  opened.push(images);
  return images;
}

async function prepare(images: Images, sources: readonly ImageSource[]): Promise<number[]> {
  const rendered: number[] = [];
  const signal = new AbortController().signal;
  await images.preparePreviews(sources, { signal, onImage: (count) => rendered.push(count) });
  return rendered;
}

const readPreview = async (images: Images, source: ImageSource) =>
  (await images.answer('fluid', source, { maxWidth: 300, quality: 70 })).base64();

describe('previews ahead of queries', () => {
  test('are those of queries, without reading the image again, and are rendered once per content', async () => {
    const sources = [
      await folder.put('wide.jpg', scene(400, 200).jpeg()),
      await folder.put('high.png', scene(120, 360).png()),
      await folder.put('again.jpg', scene(400, 200).jpeg()),
    ];
    const broken = await folder.put('broken.jpg', 'not an image');
    const onDemand = open(path.join(state, 'on-demand'));
    const expected = await Promise.all(sources.map((source) => readPreview(onDemand, source)));
    const ahead = open(path.join(state, 'ahead'));
    const [, , , ...rest] = await prepare(ahead, [...sources, broken]);
    expect(rest).toEqual([0]);
    expect(await prepare(open(path.join(state, 'ahead')), sources)).toEqual([0, 0, 0]);
    // The images can't be read any longer.
    const missing = sources.map((source) => ({ ...source, absolutePath: path.join(folder.folder, 'missing') }));
    expect(await Promise.all(missing.map((source) => readPreview(ahead, source)))).toEqual(expected);
  });
});

describe(preparePreviews, () => {
  const sources = ['a', 'b', 'c'].map((name) => ({ name }) as ImageSource);

  test('renders nothing while requests need the image processes', async () => {
    const rendered: string[] = [];
    let release = (): void => undefined;
    const isIdle = new Promise<void>((resolve) => (release = resolve));
    const render = async (field: string, { name }: ImageSource) => rendered.push(`${name} ${field}`) > 0;
    const parts = { render, untilIdle: () => isIdle, isFull: () => false };
    const done = preparePreviews(parts, sources, { signal: new AbortController().signal, onImage: () => undefined });
    await new Promise(setImmediate);
    expect(rendered).toEqual([]);
    release();
    await done;
    expect(rendered.sort()).toEqual(['a fixed', 'a fluid', 'b fixed', 'b fluid', 'c fixed', 'c fluid']);
  });

  test.each([
    ['when it is aborted', true, false],
    ['when there is no room for more', false, true],
  ])('stops %s', async (_, aborts, isFull) => {
    const controller = new AbortController();
    if (aborts) controller.abort();
    let count = 0;
    const render = async () => (count += 1) > 0;
    const parts = { render, untilIdle: async () => undefined, isFull: () => isFull };
    await preparePreviews(parts, sources, { signal: controller.signal, onImage: () => undefined });
    expect(count).toBe(0);
  });

  test('skips an image that is refused, and rejects with an internal error', async () => {
    const counts: number[] = [];
    const options = { signal: new AbortController().signal, onImage: (count: number) => counts.push(count) };
    const idle = { untilIdle: async () => undefined, isFull: () => false };
    const refuse = () => Promise.reject(new AppError('unprocessable', 'not an image'));
    await preparePreviews({ ...idle, render: refuse }, sources, options);
    expect(counts).toEqual([0, 0, 0]);
    const fail = () => Promise.reject(new Error('no database'));
    await expect(preparePreviews({ ...idle, render: fail }, sources, options)).rejects.toThrow('no database');
  });
});
