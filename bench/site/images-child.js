// Generates derived images in a separate process, so that its memory can be measured: `ours` as a build does, `bare`
// with a loop around sharp, with the same outputs and concurrency. It receives jobs as messages, one after the other.
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import process from 'node:process';
import sharp from 'sharp';

import { openImages } from '@trellis/images/images';

const [mode, folder] = process.argv.slice(2);
/** The concurrency of a build, and the threads of each image. */
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

/** Returns the CPU time of this process and its children, and the sum of their peak memory. */
function usage() {
  const total = { cpuMilliseconds: 0, megabytes: 0 };
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/u.test(name))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (Number(pid) !== process.pid && Number(fields[1]) !== process.pid) continue;
      const status = readFileSync(`/proc/${pid}/status`, 'latin1');
      // User and system time; of this process also those of children that have ended.
      const times = Number(pid) === process.pid ? fields.slice(11, 15) : fields.slice(11, 13);
      for (const ticks of times) total.cpuMilliseconds += Number(ticks) * 10;
      total.megabytes += Number(/VmHWM:\s*(\d+)/u.exec(status)?.[1]) / 1024;
    } catch {
      // The process ended since it was listed.
    }
  }
  return total;
}

/** Returns the outputs too, so that the loop generates the same. */
function ours() {
  const known = new Map();
  const linked = [];
  const images = openImages({
    stateDirectory: folder,
    findSource: (digest) => known.get(digest),
    // Nothing is evicted, as a second job would generate it again.
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
    if (failed > 0) throw new Error(`${failed} images could not be generated.`);
    const outputs = links.map((link) => ({
      file: known.get(link.contentDigest).absolutePath,
      name: images.files.toPath(link).replace('/', '-'),
      ...link.transform,
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
