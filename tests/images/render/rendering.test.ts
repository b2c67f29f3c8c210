import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openImages, type Images } from '@trellis/images/images';
import { startProcess } from '@trellis/images/render/killable-process';
import type { ImageSource } from '@trellis/images/source';
import sharp from 'sharp';
import { createImageFolder, scene, type ImageFolder } from '../../../packages/images/tests/image-folder.js';
import { eventually } from '../../eventually.js';
import { NESTED_REFERENCES, NO_SIZE, STACKED_FILTERS } from './hostile-drawings.js';

/** Less than the default: a drawing that takes hours exceeds any limit, and its time is lost to other tests. */
const DRAWING_CPU_MS = 2_000;

let pictures: ImageFolder;
let images: Images;
const sources = new Map<string, ImageSource>();

beforeAll(async () => {
  pictures = await createImageFolder();
  const files = {
    'nested.svg': NESTED_REFERENCES,
    'filters.svg': STACKED_FILTERS,
    'no-size.svg': NO_SIZE,
    'large.png': sharp({ create: { width: 12_000, height: 9_000, channels: 3, background: '#fff' } }).png({
      compressionLevel: 1,
    }),
    'photo.jpg': scene(600, 400).jpeg(),
    'noise.png': sharp({
      create: {
        width: 2000,
        height: 2000,
        channels: 3,
        background: '#000',
        noise: { type: 'gaussian', mean: 128, sigma: 90 },
      },
    }).png(),
  };
  for (const [name, content] of Object.entries(files)) sources.set(name, await pictures.put(name, content));
  images = openImages({
    stateDirectory: path.join(pictures.folder, 'state'),
    findSource: (digest) => [...sources.values()].find(({ contentDigest }) => contentDigest === digest),
    renderer: { drawingCpuMs: DRAWING_CPU_MS },
  });
});
afterAll(async () => {
  await images.close();
  await pictures.remove();
});

const sourceOf = (name: string): ImageSource => sources.get(name)!;

/** Generates the image of this width, as a GET of its link does. */
async function make(name: string, width: number): Promise<void> {
  const { src } = await images.answer('resize', sourceOf(name), { width });
  await images.findRoute((await src()).slice('/static'.length))!.generate();
}

const errorOf = (name: string, reason: RegExp) => ({
  code: 'unprocessable',
  message: expect.stringMatching(new RegExp(`^"${name}" cannot be rendered: ${reason.source}`, 'u')) as string,
});

interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly residentMegabytes: number;
}

/** Lists the rendering processes of this machine from `/proc`. */
function listRenderProcesses(): ProcessEntry[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      if (!/^\d+$/u.test(name) || !readFileSync(`/proc/${name}/cmdline`, 'utf8').includes('render-process')) return [];
      const status = readFileSync(`/proc/${name}/status`, 'utf8');
      const read = (field: string): number => Number(new RegExp(`^${field}:\\s*(\\d+)`, 'mu').exec(status)?.[1] ?? 0);
      return [{ pid: Number(name), parent: read('PPid'), residentMegabytes: read('VmRSS') / 1024 }];
    } catch {
      // The process ended in the meantime.
      return [];
    }
  });
}

const childrenOf = (parent: number): ProcessEntry[] => listRenderProcesses().filter((entry) => entry.parent === parent);

/** CPU time and memory of other processes are read from `/proc`. */
const onLinux = existsSync('/proc/self/stat') ? describe : describe.skip;

onLinux('a drawing that takes too long', () => {
  test('is killed while other images are generated', async () => {
    const hostile = ['nested.svg', 'filters.svg'].map((name) =>
      expect(make(name, 100)).rejects.toMatchObject(errorOf(name, /it takes more than 2 seconds of CPU time/u)),
    );
    const finished = new AbortController();
    const killed = Promise.all(hostile).finally(() => finished.abort());
    let made = 0;
    for (; !finished.signal.aborted; made += 1) await make('photo.jpg', 10 + made);
    await killed;
    expect(made).toBeGreaterThan(20);
  });

  test('is rejected immediately when it is requested again in the same or a similar size', async () => {
    const before = childrenOf(process.pid).length;
    for (const width of [100, 101, 60]) {
      const startedAt = performance.now();
      await expect(make('nested.svg', width)).rejects.toMatchObject(errorOf('nested.svg', /it takes more/u));
      expect(performance.now() - startedAt).toBeLessThan(2_000);
    }
    expect(childrenOf(process.pid).length).toBeLessThanOrEqual(before);
  });

  test('is killed while its header is read, and rejects its fields', async () => {
    const answer = images.answer('resize', sourceOf('no-size.svg'), {});
    await expect(answer).rejects.toMatchObject(errorOf('no-size.svg', /it takes more than 3 seconds of CPU time/u));
    await expect(images.original(sourceOf('no-size.svg'))).rejects.toMatchObject({ code: 'unprocessable' });
  });
});

