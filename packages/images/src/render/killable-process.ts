import { type ChildProcess, fork, type ForkOptions } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants, homedir, setPriority, tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { AppError, type ErrorCode } from '@trellis/core/errors';
import type { TraceOptions } from '../plan/arguments.js';
import type { Box } from '../plan/sizes.js';
import type { ImageTransform } from '../plan/transform.js';
import type { ImageDimensions, ImageMetadata, ImageSource } from '../source.js';

/** A process that takes one job at a time and is killed when the job exceeds its limits. */
export interface KillableProcess {
  /** Whether the process can accept another job. */
  readonly isAlive: boolean;
  /**
   * @throws AppError when the job fails with one; {@link JobKilled} when the process ends before it replies.
   */
  run(job: Job, limits: JobLimits): Promise<unknown>;
  kill(): void;
}

/** A job ended together with its process: it exceeded a limit, the decoder crashed, or the system killed the process. */
export class JobKilled extends Error {
  override readonly name = 'JobKilled';
  /** Whether the job exceeded a limit. Otherwise, the reason may have nothing to do with it. */
  readonly exceededLimit: boolean;

  constructor(message: string, { exceededLimit = false } = {}) {
    super(message);
    this.exceededLimit = exceededLimit;
  }
}

/** How often the time and memory of a running job are checked. */
const CHECK_MS = 100;

/** A process that holds more memory than this after a job is ended, since allocators rarely return it. */
const MAX_IDLE_BYTES = 300 * 2 ** 20;

export interface ProcessOptions {
  /** The number of threads with which sharp renders one image. */
  readonly threads: number;
  /** The largest number of pixels of a source image; by default 2^27. */
  readonly maxPixels?: number;
  /** Whether the process has a low priority. */
  readonly isBackground?: boolean;
}

export function startProcess({ threads, maxPixels, isBackground = false }: ProcessOptions): KillableProcess {
  const child = forkProgram([threads, ...(maxPixels === undefined ? [] : [maxPixels])].map(String));
  if (isBackground) lowerPriority(child.pid);
  let isAlive = true;
  let settle: ((reply: RenderReply | Error) => void) | undefined;

  function kill(): void {
    isAlive = false;
    child.kill('SIGKILL');
  }

  // An idle process must not keep the server running.
  child.unref();
  child.channel?.unref();
  child.on('message', (reply: RenderReply) => settle?.(reply));
  child.on('error', (error) => {
    isAlive = false;
    settle?.(error);
  });
  child.on('exit', (code, signal) => {
    isAlive = false;
    settle?.(new JobKilled(`the process that rendered it ended with ${signal ?? `exit code ${code}`}`));
  });

  return {
    get isAlive() {
      return isAlive;
    },
    kill,
    async run(job, limits) {
      child.ref();
      child.channel?.ref();
      const timer = watchLimits(child, limits, (reason) => {
        kill();
        settle?.(new JobKilled(reason, { exceededLimit: true }));
      });
      try {
        const reply = await new Promise<RenderReply | Error>((resolve) => {
          settle = resolve;
          child.send(job, (error) => error && resolve(new JobKilled('the process that rendered it has ended')));
        });
        return toResult(reply);
      } finally {
        settle = undefined;
        clearInterval(timer);
        child.unref();
        child.channel?.unref();
        if ((readUsage(child.pid)?.residentBytes ?? 0) > MAX_IDLE_BYTES) kill();
      }
    },
  };
}

/** Its threads inherit the priority, as they are started later. */
function lowerPriority(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_LOW);
  } catch {
    // The priority is only an optimization.
  }
}

function toResult(reply: RenderReply | Error): unknown {
  if (reply instanceof Error) throw reply;
  if ('refused' in reply) throw new AppError(reply.refused.code, reply.refused.message);
  if ('defect' in reply) throw new Error(reply.defect);
  return reply.result;
}

