import { pathsOf, SiteFolder } from './site-folder.js';

const PICTURES = ['a.jpeg', 'b.JPG', 'c.png', 'd.webp', 'e.tif', 'f.tiff', 'g.avif', 'h.gif', 'i.svg'];

test('image records: files with an image extension have one, regardless of their content', async () => {
  const folder = new SiteFolder([...PICTURES, 'j.bmp', 'k.md', 'png']);
  const { files, images, summary } = await folder.scan();
  expect(summary.images).toBe(PICTURES.length);
  const parents = files.filter(({ id }) => images.some(({ parent }) => parent === id));
  expect(pathsOf(parents)).toEqual(PICTURES);
  expect(images[0]).toMatchObject({
    parent: files[0]!.id,
    'internal.type': 'ImageProc',
    'internal.owner': 'gatsby-transformer-sharp',
    'internal.contentDigest': files[0]!['internal.contentDigest'],
    'internal.mediaType': null,
    'internal.description': null,
  });
  folder.remove();
});

test('image records: are deleted with their file', async () => {
  const folder = new SiteFolder(['a.png', 'b.png']);
  await folder.scan();
  const { rmSync } = await import('node:fs');
  rmSync(folder.path('a.png'));
  const { files, images } = await folder.scan();
  expect(images.map(({ parent }) => parent)).toEqual([files[0]!.id]);
  folder.remove();
});