test('a source image with more pixels than the setting allows is rejected', async () => {
  const renderProcess = startProcess({ threads: 1, maxPixels: 1_000_000 });
  try {
    const limits = { cpuMs: 60_000, wallMs: 60_000, residentBytes: 2 ** 32 };
    const reading = renderProcess.run({ kind: 'header', source: sourceOf('large.png') }, limits);
    await expect(reading).rejects.toThrow('it has 12000 × 9000 pixels; the limit is 1000000');
  } finally {
    renderProcess.kill();
  }
});

onLinux('a rendering process', () => {
  test('is killed when it exceeds its memory limit, and its memory is freed', async () => {
    const renderProcess = startProcess({ threads: 1 });
    const source = sourceOf('large.png');
    const header = { format: 'png', width: 12_000, height: 9_000, orientation: 1, pages: 1, hasAlpha: false } as const;
    const limits = { cpuMs: 600_000, wallMs: 600_000, residentBytes: 250 * 2 ** 20 };
    // The job decodes the whole image, which takes 324 MB.
    const job = { kind: 'trim', source, header, amount: 10 } as const;
    await expect(renderProcess.run(job, limits)).rejects.toMatchObject({
      name: 'JobKilled',
      message: 'it takes more than 250 MB of memory',
    });
    expect(renderProcess.isAlive).toBe(false);
    await eventually(() => expect(childrenOf(process.pid).every((one) => one.residentMegabytes < 250)).toBe(true));
  });

  test('is killed after the limit of elapsed time, even if it uses no CPU', async () => {
    const renderProcess = startProcess({ threads: 1 });
    const limits = { cpuMs: 60_000, wallMs: 1, residentBytes: 2 ** 32 };
    const job = { kind: 'header', source: sourceOf('no-size.svg') } as const;
    await expect(renderProcess.run(job, limits)).rejects.toThrow('it takes more than 0.001 seconds');
  });

  test('that the system kills is replaced, and the job is done by the next one', async () => {
    const made = make('noise.png', 1_900);
    await delay(300);
    for (const { pid } of childrenOf(process.pid)) process.kill(pid, 'SIGKILL');
    await made;
  });

  test('reports a crash as an error, and the next job runs in a new process', async () => {
    const refused = make('nested.svg', 20).then(String, String);
    let message = '';
    void refused.then((text) => (message = text));
    await eventually(() => {
      for (const { pid } of childrenOf(process.pid)) process.kill(pid, 'SIGKILL');
      expect(message).toMatch(/cannot be rendered: the process that rendered it ended with SIGKILL/u);
    });
    await make('photo.jpg', 599);
  });

  test('ends when its parent is killed, even while it draws or traces', async () => {
    const running = ['filters.svg', 'noise.png'].map(sourceOf);
    await writeFile(path.join(pictures.folder, 'sources.json'), JSON.stringify(running));
    const script = fileURLToPath(new URL('./render-in-child.ts', import.meta.url));
    const parent = spawn(
      process.execPath,
      ['--conditions=trellis-source', '--import', 'tsx', script, pictures.folder],
      { stdio: 'inherit' },
    );
    const { pid = 0 } = parent;
    await eventually(() => expect(childrenOf(pid)).toHaveLength(2));
    const children = childrenOf(pid).map((child) => child.pid);
    parent.kill('SIGKILL');
    await once(parent, 'exit');
    await eventually(() => {
      expect(listRenderProcesses().filter((one) => children.includes(one.pid))).toEqual([]);
    });
  });
});
