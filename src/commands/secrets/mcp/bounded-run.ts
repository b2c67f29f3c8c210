import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { Environment } from '../settings.js';

export interface BoundedCommand {
  /** The program and its arguments; no shell reads them. */
  readonly command: readonly string[];
  readonly folder: string;
  readonly env: Environment;
  readonly timeoutMs: number;
  /** The most bytes of each stream to keep: the last ones. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

export interface BoundedResult {
  /** Undefined if a signal ended the program. */
  readonly exitCode: number | undefined;
  readonly exitSignal: string | undefined;
  readonly isTimedOut: boolean;
  readonly stdout: Captured;
  readonly stderr: Captured;
}

/** The end of a stream. */
export interface Captured {
  readonly bytes: Buffer;
  readonly totalBytes: number;
}

/** The time that a program has to end after SIGTERM, and its pipes to close after its end. */
const GRACE_MS = 2000;

/**
 * Runs a program without standard input, in a process group of its own. The group is ended at a timeout and when the
 * signal aborts: by SIGTERM, then by SIGKILL.
 *
 * @throws Error with a `code` if the program can't be started.
 */
export async function runBounded(options: BoundedCommand): Promise<BoundedResult> {
  const { command, folder, env, timeoutMs, maxBytes, signal } = options;
  const [program = '', ...args] = command;
  const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const [stdout, stderr] = [capture(child.stdout, maxBytes), capture(child.stderr, maxBytes)];
  let isTimedOut = false;
  let killing: NodeJS.Timeout | undefined;
  const end = (): void => {
    killGroup(child, 'SIGTERM');
    killing ??= setTimeout(() => killGroup(child, 'SIGKILL'), GRACE_MS);
  };
  const timer = setTimeout(() => {
    isTimedOut = true;
    end();
  }, timeoutMs);
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  try {
    const { exitCode, exitSignal } = await waitForEnd(child);
    return { exitCode, exitSignal, isTimedOut, stdout: stdout(), stderr: stderr() };
  } finally {
    clearTimeout(timer);
    clearTimeout(killing);
    signal.removeEventListener('abort', end);
  }
}

function killGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has ended.
  }
}

/** Waits for the end of a program and of its output. A process that it left behind may hold the pipes for ever. */
function waitForEnd(child: ChildProcess): Promise<Pick<BoundedResult, 'exitCode' | 'exitSignal'>> {
  return new Promise((resolve, reject) => {
    let closing: NodeJS.Timeout | undefined;
    child.once('error', reject);
    child.once('exit', () => {
      // Processes that the program left in its group.
      killGroup(child, 'SIGKILL');
      closing = setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
      }, GRACE_MS);
    });
    child.once('close', (code, signal) => {
      clearTimeout(closing);
      resolve({ exitCode: code ?? undefined, exitSignal: signal ?? undefined });
    });
  });
}

/** Keeps the last bytes of a stream. */
function capture(stream: Readable | null, maxBytes: number): () => Captured {
  const chunks: Buffer[] = [];
  let kept = 0;
  let totalBytes = 0;
  stream?.on('error', () => undefined);
  stream?.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    totalBytes += chunk.length;
    kept += chunk.length;
    while (chunks[0] !== undefined && kept - chunks[0].length >= maxBytes) kept -= chunks.shift()?.length ?? 0;
  });
  return () => ({ bytes: Buffer.concat(chunks).subarray(-maxBytes), totalBytes });
}
