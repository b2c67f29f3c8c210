/** The program of a rendering process. It runs the jobs that its parent sends over IPC, one at a time. */
import { open, writeFile } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { AppError, type ErrorCode } from '@trellis/core/errors';
import { findStorageFault, toUnavailable } from '@trellis/core/storage';
import sharp from 'sharp';
import { MEDIA_TYPES } from '../plan/transform.js';
import { assertUnchanged, type ImageSource, unreadableImageError } from '../source.js';
import type { Job, JobKind, JobTypes, RenderInput, RenderReply } from './killable-process.js';
import { readHeader, setMaxPixels } from './open-image.js';
import { measureTrim, renderImage, renderPixels } from './pipeline.js';

type Runners = { readonly [Kind in JobKind]: (input: JobTypes[Kind]['input']) => Promise<JobTypes[Kind]['result']> };

const RUNNERS: Runners = {
  header: ({ source }) => readHeader(source),
  trim: ({ source, header, amount }) => measureTrim(source, header, amount),
  async file({ target, ...rendering }) {
    const bytes = await render(rendering);
    await writeSynced(target, bytes);
    return bytes.length;
  },
  async preview(rendering) {
    const bytes = await render(rendering);
    return `data:${MEDIA_TYPES[rendering.transform.format]};base64,${bytes.toString('base64')}`;
  },
  async trace({ source, header, transform, options, maxBytes }) {
    // Loaded on demand, as most processes never trace an image.
    const { traceOutlines } = await import('./trace-outlines.js');
    const pixels = await renderPixels(source, header, transform);
    const svg = draw(source, () => traceOutlines({ ...pixels, options }));
    assertBytes(source, svg.length, maxBytes);
    return svg;
  },
};

async function render({ source, header, transform, maxBytes }: RenderInput): Promise<Buffer> {
  const bytes = await renderImage(source, header, transform);
  assertBytes(source, bytes.length, maxBytes);
  return bytes;
}

function draw(source: ImageSource, trace: () => string): string {
  try {
    return trace();
  } catch (cause) {
    throw unreadableImageError(source, 'its outlines cannot be traced', cause);
  }
}

function assertBytes({ relativePath }: ImageSource, bytes: number, max: number): void {
  if (bytes <= max) return;
  const image = `The image derived from ${JSON.stringify(relativePath)} has ${bytes} bytes; the limit is ${max}.`;
  throw new AppError('unprocessable', `${image} Request a smaller size, a lower quality or a compressed format.`);
}

/**
 * Writes a file, which a killed job may have left incomplete, and syncs its content, so that a power failure can't leave a
 * named but incomplete file.
 */
async function writeSynced(file: string, bytes: Buffer): Promise<void> {
  const handle = await open(file, 'w');
  try {
    await handle.writeFile(bytes);
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

async function runJob(job: Job): Promise<RenderReply> {
  try {
    await assertUnchanged(job.source);
    const run = RUNNERS[job.kind] as (input: Job) => Promise<unknown>;
    const result = await run(job);
    await assertUnchanged(job.source);
    return { result };
  } catch (error) {
    // The pipeline throws common codes only.
    const fault = findStorageFault(error);
    // Reading a source may be refused as well, which is not a fault of the disk.
    if (fault === 'full' || fault === 'failing') {
      const { code, message } = toUnavailable(fault);
      return { refused: { code: code as ErrorCode, message } };
    }
    if (error instanceof AppError) return { refused: { code: error.code as ErrorCode, message: error.message } };
    return { defect: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

/** Kills the process, as `process.exit` would wait for a decoder that never returns. */
const end = (): void => void process.kill(process.pid, 'SIGKILL');

/** Ends the process within a second of its parent, even while a job keeps the main thread busy. */
const WATCHDOG = `setInterval(() => {
  if (process.ppid !== ${process.ppid}) process.kill(process.pid, 'SIGKILL');
}, 1000);`;

const [threads = '1', maxPixels] = process.argv.slice(2);
if (maxPixels !== undefined) setMaxPixels(Number(maxPixels));
// sharp's cache identifies files by path, but their content changes.
sharp.cache(false);
sharp.concurrency(Number(threads));
// A signal to the process group, such as Ctrl-C, must not end jobs that the parent still waits for.
process.on('SIGINT', () => undefined).on('SIGTERM', () => undefined);
process.on('disconnect', end);
process.on('message', (job: Job) => void runJob(job).then((reply) => process.send?.(reply)));
new Worker(WATCHDOG, { eval: true, execArgv: [] }).unref();
// When memory runs out, Linux kills this process rather than the server.
void writeFile('/proc/self/oom_score_adj', '1000').catch(() => undefined);
