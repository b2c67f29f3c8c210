import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { openImages } from '@trellis/images/images';
import type { DerivedImage } from '@trellis/images/plan/links';
import type { ImageSource } from '@trellis/images/source';

/** Issues 500 links and generates their images, reporting each on standard output, until it is killed. */
const [folder = ''] = process.argv.slice(2);
const sources = JSON.parse(readFileSync(path.join(folder, 'sources.json'), 'utf8')) as ImageSource[];
const links: DerivedImage[] = [];
const images = openImages({
  stateDirectory: path.join(folder, 'state'),
  findSource: (digest) => sources.find(({ contentDigest }) => contentDigest === digest),
  onLink: (image) => links.push(image),
});
const srcSetBreakpoints = Array.from({ length: 49 }, (_none, index) => 100 + index * 4);
for (const source of sources) await images.answer('fluid', source, { srcSetBreakpoints });
writeFileSync(path.join(folder, 'links.json'), JSON.stringify(links));
process.stdout.write(`links ${links.length}\n`);
await images.build(links, { onProgress: ({ done }) => process.stdout.write(`done ${done}\n`) });
