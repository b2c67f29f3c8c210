import { isUtf8 } from 'node:buffer';
import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { CommandError } from '../../../config/startup-error.js';
import { type Environment, type Terminal, writeOutput } from '../terminal.js';

/** The exit codes of shells for a program that can't be run, or is not found. */
const NOT_RUN = 126;
const NOT_FOUND = 127;

const FORWARDED_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;

/** The time that a program has to end before it is killed for a restart. */
const RESTART_GRACE_MS = 10_000;

type ProgramOptions = { readonly env: Environment; readonly isTerminal: boolean } & (
  | { readonly masked?: undefined }
  /** The values that must not appear in the output. */
  | { readonly masked: readonly Uint8Array[]; readonly terminal: Pick<Terminal, 'err' | 'out'> }
);

export interface RunningProgram {
  /** The exit code; 128 and the number of the signal if one ended it. Rejects with a CommandError if it can't start. */
  readonly ended: Promise<number>;
  /** Ends the program by SIGTERM, and after 10 seconds by SIGKILL. @returns whether this process was to end as well. */
  stop(): Promise<boolean>;
}

/** Starts a program in the terminal of this process, and forwards signals to it. */
export function startProgram([program = '', ...args]: readonly string[], options: ProgramOptions): RunningProgram {
  const { env, isTerminal, masked } = options;
  const output = masked ? 'pipe' : 'inherit';
  const child = spawnNow(program, args, { stdio: ['inherit', output, output], env });
  const written = pipeMasked(child, options);
  let isStopping = false;
  let isEnding = false;
  const forward = (signal: NodeJS.Signals): void => {
    const isInterrupt = ['SIGINT', 'SIGQUIT'].includes(signal);
    // A program may continue after an interrupt, and reload its settings at SIGHUP.
    isEnding ||= signal === 'SIGTERM' || (isStopping && isInterrupt);
    // The terminal sends its signals to the program directly.
    if (!isTerminal || !isInterrupt) child.kill(signal);
  };
  for (const signal of FORWARDED_SIGNALS) process.on(signal, forward);
  const exited = new Promise<number>((resolve, reject) => {
    child.on('error', ({ code }: NodeJS.ErrnoException) => reject(toStartError(program, code)));
    child.on('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? 'SIGKILL']));
  });
  const ended = exited
    .then(async (exitCode) => {
      await written;
      return exitCode;
    })
    .finally(() => {
      for (const signal of FORWARDED_SIGNALS) process.off(signal, forward);
    });
  return {
    ended,
    async stop() {
      isStopping = true;
      child.kill('SIGTERM');
      const killing = setTimeout(() => child.kill('SIGKILL'), RESTART_GRACE_MS);
      await ended.catch(() => undefined);
      clearTimeout(killing);
      return isEnding;
    },
  };
}

/** Node throws some errors of a start, and emits the others. */
function spawnNow(program: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  try {
    return spawn(program, args, options);
  } catch (error) {
    throw toStartError(program, (error as NodeJS.ErrnoException).code);
  }
}

/** Writes the output of a program without the masked values. */
async function pipeMasked({ stdout, stderr }: ChildProcess, options: ProgramOptions): Promise<void> {
  if (options.masked === undefined) return;
  const { masked, terminal } = options;
  const pipe = async (source: Readable | null, target: NodeJS.WritableStream): Promise<void> => {
    const mask = new OutputMask(masked);
    for await (const chunk of source ?? []) await writeOutput(target, mask.push(chunk as Buffer));
    await writeOutput(target, mask.end());
  };
  await Promise.allSettled([pipe(stdout, terminal.out), pipe(stderr, terminal.err)]);
}

function toStartError(program: string, code = 'unknown error'): CommandError {
  if (program === '') return new CommandError('The command is empty', NOT_RUN);
  if (code === 'E2BIG')
    return new CommandError(`${program}: the values are too long for variables; use --files`, NOT_RUN);
  return code === 'ENOENT'
    ? new CommandError(`${program}: command not found`, NOT_FOUND)
    : new CommandError(`${program}: the command can't be run: ${code}`, NOT_RUN);
}

const REPLACEMENT = '***';

/** Values of fewer bytes also occur in harmless output, where `***` would only reveal them. */
export const MIN_MASKED = 4;

/** The shortest line of a value of several lines that is masked alone. */
const MIN_LINE = 8;

/**
 * Replaces values in a stream of bytes, also values that are split between chunks. The base64 of a value, and the lines
 * of a value of several lines, are replaced too.
 */
export class OutputMask {
  readonly #needles: readonly string[];
  /** The end of the stream so far that may be the beginning of a value; one character for each byte. */
  #rest = '';

  constructor(values: readonly Uint8Array[]) {
    this.#needles = toNeedles(values);
  }

  /** Adds a chunk and returns the bytes that can be written. */
  push(chunk: Uint8Array): Buffer {
    const text = this.#rest + Buffer.from(chunk).toString('latin1');
    const open = this.#findOpen(text);
    // A value that starts before the open end is complete.
    const { done, end } = this.#replace(text, open);
    this.#rest = text.slice(end);
    return Buffer.from(done, 'latin1');
  }

  /** Returns the last bytes of the stream. */
  end(): Buffer {
    const { done } = this.#replace(this.#rest, this.#rest.length);
    this.#rest = '';
    return Buffer.from(done, 'latin1');
  }

  /** Returns the first position from which the text may be the beginning of a value. */
  #findOpen(text: string): number {
    const longest = this.#needles[0]?.length ?? 0;
    for (let at = Math.max(0, text.length - longest + 1); at < text.length; at += 1) {
      const tail = text.slice(at);
      if (this.#needles.some((needle) => needle.length > tail.length && needle.startsWith(tail))) return at;
    }
    return text.length;
  }

  #replace(text: string, limit: number): { readonly done: string; readonly end: number } {
    let done = '';
    let end = 0;
    for (const { at, length } of findAll(text, this.#needles)) {
      if (at >= limit) break;
      done += text.slice(end, at) + REPLACEMENT;
      end = at + length;
    }
    const until = Math.max(end, limit);
    return { done: done + text.slice(end, until), end: until };
  }
}

/** Finds texts from left to right, at each place the first of the list. The largest values are too long for a pattern. */
function* findAll(
  text: string,
  needles: readonly string[],
): Generator<{ readonly at: number; readonly length: number }> {
  let next = needles.map((needle) => ({ needle, at: text.indexOf(needle) })).filter(({ at }) => at !== -1);
  while (next.length > 0) {
    const { at, needle } = next.reduce((first, other) => (other.at < first.at ? other : first));
    const end = at + needle.length;
    yield { at, length: needle.length };
    next = next
      .map((found) => (found.at >= end ? found : { ...found, at: text.indexOf(found.needle, end) }))
      .filter((found) => found.at !== -1);
  }
}

/** Returns the bytes to replace, one character for each, longest first, so that the longest of several matches is replaced. */
function toNeedles(values: readonly Uint8Array[]): readonly string[] {
  const needles = values.flatMap((bytes) => {
    const value = Buffer.from(bytes).toString('latin1');
    const trimmed = isUtf8(bytes) ? Buffer.from(Buffer.from(bytes).toString().trim()).toString('latin1') : value;
    const lines = trimmed.split(/\r?\n/).filter((line) => line.length >= MIN_LINE);
    return [value, trimmed, ...lines, toBase64(value), toBase64(trimmed)];
  });
  const long = needles.filter((needle) => needle.trim().length >= MIN_MASKED);
  return [...new Set(long)].sort((one, other) => other.length - one.length);
}

const toBase64 = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('base64');