/** Starts the program without the server's environment, which may contain secrets: it reads untrusted files. */
function forkProgram(args: readonly string[]): ChildProcess {
  // One arena of glibc reuses what all threads have freed, and so takes a third less memory and no more time.
  const env = { HOME: findHome(), MALLOC_ARENA_MAX: '1' };
  const options: ForkOptions = { env, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] };
  // Tests run the sources, but the built program.
  const built = import.meta.url.replace(/^(.*)\/src\/(.*)\.ts$/u, '$1/dist/$2.js');
  return fork(fileURLToPath(new URL('./render-process.js', built)), args, { ...options, execArgv: [] });
}

/** Returns a folder for caches, also for a user without a home folder, as in a container. */
function findHome(): string {
  try {
    return homedir();
  } catch {
    return tmpdir();
  }
}

function watchLimits(child: ChildProcess, limits: JobLimits, onExceeded: (reason: string) => void): NodeJS.Timeout {
  const startedAt = performance.now();
  const before = readUsage(child.pid)?.cpuMs ?? 0;
  function findExcess(): string | undefined {
    const { cpuMs = 0, residentBytes = 0 } = readUsage(child.pid) ?? {};
    if (cpuMs - before > limits.cpuMs) return `${limits.cpuMs / 1000} seconds of CPU time`;
    if (performance.now() - startedAt > limits.wallMs) return `${limits.wallMs / 1000} seconds`;
    if (residentBytes > limits.residentBytes) return `${Math.floor(limits.residentBytes / 2 ** 20)} MB of memory`;
    return undefined;
  }
  return setInterval(() => {
    const excess = findExcess();
    if (excess !== undefined) onExceeded(`it takes more than ${excess}`);
  }, CHECK_MS);
}

interface Usage {
  readonly cpuMs: number;
  readonly residentBytes: number;
}

/** The unit of CPU times in `/proc`, 1/`USER_HZ`: 10 ms on every Linux. */
const TICK_MS = 10;

/**
 * Reads the CPU time (proc_pid_stat(5), fields 14 and 15) and the resident
 * memory (proc_pid_status(5)); `undefined` without `/proc`.
 */
function readUsage(pid: number | undefined): Usage | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field is the program's name in parentheses, which may contain spaces.
    const [userTicks, systemTicks] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13);
    const [, kilobytes] = /^VmRSS:\s*(\d+) kB$/mu.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
    return {
      cpuMs: (Number(userTicks) + Number(systemTicks)) * TICK_MS,
      residentBytes: Number(kilobytes ?? 0) * 1024,
    };
  } catch {
    return undefined;
  }
}

/** An image to derive from a source file. */
export interface RenderInput {
  readonly source: ImageSource;
  readonly header: ImageDimensions;
  readonly transform: ImageTransform;
  /** The job fails if the result has more bytes. */
  readonly maxBytes: number;
}

/** The input and the result of each kind of work that a rendering process does. */
export interface JobTypes {
  readonly header: { input: { readonly source: ImageSource }; result: ImageMetadata };
  readonly trim: {
    input: { readonly source: ImageSource; readonly header: ImageMetadata; readonly amount: number };
    result: Box;
  };
  /** Writes the image to `target`, synced to the disk; the result is its number of bytes. */
  readonly file: { input: RenderInput & { readonly target: string }; result: number };
  /** The result is a data URI. */
  readonly preview: { input: RenderInput; result: string };
  /** The result is an SVG document. */
  readonly trace: { input: RenderInput & { readonly options: TraceOptions }; result: string };
}

export type JobKind = keyof JobTypes;

export type Job = { [Kind in JobKind]: { readonly kind: Kind } & JobTypes[Kind]['input'] }[JobKind];

/** The limits of a job. A process that exceeds one of them is killed. */
export interface JobLimits {
  /** CPU time of the job in all threads, which does not depend on the load of the machine. Measured on Linux only. */
  readonly cpuMs: number;
  /** Elapsed time. Limits jobs that wait, such as for a network drive, and all jobs on systems without `/proc`. */
  readonly wallMs: number;
  /** Memory of the process. Measured on Linux only. */
  readonly residentBytes: number;
}

/** The reply to a job: its result, the AppError that it failed with, or the stack of an unexpected error. */
export type RenderReply =
  | { readonly result: unknown }
  | { readonly refused: { readonly code: ErrorCode; readonly message: string } }
  | { readonly defect: string };
