import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { build } from '../child.js';
import { alternate, median } from '../rounds.js';
import { ask, startServer } from '../server.js';
import { toTable } from '../table.js';

export interface LargeFilesBenchOptions {
  readonly posts: number;
  readonly videos: number;
  /** The size of each video. */
  readonly gigabytes: number;
  readonly rounds: number;
  /** How long the server runs after its first response, while it reads the videos. */
  readonly seconds: number;
}

/** Measures the start of a server over posts, alone and beside sparse videos, which take no space on the disk. */
export async function benchLargeFiles(options: LargeFilesBenchOptions): Promise<string> {
  build();
  const work = mkdtempSync(path.join(tmpdir(), 'trellis-bench-large-files-'));
  try {
    const alone = makeSite(path.join(work, 'alone'), { ...options, videos: 0 });
    const beside = makeSite(path.join(work, 'beside'), options);
    const { posts, videos, gigabytes } = options;
    const names = [`${posts} posts`, `beside ${videos} videos of ${gigabytes} GB`] as const;
    const results = await alternate(options.rounds, {
      [names[0]]: () => measure(alone, work, options),
      [names[1]]: () => measure(beside, work, options),
    });
    const rows = names.map((name) => {
      const of = (field: keyof Started) => median((results[name] ?? []).map((one) => one[field]));
      return [
        name,
        of('firstAnswerMs').toFixed(0),
        of('cpuMs').toFixed(0),
        of('megabytes').toFixed(0),
        of('laterMegabytes').toFixed(0),
      ];
    });
    return toTable(['cold start', 'first response, ms', 'CPU, ms', 'RSS, MB', `RSS ${options.seconds} s later`], rows);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function makeSite(site: string, { posts, videos, gigabytes }: LargeFilesBenchOptions): string {
  for (const folder of ['posts', 'videos']) mkdirSync(path.join(site, folder), { recursive: true });
  for (let post = 0; post < posts; post += 1)
    writeFileSync(path.join(site, 'posts', `${post}.md`), `---\ntitle: Post ${post}\ndate: 2021-07-04\n---\nText\n`);
  for (let video = 0; video < videos; video += 1) {
    const file = path.join(site, 'videos', `${video}.mp4`);
    writeFileSync(file, '');
    truncateSync(file, gigabytes * 10 ** 9);
  }
  return site;
}

interface Started {
  readonly firstAnswerMs: number;
  /** The processor time of all threads until the first response. */
  readonly cpuMs: number;
  readonly megabytes: number;
  readonly laterMegabytes: number;
}

async function measure(site: string, work: string, { posts, seconds }: LargeFilesBenchOptions): Promise<Started> {
  const state = mkdtempSync(path.join(work, 'state-'));
  const args = ['dist/cli.js', 'serve', '--services', 'site', '--site', site];
  const query = '{ allFile(filter: { extension: { eq: "md" } }) { totalCount } }';
  const server = await startServer(args, { TRELLIS_STATE: state }, async (origin) => {
    const { allFile } = (await ask(origin, query)) as { allFile: { totalCount: number } };
    if (allFile.totalCount !== posts) throw new Error(`Expected ${posts} posts; received ${allFile.totalCount}.`);
  });
  try {
    const megabytes = server.megabytes();
    await setTimeout(seconds * 1000);
    return {
      firstAnswerMs: server.firstAnswerMs,
      cpuMs: server.firstAnswerCpuMs,
      megabytes,
      laterMegabytes: server.megabytes(),
    };
  } finally {
    await server.stop();
  }
}
