// Makes images of pictures in a process of its own, so that its memory can be told: `ours` as a build does, `bare` by a
// loop around sharp, with the same outputs and as many at a time. Takes jobs by messages, one after the other.
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
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
  const before = usage();
  const answer = await work(job);
  const after = usage();
  process.send({
    ...answer,
    cpuMilliseconds: after.cpuMilliseconds - before.cpuMilliseconds,
    megabytes: after.megabytes,
  });
});

/** Of this process and those that it started: the CPU time, and the sum of the most memory that each had. */
function usage() {
  const total = { cpuMilliseconds: 0, megabytes: 0 };
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/u.test(name))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (Number(pid) !== process.pid && Number(fields[1]) !== process.pid) continue;
      const status = readFileSync(`/proc/${pid}/status`, 'latin1');
      total.cpuMilliseconds += (Number(fields[11]) + Number(fields[12])) * 10;
      total.megabytes += Number(/VmHWM:\s*(\d+)/u.exec(status)?.[1]) / 1024;
    } catch {
      // The process ended in between.
    }
  }
  return total;
}

/** Gives the outputs too, for the loop to make the same. */
function ours() {
  const known = new Map();
  const linked = [];
  const images = openImages({
    stateDirectory: folder,
    findSource: (digest) => known.get(digest),
    // None is evicted, as a second job would make it again.
    quotaBytes: 1e12,
    onLink: (image) => linked.push(image),
  });
  return async (sources) => {
    for (const source of sources) known.set(source.contentDigest, source);
    linked.length = 0;
    await Promise.all(sources.map((source) => images.answer('fluid', source, {})));
    const links = [...linked];
    const startedAt = performance.now();
    const { failed } = await images.build(links);
    const milliseconds = performance.now() - startedAt;
    if (failed > 0) throw new Error(`${failed} images could not be made.`);
    const outputs = links.map((link) => ({
      file: known.get(link.contentDigest).absolutePath,
      name: images.files.pathOf(link).replace('/', '-'),
      ...link.recipe,
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
