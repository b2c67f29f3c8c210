/** The program of a rendering process: it takes one job at a time over IPC. Only its parent starts it. */
import { open, writeFile } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import sharp from 'sharp';
import { AppError } from '../../errors.js';
import type { ErrorCode } from '../../errors.js';
import { MEDIA_TYPES } from '../formats.js';
import { makeImage, makePixels, measureTrimmed } from '../pipeline.js';
import { readHeader } from '../read-header.js';
import { requireUnchanged, unreadable } from '../source.js';
import type { ImageSource } from '../source.js';
import type { Job, JobKind, JobTypes, Rendering } from './jobs.js';

/** What is sent back for a job. */
export type Reply =
  | { readonly result: unknown }
  | { readonly refused: { readonly code: ErrorCode; readonly message: string } }
  | { readonly defect: string };

type Runners = { readonly [Kind in JobKind]: (input: JobTypes[Kind]['input']) => Promise<JobTypes[Kind]['result']> };

const RUNNERS: Runners = {
  header: ({ source }) => readHeader(source),
  trim: ({ source, header, amount }) => measureTrimmed(source, header, amount),
  async file({ target, ...rendering }) {
    const bytes = await render(rendering);
    await writeSynced(target, bytes);
    return bytes.length;
  },
  async preview(rendering) {
    const bytes = await render(rendering);
    return `data:${MEDIA_TYPES[rendering.recipe.format]};base64,${bytes.toString('base64')}`;
  },
  async trace({ source, header, recipe, options, maxBytes }) {
    // Loaded when needed: most processes trace nothing.
    const { tracePicture } = await import('../trace-picture.js');
    const pixels = await makePixels(source, header, recipe);
    const svg = draw(source, () => tracePicture({ ...pixels, options }));
    requireBytes(source, svg.length, maxBytes);
    return svg;
  },
};

async function render({ source, header, recipe, maxBytes }: Rendering): Promise<Buffer> {
  const bytes = await makeImage(source, header, recipe);
  requireBytes(source, bytes.length, maxBytes);
  return bytes;
}

function draw(source: ImageSource, trace: () => string): string {
  try {
    return trace();
  } catch (cause) {
    throw unreadable(source, 'its outlines can\u2019t be drawn', cause);
  }
}

function requireBytes({ relativePath }: ImageSource, bytes: number, most: number): void {
  if (bytes <= most) return;
  const image = `The image derived from ${JSON.stringify(relativePath)} has ${bytes} bytes; the limit is ${most}.`;
  throw new AppError('unprocessable', `${image} Request a smaller size, a lower quality or a compressed format.`);
}

/** The name of a file must not reach the disk before its bytes. */
async function writeSynced(file: string, bytes: Buffer): Promise<void> {
  const handle = await open(file, 'wx');
  try {
    await handle.writeFile(bytes);
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

async function answer(job: Job): Promise<Reply> {
  try {
    await requireUnchanged(job.source);
    const run = RUNNERS[job.kind] as (input: Job) => Promise<unknown>;
    const result = await run(job);
    await requireUnchanged(job.source);
    return { result };
  } catch (error) {
    if (error instanceof AppError) return { refused: { code: error.code, message: error.message } };
    return { defect: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

/** `process.exit` would wait for a decoder that never returns. */
const end = (): void => void process.kill(process.pid, 'SIGKILL');

/** Ends the process within a second of its parent, even while a job keeps the main thread busy. */
const WATCHDOG = `setInterval(() => {
  if (process.ppid !== ${process.ppid}) process.kill(process.pid, 'SIGKILL');
}, 1000);`;

const [threads = '1'] = process.argv.slice(2);
// Sharp would remember files by their paths, whose content changes.
sharp.cache(false);
sharp.concurrency(Number(threads));
// A signal to the whole process group, such as Ctrl-C, lets the parent finish the jobs that it has started.
process.on('SIGINT', () => undefined).on('SIGTERM', () => undefined);
process.on('disconnect', end);
process.on('message', (job: Job) => void answer(job).then((reply) => process.send?.(reply)));
new Worker(WATCHDOG, { eval: true, execArgv: [] }).unref();
// When memory runs out, Linux ends this process rather than the server.
void writeFile('/proc/self/oom_score_adj', '1000').catch(() => undefined);
