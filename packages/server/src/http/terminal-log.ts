/** The lines of the log: as text on a terminal, and in batches on standard output. */
import { destination as openDestination, type DestinationStream } from 'pino';

export interface TextOutput {
  write(text: string): unknown;
}

/** Creates the destination of a log that shows its lines on a terminal, where the JSON of each is text. */
export function createTerminalDestination(output: TextOutput): DestinationStream {
  return { write: (line) => void output.write(formatLogLine(line)) };
}

/** Formats a line of JSON as text, for example `14:03:22 GET /api/dashboard 200 3.1 ms (getDashboard)`. */
export function formatLogLine(line: string): string {
  const { level, time, msg, err, status, ...fields } = JSON.parse(line) as LogLine;
  const clock = new Date(time).toTimeString().slice(0, 8);
  const text = msg ?? (status === undefined ? JSON.stringify(fields) : describeRequest(status, fields));
  const cause = err === undefined ? '' : `\n${err.stack ?? `${err.type}: ${err.message}`}`;
  return `${clock} ${LEVELS[level] ?? ''}${escapeControls(text + cause)}\n`;
}

/** Escapes the characters that could manipulate a terminal. Errors quote texts of others, such as the response of a forge. */
const escapeControls = (text: string): string =>
  text.replace(/(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });

interface LogLine extends Readonly<Record<string, unknown>> {
  readonly level: number;
  readonly time: number;
  readonly msg?: string;
  readonly status?: number;
  readonly err?: { readonly type: string; readonly message: string; readonly stack?: string };
}

/** The levels that are shown, as Pino numbers them. */
const LEVELS: Readonly<Record<number, string>> = { 20: 'debug: ', 40: 'Warning: ', 50: 'Error: ', 60: 'Fatal: ' };

function describeRequest(status: number, fields: Readonly<Record<string, unknown>>): string {
  const { method, route = '', milliseconds, operation, queryName } = fields;
  const name = operation === undefined ? '' : ` (${[operation, queryName].filter(Boolean).join(' ')})`;
  const time = typeof milliseconds === 'number' ? ` ${milliseconds} ms` : '';
  return `${String(method)} ${String(route)} ${status}${time}${name}`;
}

/** Creates the output that writes each line of text to the log instead; `Warning: ` begins a warning. */
export function createLineOutput(log: Readonly<Record<'info' | 'warn', (line: string) => void>>): TextOutput {
  return {
    write(text) {
      for (const line of text.split('\n').filter(Boolean)) {
        if (line.startsWith('Warning: ')) log.warn(line.slice('Warning: '.length));
        else log.info(line);
      }
    },
  };
}

/** The sizes of batches of lines, because a write for each request would cost as much as a small response. */
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
