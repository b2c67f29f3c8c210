// Makes images of pictures in a process of its own, so that its memory can be told: `ours` as a build does, `bare` by a
// loop around sharp, with the same outputs and as many at a time. Takes jobs by messages, one after the other.
import { mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import process from 'node:process';
import sharp from 'sharp';

import { openImages } from '../dist/images/images.js';

const [mode, folder] = process.argv.slice(2);
/** What a build makes at a time, and how many threads each image has. */
const AT_A_TIME = Math.min(availableParallelism(), 3);
const THREADS = Math.max(1, Math.floor(availableParallelism() / 3));

const work = mode === 'ours' ? ours() : bare();
// This process waits for jobs; `end-with-parent.js` lets it end when it has nothing else to do.
process.channel.ref();
process.on('message', async (job) => {
  const before = process.cpuUsage();
  const answer = await work(job);
  const { user, system } = process.cpuUsage(before);
  process.send({
    ...answer,
    cpuMilliseconds: (user + system) / 1000,
    megabytes: process.resourceUsage().maxRSS / 1024,
  });
});

/** Gives the outputs too, for the loop to make the same. */
function ours() {
  const known = new Map();
  const handedOut = [];
  const images = openImages({
    stateDirectory: folder,
    findSource: (digest) => known.get(digest),
    onHandOut: (link) => handedOut.push(link),
  });
  return async (sources) => {
    for (const source of sources) known.set(source.contentDigest, source);
    handedOut.length = 0;
    await Promise.all(sources.map((source) => images.answer('fluid', source, {})));
    const links = [...handedOut];
    const startedAt = performance.now();
    const { failed } = await images.build(links);
    const milliseconds = performance.now() - startedAt;
    if (failed > 0) throw new Error(`${failed} images could not be made.`);
    const outputs = links.map((link) => ({
      file: known.get(link.contentDigest).absolutePath,
      name: `${link.contentDigest}-${link.recipeDigest}.jpg`,
      ...images.links.findRecipe(link),
    }));
    return { milliseconds, outputs };
  };
}

function bare() {
  sharp.cache(false);
  sharp.concurrency(THREADS);
  mkdirSync(folder, { recursive: true });
  return async (outputs) => {
    const rest = outputs.values();
    const startedAt = performance.now();
    async function makeNext() {
      for (const { file, name, width, height, quality, progressive } of rest) {
        await sharp(file, { autoOrient: true })
          .resize(width, height)
          .jpeg({ quality, progressive })
          .toFile(path.join(folder, name));
      }
    }
    await Promise.all(Array.from({ length: AT_A_TIME }, makeNext));
    return { milliseconds: performance.now() - startedAt };
  };
}
