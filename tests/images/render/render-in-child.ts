import { readFileSync } from 'node:fs';
import path from 'node:path';
import { openImages } from '@trellis/images/images';
import type { ImageSource } from '@trellis/images/source';

/** Derives an image and its outlines from each source, then runs until it is killed. */
const [folder = ''] = process.argv.slice(2);
const sources = JSON.parse(readFileSync(path.join(folder, 'sources.json'), 'utf8')) as ImageSource[];
const images = openImages({ stateDirectory: path.join(folder, 'child'), findSource: () => undefined });
for (const source of sources) {
  void (async () => (await images.answer('resize', source, { width: 2000 })).tracedSVG())();
}
setInterval(() => undefined, 1000);
