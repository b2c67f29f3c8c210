import { readFile, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { openImages } from '@trellis/images/images';
import type { DerivedImage } from '@trellis/images/plan/links';
import sharp from 'sharp';
import { createImageFolder, scene, type ImageFolder } from '../../../packages/images/tests/image-folder.js';
import { spawnNode } from '../../child-process.js';

let pictures: ImageFolder;
beforeAll(async () => void (pictures = await createImageFolder()));
afterAll(() => pictures.remove());

/** Runs the child until it has generated this many images, then kills it with a signal that can't be caught. */
function killAfter(count: number): Promise<void> {
  const script = fileURLToPath(new URL('./build-in-child.ts', import.meta.url));
  const child = spawnNode(['--conditions=trellis-source', '--import', 'tsx', script, pictures.folder]);
  child.stderr.pipe(process.stderr);
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line === `done ${count}`) child.kill('SIGKILL');
  });
  return new Promise((resolve, reject) => {
    child.on('exit', (_code, signal) =>
      signal === 'SIGKILL' ? resolve() : reject(new Error('The child generated all images before it was killed.')),
    );
  });
}

test('images build: all 500 images are complete after the process was killed twice and run again', async () => {
  const sources = await Promise.all(
    Array.from({ length: 10 }, (_none, index) =>
      pictures.put(`p${index}.jpg`, scene(600, 400, { disc: `#${index}0ff00` }).jpeg()),
    ),
  );
  await writeFile(path.join(pictures.folder, 'sources.json'), JSON.stringify(sources));
  await killAfter(60);
  await killAfter(20);

  const images = openImages({
    stateDirectory: path.join(pictures.folder, 'state'),
    findSource: (digest) => sources.find(({ contentDigest }) => contentDigest === digest),
  });
  const links = JSON.parse(await readFile(path.join(pictures.folder, 'links.json'), 'utf8')) as DerivedImage[];
  expect(links).toHaveLength(500);
  await expect(images.build(links)).resolves.toMatchObject({ done: 500, failed: 0 });
  let whole = 0;
  for await (const { path: file } of images.files.list()) {
    await sharp(path.join(pictures.folder, 'state/public/images', file), { failOn: 'warning' }).stats();
    whole += 1;
  }
  expect(whole).toBe(500);
  await images.close();
  // Incomplete files are in a folder of their own.
  await expect(readdir(path.join(pictures.folder, 'state/public/images'))).resolves.toHaveLength(sources.length);
});
