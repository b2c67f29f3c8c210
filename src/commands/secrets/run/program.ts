import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { CommandError } from '../../../config/startup-error.js';
import type { Terminal } from '../context.js';
import { writeOutput } from '../print.js';
import type { Environment } from '../settings.js';
import { OutputMask } from './output-mask.js';

/** The exit codes of shells for a program that can't be run, or is not found. */
const NOT_RUN = 126;
const NOT_FOUND = 127;

const FORWARDED_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;

/** The time that a program has to end before it is killed for a restart. */
const RESTART_GRACE_MS = 10_000;

export type ProgramOptions = { readonly env: Environment; readonly isTerminal: boolean } & (
  | { readonly masked?: undefined }
  /** The values that must not appear in the output. */
  | { readonly masked: readonly string[]; readonly terminal: Pick<Terminal, 'err' | 'out'> }
);

export interface RunningProgram {
  /** The exit code; 128 and the number of the signal if one ended it. Rejects with a CommandError if it can't start. */
  readonly ended: Promise<number>;
  /** Ends the program by SIGTERM, and after 10 seconds by SIGKILL. */
  stop(): Promise<void>;
}

/** Starts a program in the terminal of this process, and forwards signals to it. */
export function startProgram([program = '', ...args]: readonly string[], options: ProgramOptions): RunningProgram {
  const { env, isTerminal, masked } = options;
  const output = masked ? 'pipe' : 'inherit';
  const child = spawn(program, args, { stdio: ['inherit', output, output], env });
  const written = pipeMasked(child, options);
  // The terminal sends its signals to the program directly.
  const forward = (signal: NodeJS.Signals): void => {
    if (!isTerminal || !['SIGINT', 'SIGQUIT'].includes(signal)) child.kill(signal);
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
      child.kill('SIGTERM');
      const killing = setTimeout(() => child.kill('SIGKILL'), RESTART_GRACE_MS);
      await ended.catch(() => undefined);
      clearTimeout(killing);
    },
  };
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
  return code === 'ENOENT'
    ? new CommandError(`${program}: command not found`, NOT_FOUND)
    : new CommandError(`${program}: the command can't be run: ${code}`, NOT_RUN);
}
