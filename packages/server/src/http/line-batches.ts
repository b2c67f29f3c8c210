/** Batches of log lines, because a write for each request would cost as much as a small response. */
import { type DestinationStream, destination as openDestination } from 'pino';

interface BatchLimits {
  /** A batch is written once it has this number of bytes. */
  readonly minBytes: number;
  /** The longest write, unless a single line is longer. */
  readonly maxBytes: number;
}

const LIMITS: BatchLimits = { minBytes: 16_000, maxBytes: 64_000 };

/** A pipe keeps writes of up to 4 KiB apart (`PIPE_BUF`), so lines of several processes do not mix. */
const SHARED_LIMITS: BatchLimits = { minBytes: 2048, maxBytes: 4096 };

/** The time after which a batch is written even if it is short. */
const FLUSH_MS = 200;

/** The most text that waits for an output that can't be written. Further lines are dropped. */
const MAX_WAITING_BYTES = 16 * 2 ** 20;

/** The level of warnings in pino. */
const WARNING = 40;

/** The output of pino that writes asynchronously. */
type Output = Pick<ReturnType<typeof openDestination>, 'flush' | 'flushSync' | 'write'>;

interface LineBatches extends DestinationStream {
  /** Starts to write the lines that are waiting. */
  flush(done?: (error?: Error | null) => void): void;
  /** Writes the lines that are waiting before it returns. */
  flushSync(): void;
}

/**
 * Opens standard output for log lines, which are written asynchronously, usually within 200 ms, and at the end of the
 * process.
 *
 * @param isShared Whether several processes write to the same standard output.
 */
export function openLineOutput(isShared: boolean): DestinationStream {
  const limits = isShared ? SHARED_LIMITS : LIMITS;
  const { maxBytes } = limits;
  // The output starts to write when it is flushed, so that the end of the process can write everything at once.
  const sizes = { maxWrite: maxBytes, minLength: maxBytes - 1, maxLength: MAX_WAITING_BYTES };
  const output = openDestination({ dest: 1, sync: false, periodicFlush: FLUSH_MS, ...sizes });
  outlastFaults(output);
  return createLineBatches(output, limits);
}

/** Lines that can't be written, as on a full disk, wait for the next write, and do not end the process. */
function outlastFaults(output: ReturnType<typeof openDestination>): void {
  const flushSync = output.flushSync.bind(output);
  let isFailing = false;
  output.on('error', () => (isFailing = true)).on('write', () => (isFailing = false));
  // At the end of the process, it would repeat a failing write for ever.
  output.flushSync = () => isFailing || flushSync();
}

/** The batches with lines that are waiting. */
const waiting = new Set<LineBatches>();

process.on('exit', () => waiting.forEach((batches) => batches.flushSync()));

/**
 * Joins lines to batches. A warning or an error is written at once, with the lines before it, because the process may be
 * about to be killed. The output has batches of its own, but measures the whole batch with each line, which copies all
 * of its text.
 */
export function createLineBatches(output: Output, { minBytes, maxBytes }: BatchLimits = LIMITS): LineBatches {
  let text = '';
  let bytes = 0;
  let timer: NodeJS.Timeout | undefined;

  function pass(): void {
    clearTimeout(timer);
    timer = undefined;
    waiting.delete(batches);
    if (bytes === 0) return;
    const batch = text;
    text = '';
    bytes = 0;
    output.write(batch);
  }

  function writeBatch(): void {
    pass();
    output.flush();
  }

  function wait(): void {
    timer = setTimeout(writeBatch, FLUSH_MS).unref();
    waiting.add(batches);
  }

  const batches: LineBatches & { readonly lastLevel?: number } = {
    // Makes pino set `lastLevel` before each line.
    [Symbol.for('pino.metadata')]: true,
    write(line) {
      const size = Buffer.byteLength(line);
      if (bytes + size > maxBytes) writeBatch();
      text += line;
      bytes += size;
      if (bytes >= minBytes || (batches.lastLevel ?? 0) >= WARNING) writeBatch();
      else if (timer === undefined) wait();
    },
    flush(done) {
      pass();
      output.flush(done);
    },
    flushSync() {
      pass();
      output.flushSync();
    },
  };
  return batches;
}
