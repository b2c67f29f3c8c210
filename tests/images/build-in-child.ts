import { readFileSync } from 'node:fs';
import path from 'node:path';
import { openImages } from '../../src/images/images.js';
import type { Handout } from '../../src/images/link-store.js';
import type { ImageSource } from '../../src/images/source.js';

/** Hands 500 links out and makes their images, telling of each, until it is killed. */
const [folder = ''] = process.argv.slice(2);
const sources = JSON.parse(readFileSync(path.join(folder, 'sources.json'), 'utf8')) as ImageSource[];
const links: Handout[] = [];
const images = openImages({
  stateDirectory: path.join(folder, 'state'),
  findSource: (digest) => sources.find(({ contentDigest }) => contentDigest === digest),
  onHandOut: (link) => links.push(link),
});
const srcSetBreakpoints = Array.from({ length: 49 }, (_none, index) => 100 + index * 4);
for (const source of sources) await images.answer('fluid', source, { srcSetBreakpoints });
process.stdout.write(`links ${links.length}\n`);
await images.build(links, { onProgress: ({ done }) => process.stdout.write(`done ${done}\n`) });
